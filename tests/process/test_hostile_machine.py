"""A machine whose programs misbehave: one sentence, soon, and no other machine
has to wait.

The cases are data: tests/cases/hostile, one file for each of the programs.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from chosen import chosen
from hostile_program import READY, script
from sshd import Running, answer, end, run_program, ssh_host

from workbench.config.yaml import load_yaml
from workbench.errors import PongbenchError
from workbench.load.base import PointSpec
from workbench.load.fleet import AgentFleet, Client
from workbench.machines.base import Machine
from workbench.machines.local import LocalMachine, open_local
from workbench.machines.runner_client import HEARTBEAT_S, Command, Link
from workbench.machines.sampler_client import Sampling
from workbench.machines.ssh import open_shell, survey_machine
from workbench.machines.tuning import Rights, Tuner
from workbench.servers.runtimes.provide import provide

CASES = Path(__file__).parents[1] / "cases" / "hostile"
WITHIN_S = 30.0
"""On a machine that is busy; the longest that the workbench itself waits for an answer is 9 s."""
GROWTH_BYTES = 64 << 20
LATE_S = 1.0

LOAD = PointSpec(
    host="127.0.0.1",
    port=9,
    workload="pong",
    options={"protocol": "pong", "path": "/", "pipeline": 1},
    rate_per_s=10.0,
    connections=10,
    seconds=1.0,
    timeout_s=1.0,
)


def cases(door: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load_yaml(CASES / f"{door}.yaml", what="cases")
    return [{**case, "door": door} for case in found]


EVERY = [case for path in sorted(CASES.glob("*.yaml")) for case in cases(path.stem)]
QUICK = chosen([case for case in EVERY if not case.get("waits")], 8)
SLOW = [case for case in EVERY if case.get("waits")]


def test_there_are_at_least_forty_cases() -> None:
    assert len(EVERY) >= 40


pytestmark = pytest.mark.usefixtures("ssh_home")


@pytest.mark.parametrize("case", QUICK, ids=lambda case: f"{case['door']}: {case['name']}")
async def test_it_is_reported_in_one_sentence(case: dict[str, Any], tmp_path: Path) -> None:
    async with good_machine() as good:
        before = peak_bytes(reset=True)
        reported, took_s = await told_of(case, tmp_path)
        grown = peak_bytes() - before
    assert_a_sentence(case, reported)
    assert took_s < WITHIN_S
    assert grown < GROWTH_BYTES
    assert good.latest_s() < HEARTBEAT_S + LATE_S


async def test_silent_machines_are_reported_too(tmp_path: Path) -> None:
    """All at once, because each takes long."""
    async with good_machine() as good:
        before = peak_bytes(reset=True)
        found = await asyncio.gather(
            *(told_of(case, tmp_path / str(number)) for number, case in enumerate(SLOW))
        )
        assert peak_bytes() - before < GROWTH_BYTES
    for case, (reported, took_s) in zip(SLOW, found, strict=True):
        assert_a_sentence(case, reported)
        assert took_s < WITHIN_S, case
    assert good.latest_s() < HEARTBEAT_S + LATE_S


def assert_a_sentence(case: dict[str, Any], told: str) -> None:
    assert re.search(case["sentence"], told), told
    assert len(told) < 700
    assert told.endswith((".", "…")), told
    assert "\n" not in told and "Traceback" not in told


async def told_of(case: dict[str, Any], folder: Path) -> tuple[str, float]:
    """The message, and the seconds of the workbench's own time until it."""
    door: Callable[[dict[str, Any], Path, Clock], Awaitable[str]] = DOORS[case["door"]]
    clock = Clock()
    try:
        message = await door(case, folder, clock)
    except PongbenchError as error:
        message = str(error)
    return message, time.monotonic() - clock.began


