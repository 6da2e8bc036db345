"""Runs one point: offers its load, watches the target until it ends, records its documents, and
judges it, also by the points before it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from workbench import metrics
from workbench.analysis import histogram, phases
from workbench.analysis.causes import Given, cause
from workbench.analysis.clients import client_limited
from workbench.analysis.evidence import SUSTAINED_SHARE, Evidence, Queue, queue_of
from workbench.analysis.faults import is_fault
from workbench.analysis.starts import Started, rise_s
from workbench.analysis.usage import Usage
from workbench.analysis.verdicts import judge
from workbench.axis import RATE, recorded
from workbench.closing import ended
from workbench.documents import WINDOW_US, PointStart, PointStop, Verdict, Window
from workbench.errors import PongbenchError
from workbench.load.base import LoadGenerator, LoadReport, PointSpec
from workbench.load.events import LoadWindow
from workbench.load.registry import spec_of
from workbench.machines.base import Machine, answers
from workbench.machines.pulse import Instant
from workbench.messages.base import Said
from workbench.messages.notes import notice
from workbench.messages.reasons import reason, reasons_of, what_fails
from workbench.metrics import Measured
from workbench.plan.schedule import PointPlan, series_key
from workbench.plan.search import with_limits
from workbench.run.state import RunState
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.workloads.options import Workload


def clean_per_s(below: Sequence[PointStop]) -> float | None:
    """See `Evidence`."""
    if not below:
        return None
    counts = below[-1].counts
    faults = sum(n for name, n in counts.errors.items() if is_fault(name))
    if faults > (1 - SUSTAINED_SHARE) * counts.scheduled:
        return None
    return counts.succeeded / below[-1].seconds


def faulty_before(below: Sequence[PointStop]) -> frozenset[str]:
    """See `Evidence`."""
    found = (reason for stop in below if stop.verdict == "faulty" for reason in reasons_of(stop))
    return frozenset(each.data()["error"] for each in found if what_fails(each))


LEAST_CALL_S = 1e-6
"""Reading a request and writing the reply take the kernel longer, in any language."""

DOUBTFUL = ("inconclusive", "faulty")


@dataclass(frozen=True)
class Target:
    """The server under test."""

    deployment: Deployment
    nofile: int = 0
    """Descriptor limit in force in each of its processes; 0: unknown."""
    cores: int = 0
    """On which it may run; 0: unknown."""
    changed: Callable[..., Awaitable[Said | None]] | None = None
    """Notes how others changed its processes since it was last asked, `between` points or not, and
    returns what excludes the point; None: nobody can."""

    @property
    def entry(self) -> ServerEntry:
        return self.deployment.entry


class PointRecording:
    """Turns reports of one point into documents, and keeps what the verdict needs."""

    def __init__(
        self,
        run: RunState,
        point: PointPlan,
        target: Target,
        *,
        number: int,
        spec: PointSpec,
        below: list[PointStop],
    ) -> None:
        self._run = run
        self._target = target
        self._spec = spec
        self._below = below
        self._can = run.stage.tools[point.load_tool].capabilities
        self._point = point
        axis = run.plan.axis if point.purpose != "warm_up" else RATE
        self._start = PointStart(
            t_us=0,
            point=number,
            server=point.server,
            x=point.x,
            purpose=point.purpose,
            pass_number=point.pass_number,
            look=point.attempt,
            connections=point.connections,
            calls_per_connection=point.workload.calls_per_connection,
            seconds=point.seconds,
            load_tool=point.load_tool,
            series=series_key(run.plan.load_tools, point.server, point.load_tool),
            **recorded(axis, point.x),
        )
        self._windows: list[Window] = []
        self._stay_s = point.workload.longest_stay_s

    def started(self, at_us: int) -> None:
        self._start = structs.replace(self._start, t_us=at_us - self._run.zero_us)
        self._run.emit(self._start)

    def take(self, window: LoadWindow) -> None:
        document = Window(
            t_us=self._start.t_us + window.index * WINDOW_US,
            point=self._start.point,
            index=window.index,
            due=window.due,
            sent=window.sent,
            late=window.late,
            established=window.established,
            replies=window.replies,
            errors=window.errors,
            in_flight=window.in_flight,
            pending=window.pending,
            pending_within=window.pending_within,
            latency_us=histogram.percentiles(window.latency),
            service_us=histogram.percentiles(window.service),
            latency=histogram.packed(histogram.coarse(window.latency), coarse=True),
            service=histogram.packed(histogram.coarse(window.service), coarse=True),
            phase=phases.phase(
                window.index, self._point.seconds, self._point.workload.ramp_s or self._stay_s
            )
            if self._point.seconds
            else "measure",
        )
        self._windows.append(document)
        self._run.emit(document)

    def stop(
        self,
        report: LoadReport,
        usage: Usage,
        others_s: float | None,
        resent: int,
        *,
        complete: bool,
    ) -> PointStop:
        """Judge the point, and return its last document. `usage`: of the target; `others_s`: CPU
        time that other programs took on the cores of server and clients, None if it cannot be
        separated from theirs; `resent`: segments that other machines than the target retransmitted;
        `complete`: it was not ended early."""
        point, exit_status = self._point, self._target.deployment.exit_status()
        counts, times = report.counts, report.histograms
        complete = complete and not report.complaints
        seconds = point.seconds if complete and point.seconds else report.schedule_s
        steady = self._steady(seconds)
        evidence = self._evidence(
            report,
            usage,
            seconds,
            steady,
            complete=complete,
            exit_status=exit_status,
            resent_by_clients=resent,
            others_cpu_pct=_share_pct(others_s, usage.seconds),
        )
        verdict, reasons = self._judged(evidence, report, usage)
        cpu_pct, lost = report.client_cpu_pct, counts.scheduled - counts.succeeded
        calls_per_s, measured_s = self._answered(report, steady, seconds)
        stop = PointStop(
            t_us=self._run.now_us(),
            **self._start.identity,
            complete=complete,
            seconds=round(seconds, 6),
            counts=counts,
            offered_per_s=self._offered(report, steady, seconds),
            replies_per_s=round(calls_per_s * self._per_unit, 3),
            measured_s=measured_s,
            values=self._values(report, usage, calls_per_s),
            errors_pct=round(100 * lost / counts.scheduled, 4) if counts.scheduled else 0.0,
            latency_us=evidence.latency_us,
            service_us=histogram.percentiles(times.service),
            connect_us=evidence.connect_us,
            first_byte_us=histogram.percentiles(times.first_byte),
            lateness_us=evidence.lateness_us,
            histograms=histogram.all_packed(times),
            client_cpu_pct=None if cpu_pct is None else round(cpu_pct, 2),
            server_cpu_pct=round(usage.cpu_pct, 2),
            server_rss_bytes=usage.rss_bytes,
            verdict=verdict,
            reasons=[reason.text() for reason in reasons],
            findings=[reason.record() for reason in reasons],
            evidence={name: round(value, 6) for name, value in evidence.figures().items()},
            command=report.command,
            conserved=report.conserved,
            clients=report.clients,
            start_skew_us=report.start_skew_us,
        )
        search = self._run.plan.search if point.judged else None
        return with_limits(stop, search) if search else stop

    def _evidence(
        self,
        report: LoadReport,
        usage: Usage,
        seconds: float,
        steady: phases.Steady | None,
        **more: Any,
    ) -> Evidence:
        point, run = self._point, self._run
        times, limit = report.histograms, run.limits[point.load_tool]
        offered = self._offered(report, steady, seconds)
        planned = _rate(point.samples * self._per_unit, point.seconds)
        started = Started.of((window.middle_s, window.service) for window in self._windows)
        shared = getattr(point.workload, "pipeline", 1) > 1 or point.workload.held
        judged_p99_ms = run.plan.declared.p99_limit_ms(point.workload)
        return Evidence(
            counts=report.counts,
            seconds=seconds,
            offered_per_s=0.0 if point.concurrency else offered,
            planned_per_s=planned if "own-pace" in self._can.traits else 0.0,
            closed=point.concurrency > 0,
            elsewhere=report.elsewhere,
            requests=report.figures.get("requests", 0),
            uncounted=report.figures.get("uncounted", 0),
            least_cpu_s=0.0 if shared else LEAST_CALL_S * report.counts.succeeded,
            conserved=report.conserved,
            lateness_us=histogram.percentiles(times.lateness),
            client_cpu_pct=report.client_cpu_pct,
            most_open=self._can.most_open if self._can.most_open < run.plan.nofile else 0,
            workers=run.stage.loads[point.load_tool].workers,
            client_cores=len(run.stage.placement.agents),
            queue=self._queue(seconds, steady),
            latency_us=histogram.percentiles(times.latency),
            p99_limit_ms=judged_p99_ms if point.judged else None,
            timeout_s=point.workload.timeout_s,
            rise_s=rise_s(started, steady.from_s, steady.to_s) if steady else None,
            ceiling_per_s=limit.per_s if point.judged else None,
            ceiling_others_pct=limit.background_load_pct,
            counters=usage.counters,
            link_lost_share=run.link_lost_share,
            connect_us=histogram.percentiles(times.connect),
            stolen_cpu_pct=_share_pct(usage.stolen_s, usage.seconds) or 0.0,
            loopback=run.stage.fleet.loopback and self._target.deployment.here,
            server_cpu_pct=usage.cpu_pct if usage.seconds and not usage.cpu_lost else None,
            calls_per_connection=point.workload.calls_per_connection,
            clients={each.machine: each.service_us for each in report.clients if each.service_us},
            faults=report.faults,
            clean_per_s=clean_per_s(self._below),
            faulty_before=faulty_before(self._below),
            **more,
        )

    def _judged(
        self, evidence: Evidence, report: LoadReport, usage: Usage
    ) -> tuple[Verdict, list[Said]]:
        """Return the verdict, and all that is to be said of the point."""
        stage, plan, target = self._run.stage, self._run.plan, self._target
        verdict, reasons = judge(evidence)
        if evidence.exit_status is None and not usage.cpu_lost:
            cores = target.cores or len(stage.placement.server or stage.target.cpus) or 1
            why = cause(usage, Given(cores, target.nofile or plan.nofile, plan.backlog))
            # The kernel shows these, whoever else was busy.
            shown = why is not None and why.code in ("descriptors-used-up", "not-accepted")
            if why and (verdict == "server-limited" or (shown and verdict in DOUBTFUL)):
                reasons.append(why)
        limited = client_limited(report.waits, evidence.latency_us)
        reasons += [*report.complaints, *report.remarks, *([limited] if limited else [])]
        return verdict, reasons

    @property
    def _per_unit(self) -> float:
        """Rates are of calls, or of the connections or users that make several."""
        of_calls = self._run.plan.unit not in ("connections", "users")
        return 1.0 if of_calls else 1 / self._point.workload.calls_per_connection

    def _offered(self, report: LoadReport, steady: phases.Steady | None, seconds: float) -> float:
        if self._point.workload.held:  # Those are calls of their own, made in the ramp.
            return _rate(steady.due, steady.seconds) if steady else 0.0
        return _rate(report.counts.scheduled * self._per_unit, report.offered_in_s or seconds)

    def _values(
        self, report: LoadReport, usage: Usage, calls_per_s: float
    ) -> dict[str, float | None]:
        declared = self._run.plan.declared
        body_bytes = declared.payload_bytes(self._point.workload)
        if body_bytes is None and (known := self._spec.reply.get("body")):
            body_bytes = len(known.encode())
        measured = Measured(
            report,
            self._windows,
            usage,
            self._point.workload.held,
            body_bytes,
            calls_per_s,
            declared.statuses,
        )
        return metrics.values(measured, declared.requests(self._run.plan.workload))

    def _queue(self, seconds: float, steady: phases.Steady | None) -> Queue | None:
        point, windows = self._point, self._windows
        if point.concurrency or not {"windows", "latency"} <= self._can.reports:
            return None
        if point.workload.held:
            # Their number says nothing; that of the messages not answered yet does.
            first = round(point.workload.ramp_s * 1e6 / WINDOW_US)
            windows = [
                structs.replace(w, index=w.index - first, in_flight=round(w.pending or 0))
                for w in windows
                if w.index >= first
            ]
            seconds -= point.workload.ramp_s
        return queue_of(
            windows,
            seconds,
            calls_per_connection=point.workload.calls_per_connection,
            ramp_s=self._stay_s,
            steady=steady,
        )

    def _steady(self, schedule_s: float) -> phases.Steady | None:
        if self._point.workload.held:
            return phases.steady(self._windows, schedule_s, self._point.workload.ramp_s)
        calls = 1 if self._point.concurrency else self._point.workload.calls_per_connection
        ramp_s = phases.ramp_s(self._windows, calls, self._stay_s)
        return phases.steady(self._windows, schedule_s, ramp_s)

    def _answered(
        self, report: LoadReport, steady: phases.Steady | None, seconds: float
    ) -> tuple[float, list[float]]:
        """Calls answered per second of the measured part, and the bounds of that part."""
        if steady is None:
            # The agent ends a point at its last reply, which may come before the schedule's end.
            least_s = seconds if "windows" in self._can.reports else 0.0
            return _rate(report.replies_in_schedule, max(least_s, report.schedule_s)), []
        # After a stall in the ramp replies catch up; report no more than was scheduled.
        paced = "latency" in self._can.reports and not self._point.concurrency
        replies = min(steady.replies, steady.due) if paced else steady.replies
        return replies / steady.seconds, [round(steady.from_s, 3), round(steady.to_s, 3)]


def _share_pct(busy_s: float | None, seconds: float) -> float | None:
    if busy_s is None:
        return None
    return 100 * busy_s / seconds if seconds else 0.0


def _rate(count: float, seconds: float) -> float:
    return round(count / seconds, 3) if seconds > 0 else 0.0


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


class PointRunner:
    """Runs the points of a run and numbers them; watches the target meanwhile, and its sampler."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._target = run.stage.target
        self._sampling = run.stage.sampling
        self._unsampled = False
        """Its sampler could not be restarted, which was noted."""
        self._sweeps: defaultdict[tuple[str, str], dict[float, PointStop]] = defaultdict(dict)
        """By server and load tool, then place: the last complete point that is judged."""
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
        sweep = self._sweeps[point.server, point.load_tool]
        # At less load, ascending; none if the plan does not vary load.
        varies = point.judged and not self._run.plan.axis.of_workload
        below = [sweep[x] for x in sorted(sweep) if varies and x < point.x]
        recording = PointRecording(
            self._run, point, target, number=self._points, spec=spec, below=below
        )
        stage = self._run.stage
        if target.changed:
            await target.changed(between=True)
        await stage.samplers.mark()
        own_before_s = time.process_time()
        generator = stage.loads[point.load_tool]
        load = generator.run(spec, started=recording.started, on_window=recording.take)
        report, complete = await self._during(generator, load)
        usages = await stage.samplers.since_mark(now=complete)
        if target.changed and (changed := await target.changed(between=False)):
            report = replace(report, complaints=[*report.complaints, changed])
        usage = usages.get(stage.target.name, Usage())
        here, known, server = target.deployment.here, target.deployment.known, target.entry
        if here:
            usages.pop(stage.target.name, None)
        usage = usage.seen(here=here, known=known)
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
        if usage.cpu_lost and known and server.id not in self._lost_cpu:
            self._lost_cpu.add(server.id)
            self._run.note(notice("cpu-time-lost", name=server.name), server.id)
        if stop.complete and stop.judged:
            sweep[stop.x] = stop
        self._run.emit(stop)
        return stop

    async def _during(
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
            self._run.note(notice("target-lost", said=str(failure)))
            raise failure
        if (failure := self._sampling.failure) and not self._unsampled:
            try:
                await self._sampling.again()
                self._run.note(notice("sampler-restarted", said=str(failure)))
            except PongbenchError:
                self._unsampled = True
                self._run.note(notice("sampler-lost", said=str(failure)))


def _spec(run: RunState, point: PointPlan, target: Target) -> PointSpec:
    plan, entry = run.plan, target.entry
    workload = plan.declared.at(point.workload, entry)
    return spec_of(
        plan,
        point,
        plan.declared.driven(workload, run.secrets),
        host=target.deployment.host,
        port=target.deployment.port,
        reply=plan.declared.reply(workload, entry),
        tls=_tls(run, point.workload, entry),
        addresses=run.budget.addresses,
    )


def _tls(run: RunState, workload: Workload, entry: ServerEntry) -> dict[str, Any]:
    certificate = run.stage.certificate
    if certificate is None:
        return {}
    resume = run.plan.declared.tls(workload) == "resumed"
    if contact := entry.running:
        name = contact.address.host
        return {"certificate": contact.certificate, "name": name, "resume": resume}
    return {"certificate": certificate.certificate, "resume": resume}
