"""CPU time of a server as the sampler counts it, compared with `perf stat` over the same load.

`python tests/bench/cost.py [SERVER...]`: three servers by default. perf watches the server's
processes from before the load until after it, the sampler from its mark to its answer; between
them the server gets no requests. The kernel's scheduler, whose clock the sampler reads,
charges a process with the switch to it and from it, which perf leaves out: 1 to 2.5 us each, seen
on a server that is woken for every call and does next to nothing. The scheduler leaves out what the
host of a virtual machine takes, perf does not: rounds in which the host took more than STOLEN of a
core do not count and are repeated, MOST in all.

Needs perf (Debian: linux-perf) and the right to use it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import statistics
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "process")]

from agents import agent

import workbench.servers.deploy as deploying
from workbench.machines.local import open_local
from workbench.machines.sampler_client import Sampling
from workbench.servers.catalogue import Catalogue

SERVERS = ("null", "asyncio-protocol", "gunicorn-3w")
ROUNDS, MOST = 5, 25
STOLEN = 0.003
CALLS = 3_000
PER_S = 1_500
CLOSE = 0.02
"""How near the two must be, at the median, beside `SWITCH_US` for each context switch."""
SWITCH_US = 2.5


async def main(names: list[str]) -> int:
    if not shutil.which("perf"):
        print("needs perf (Debian: apt install linux-perf)")
        return 1
    machine = await open_local()
    catalogue = Catalogue.load(extra_dirs=[])
    cores = sorted(os.sched_getaffinity(0))[:1]
    sampling = Sampling(machine, lambda t_us: t_us, lambda _: None, cores)
    await sampling.start()
    far = 0
    try:
        for name in names or SERVERS:
            entry = catalogue[name]
            server = await deploying.deploy(machine, entry, cpus=cores)
            await sampling.watch(name, server.pid, server.port)
            protocol = "pong" if "pong" in entry.protocols else "http/1.0"
            rounds: list[tuple[float, float, float]] = []
            stolen: list[float] = []
            while len(rounds) < ROUNDS and len(stolen) < MOST:
                stolen_share, *round_ = await one(sampling, server.pid, server.port, protocol)
                stolen.append(stolen_share)
                if stolen_share <= STOLEN:
                    rounds.append(tuple(round_))
            await server.stop()
            if not rounds:
                print(f"{entry.name:22}the host took {min(stolen):.1%} of the core or more")
                far += 1
                continue
            ratio, cost_us, switches = (
                statistics.median(each) for each in zip(*rounds, strict=True)
            )
            far += abs(ratio - 1) > CLOSE + SWITCH_US * switches / cost_us
            each = " ".join(f"{found[0]:.3f}" for found in rounds)
            print(
                f"{entry.name:22}{cost_us:7.1f} us and {switches:.2f} switches a call,"
                f" sampler / perf {ratio:.3f} ({each}; {len(stolen) - len(rounds)} rounds left out)"
            )
    finally:
        await sampling.stop()
        await machine.close()
    return 1 if far else 0


async def one(sampling: Sampling, pid: int, port: int, protocol: str) -> tuple[float, ...]:
    """(share of the core that the host took, sampler / perf, us a call, switches a call)."""
    pids = ",".join(map(str, [pid, *descendants(pid)]))
    perf = await asyncio.create_subprocess_exec(
        *("perf", "stat", "-x", ",", "-e", "task-clock", "-p", pids), stderr=asyncio.subprocess.PIPE
    )
    await asyncio.sleep(0.5)  # it does not report when it has started
    await sampling.mark()
    answered = await asyncio.to_thread(offer, port, protocol)
    usage = await sampling.since_mark()
    perf.send_signal(signal.SIGINT)
    _, message = await perf.communicate()
    told_ms = float(message.decode().split(",")[0])
    # Not known while other programs begin many processes: at most about one for each call.
    switches = 1.0 if usage.switches is None else usage.switches / answered
    stolen_share = usage.stolen_s / usage.seconds
    return stolen_share, usage.cpu_us / 1000 / told_ms, usage.cpu_us / answered, switches


def descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *descendants(child)]
    return found


def offer(port: int, protocol: str) -> int:
    """Run the load; return the calls answered."""
    with agent() as load:
        outcome = load.run(
            port, protocol=protocol, rate_per_s=PER_S, connections=CALLS, timeout_s=5.0
        )
    return outcome.total("replies")


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main(sys.argv[1:])))
