"""Load tools that are programs: wrk, ab and others, run on every client for each point.

A file of this folder declares one as a `Program`: the command of a point, and a pure function that
reads what it printed. The rest is the same for all: where the program is, its cores, a common
start, its CPU time, and an end in one sentence where it fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from workbench.analysis import histogram
from workbench.closing import ended, to_the_end
from workbench.documents import ClientPart, Counts, Histograms, SparseHistogram
from workbench.errors import PongbenchError
from workbench.load.base import (
    Capabilities,
    Client,
    LoadGenerator,
    LoadReport,
    LoadTool,
    LoadWindow,
    PointSpec,
    no_problems,
)
from workbench.machines.base import Command, Machine, Process
from workbench.machines.wire import Count, InvalidMessage, decode, quoted
from workbench.messages.base import Message
from workbench.messages.reasons import ClientGone, ToolFailed
from workbench.plan.model import Plan

LAUNCHER = Path(__file__).with_name("run_program.py")
READY_WITHIN_S = 8.0
LEAD_US = 50_000
"""Between the command to start and the start: time for it to reach every client."""
LEAD_TRIPS = 10
"""The lead grows by this multiple of the slowest client's uncertainty (half a round trip)."""
MOST_OUTPUT = 4 << 20
"""Bytes of a program's result, as the launcher reports it."""
GRACE_S = 15.0
"""How much longer than `PointSpec.longest_s` a program may take, in seconds."""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Of a table that a program writes, the columns whose values are to be counted."""

    columns: list[str]
    heading: str = ""
    """Its heading where it has none."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """How a program is started for a point."""

    argv: list[str]
    """Its arguments; the first is its name, as the user would type it."""
    env: dict[str, str] = {}
    files: dict[str, str] = {}
    """Texts by name, written to its working folder."""
    read: list[str] = []
    """Files that it writes there, to be returned."""
    counted: dict[str, Table] = {}
    """Tables that it writes there, by name or pattern; see `run_program`."""

    def shown(self) -> str:
        """The command line as typed in a shell."""
        return " ".join(
            [*(f"{n}={shlex.quote(v)}" for n, v in self.env.items()), shlex.join(self.argv)]
        )


Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]


class Output(msgspec.Struct, frozen=True, kw_only=True, tag_field="ev", tag="ended"):
    """What a program wrote and used; see `run_program`."""

    status: int
    """Exit status; negative: the signal that ended it."""
    output: Text
    """stdout and stderr."""
    files: dict[str, Text] = {}
    counted: dict[str, dict[str, Count]] = {}
    began_us: Count = 0
    """By the client's monotonic clock."""
    wall_us: Count = 0
    cpu_us: Count = 0


class _Ready(msgspec.Struct, frozen=True, tag_field="ev", tag="ready"):
    """It waits for the start."""


class _Failed(msgspec.Struct, frozen=True, tag_field="ev", tag="failed"):
    """The program could not be started."""

    said: str


_DECODER: msgspec.json.Decoder[Output | _Ready | _Failed] = msgspec.json.Decoder(
    Output | _Ready | _Failed
)


class Unreadable(Exception):
    """An output that is not a result; the text says what is wrong, for use in a sentence."""


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
    threads: bool = False
    """Whether one process uses several cores; otherwise each worker is a process."""
    polls: bool = False
    """Whether it polls the clock, so that its CPU time says nothing about its load."""
    problems: Callable[[Plan], Iterator[str]] = no_problems
    """What else of a plan it cannot offer, as sentences; see `registry.problems`."""

    def tool(self) -> LoadTool:
        return LoadTool(
            name=self.name,
            label=self.name,
            capabilities=self.capabilities,
            start=self.start,
            command=self.command,
            problems=self.problems,
        )

    async def start(self, clients: Sequence[Client]) -> LoadGenerator:
        fleet = ProgramFleet(self, clients)
        for client in clients:
            await fleet.prepare(client.machine)
        return fleet

    def command(self, spec: PointSpec, workers: int) -> str:
        """The command line of one client."""
        threads = workers if self.threads else 1
        return self.invocation(spec, threads).shown()


