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
import signal
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import msgspec

from workbench.closing import all_of, ended, to_the_end
from workbench.documents import ClientPart, Counts, Errors, Histograms, SparseHistogram
from workbench.errors import PongbenchError
from workbench.load.base import (
    Capabilities,
    Client,
    LoadGenerator,
    LoadReport,
    LoadTool,
    OnStart,
    OnWindow,
    PointSpec,
    starts_at,
)
from workbench.load.merge import merged, part, shared
from workbench.machines.base import Machine
from workbench.machines.runner_client import Command, Process
from workbench.machines.wire import Count, InvalidMessage, decode, quoted
from workbench.messages.base import Said
from workbench.messages.reasons import reason
from workbench.remote import REMOTE
from workbench.remote.agent.tally import bucket_of
from workbench.servers.programs import ProgramName


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Of a table that a program writes, the columns whose values are to be counted."""

    columns: list[str]
    heading: str = ""
    """Its heading where it has none."""
    span: list[str] = []
    """Of calls: who made each, when it ended (s), how long it took (ms); see `run_program`."""


class Span(msgspec.Struct, frozen=True):
    """When those who made calls began with them."""

    begun: Count
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)]
    """Between the first and the last that began."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
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
        return " ".join(
            [*(f"{n}={shlex.quote(v)}" for n, v in self.env.items()), shlex.join(self.argv)]
        )


Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]


class Output(msgspec.Struct, frozen=True, kw_only=True, tag_field="ev", tag="ended"):
    """What a program wrote and used; see `run_program`."""

    status: int
    """Exit status; negative: the signal that ended it."""
    output: Text
    files: dict[str, Text] = {}
    counted: dict[str, dict[str, Count]] = {}
    spans: dict[str, Span] = {}
    began_us: Count = 0
    """By the client's monotonic clock."""
    wall_us: Count = 0
    cpu_us: Count = 0


class Unreadable(Exception):
    """An output that is not a result; the text says what is wrong, for use in a sentence."""


def checked(
    parse: Callable[[Output, PointSpec], LoadReport], output: Output, spec: PointSpec
) -> LoadReport:
    """Return what a parser reads. Raises Unreadable, also where its arithmetic fails."""
    try:
        report = parse(output, spec)
        for figures in (report.counts, report.histograms):
            msgspec.convert(msgspec.to_builtins(figures), type(figures))
    except (ArithmeticError, LookupError, ValueError) as error:
        raise Unreadable("its figures are inconsistent") from error
    return report


def url(spec: PointSpec) -> str:
    host = f"[{spec.host}]" if ":" in spec.host else spec.host
    return f"http://{host}:{spec.port}{spec.options.get('path', '/')}"


def calls_per_s(spec: PointSpec) -> int:
    """The rate of calls for a program that takes whole rates only."""
    return max(1, round(spec.rate_per_s * spec.calls_per_connection))


def result(
    succeeded: int,
    errors: Mapping[str, int],
    schedule_s: float,
    *,
    due: int = 0,
    sent: int | None = None,
    replies: int | None = None,
    offered_in_s: float | None = None,
    **times: SparseHistogram,
) -> LoadReport:
    """The report of calls that succeeded or failed. `due`: scheduled, of which those that did not
    end are in flight; `sent`, and `replies` in the schedule: where not all that ended."""
    lost = {name: count for name, count in sorted(errors.items()) if count}
    ended = succeeded + sum(lost.values())
    in_flight = max(0, due - ended)
    return LoadReport(
        counts=Counts(
            scheduled=ended + in_flight,
            unsent=0,
            sent=ended if sent is None else sent,
            late=None,
            established=None,
            succeeded=succeeded,
            errors=lost,
            in_flight=in_flight,
        ),
        histograms=Histograms(**times),
        replies_in_schedule=succeeded if replies is None else replies,
        schedule_s=schedule_s,
        offered_in_s=offered_in_s,
    )


def sparse(times: Mapping[int, int]) -> SparseHistogram:
    """Return the histogram of counts by us."""
    buckets: Counter[int] = Counter()
    for us, count in times.items():
        buckets[bucket_of(us)] += count
    return [number for pair in sorted(buckets.items()) for number in pair]


def last_line(text: str) -> str:
    """The last line that a program printed before it failed, for a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return quoted(lines[-1]).rstrip(".") if lines else "it printed nothing"


def lost_calls(
    events: Mapping[str, int],
    lost: int,
    calls: int,
    *,
    whole: Collection[str] = (),
    interrupted: bool = False,
) -> tuple[Errors, int]:
    """Divide the `lost` calls of a point among the errors that a tool counted. `events`:
    connections by error; `calls`: of each connection; `whole`: errors before the first call, so
    that all calls are lost; `interrupted`: the point ended early. Returns the calls by error, and
    those in flight. Calls lost with their connection have its error, or `other` where several are
    possible."""
    left = lost
    errors: Counter[str] = Counter()
    for name in sorted(events, key=lambda each: (each not in whole, each)):
        errors[name] = min(left, events[name] * (calls if name in whole else 1))
        left -= errors[name]
    broken = [name for name in events if events[name] and name not in whole]
    if broken and not interrupted:
        errors[broken[0] if len(broken) == 1 else "other"] += left
        left = 0
    return {name: count for name, count in sorted(errors.items()) if count}, left


LAUNCHER = REMOTE / "run_program.py"
READY_WITHIN_S = 8.0
ENDS_WITHIN_S = 8.0
"""After it was interrupted; the launcher kills it after half of that."""
MOST_OUTPUT = 4 << 20
"""Bytes of a program's result, as the launcher reports it."""


