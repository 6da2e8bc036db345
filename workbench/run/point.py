"""Runs one point: offers its load, and watches the target until it ends: a point in which that was
lost says nothing about its server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.usage import Usage
from workbench.closing import ended
from workbench.documents import PointStop
from workbench.errors import PongbenchError
from workbench.load.base import LoadGenerator, LoadReport, PointSpec
from workbench.load.registry import spec_of
from workbench.machines.base import Machine, answers
from workbench.machines.pulse import Instant
from workbench.messages import notes
from workbench.messages.base import Message
from workbench.messages.machines import SamplerLost, SamplerRestarted, TargetGone
from workbench.messages.reasons import ComputerSlept, TargetLost, TargetSilent
from workbench.plan.schedule import PointPlan
from workbench.run.point_recording import Ended, History, PointRecording
from workbench.run.state import RunState
from workbench.servers.entry import ServerEntry
from workbench.workloads.options import Workload

ANSWERS_WITHIN_S = 4.0
"""As long as a runner may be silent: where a server takes all there is, answers are slow."""

ASLEEP_S = 0.5
"""The clocks of a computer that did not sleep differ by far less."""


class PointWatch:
    """Watches the target during one point."""

    def __init__(self, target: Machine, waits: Sequence[asyncio.Task[PongbenchError]]) -> None:
        self._target = target
        self._waits = waits
        self._began = Instant.now()

    async def lost(self) -> None:
        """Wait until the target or its sampler is lost."""
        await asyncio.wait(self._waits, return_when=asyncio.FIRST_COMPLETED)

    async def checked(self, report: LoadReport, complete: bool) -> LoadReport:
        """The report, with a complaint where the target was lost meanwhile. After a bad point that
        is `complete` the target is asked whether it is still there."""
        cause: Message | None = next(
            (TargetLost(said=str(wait.result())) for wait in self._waits if wait.done()), None
        )
        counts = report.counts
        slept_s = Instant.now().slept_since(self._began)
        if not cause and slept_s > ASLEEP_S:
            cause = ComputerSlept(seconds=slept_s)
        if not cause and complete and counts.succeeded < SUSTAINED_SHARE * counts.scheduled:
            cause = await self._silence()
        return replace(report, complaints=[*report.complaints, cause]) if cause else report

    async def _silence(self) -> Message | None:
        if await answers(self._target, ANSWERS_WITHIN_S):
            return None
        if failure := self._target.failure:
            return TargetLost(said=str(failure))
        return TargetSilent(machine=self._target.name, within_s=ANSWERS_WITHIN_S)


class TargetWatch:
    """Watches the target of a run and its sampler."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._target = run.stage.target
        self._sampling = run.stage.sampling
        self._unsampled = False
        """Its sampler could not be restarted, which was noted."""

    @contextlib.asynccontextmanager
    async def during_point(self) -> AsyncIterator[PointWatch]:
        """Watch for the length of a point."""
        waits = [asyncio.create_task(self._target.lost())]
        if self._sampling.failure is None:
            waits.append(asyncio.create_task(self._sampling.lost()))
        try:
            yield PointWatch(self._target, waits)
        finally:
            await ended(*waits)

    async def after_point(self) -> None:
        """Restart the sampler where it is lost. Raises PongbenchError where the target is lost."""
        if self._sampling.failure and not self._unsampled:
            await answers(self._target, ANSWERS_WITHIN_S)  # else it may not be known yet
        if failure := self._target.failure:
            self._run.note(TargetGone(said=str(failure)))
            raise failure
        if self._sampling.failure and not self._unsampled:
            await self._restart_sampler(self._sampling.failure)

    async def _restart_sampler(self, failure: PongbenchError) -> None:
        try:
            await self._sampling.again()
        except PongbenchError:
            self._unsampled = True
            self._run.note(SamplerLost(said=str(failure)))
            return
        self._run.note(SamplerRestarted(said=str(failure)))


async def unchanged() -> Message | None:
    """Of a server that only this program starts and ends."""
    return None


@dataclass(frozen=True)
class Target:
    """The server under test, as the clients reach it."""

    server: str
    name: str
    host: str
    port: int
    entry: ServerEntry | None = None
    """None: the expected reply is unknown."""
    exit_status: Callable[[], int | None] = lambda: None
    """See `Deployment.exit_status`."""
    nofile: int = 0
    """Descriptor limit in force in each of its processes; 0: unknown."""
    cores: int = 0
    """On which it may run; 0: unknown."""
    here: bool = True
    """Whether it is on the target."""
    known: bool = True
    """Whether the kernel shows its processes."""
    changed: Callable[[], Awaitable[Message | None]] = unchanged
    """Returns how others changed its processes since the last point."""