class _Process:
    """One process of a point, from its launch to its report. What fails in it is a complaint, after
    which it takes no further part."""

    def __init__(self, program: Program, client: Client, number: int, spec: PointSpec) -> None:
        """`number`: of this process on its client; `spec`: its share."""
        self.client = client
        self.spec = spec
        cores = client.cpus[: client.workers]
        self.cpus = cores if program.threads else cores[number : number + 1] or client.cpus
        threads = client.workers if program.threads else 1
        self.invocation = program.invocation(spec, threads)
        self.output: Output | None = None
        self.report: LoadReport | None = None
        self.complaint: Message | None = None
        self.uncertainty_us = 0
        self.offset_us = 0
        self._program = program
        self._process: Process | None = None

    @property
    def machine(self) -> Machine:
        return self.client.machine

    async def launch(self, launcher: str) -> None:
        """Have everything ready for the start. `launcher`: its path there."""
        await self._guarded(self._launch(launcher), READY_WITHIN_S)

    async def go(self, at_us: int) -> None:
        """Start at this instant of our monotonic clock."""
        await self._guarded(self._send(at_us=at_us - self.offset_us), READY_WITHIN_S)

    async def interrupt(self) -> None:
        await self._guarded(self._send(stop=True), READY_WITHIN_S)

    async def finish(self, within_s: float) -> None:
        await self._guarded(self._finish(), within_s)

    async def end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(PongbenchError):
                await self._process.stop(0)

    async def _launch(self, launcher: str) -> None:
        self.offset_us, self.uncertainty_us = await self.machine.clock()
        argv = [*self.machine.python, launcher]
        self._process = await self.machine.start(
            Command(argv, nofile=self.client.nofile, cpus=self.cpus)
        )
        name, *arguments = self.invocation.argv
        found = self.client.programs
        await self._send(
            argv=[found.paths.get(self._program.name, name), *arguments],
            env={**found.env, **self.invocation.env},
            files=self.invocation.files,
            read=self.invocation.read,
            counted=msgspec.to_builtins(self.invocation.counted),
        )
        await self._event()

    async def _finish(self) -> None:
        event = await self._event()
        if not isinstance(event, Output):
            raise Unreadable("a second greeting")
        self.output = event
        self.report = self._program.parse(event, self.spec)

    async def _send(self, **line: Any) -> None:
        assert self._process is not None
        await self._process.send(json.dumps(line).encode())

    async def _event(self) -> Output | _Ready:
        assert self._process is not None
        async for line in self._process.lines():
            if line.startswith(b"{"):
                event = decode(_DECODER, line, MOST_OUTPUT)
                if isinstance(event, _Failed):
                    raise Unreadable(quoted(event.said))
                return event
        raise Unreadable(": ".join(["its launcher ended", *map(quoted, self._process.tail()[-1:])]))

    async def _guarded(self, work: Coroutine[Any, Any, None], within_s: float) -> None:
        if self.complaint:
            work.close()
            return
        said = ""
        try:
            async with asyncio.timeout(within_s):
                await work
        except TimeoutError:
            said = f"did not finish within {within_s:.0f} s and was stopped"
        except (Unreadable, InvalidMessage) as error:
            status = self.output.status if self.output else 0
            how = f"ended with status {status}" if status else "gave no result"
            said = f"{how} ({error})"
        except PongbenchError as error:
            self.complaint = ClientGone(client=self.machine.name, said=str(error))
        if said:
            name = self.machine.name
            self.complaint = ToolFailed(tool=self._program.name, client=name, said=said)


class ProgramFleet:
    """A `LoadGenerator` that runs a program on every client, once for each point and worker."""

    def __init__(self, program: Program, clients: Sequence[Client]) -> None:
        self._program = program
        self._clients = list(clients)
        self._launchers: dict[str, str] = {}
        """Paths by machine."""
        self._running: list[_Process] = []
        self._stopping = False

    async def prepare(self, machine: Machine) -> None:
        """Copy the launcher there. Raises PongbenchError."""
        self._launchers[machine.name] = await machine.put(LAUNCHER, LAUNCHER.name)

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
            await _all(p.launch(self._launchers[p.machine.name]) for p in running)
            slowest_us = max((p.uncertainty_us for p in running), default=0)
            at_us = time.monotonic_ns() // 1000 + LEAD_US + LEAD_TRIPS * slowest_us
            await _all(p.go(at_us) for p in running)
            started(at_us)
            if self._stopping:
                await self.stop_point()
            await _all(p.finish(spec.longest_s + GRACE_S) for p in running)
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
        many_threads = self._program.threads and any(c.workers > 1 for c in self._clients)
        return self._program.polls or many_threads

    def _here(self) -> list[Client]:
        return [client for client in self._clients if not client.machine.failure]

    def _processes(self, spec: PointSpec) -> list[_Process]:
        """Return those of a point, each with its share; fewer than connections at most."""
        places = [
            (client, number)
            for client in self._here()
            for number in range(1 if self._program.threads else client.workers)
        ]
        shares = shared(spec, len(places))
        return [
            _Process(self._program, client, number, share)
            for (client, number), share in zip(places, shares, strict=False)
        ]