class _Ready(msgspec.Struct, frozen=True, tag_field="ev", tag="ready"):
    """It waits for the start."""


class _Failed(msgspec.Struct, frozen=True, tag_field="ev", tag="failed"):
    """The program could not be started."""

    said: str


_DECODER: msgspec.json.Decoder[Output | _Ready | _Failed] = msgspec.json.Decoder(
    Output | _Ready | _Failed
)


class ProgramProcess:
    """One process of a point. What fails in it is a complaint; it takes no further part then."""

    def __init__(
        self, program: Program, client: Client, cpus: Sequence[int], spec: PointSpec
    ) -> None:
        self.client = client
        self.machine = client.machine
        self.spec = spec
        self.cpus = cpus
        self.invocation = program.invocation(spec, client.workers if program.threads else 1)
        self.output: Output | None = None
        self.report: LoadReport | None = None
        self.complaint: Said | None = None
        self.overdue_s = 0.0
        """It did not end by itself within this time, so it was interrupted."""
        self.uncertainty_us = 0
        self.offset_us = 0
        self._program = program
        self._process: Process | None = None

    async def end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(PongbenchError):
                await self._process.stop(0)

    async def launch(self) -> None:
        self.offset_us, self.uncertainty_us = await self.machine.clock()
        argv = [*self.machine.python, await self.machine.tool(LAUNCHER)]
        self._process = await self.machine.start(
            Command(argv, nofile=self.client.nofile, cpus=self.cpus)
        )
        name, *arguments = self.invocation.argv
        found = self.client.programs
        await self.send(
            argv=[found.paths.get(name, name), *arguments],
            env={**found.env, **self.invocation.env},
            files=self.invocation.files,
            read=self.invocation.read,
            counted=msgspec.to_builtins(self.invocation.counted),
        )
        await self._event()

    async def finish(self, within_s: float) -> None:
        """Wait for its result; one that is late is interrupted, and what it prints counts."""
        finishing = asyncio.ensure_future(self._event())
        try:
            done, _ = await asyncio.wait({finishing}, timeout=within_s)
            if not done:
                self.overdue_s = within_s
                await self.send(stop=True)
            event = await finishing
        finally:
            await ended(finishing)
        if not isinstance(event, Output):
            raise Unreadable("a second greeting")
        self.output = event
        self.report = await asyncio.to_thread(checked, self._program.parse, event, self.spec)

    async def send(self, **line: Any) -> None:
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

    async def guarded(
        self, work: Coroutine[Any, Any, None], within_s: float = READY_WITHIN_S
    ) -> None:
        """Do one of these, unless something failed before."""
        if self.complaint:
            work.close()
            return
        said = ""
        try:
            async with asyncio.timeout(within_s):
                await work
        except TimeoutError:
            said = f"did not finish within {self.overdue_s or within_s:.0f} s and was stopped"
        except (Unreadable, InvalidMessage) as error:
            said = f"{_ended(self.output.status if self.output else 0)} ({error})"
            if self.overdue_s:
                said = f"did not finish within {self.overdue_s:.0f} s and was stopped"
        except PongbenchError as error:
            self.complaint = reason("client-gone", client=self.machine.name, said=str(error))
        if said:
            name = self.machine.name
            self.complaint = reason("tool-failed", tool=self._program.name, client=name, said=said)


def _ended(status: int) -> str:
    """How a program without a result ended, for a sentence. `status`: see `Output`."""
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        return f"was killed by {names.get(-status, f'signal {-status}')}"
    return f"ended with status {status}" if status else "gave no result"


GRACE_S = 15.0


@dataclass(frozen=True)
class Program:
    name: str
    capabilities: Capabilities
    invocation: Callable[[PointSpec, int], Invocation]
    """Of one client's share of a point, with this number of threads."""
    parse: Callable[[Output, PointSpec], LoadReport]
    """The report on a share, without CPU time and clients. Raises Unreadable. Pure."""
    program: ProgramName = ""
    """In `resources/programs.yaml`; empty: of the same name."""
    grace_s: float = GRACE_S
    """How much longer than `PointSpec.longest_s` it may take."""

    @property
    def threads(self) -> bool:
        """Whether one process uses all cores of a client; otherwise each worker is a process."""
        return "threads" in self.capabilities.traits

    def tool(self) -> LoadTool:
        return LoadTool(
            name=self.name,
            label=self.name,
            capabilities=self.capabilities,
            start=self.start,
            needs=(self.program or self.name,),
            command=self.command,
        )

    async def start(self, clients: Sequence[Client]) -> LoadGenerator:
        for client in clients:
            await client.machine.tool(LAUNCHER)
        return ProgramFleet(self, clients)

    def command(self, spec: PointSpec, workers: int) -> str:
        threads = workers if self.threads else 1
        return self.invocation(spec, threads).shown()