class PointRunner:
    """Runs the points of a run and numbers them."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self.target_watch = TargetWatch(run)
        self._history = History()
        self._points = 0
        self._lost_cpu: set[str] = set()
        """Servers that were said to lose CPU time."""

    async def measure(self, point: PointPlan, target: Target) -> PointStop:
        """Run one point; its documents are emitted, the last one is returned, too.

        Raises PongbenchError when no client is left to offer load. A point ended by `control`
        is marked incomplete.
        """
        self._points += 1
        point = self._run.stage.with_tool(point)
        spec = _spec(self._run, point, target)
        below = self._history.below(point, self._run.plan.axis)
        recording = PointRecording(self._run, point, self._points, spec, below)
        stage = self._run.stage
        await stage.samplers.mark()
        own_before_s = time.process_time()
        generator = stage.loads[point.load_tool]
        load = generator.run(spec, started=recording.started, on_window=recording.take)
        async with self.target_watch.during_point() as watch:
            report, complete = await self._interruptible(generator, load, watch)
            report = await watch.checked(report, complete)
        usages = await stage.samplers.since_mark(now=complete)
        if changed := await target.changed():
            report = replace(report, complaints=[*report.complaints, changed])
        usage = usages.get(stage.target.name, Usage())
        if target.here:
            usages.pop(stage.target.name, None)
        usage = usage.seen(here=target.here, known=target.known)
        others_s = None
        if report.client_cpu_s is not None and usage.elsewhere_s is not None:
            known_s = sum(
                part.cpu_s for part in report.clients if part.machine == stage.target.name
            )
            if stage.target.is_local:
                known_s += time.process_time() - own_before_s
            others_s = max(0.0, usage.elsewhere_s - known_s)
        resent = sum(of_client.counters.get("RetransSegs", 0) for of_client in usages.values())
        stop = recording.stop(
            Ended(
                report,
                complete,
                usage,
                others_s,
                resent,
                target.exit_status(),
                target.nofile,
                target.cores,
                target.here,
            )
        )
        self._note_lost_cpu(target, usage)
        self._history.add(stop)
        self._run.emit(stop)
        return stop

    def _note_lost_cpu(self, target: Target, usage: Usage) -> None:
        if (
            usage.cpu_lost
            and target.known
            and target.entry
            and target.entry.id not in self._lost_cpu
        ):
            self._lost_cpu.add(target.entry.id)
            self._run.note(notes.CpuTimeLost(name=target.entry.name), target.entry.id)

    async def _interruptible(
        self, generator: LoadGenerator, load: Any, watch: PointWatch
    ) -> tuple[LoadReport, bool]:
        running = asyncio.ensure_future(load)
        interrupted = asyncio.ensure_future(self._run.control.interrupted())
        lost = asyncio.ensure_future(watch.lost())
        try:
            await asyncio.wait({running, interrupted, lost}, return_when=asyncio.FIRST_COMPLETED)
            complete = running.done()
            if not complete:
                await generator.stop_point()
            return await running, complete
        finally:
            await ended(running, interrupted, lost)


def _spec(run: RunState, point: PointPlan, target: Target) -> PointSpec:
    """The point as passed to a load tool."""
    plan, entry = run.plan, target.entry
    workload = plan.declared.at(point.workload, entry) if entry else point.workload
    return spec_of(
        plan,
        point,
        plan.declared.driven(workload, run.secrets),
        host=target.host,
        port=target.port,
        reply=plan.declared.reply(workload, entry) if entry else {},
        tls=_tls(run, point.workload, entry),
        addresses=run.budget.addresses,
    )


def _tls(run: RunState, workload: Workload, entry: ServerEntry | None) -> dict[str, Any]:
    certificate = run.stage.certificate
    if certificate is None:
        return {}
    resume = run.plan.declared.tls(workload) == "resumed"
    if entry and (contact := entry.running):
        name = contact.address.host
        return {"certificate": contact.certificate, "name": name, "resume": resume}
    return {"certificate": certificate.certificate, "resume": resume}
