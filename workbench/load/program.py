"""Load tools that are programs: wrk, ab and others, run on every client for each point.

A file of this folder declares one as a `Program`: the command of a point, and a pure function that
reads what it printed. The rest is the same for all: where the program is, its cores, a common
start, its CPU time, and an end in one sentence where it fails.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from workbench.analysis import histogram
from workbench.closing import ended, to_the_end
from workbench.documents import ClientPart
from workbench.errors import PongbenchError
from workbench.load.base import (
    Capabilities,
    Client,
    LoadGenerator,
    LoadReport,
    LoadTool,
    LoadWindow,
    PointSpec,
)
from workbench.load.output import Invocation, Output
from workbench.load.program_process import LAUNCHER, ProgramProcess
from workbench.load.shares import merged, shared
from workbench.machines.base import Machine
from workbench.messages.reasons import ToolFailed, ToolInterrupted

LEAD_US = 50_000
"""Between the command to start and the start: time for it to reach every client."""
LEAD_TRIPS = 10
"""The lead grows by this multiple of the slowest client's uncertainty (half a round trip)."""
GRACE_S = 15.0
"""How much longer than `PointSpec.longest_s` a program may take, in seconds."""


@dataclass(frozen=True)
class Program:
    """A load tool that is a program of the system."""

    name: str
    """Also its name in `servers.programs`."""
    capabilities: Capabilities
    invocation: Callable[[PointSpec, int], Invocation]
    """Of one client's share of a point, with this number of threads."""
    parse: Callable[[Output, PointSpec], LoadReport]
    """The report of one program on its share; without CPU time and clients, which are added.
    Raises Unreadable when the output is not a whole result. Pure."""
    grace_s: float | None = None
    """How much longer than `PointSpec.longest_s` it may take; None: `GRACE_S`."""

    def tool(self) -> LoadTool:
        return LoadTool(
            name=self.name,
            label=self.name,
            capabilities=self.capabilities,
            start=self.start,
            command=self.command,
        )

    async def start(self, clients: Sequence[Client]) -> LoadGenerator:
        fleet = ProgramFleet(self, clients)
        for client in clients:
            await fleet.prepare(client.machine)
        return fleet

    def command(self, spec: PointSpec, workers: int) -> str:
        """The command line of one client."""
        threads = workers if self.capabilities.threads else 1
        return self.invocation(spec, threads).shown()


