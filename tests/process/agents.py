"""The load agent, other load tools, and servers for them, as processes of a test."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oracle import PATIENCE_S

from workbench.load.base import LoadGenerator, LoadReport, PointSpec

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
OPTIONS = ("protocol", "path", "pipeline", "on_close", "requests", "private")
"""Of a load, the workload's own."""
PONG = {"protocol": "pong", "timeout_s": PATIENCE_S}
HTTP = {"protocol": "http/1.1", "timeout_s": PATIENCE_S}
AGENT = (sys.executable, "-m", "workbench.remote.agent")


@dataclass
class Outcome:
    """What the agent said of a point, the workers' totals added up."""

    windows: list[dict[str, Any]] = field(default_factory=list)
    reports: list[dict[str, Any]] = field(default_factory=list)

    def total(self, name: str) -> int:
        return sum(report[name] for report in self.reports)

    @property
    def errors(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for report in self.reports:
            for name, count in report["errors"].items():
                found[name] = found.get(name, 0) + count
        return found

    def histogram(self, name: str) -> list[int]:
        assert len(self.reports) == 1, "of one worker"
        histogram: list[int] = self.reports[0]["histograms"][name]
        return histogram

    @property
    def conserved(self) -> bool:
        """scheduled = unsent + succeeded + errors + in flight, in every worker."""
        return all(
            r["due"] == r["unsent"] + r["replies"] + sum(r["errors"].values()) + r["in_flight"]
            for r in self.reports
        )


class Agent:
    """A running agent, spoken to as the engine does."""

    def __init__(self, process: subprocess.Popen[bytes], workers: int) -> None:
        self.process = process
        self.workers = workers
        self.hello = self.hear()
        self._points = 0
        self.started_s = 0.0
        """When the last point began, on the monotonic clock."""

    def say(self, **command: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the agent has ended"
        event: dict[str, Any] = json.loads(line)
        return event

    def run(
        self,
        port: int,
        on_window: Callable[[dict[str, Any]], None] = lambda window: None,
        **load: Any,
    ) -> Outcome:
        """Of a point in which every call is accounted for."""
        self._points += 1
        number = self._points
        own = {name: load.pop(name) for name in OPTIONS if name in load}
        workload = "pong" if own.get("protocol", "pong") == "pong" else "http"
        what = {"workload": workload, "options": own}
        shared = {"host": "127.0.0.1", "port": port, "shares": self.workers, **what, **load}
        self.say(op="point", id=number, load=shared)
        for _ in range(self.workers):
            assert self.hear()["ev"] == "armed"
        at_us = time.monotonic_ns() // 1000 + 20_000
        self.started_s = at_us / 1e6
        self.say(op="start", id=number, at_us=at_us)
        outcome = Outcome()
        while len(outcome.reports) < self.workers:
            event = self.hear()
            if event["ev"] == "window":
                outcome.windows.append(event)
                on_window(event)
            elif event["ev"] == "done":
                outcome.reports.append(event)
            else:
                raise AssertionError(event)
        assert outcome.conserved, outcome.reports
        return outcome


@contextlib.contextmanager
def agent(
    *, workers: int = 1, wrap: tuple[str, ...] = (), command: tuple[str, ...] = AGENT
) -> Iterator[Agent]:
    """`wrap`: a command to run it under, for example one that lowers a limit."""
    argv = [*command, "--workers", str(workers)]
    with subprocess.Popen(
        [*wrap, *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        try:
            yield Agent(process, workers)
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.communicate()


async def reported(load: LoadGenerator, spec: PointSpec, *, stop: bool = False) -> LoadReport:
    """What a load tool reports of a point. `stop`: which is stopped as soon as it has begun."""
    stopping: list[asyncio.Future[None]] = []

    def started(at_us: int) -> None:
        if stop:
            stopping.append(asyncio.ensure_future(load.stop_point()))

    report = await load.run(spec, started=started, on_window=lambda window: None)
    await asyncio.gather(*stopping)
    return report


@contextlib.contextmanager
def target(mode: str, argument: str = "0", wrap: tuple[str, ...] = ()) -> Iterator[Target]:
    """A server of `targets.py`."""
    with subprocess.Popen(
        [*wrap, sys.executable, str(HERE / "targets.py"), mode, argument], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        try:
            yield Target(process, int(process.stdout.readline()))
        finally:
            process.kill()


@dataclass
class Target:
    process: subprocess.Popen[bytes]
    port: int


def outcome_of(mode: str, argument: str = "0", /, *, workers: int = 1, **load: Any) -> Outcome:
    """What an agent says of a point against a server of `targets.py`."""
    with target(mode, argument) as server, agent(workers=workers) as it:
        return it.run(server.port, **load)