class Clock:
    """Begins when a hostile program is there: starting it is no part of what is measured."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.began = time.monotonic()


# -- where hostile programs run


async def at_runner(case: dict[str, Any], folder: Path, clock: Clock) -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-S", str(script(folder, "runner", case))),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    assert process.stdin and process.stdout
    link = Link("foe", process.stdout, process.stdin)
    clock.start()
    try:
        await link.open("/nowhere")
        match case.get("does", "clock"):
            case "read":
                await link.read(["/proc/uptime", "/proc/stat"])
            case "start":
                await link.start(Command(["true"]))
            case "output":
                started = await link.start(Command(["true"]))
                async with asyncio.timeout(5):
                    async for _ in started.lines():
                        pass
            case _:
                while True:
                    await link.ping()
                    await asyncio.sleep(0.01)
    except TimeoutError:
        return "No end of it."
    finally:
        clock.began += await timed(link.close())
        await end(process)
    raise AssertionError("nothing was told")


async def at_survey(case: dict[str, Any], folder: Path, clock: Clock) -> str:
    """Over a real connection, at which every command is the same hostile program."""
    program = script(folder, "survey", case)

    async def run(process: Running) -> None:
        nonce = re.search(r"[0-9a-f]{32}", process.command or "")
        await run_program(process, sys.executable, "-S", str(program), nonce[0] if nonce else "")

    async with ssh_host(run=run) as host:
        host.trusted()
        profile = host.profile(folder / "work", name="foe")
        shell = await open_shell(profile, answer)
        clock.start()
        try:
            await survey_machine(shell, profile)
        finally:
            clock.began += await timed(shell.close())
            clock.began += await timed(host.close())
    raise AssertionError("nothing was told")


async def at_tuner(case: dict[str, Any], folder: Path, clock: Clock) -> str:
    async with machine_with(folder, "tuner", case) as machine:
        clock.start()
        tuner = await Tuner.start(machine, Rights("root"))
        await tuner.apply({"net.core.somaxconn": "1024"}, None)
    raise AssertionError("nothing was told")


async def at_sampler(case: dict[str, Any], folder: Path, clock: Clock) -> str:
    async with machine_with(folder, "sampler", case) as machine:
        sampling = Sampling(machine, lambda t_us: t_us, lambda sample: None)
        clock.start()
        await sampling.start()
        try:
            return str(await sampling.lost())
        finally:
            clock.began += await timed(sampling.stop())


async def at_agent(case: dict[str, Any], folder: Path, clock: Clock) -> str:
    async with machine_with(folder, "agent", case) as machine:
        clock.start()
        fleet = await AgentFleet.start([Client(machine)])
        try:
            report = await fleet.run(
                LOAD, started=lambda at_us: None, on_window=lambda window: None
            )
            return report.complaints[-1]
        finally:
            clock.began += await timed(fleet.close())


async def at_finder(case: dict[str, Any], folder: Path, clock: Clock) -> str:
    async with machine_with(folder, "builders", case) as machine:
        clock.start()
        await provide(machine, ["nginx"], install=False, notify=lambda text: None)
    raise AssertionError("nothing was told")


DOORS: dict[str, Any] = {
    "finder": at_finder,
    "runner": at_runner,
    "survey": at_survey,
    "tuner": at_tuner,
    "sampler": at_sampler,
    "agent": at_agent,
}


async def timed(work: Awaitable[object]) -> float:
    """How long cleaning up took, which the reader of the sentence does not wait for."""
    began = time.monotonic()
    await work
    return time.monotonic() - began


class Hijacked:
    """This computer, but for one program."""

    def __init__(self, machine: LocalMachine, program: str, instead: Path) -> None:
        self._machine = machine
        self._program = program
        self._instead = instead

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    async def put(self, source: Path, target: str) -> str:
        hostile = source.stem == self._program
        return await self._machine.put(self._instead if hostile else source, target)

    async def tool(self, source: Path) -> str:
        return await self.put(source, f"tools/{source.name}")

    async def start(self, command: Command) -> Any:
        if self._program == "agent" and "workbench.remote.agent" in " ".join(command.argv):
            command = Command([*self._machine.python, str(self._instead)])
        return await self._machine.start(command)


@contextlib.asynccontextmanager
async def machine_with(folder: Path, program: str, case: dict[str, Any]) -> AsyncIterator[Machine]:
    instead = script(folder, program, case)
    machine = await open_local(cache_dir=folder / "cache", name="foe")
    try:
        hijacked: Any = Hijacked(machine, program, instead)
        yield hijacked
    finally:
        await machine.close()


# -- other machines are not affected


class Good:
    """Another machine: a runner that answers, and notes when its lease was renewed."""

    def __init__(self) -> None:
        self.beats: list[float] = []
        """On a clock that stands still while this program waits for a processor."""
        self._output: asyncio.Queue[bytes] = asyncio.Queue()

    def write(self, data: bytes, /) -> None:
        self.beats.append(time.monotonic() - waited_s())
        message = json.loads(data)
        if nonce := message.get("nonce"):
            self._output.put_nowait(f"\n{nonce}\n{READY}\n".encode())
        elif message["op"] == "ping":
            pong = {"ev": "pong", "n": message["n"], "monotonic_us": 1}
            self._output.put_nowait(f"- {json.dumps(pong)}\n".encode())

    async def read(self, size: int, /) -> bytes:
        return await self._output.get()

    async def drain(self) -> None: ...

    def close(self) -> None:
        self._output.put_nowait(b"")

    async def wait_closed(self) -> None: ...

    def latest_s(self) -> float:
        """The longest time from one renewal to the next."""
        gaps = [after - before for before, after in zip(self.beats, self.beats[1:], strict=False)]
        return max(gaps, default=0.0)


def waited_s() -> float:
    """How long this thread was ready to run and did not, because others ran."""
    _, waited_ns, _ = Path("/proc/thread-self/schedstat").read_text().split()
    return int(waited_ns) / 1e9


@contextlib.asynccontextmanager
async def good_machine() -> AsyncIterator[Good]:
    good = Good()
    link = Link("friend", good, good)
    await link.open("/nowhere")
    try:
        yield good
        assert link.failure is None
    finally:
        good.close()
        await link.close()


def peak_bytes(*, reset: bool = False) -> int:
    """The most memory this process has had, since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) << 10
