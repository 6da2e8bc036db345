"""A load tool whose server, clients and faults are a script."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import get_args

from workbench.analysis.histogram import percentiles
from workbench.documents import WINDOW_US, ClientPart, Counts, Errors, Histograms, Percentiles
from workbench.errors import PongbenchError
from workbench.load.base import (
    Capabilities,
    Client,
    LoadReport,
    LoadTool,
    OnStart,
    OnWindow,
    PointSpec,
    Reported,
)
from workbench.load.events import LoadWindow
from workbench.machines.base import Machine
from workbench.messages.base import Said
from workbench.messages.reasons import reason
from workbench.remote.agent.tally import bucket_of

ALL = Capabilities(
    reports=frozenset(get_args(Reported)), axes=("rate", "concurrency"), workloads=("pong", "http")
)


@dataclass
class Script:
    """What happens at the points of a run. `x` is a point's connections per second, or how many are
    concurrent in a closed loop."""

    capacity: Callable[[float], float] = lambda x: x
    """Connections a second that are answered where x are offered; the others get `error`."""
    stalls: Collection[int] = ()
    """Points, by number from 1, at which nothing is answered."""
    error: str = "client-timo"
    service_us: int = 200
    lateness_us: int = 20
    offered_in_s: float | None = None
    """In which the calls are offered. None: in the plan's time."""
    in_flight: float | None = 1.0
    """Calls in flight: of those that Little's law expects. None: not counted."""
    conserved: bool = True
    skew_us: int = 0
    """By which all clients but the first begin later."""
    slow_client: float = 1.0
    """How many times as long the second client's service times are."""
    lose: dict[int, Sequence[str]] = field(default_factory=dict)
    """Clients that are lost in the middle of a point, by its number."""
    fails: Callable[[int], bool] = lambda number: False
    """Whether the tool gives no result of a point, by its number."""
    on_point: Callable[[int, PointSpec], None] = lambda number, spec: None
    """Called in the middle of a point."""
    held: int = 0
    """The point that does not end by itself."""


