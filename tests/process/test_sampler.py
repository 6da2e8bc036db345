"""The sampler on this machine, against programs and sockets whose figures are known."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from oracle import PATIENCE_S, eventually

from workbench.documents import HostSample
from workbench.machines.base import Machine
from workbench.machines.runner_client import Command, Process
from workbench.machines.sampler_client import Sampling

MEGABYTE = 1 << 20

BURNT_S = 1.0
SPENT = """
def spent():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
"""
BURNER = f"""
import os, resource, threading, time
{SPENT}
if os.fork() == 0:
    held = b"x" * (64 << 20)
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    print("here", flush=True)
    input()
    before = spent()
    while spent() < before + {BURNT_S}:
        pass
    print(spent() - before, flush=True)
    time.sleep(600)
os.wait()
"""
HEIRS = f"""
import os, resource, time
{SPENT}
print("here", flush=True)
input()
before = spent()
for _ in range(20):
    child = os.fork()
    if child == 0:
        end = time.process_time() + {BURNT_S} / 20
        while time.process_time() < end:
            pass
        os._exit(0)
    os.waitpid(child, 0)
print(spent() - before, flush=True)
time.sleep(600)
"""
FORGETFUL = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print("here", flush=True)
input()
for _ in range(200):
    if os.fork() == 0:
        os._exit(0)
print("done", flush=True)
input()
"""


class Samples:
    """What a sampling emits, and waiting for it."""

    def __init__(self) -> None:
        self.all: list[HostSample] = []
        self._news = asyncio.Event()

    def take(self, sample: HostSample) -> None:
        self.all.append(sample)
        self._news.set()

    async def first(self, condition: Callable[[HostSample], bool]) -> HostSample:
        """The first one from now on of which it is true."""
        seen = len(self.all)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for sample in self.all[seen:]:
                    if condition(sample):
                        return sample
                seen = len(self.all)
                self._news.clear()
                await self._news.wait()


@pytest.fixture
def samples() -> Samples:
    return Samples()


@pytest.fixture
async def sampling(machine: Machine, samples: Samples) -> AsyncIterator[Sampling]:
    began = Sampling(machine, lambda t_us: t_us, samples.take)
    await began.start()
    yield began
    await began.stop()
    assert began.failure is None


async def start(machine: Machine, program: str) -> Process:
    process = await machine.start(Command([sys.executable, "-c", program]))
    assert await anext(process.lines()) == b"here"
    return process


async def watched(machine: Machine, sampling: Sampling, samples: Samples, program: str) -> Process:
    """Start a program as the server, which waits to be told to work, and begin to add up."""
    process = await start(machine, program)
    await sampling.watch("server", process.pid, 0)
    await samples.first(lambda sample: sample.server == "server")
    await sampling.mark()
    return process


@pytest.mark.parametrize("program", [BURNER, HEIRS], ids=["a child that runs", "children that end"])
async def test_cpu_is_that_of_the_whole_process_tree(
    machine: Machine, sampling: Sampling, samples: Samples, program: str
) -> None:
    process = await watched(machine, sampling, samples, program)
    await process.send(b"burn")
    # However much of a core it got: what it used in all is known, of children that ended to a tick.
    spent_s = float(await anext(process.lines()))
    usage = await sampling.since_mark()
    assert spent_s >= BURNT_S
    assert usage.cpu_us / 1e6 == pytest.approx(spent_s, abs=0.05)
    assert usage.system_share is not None
    assert not usage.cpu_lost


async def test_cpu_time_that_the_kernel_drops_is_said_to_be_lost(
    machine: Machine, sampling: Sampling, samples: Samples
) -> None:
    process = await watched(machine, sampling, samples, FORGETFUL)
    await process.send(b"fork")
    assert await anext(process.lines()) == b"done"
    usage = await sampling.since_mark()
    assert usage.cpu_lost
    assert (usage.cpu_us, usage.cpu_pct, usage.system_share) == (0, 0.0, None)


async def test_memory_threads_and_descriptors_are_those_of_the_whole_tree(
    machine: Machine, sampling: Sampling, samples: Samples
) -> None:
    await sampling.mark()
    await sampling.watch("burner", (await start(machine, BURNER)).pid, 0)
    sample = await samples.first(lambda sample: sample.server == "burner")
    assert (sample.processes, sample.threads) == (2, 3)
    assert 64 * MEGABYTE < sample.rss_bytes < 150 * MEGABYTE
    assert 64 * MEGABYTE < sample.pss_bytes <= sample.rss_bytes
    assert 6 <= sample.descriptors < 40
    load = os.getloadavg()[0]
    assert sample.gauges.get("LoadHundredths", 0) / 100 == pytest.approx(load, abs=1 + 0.2 * load)
    assert (await sampling.since_mark()).rss_bytes >= 64 * MEGABYTE


