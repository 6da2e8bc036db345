"""One point: offered, followed, judged, told in documents."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.analysis import histogram
from workbench.analysis.evidence import Evidence, queue_of
from workbench.analysis.verdicts import judge
from workbench.control import Control
from workbench.documents import WINDOW_US, AnyDocument, PointStart, PointStop, Window
from workbench.load.base import LoadGenerator, LoadReport, LoadWindow
from workbench.machines.sampling import Sampling, Usage
from workbench.plans import Plan
from workbench.sweeps import PointPlan


@dataclass(frozen=True)
class Target:
    """The server under test, as the clients reach it."""

    server: str
    name: str
    host: str
    port: int


@dataclass
class Bench:
    """What a point needs besides itself."""

    plan: Plan
    load: LoadGenerator
    sampling: Sampling
    control: Control
    emit: Callable[[AnyDocument], None]
    session_us: Callable[[int], int]
    """From this machine's monotonic clock to the session's axis."""
    client_cores: int
    target: str = ""
    """Name of the machine that the servers run on."""
    here: bool = True
    """Whether that is this computer."""
    ceiling_per_s: float | None = None
    ceiling_others_pct: float = 0.0
    """See `sweeps.Ceiling`."""
    points: int = 0

    async def measure(self, point: PointPlan, target: Target) -> PointStop:
        """Run one point; its documents are emitted, the last one is returned, too.

        Raises PongbenchError when no client is left to offer load. A point ended by `control`
        is marked incomplete.
        """
        self.points += 1
        run = _Run(self, point, self.points)
        self.sampling.mark()
        own_before_s = time.process_time()
        load = self.load.run(
            _load(self.plan, point, target), started=run.started, on_window=run.take
        )
        report, complete = await self._interruptible(load)
        usage = self.sampling.since_mark()
        known_s = sum(part.cpu_s for part in report.clients if part.machine == self.target)
        if self.here:
            known_s += time.process_time() - own_before_s
        others_s = max(0.0, usage.elsewhere_s - known_s)
        stop = run.stop(target, report, complete, usage, others_s)
        self.emit(stop)
        return stop

    async def _interruptible(self, load: Any) -> tuple[LoadReport, bool]:
        running = asyncio.ensure_future(load)
        interrupted = asyncio.ensure_future(self.control.interrupted())
        try:
            await asyncio.wait({running, interrupted}, return_when=asyncio.FIRST_COMPLETED)
            complete = running.done()
            if not complete:
                await self.load.stop_point()
            return await running, complete
        finally:
            interrupted.cancel()
            running.cancel()
            await asyncio.gather(running, interrupted, return_exceptions=True)


class _Run:
    """A point under way: numbers its documents and keeps what the verdict needs."""

    def __init__(self, bench: Bench, point: PointPlan, number: int) -> None:
        self.bench = bench
        self.point = point
        self.number = number
        self.begun_us = 0
        self.windows: list[Window] = []

    def started(self, at_us: int) -> None:
        point = self.point
        self.begun_us = self.bench.session_us(at_us)
        self.bench.emit(
            PointStart(
                t_us=self.begun_us,
                point=self.number,
                server=point.server,
                rate_per_s=point.rate_per_s,
                purpose=point.purpose,
                pass_number=point.pass_number,
                look=point.look,
                connections=point.connections,
                calls_per_connection=point.calls_per_connection,
                concurrency=point.concurrency,
                seconds=point.seconds,
            )
        )

    def take(self, window: LoadWindow) -> None:
        document = Window(
            t_us=self.begun_us + window.index * WINDOW_US,
            point=self.number,
            index=window.index,
            due=window.due,
            sent=window.sent,
            late=window.late,
            established=window.established,
            replies=window.replies,
            errors=window.errors,
            in_flight=window.in_flight,
            latency_us=histogram.percentiles(window.latency),
            service_us=histogram.percentiles(window.service),
        )
        self.windows.append(document)
        self.bench.emit(document)

    def stop(
        self,
        target: Target,
        report: LoadReport,
        complete: bool,
        usage: Usage,
        others_s: float,
    ) -> PointStop:
        """`others_s`: CPU time that other programs took on the cores of server and clients."""
        point, counts, times = self.point, report.counts, report.histograms
        complete = complete and not report.complaints
        seconds = point.seconds if complete and point.seconds else report.schedule_s
        per_unit = 1 / point.calls_per_connection if self.bench.plan.unit == "connections" else 1.0
        offered = _rate(counts.scheduled * per_unit, seconds)
        lateness = histogram.percentiles(times.lateness)
        evidence = Evidence(
            server=target.name,
            counts=counts,
            seconds=seconds,
            offered_per_s=0.0 if point.concurrency else offered,
            complete=complete,
            conserved=report.conserved,
            lateness_us=lateness,
            client_cpu_pct=report.client_cpu_pct,
            workers=self.bench.load.workers,
            client_cores=self.bench.client_cores,
            queue=None
            if point.concurrency
            else queue_of(
                self.windows,
                seconds,
                calls_per_connection=point.calls_per_connection,
                think_time_s=self.bench.plan.workload.think_time_s,
            ),
            ceiling_per_s=self.bench.ceiling_per_s if point.purpose == "sweep" else None,
            ceiling_others_pct=self.bench.ceiling_others_pct,
            counters=usage.counters,
            others_cpu_pct=100 * others_s / usage.seconds if usage.seconds else 0.0,
        )
        verdict, reasons = judge(evidence)
        lost = counts.scheduled - counts.succeeded
        return PointStop(
            t_us=self.bench.session_us(_now_us()),
            point=self.number,
            server=point.server,
            rate_per_s=point.rate_per_s,
            purpose=point.purpose,
            pass_number=point.pass_number,
            look=point.look,
            concurrency=point.concurrency,
            complete=complete,
            seconds=round(seconds, 6),
            counts=counts,
            offered_per_s=offered,
            replies_per_s=_rate(report.replies_in_schedule * per_unit, report.schedule_s),
            errors_pct=round(100 * lost / counts.scheduled, 4) if counts.scheduled else 0.0,
            latency_us=histogram.percentiles(times.latency),
            service_us=histogram.percentiles(times.service),
            connect_us=histogram.percentiles(times.connect),
            first_byte_us=histogram.percentiles(times.first_byte),
            lateness_us=lateness,
            histograms=times,
            client_cpu_pct=round(report.client_cpu_pct, 2),
            server_cpu_pct=round(usage.cpu_pct, 2),
            server_rss_bytes=usage.rss_bytes,
            verdict=verdict,
            reasons=[*reasons, *report.complaints],
            evidence={name: round(value, 6) for name, value in evidence.figures().items()},
            conserved=report.conserved,
            clients=report.clients,
            start_skew_us=report.start_skew_us,
        )


def _load(plan: Plan, point: PointPlan, target: Target) -> dict[str, Any]:
    """See `agent.protocol.Load`."""
    workload = plan.workload
    return {
        "host": target.host,
        "port": target.port,
        "protocol": workload.protocol,
        "path": workload.path,
        "mode": workload.mode if not point.connection_rate_per_s else "open",
        "rate_per_s": point.connection_rate_per_s,
        "connections": point.connections,
        "seconds": point.seconds,
        "concurrency": point.concurrency,
        "arrivals": point.arrivals,
        "seed": point.seed,
        "calls_per_connection": point.calls_per_connection,
        "pipeline": workload.pipeline,
        "think_time_s": workload.think_time_s,
        "timeout_s": workload.timeout_s,
    }


def _rate(count: float, seconds: float) -> float:
    return round(count / seconds, 3) if seconds > 0 else 0.0


def _now_us() -> int:
    return time.monotonic_ns() // 1000