async def _all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    running = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.gather(*running)
    finally:
        await ended(*running)


def shared(spec: PointSpec, parts: int) -> list[PointSpec]:
    """Divide a point among programs, as equally as whole connections allow; none is without one."""
    if spec.mode == "closed":
        parts = min(parts, spec.concurrency)
    elif spec.connections:
        parts = min(parts, spec.connections)
    return [
        msgspec.structs.replace(
            spec,
            concurrency=_share(spec.concurrency, n, parts),
            connections=_share(spec.connections, n, parts),
            # In proportion, so that all end together.
            rate_per_s=spec.rate_per_s * _portion(spec.connections, n, parts),
            seed=spec.seed + n,
        )
        for n in range(parts)
    ]


def _portion(whole: int, number: int, parts: int) -> float:
    return _share(whole, number, parts) / whole if whole else 1 / parts


def _share(whole: int, number: int, parts: int) -> int:
    return whole // parts + (number < whole % parts)


def merged(reports: Sequence[LoadReport], complaints: Sequence[Message] = ()) -> LoadReport:
    """Add the reports of several programs. A figure that one cannot tell is unknown of all; so are
    percentiles, which add up only as histograms."""
    counts = [report.counts for report in reports]
    errors: Counter[str] = Counter()
    for each in counts:
        errors.update(each.errors)
    return LoadReport(
        counts=Counts(
            scheduled=sum(c.scheduled for c in counts),
            unsent=sum(c.unsent for c in counts),
            sent=sum(c.sent for c in counts),
            late=_sum([c.late for c in counts]),
            established=_sum([c.established for c in counts]),
            succeeded=sum(c.succeeded for c in counts),
            errors=dict(sorted(errors.items())),
            in_flight=sum(c.in_flight for c in counts),
        ),
        histograms=Histograms(
            **{
                name: _merged_times([getattr(r.histograms, name) for r in reports])
                for name in Histograms.__struct_fields__
            }
        ),
        replies_in_schedule=sum(r.replies_in_schedule for r in reports),
        schedule_s=max((r.schedule_s for r in reports), default=0.0),
        complaints=list(complaints),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _merged_times(parts: Sequence[SparseHistogram]) -> SparseHistogram:
    return histogram.merge(parts) if all(parts) else []


def _of_clients(
    done: Sequence[tuple[_Process, Output, LoadReport]], at_us: int
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
                began_late_us=max(o.began_us + p.offset_us - at_us for p, o, _ in own),
                clock_uncertainty_us=max(p.uncertainty_us for p, _, _ in own),
            )
        )
    return parts


def _busiest_pct(outputs: Sequence[Output]) -> float:
    """Percent of one core, of the process that used most."""
    busiest = max((100 * o.cpu_us / o.wall_us for o in outputs if o.wall_us), default=0.0)
    return round(busiest, 2)


def url(spec: PointSpec) -> str:
    host = f"[{spec.host}]" if ":" in spec.host else spec.host
    return f"http://{host}:{spec.port}{spec.options.get('path', '/')}"


def sparse(times: Mapping[int, int]) -> SparseHistogram:
    """Return the histogram of counts by us."""
    buckets: Counter[int] = Counter()
    for us, count in times.items():
        buckets[histogram.bucket_of(us)] += count
    return [number for pair in sorted(buckets.items()) for number in pair]


def last_line(text: str) -> str:
    """The last words of a program that failed, for a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return quoted(lines[-1]).rstrip(".") if lines else "it printed nothing"


def only_plain_calls(name: str, plan: Plan) -> Iterator[str]:
    """Problems of a program that makes one request over and over, without a pause."""
    given, defaults = msgspec.structs.asdict(plan.workload), {"pipeline": 1, "tls": "none"}
    beyond = {
        "requests": "has one request",
        "pipeline": "does not pipeline",
        "tls": "is used without TLS here",
        "think_time_s": "does not pause between calls",
    }
    for key, what in beyond.items():
        if given.get(key, 0) and given[key] != defaults.get(key):
            yield f"{name} {what}; leave workload.{key} out, or choose another load tool."