class ProgramFleet:
    """A `LoadGenerator` that runs a program on every client, once for each point and worker."""

    def __init__(self, program: Program, clients: Sequence[Client]) -> None:
        self._program = program
        self._clients = list(clients)
        self._running: list[ProgramProcess] = []
        self._stopping = False

    @property
    def workers(self) -> int:
        return sum(client.workers for client in self._here())

    @property
    def lost(self) -> list[str]:
        return [c.machine.name for c in self._clients if c.machine.failure]

    async def run(self, spec: PointSpec, *, started: OnStart, on_window: OnWindow) -> LoadReport:
        self._stopping = False
        running = self._running = self._processes(spec)
        try:
            await all_of(p.guarded(p.launch()) for p in running)
            at_us = starts_at(p.uncertainty_us for p in running)
            await all_of(p.guarded(p.send(at_us=at_us - p.offset_us)) for p in running)
            started(at_us)
            if self._stopping:
                await self.stop_point()
            # A closed loop by seconds ends with the calls that are then under way.
            by_seconds = spec.mode == "closed" and spec.seconds
            within = replace(spec, calls_per_connection=1) if by_seconds else spec
            within_s = within.longest_s + self._program.grace_s
            await all_of(p.guarded(p.finish(within_s), within_s + ENDS_WITHIN_S) for p in running)
        finally:
            self._running = []
            await to_the_end(all_of(p.end() for p in running))
        if not self._here():
            raise self._clients[0].machine.failure or PongbenchError("No client is left.")
        complaints = [p.complaint for p in running if p.complaint]
        if self._stopping:  # One that was stopped before it could take a signal has no result.
            complaints = [each for each in complaints if each.code != "tool-failed"]
        done = [(p, p.output, p.report) for p in running if p.output and p.report]
        traits = self._program.capabilities.traits
        several = any(client.workers > 1 for client in self._clients)
        # How busy the busiest core of a client was is then not known.
        cpu_unknown = "polls" in traits or ("threads" in traits and several)
        report = _merged(done, complaints)
        return replace(
            report,
            clients=_of_clients(done, at_us),
            remarks=[
                reason("tool-interrupted", tool=self._program.name, client=p.machine.name)
                for p, _, _ in done
                if p.overdue_s and not self._stopping
            ],
            client_cpu_pct=None if cpu_unknown else report.client_cpu_pct,
            command=running[0].invocation.shown() if running else "",
        )

    async def stop_point(self) -> None:
        self._stopping = True
        await all_of(p.guarded(p.send(stop=True)) for p in self._running)

    async def rejoin(self, machine: Machine) -> None:
        await machine.tool(LAUNCHER)
        self._clients = [
            replace(client, machine=machine) if client.machine.name == machine.name else client
            for client in self._clients
        ]

    async def close(self) -> None:
        await to_the_end(all_of(process.end() for process in self._running))

    def _here(self) -> list[Client]:
        return [client for client in self._clients if not client.machine.failure]

    def _processes(self, spec: PointSpec) -> list[ProgramProcess]:
        """Return those of a point, each with its share; fewer than connections at most."""
        program, places = self._program, []
        for client in self._here():
            cores = client.cpus[: client.workers]
            if program.threads:
                places.append((client, cores))
                continue
            places += [(client, cores[n : n + 1] or client.cpus) for n in range(client.workers)]
        return [
            ProgramProcess(program, client, cpus, share)
            for (client, cpus), share in zip(places, shared(spec, len(places)), strict=False)
        ]


Done: TypeAlias = Sequence[tuple[ProgramProcess, Output, LoadReport]]


def _merged(done: Done, complaints: Sequence[Said] = ()) -> LoadReport:
    outputs = [output for _, output, _ in done]
    busiest = max((100 * o.cpu_us / o.wall_us for o in outputs if o.wall_us), default=0.0)
    return replace(
        merged([report for _, _, report in done], complaints),
        client_cpu_pct=round(busiest, 2),
        client_cpu_s=sum(output.cpu_us for output in outputs) / 1e6,
    )


def _of_clients(done: Done, at_us: int) -> list[ClientPart]:
    parts = []
    for name in dict.fromkeys(process.machine.name for process, _, _ in done):
        own = [each for each in done if each[0].machine.name == name]
        late_us = max(o.began_us + p.offset_us - at_us for p, o, _ in own)
        known_us = max(p.uncertainty_us for p, _, _ in own)
        whole = _merged(own)
        parts.append(part(name, whole, began_late_us=late_us, clock_uncertainty_us=known_us))
    return parts