class FakeLoad:
    """A `LoadGenerator` whose clients need not exist."""

    def __init__(self, script: Script, can: Capabilities, clients: Sequence[Client]) -> None:
        self.script = script
        self.can = can
        self.names = [client.machine.name for client in clients]
        self.lost: list[str] = []
        self.specs: list[PointSpec] = []
        """Of all points asked for."""
        self.running = 0
        self.closed = False
        self._ended = asyncio.Event()

    @property
    def workers(self) -> int:
        return len(self._here())

    async def run(self, spec: PointSpec, *, started: OnStart, on_window: OnWindow) -> LoadReport:
        self.specs.append(spec)
        number, began_with = len(self.specs), self._here()
        if not began_with:
            raise PongbenchError("No client is left.")
        self.running += 1
        self._ended.clear()
        try:
            await asyncio.sleep(0)
            started(time.monotonic_ns() // 1000)
            return await self._offer(spec, number, began_with, on_window)
        finally:
            self.running -= 1

    async def _offer(
        self,
        spec: PointSpec,
        number: int,
        clients: list[str],
        on_window: Callable[[LoadWindow], None],
    ) -> LoadReport:
        seconds = spec.seconds or 1.0
        windows = max(1, round(seconds * 1e6 / WINDOW_US))
        done = 0
        for index in range(windows):
            if "windows" in self.can.reports:
                on_window(self._window(spec, index, windows))
            done += 1
            await asyncio.sleep(0)
            if index == windows // 2:
                self.script.on_point(number, spec)
                if number == self.script.held:
                    await self._ended.wait()
            if self._ended.is_set():
                break
        gone = [name for name in self.script.lose.get(number, ()) if name in clients]
        self.lost += gone
        if len(gone) == len(clients):
            raise PongbenchError(f"{gone[0]} is gone.")
        complaints: list[Said] = [
            reason("client-gone", client=name, said=f"The load agent on {name} ended.")
            for name in gone
        ]
        if self.script.fails(number):
            complaints.append(
                reason("tool-failed", tool="fake", client=clients[0], said="gave no result")
            )
        return self._report(spec, done / windows, complaints)

    def _window(self, spec: PointSpec, index: int, windows: int) -> LoadWindow:
        due, replies, errors = self._calls(spec, 1 / windows)
        times = [bucket_of(self.script.service_us), replies] if replies else []
        waiting = round((due - replies) / spec.calls_per_connection) * (index + 1)
        return LoadWindow(
            index=index,
            due=due,
            sent=due,
            late=0,
            established=due // spec.calls_per_connection,
            replies=replies,
            errors=errors,
            in_flight=min(waiting, spec.connections),
            latency=times,
            service=times,
            pending=self._pending(replies, sum(errors.values()), spec),
        )

    def _pending(self, replies: int, lost: int, spec: PointSpec) -> float | None:
        if self.script.in_flight is None:
            return None
        call_us = replies * self.script.service_us + lost * spec.timeout_s * 1e6
        return self.script.in_flight * call_us / WINDOW_US

    def _calls(self, spec: PointSpec, part: float) -> tuple[int, int, Errors]:
        """Calls due, answered and lost in a part of the schedule."""
        x = spec.rate_per_s or spec.concurrency
        stalled = len(self.specs) in self.script.stalls
        answered_per_s = 0 if stalled else self.script.capacity(x) * spec.calls_per_connection
        seconds = (spec.seconds or 1.0) * part
        if spec.mode == "closed":
            due = replies = round(answered_per_s * seconds)
        else:
            due = round(spec.connections * part) * spec.calls_per_connection
            replies = min(due, round(answered_per_s * seconds))
        return due, replies, {self.script.error: due - replies} if due > replies else {}

    def _report(self, spec: PointSpec, part: float, complaints: list[Said]) -> LoadReport:
        due, replies, errors = self._calls(spec, part)
        times = [bucket_of(self.script.service_us), replies] if replies else []
        late = self.script.lateness_us > 5_000
        connections = due // spec.calls_per_connection
        here = self._here()
        return LoadReport(
            counts=Counts(
                scheduled=due,
                unsent=0,
                sent=due,
                late=due * late if "lateness" in self.can.reports else None,
                established=connections if "windows" in self.can.reports else None,
                succeeded=replies,
                errors=errors,
            ),
            histograms=Histograms(
                latency=times if {"latency", "percentiles"} <= self.can.reports else [],
                service=times if "percentiles" in self.can.reports else [],
                lateness=[bucket_of(self.script.lateness_us), connections]
                if "lateness" in self.can.reports and connections
                else [],
            ),
            replies_in_schedule=replies,
            schedule_s=self.script.offered_in_s or (spec.seconds or 1.0) * part,
            offered_in_s=self.script.offered_in_s,
            client_cpu_pct=20.0 if "windows" in self.can.reports else None,
            client_cpu_s=0.2 if "windows" in self.can.reports else None,
            conserved=self.script.conserved if "conservation" in self.can.reports else None,
            complaints=complaints,
            clients=[
                ClientPart(
                    machine=name,
                    scheduled=due // len(here),
                    sent=due // len(here),
                    began_late_us=self.script.skew_us * (n > 0),
                    cpu_s=0.2 / len(here) if "windows" in self.can.reports else 0.0,
                    service_us=self._seen_by(n, replies // len(here)),
                )
                for n, name in enumerate(here)
            ],
        )

    def _seen_by(self, client: int, replies: int) -> Percentiles | None:
        factor = self.script.slow_client if client == 1 else 1.0
        us = bucket_of(round(self.script.service_us * factor))
        return percentiles([us, replies]) if replies and "percentiles" in self.can.reports else None

    async def stop_point(self) -> None:
        self._ended.set()

    async def rejoin(self, machine: Machine) -> None:
        await asyncio.sleep(0)
        self.lost.remove(machine.name)

    async def close(self) -> None:
        self.closed = True

    def _here(self) -> list[str]:
        return [name for name in self.names if name not in self.lost]


def fake_tool(
    script: Script, capabilities: Capabilities = ALL, *, name: str = "fake"
) -> tuple[LoadTool, list[FakeLoad]]:
    """A tool for the registry, and the generators that it has started."""
    started: list[FakeLoad] = []

    async def start(clients: Sequence[Client]) -> FakeLoad:
        started.append(FakeLoad(script, capabilities, clients))
        return started[-1]

    return LoadTool(name, "A script", capabilities, start), started
