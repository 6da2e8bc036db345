"""Runs one point: offers its load, and watches the target until it ends: a point in which that was
lost says nothing about its server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from dataclasses import replace
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
from workbench.messages.base import Said
from workbench.messages.machines import SamplerLost, SamplerRestarted, TargetGone
from workbench.messages.reasons import reason
from workbench.plan.schedule import PointPlan
from workbench.run.point_recording import History, PointRecording, Target
from workbench.run.state import RunState
from workbench.servers.entry import ServerEntry
from workbench.workloads.options import Workload

ANSWERS_WITHIN_S = 4.0
"""As long as a runner may be silent: where a server takes all there is, answers are slow."""

ASLEEP_S = 0.5
"""The clocks of a computer that did not sleep differ by far less."""


async def gone(
    target: Machine,
    waits: Sequence[asyncio.Task[PongbenchError]],
    began: Instant,
    report: LoadReport,
    *,
    complete: bool,
) -> Said | None:
    """Return why a point does not count: the target was lost, or this computer slept."""
    if lost := next((wait for wait in waits if wait.done()), None):
        return reason("target-lost", said=str(lost.result()))
    slept_s = Instant.now().slept_since(began)
    if slept_s > ASLEEP_S:
        return reason("computer-slept", seconds=slept_s)
    counts = report.counts
    if not complete or counts.succeeded >= SUSTAINED_SHARE * counts.scheduled:
        return None
    if await answers(target, ANSWERS_WITHIN_S):
        return None
    if failure := target.failure:
        return reason("target-lost", said=str(failure))
    return reason("target-silent", machine=target.name, within_s=ANSWERS_WITHIN_S)


class TargetWatch:
    """Watches the target of a run and its sampler."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._target = run.stage.target
        self._sampling = run.stage.sampling
        self._unsampled = False
        """Its sampler could not be restarted, which was noted."""

    async def during(
        self, generator: LoadGenerator, load: Coroutine[Any, Any, LoadReport]
    ) -> tuple[LoadReport, bool]:
        """Run a point's load until it ends, or must. Returns its report, and if it is complete."""
        began = Instant.now()
        waits = [asyncio.create_task(self._target.lost())]
        if self._sampling.failure is None:
            waits.append(asyncio.create_task(self._sampling.lost()))
        running = asyncio.create_task(load)
        interrupted = asyncio.create_task(self._run.control.interrupted())
        try:
            await asyncio.wait({running, interrupted, *waits}, return_when=asyncio.FIRST_COMPLETED)
            complete = running.done()
            if not complete:
                await generator.stop_point()
            report = await running
            cause = await gone(self._target, waits, began, report, complete=complete)
        finally:
            await ended(running, interrupted, *waits)
        if cause:
            report = replace(report, complaints=[*report.complaints, cause])
        return report, complete

    async def after_point(self) -> None:
        """Restart the sampler where it is lost. Raises PongbenchError where the target is lost."""
        if self._sampling.failure and not self._unsampled:
            await answers(self._target, ANSWERS_WITHIN_S)  # else it may not be known yet
        if failure := self._target.failure:
            self._run.note(TargetGone(said=str(failure)))
            raise failure
        if (failure := self._sampling.failure) and not self._unsampled:
            try:
                await self._sampling.again()
                self._run.note(SamplerRestarted(said=str(failure)))
            except PongbenchError:
                self._unsampled = True
                self._run.note(SamplerLost(said=str(failure)))


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
        recording = PointRecording(
            self._run, point, target, number=self._points, spec=spec, below=below
        )
        stage = self._run.stage
        await stage.samplers.mark()
        own_before_s = time.process_time()
        generator = stage.loads[point.load_tool]
        load = generator.run(spec, started=recording.started, on_window=recording.take)
        report, complete = await self.target_watch.during(generator, load)
        usages = await stage.samplers.since_mark(now=complete)
        if target.changed and (changed := await target.changed()):
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
        stop = recording.stop(report, usage, others_s, resent, complete=complete)
        if usage.cpu_lost and target.known and target.server not in self._lost_cpu:
            self._lost_cpu.add(target.server)
            self._run.note(notes.CpuTimeLost(name=target.name), target.server)
        self._history.add(stop)
        self._run.emit(stop)
        return stop


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