async def test_a_full_accept_queue_and_dropped_connections_are_seen(
    sampling: Sampling, samples: Samples
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=3) as listener:
        port = listener.getsockname()[1]
        await sampling.watch("nobody accepts", 0, port)
        await samples.first(lambda sample: sample.backlog == 3)
        await sampling.mark()
        clients = []
        for _ in range(8):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
            clients.append(client)
        # The kernel lets one more in than the backlog says.
        await samples.first(lambda sample: sample.accept_queue == 4)
        async with asyncio.timeout(PATIENCE_S):
            while not (await sampling.since_mark()).counters.get("ListenOverflows"):
                pass
        usage = await sampling.since_mark()
        assert usage.accept_queue == 4
        assert usage.counters["ListenDrops"] >= usage.counters["ListenOverflows"]
        for client in clients:
            client.close()
    gone = await samples.first(lambda sample: sample.backlog == 0)
    assert gone.accept_queue == 0


async def test_connections_that_another_server_drops_are_not_counted(
    sampling: Sampling, samples: Samples
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0), backlog=4) as watched,
        socket.create_server(("127.0.0.1", 0), backlog=0) as other,
        contextlib.ExitStack() as clients,
    ):
        await sampling.watch("nothing comes", 0, watched.getsockname()[1])
        await samples.first(lambda sample: sample.backlog == 4)
        await sampling.mark()
        before = dropped_on_the_machine()
        for _ in range(4):
            client = clients.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(other.getsockname())
        assert await asyncio.to_thread(eventually, lambda: dropped_on_the_machine() > before)
        assert "ListenDrops" not in (await sampling.since_mark()).counters


def dropped_on_the_machine() -> int:
    lines = Path("/proc/net/netstat").read_text().splitlines()
    names, values = (line.split() for line in lines if line.startswith("TcpExt:"))
    return int(dict(zip(names, values, strict=True))["ListenDrops"])


async def test_a_server_that_exits_is_noticed(
    machine: Machine, sampling: Sampling, samples: Samples
) -> None:
    process = await machine.start(Command(["sleep", "600"]))
    await sampling.watch("sleeper", process.pid, 0)
    await samples.first(lambda sample: sample.processes == 1)
    await process.stop()
    await samples.first(lambda sample: sample.server == "sleeper" and sample.processes == 0)


async def test_samples_use_the_sessions_time_axis(machine: Machine) -> None:
    samples = Samples()
    sampling = Sampling(machine, lambda t_us: t_us - 5_000_000, samples.take)
    before_us = time.monotonic_ns() // 1000
    await sampling.start()
    sample = await samples.first(lambda _: True)
    now_us = time.monotonic_ns() // 1000
    assert before_us <= sample.t_us + 5_000_000 <= now_us
    await sampling.stop()


def test_a_sampler_that_is_always_behind_still_receives_commands() -> None:
    code = """
from workbench.remote.sampler import program
program.TICK_S = 0
program.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"",
        stdout=subprocess.DEVNULL,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0


async def test_a_sampler_that_is_killed_is_reported(machine: Machine) -> None:
    sampling = Sampling(machine, lambda t_us: t_us, lambda _: None)
    await sampling.start()
    await machine.close()
    async with asyncio.timeout(PATIENCE_S):
        while sampling.failure is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert "sampler" in str(sampling.failure)
    await sampling.stop()
    assert (await sampling.since_mark()).cpu_pct == 0.0


COUNTED = """
import os, sys
print("here", flush=True)
for line in sys.stdin:
    used_us = [0, 0]
    for clock in range(2):
        used_us[clock] = __import__("time").process_time_ns() // 1000
        if not clock:
            sum(range(40_000))
    print(used_us[1] - used_us[0], flush=True)
"""


async def test_cpu_time_far_below_a_kernel_tick_is_measured(
    machine: Machine, sampling: Sampling, samples: Samples
) -> None:
    process = await watched(machine, sampling, samples, COUNTED)
    await process.send(b"work")
    told_us = int(await anext(process.lines()))
    usage = await sampling.since_mark()
    # What reading and printing a line costs comes on top; a tick would be 10,000.
    assert told_us <= usage.cpu_us < told_us + 5_000


async def test_context_switches_are_counted_while_no_process_ends(
    machine: Machine, sampling: Sampling, samples: Samples
) -> None:
    process = await watched(machine, sampling, samples, COUNTED)
    for _ in range(100):
        await process.send(b"work")
        await anext(process.lines())
    usage = await sampling.since_mark()
    # It waits for every line; other programs of this machine may begin others meanwhile.
    assert usage.switches is None or usage.switches >= 100