class ProgramFleet:
    """A `LoadGenerator` that runs a program on every client, once for each point and worker."""

    def __init__(self, program: Program, clients: Sequence[Client]) -> None:
        self._program = program
        self._clients = list(clients)
        self._running: list[ProgramProcess] = []
        self._stopping = False

    async def prepare(self, machine: Machine) -> None:
        """Copy the launcher there. Raises PongbenchError."""
        await machine.tool(LAUNCHER)

    @property
    def workers(self) -> int:
        return sum(client.workers for client in self._here())

    @property
    def lost(self) -> list[str]:
        return [c.machine.name for c in self._clients if c.machine.failure]

    async def run(
        self,
        spec: PointSpec,
        *,
        started: Callable[[int], None],
        on_window: Callable[[LoadWindow], None],
    ) -> LoadReport:
        self._stopping = False
        running = self._running = self._processes(spec)
        try:
            await _all(p.launch() for p in running)
            slowest_us = max((p.uncertainty_us for p in running), default=0)
            at_us = time.monotonic_ns() // 1000 + LEAD_US + LEAD_TRIPS * slowest_us
            await _all(p.go(at_us) for p in running)
            started(at_us)
            if self._stopping:
                await self.stop_point()
            grace_s = GRACE_S if self._program.grace_s is None else self._program.grace_s
            await _all(p.finish(_longest_s(spec) + grace_s) for p in running)
        finally:
            self._running = []
            await to_the_end(_all(p.end() for p in running))
        if not self._here():
            raise self._clients[0].machine.failure or PongbenchError("No client is left.")
        complaints = [p.complaint for p in running if p.complaint]
        if self._stopping:  # One that was stopped before it could take a signal has no result.
            complaints = [each for each in complaints if not isinstance(each, ToolFailed)]
        done = [(p, p.output, p.report) for p in running if p.output and p.report]
        return replace(
            merged([report for _, _, report in done], complaints),
            clients=_of_clients(done, at_us),
            remarks=[
                ToolInterrupted(tool=self._program.name, client=p.machine.name)
                for p, _, _ in done
                if p.overdue and not self._stopping
            ],
            client_cpu_pct=None if self._cpu_unknown else _busiest_pct([o for _, o, _ in done]),
            client_cpu_s=sum(output.cpu_us for _, output, _ in done) / 1e6,
            command=running[0].invocation.shown() if running else "",
        )

    async def stop_point(self) -> None:
        self._stopping = True
        await _all(process.interrupt() for process in self._running)

    async def rejoin(self, machine: Machine) -> None:
        await self.prepare(machine)
        self._clients = [
            replace(client, machine=machine) if client.machine.name == machine.name else client
            for client in self._clients
        ]

    async def close(self) -> None:
        await to_the_end(_all(process.end() for process in self._running))

    @property
    def _cpu_unknown(self) -> bool:
        """Whether it is not known how busy the busiest core of a client was."""
        can = self._program.capabilities
        return can.polls or (can.threads and any(c.workers > 1 for c in self._clients))

    def _here(self) -> list[Client]:
        return [client for client in self._clients if not client.machine.failure]

    def _processes(self, spec: PointSpec) -> list[ProgramProcess]:
        """Return those of a point, each with its share; fewer than connections at most."""
        places = [
            (client, number)
            for client in self._here()
            for number in range(1 if self._program.capabilities.threads else client.workers)
        ]
        shares = shared(spec, len(places))
        return [
            self._process(client, number, share)
            for (client, number), share in zip(places, shares, strict=False)
        ]

    def _process(self, client: Client, number: int, share: PointSpec) -> ProgramProcess:
        """Return that of this number on its client."""
        program, threads = self._program, self._program.capabilities.threads
        cores = client.cpus[: client.workers]
        return ProgramProcess(
            program.name,
            program.invocation(share, client.workers if threads else 1),
            program.parse,
            client=client,
            cpus=cores if threads else cores[number : number + 1] or client.cpus,
            spec=share,
        )


def _longest_s(spec: PointSpec) -> float:
    """A closed loop by seconds ends with the calls that are then under way."""
    by_seconds = spec.mode == "closed" and spec.seconds
    return (msgspec.structs.replace(spec, calls_per_connection=1) if by_seconds else spec).longest_s


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    running = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.gather(*running)
    finally:
        await ended(*running)


def _of_clients(
    done: Sequence[tuple[ProgramProcess, Output, LoadReport]], at_us: int
) -> list[ClientPart]:
    parts = []
    for name in dict.fromkeys(process.machine.name for process, _, _ in done):
        own = [each for each in done if each[0].machine.name == name]
        report = merged([report for _, _, report in own])
        parts.append(
            ClientPart(
                machine=name,
                scheduled=report.counts.scheduled,
                sent=report.counts.sent,
                late=report.counts.late or 0,
                unsent=report.counts.unsent,
                cpu_pct=_busiest_pct([output for _, output, _ in own]),
                cpu_s=sum(output.cpu_us for _, output, _ in own) / 1e6,
                latency_us=histogram.percentiles(report.histograms.latency),
                service_us=histogram.percentiles(report.histograms.service),
                latency_mean_us=histogram.mean(report.histograms.latency),
                began_late_us=max(o.began_us + p.offset_us - at_us for p, o, _ in own),
                clock_uncertainty_us=max(p.uncertainty_us for p, _, _ in own),
            )
        )
    return parts


def _busiest_pct(outputs: Sequence[Output]) -> float:
    """Percent of one core, of the process that used most."""
    busiest = max((100 * o.cpu_us / o.wall_us for o in outputs if o.wall_us), default=0.0)
    return round(busiest, 2)
