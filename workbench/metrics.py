"""Metrics of points beyond the built-in ones: the functions here, each with a line in a table.

A metric says what it is (`documents.Metric`) and what it is for one point. Its figure is recorded
in `PointStop.values`; charts, tables, summary and reports read the description from the session,
so nothing else has to know it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import fsum, isfinite, sqrt
from statistics import median
from typing import Literal

import msgspec

from workbench.analysis import histogram
from workbench.analysis.cost import CPU_PER_CALL, MARGIN
from workbench.analysis.significance import quantile
from workbench.analysis.usage import Reading, Usage
from workbench.documents import WINDOW_US, Metric, Window, error_class
from workbench.load.base import LoadReport
from workbench.load.events import RequestPart

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Measured:
    report: LoadReport
    windows: Sequence[Window]
    usage: Usage
    held: int = 0
    """Connections that the workload holds; 0: they come and go."""
    payload_bytes: int | None = None
    """Size of a reply's payload, where the workload fixes it."""
    answered_per_s: float = 0.0
    """Calls answered per second of the measured part."""
    statuses: bool = False
    """Whether replies have statuses, as those of HTTP."""


@dataclass(frozen=True)
class PointMetric:
    record: Metric
    of: Callable[[Measured], float | None]
    """None: unknown."""


# What a call costs the server.

LEAST_CALLS = 100
"""With fewer answered calls, the server's own housekeeping would distort the cost of a call."""
FEWEST_BATCHES = 4
MOST_BATCHES = 20


def cpu_per_call(measured: Measured) -> float | None:
    """CPU time of the server's whole process tree per answered call, over the whole point including
    ramp and drain. The cost of failed calls is included."""
    calls = measured.report.counts.succeeded
    if calls < LEAST_CALLS or not measured.usage.cpu_us:
        return None
    return round(measured.usage.cpu_us / calls, 3)


def cpu_per_call_margin(measured: Measured) -> float | None:
    """Half the width of the 95 % interval of the CPU time per call within a point, in microseconds.

    The steady part is cut into batches of equal length between samples, at most `MOST_BATCHES`, so
    that neighbouring batches are nearly independent (batch means; Law, "Simulation modeling and
    analysis", 5th ed., 9.5.3). CPU time per call is the ratio of two sums over them, with the
    variance of a ratio estimator (Cochran, "Sampling techniques", 3rd ed., 2.11) and Student's t.
    """
    cost = cpu_per_call(measured)
    batches = _batches(measured.usage.readings, measured.windows)
    calls = fsum(batch[1] for batch in batches)
    if cost is None or len(batches) < FEWEST_BATCHES or not calls:
        return None
    ratio = fsum(batch[0] for batch in batches) / calls
    rest = fsum((cpu - ratio * count) ** 2 for cpu, count in batches)
    error = sqrt(rest * len(batches) / (len(batches) - 1)) / calls
    if not ratio:
        return None
    return round(cost / ratio * error * quantile(0.975, len(batches) - 1), 3)


def _batches(readings: Sequence[Reading], windows: Sequence[Window]) -> list[tuple[float, float]]:
    """(CPU time, answered calls) for each batch of the steady part."""
    inside, measured = _steady(readings, windows)
    each = max(1, -(-(len(inside) - 1) // MOST_BATCHES))
    return [
        (after.cpu_us - before.cpu_us, _answered(measured, before.t_us, after.t_us))
        for before, after in pairwise(inside[::each])
    ]


def _steady(
    readings: Sequence[Reading], windows: Sequence[Window]
) -> tuple[list[Reading], list[Window]]:
    """Those of the measured part."""
    measured = [window for window in windows if window.phase == "measure"]
    if not measured:
        return [], []
    from_us, to_us = measured[0].t_us, measured[-1].t_us + measured[-1].length_us
    return [reading for reading in readings if from_us <= reading.t_us <= to_us], measured


def _answered(windows: Sequence[Window], from_us: int, to_us: int) -> float:
    """Answered calls, interpolated linearly within windows."""
    return fsum(
        window.replies * max(0, min(to_us, end_us) - max(from_us, window.t_us)) / window.length_us
        for window in windows
        if (end_us := window.t_us + window.length_us) > from_us and window.t_us < to_us
    )


def cpu_in_kernel(measured: Measured) -> float | None:
    """Percent of that CPU time, to about 5 %, because the kernel counts it in ticks."""
    share = measured.usage.system_share
    return None if share is None else round(100 * share, 1)


def switches_per_call(measured: Measured) -> float | None:
    """Context switches of the server's whole process tree, voluntary or not, per answered call.

    Unknown if threads or processes end during a point, because their counts end with them.
    """
    calls, switches = measured.report.counts.succeeded, measured.usage.switches
    return None if switches is None or calls < LEAST_CALLS else round(switches / calls, 4)


# Memory.

LEAST_OPEN = 100
"""With fewer open connections, the server's own memory would be attributed to them."""

LEAST_GROWN_BYTES = 500_000
"""A server may grow by less for other reasons."""

UNSTEADY = 0.05
"""Relative change allowed in the number of open connections around a reading, and share of them
that may still wait to be accepted."""

NOISE = 0.1
"""Relative difference allowed between readings: more comes from garbage collection, or from memory
that does not belong to connections."""


def peak_memory(measured: Measured) -> float | None:
    """The most memory (RSS) of the server's whole process tree during the point, in 10^6 bytes."""
    return round(measured.usage.rss_bytes / 1e6, 3) or None


def memory_per_connection(measured: Measured) -> float | None:
    """Memory (PSS) of the server's process tree per open connection: its growth since the server
    had almost no connections, at the most connections of the point. The kernel's memory for sockets
    is not included.

    Known if at least `LEAST_OPEN` connections were open, their number was stable, and the readings
    of the point agree. Unknown if the server had more connections earlier, because it may have kept
    their memory.
    """
    readings = sorted(_readings(measured))
    if not readings:
        return None
    most = readings[-1][0]
    costs = [grown / count for count, grown in readings if count >= (1 - NOISE) * most]
    cost = median(costs)
    if cost * most < LEAST_GROWN_BYTES or max(costs) - min(costs) > NOISE * cost:
        return None
    return round(cost / 1000, 3)


def _readings(measured: Measured) -> Iterator[tuple[int, int]]:
    """(open connections of the server, bytes), while the number of connections was stable."""
    if not measured.windows:
        return
    open_at = {window.index: window.in_flight for window in measured.windows}
    begun_us = measured.windows[0].t_us - measured.windows[0].index * WINDOW_US
    for reading in measured.usage.readings:
        index = (reading.t_us - begun_us) // WINDOW_US
        before, after = open_at.get(index - 1, 0), open_at.get(index, 0)
        most, least = max(before, after), min(before, after)
        unsteady = max(most - least, reading.waiting)
        if reading.grown_bytes is not None and least >= LEAST_OPEN and unsteady <= UNSTEADY * most:
            yield (before + after) // 2 - reading.waiting, reading.grown_bytes


# What came back: payload, resumed handshakes of TLS, connections made again, and errors of HTTP by
# their kind, as wrk and the macro-benchmark of 2015 split them.

_STATUSES = ("protocol-status", "protocol-3xx", "protocol-4xx", "protocol-5xx")
"""Of load tools that do not tell one status from another."""
_SOCKETS = ("connrefused", "connreset", "other")
_ENDED = ("protocol-closed", "protocol-cut", "protocol-idle", "protocol-connreset")
"""The connection ended before the whole reply came."""


def throughput(measured: Measured) -> float | None:
    """Payload received per second of the schedule, without headers, in 10^6 bytes. Known where the
    workload or the server's entry fixes the size of a reply."""
    report = measured.report
    if measured.payload_bytes is None or not report.schedule_s:
        return None
    received = report.replies_in_schedule * measured.payload_bytes
    return round(received / report.schedule_s / 1e6, 6)


def resumed(measured: Measured) -> float | None:
    """Handshakes that resumed a session of TLS, in percent. None: no handshake in the point."""
    tls = measured.report.tls
    if tls is None or not tls.handshakes:
        return None
    return round(100 * tls.resumed / tls.handshakes, 2)


def reconnects(measured: Measured) -> float | None:
    """Lost connections that were made again before the end, and of HTTP those that the server
    closed. None: connections are not made again."""
    found = measured.report.figures.get("reconnects", 0 if measured.held else None)
    return None if found is None else float(found)


def kept_alive(measured: Measured) -> float | None:
    """Calls answered on a connection that had answered one before, as `ab` counts its keep-alive
    requests. Known where connections are made again."""
    counts = measured.report.counts
    again = "reconnects" in measured.report.figures
    if measured.held or not again or counts.established is None:
        return None
    return float(max(0, counts.succeeded - counts.established))


def is_timeout(error: str) -> bool:
    return error in ("client-timo", "socket-timo")


def is_of_socket(error: str) -> bool:
    return error_class(error) in _SOCKETS or error in _ENDED


def is_status(error: str) -> bool:
    """Whether the reply had a status that was not expected, mostly a 5xx."""
    known = error_class(error) in ("protocol", "check") and error.partition("-")[2].isdigit()
    return known or error in _STATUSES


def _of_kind(counts: Callable[[str], object], measured: Measured) -> float | None:
    """Calls that failed in one way, in percent of the attempts. None: no call failed."""
    calls = measured.report.counts
    if not calls.scheduled or not any(calls.errors.values()):
        return None
    failed = sum(count for error, count in calls.errors.items() if counts(error))
    return round(100 * failed / calls.scheduled, 4)


# Connections that are held open for a whole point.


def connect_all(measured: Measured) -> float | None:
    """From the point's start until the last connection that was made in the ramp was established,
    in seconds, as paced by the plan. None: some were not established."""
    figures = measured.report.figures
    if figures.get("connected", 0) < measured.held:
        return None
    return round(figures["connected_us"] / 1e6, 3)


def survivors(measured: Measured) -> float | None:
    """Connections made in the ramp that answered the ping at the end, in percent of the planned."""
    return round(100 * measured.report.figures.get("survivors", 0) / measured.held, 4)


def cpu_per_connection(measured: Measured) -> float | None:
    """CPU time of the server's process tree per second and open connection, in microseconds, in the
    measured part; that of the messages is included."""
    readings, inside = _steady(measured.usage.readings, measured.windows)
    seconds = (readings[-1].t_us - readings[0].t_us) / 1e6 if readings else 0.0
    open_at_once = sum(window.in_flight for window in inside) / max(1, len(inside))
    if not (seconds and open_at_once):
        return None
    return round((readings[-1].cpu_us - readings[0].cpu_us) / seconds / open_at_once, 3)


# Of each of several requests of a plan (weighted paths).


def _replies_per_s(measured: Measured, part: RequestPart) -> float | None:
    """Per call that was answered; a call of a locustfile, which is a task, may have several."""
    calls = measured.report.counts.succeeded
    return round(measured.answered_per_s * part.replies / calls, 3) if calls else None


def _percentile_ms(q: float, measured: Measured, part: RequestPart) -> float | None:
    """Latency from the scheduled time; unknown of too few replies."""
    if not histogram.percentile_supported(part.replies, q):
        return None
    us = histogram.percentile(part.latency, q)
    return None if us is None else us / 1000


def _mean_ms(measured: Measured, part: RequestPart) -> float | None:
    us = histogram.mean(part.latency)
    return None if us is None else round(us / 1000, 4)


def _errors_pct(measured: Measured, part: RequestPart) -> float | None:
    """Of the calls of it that were sent and ended."""
    ended = part.replies + part.failed
    return round(100 * part.failed / ended, 4) if ended else None


_OF_REQUEST: tuple[tuple[Metric, Callable[[Measured, RequestPart], float | None]], ...] = (
    (Metric(key="replies_per_s", label="Replies", unit="1/s", better="more"), _replies_per_s),
    (Metric(key="p50_ms", label="p50", unit="ms", better="less"), partial(_percentile_ms, 0.5)),
    (Metric(key="p99_ms", label="p99", unit="ms", better="less"), partial(_percentile_ms, 0.99)),
    (Metric(key="mean_ms", label="Mean", unit="ms", better="less"), _mean_ms),
    (Metric(key="errors_pct", label="Errors", unit="%", better="less"), _errors_pct),
)


def _of_requests(labels: Sequence[str]) -> Iterator[PointMetric]:
    for shown, figure in _OF_REQUEST:
        for number, label in enumerate(labels):
            key, what = f"request_{number + 1}_{shown.key}", f"{shown.label} of {label}"
            record = msgspec.structs.replace(shown, key=key, label=what, of=label)
            yield PointMetric(record, partial(_of_request, number, figure))


def _of_request(
    number: int, figure: Callable[[Measured, RequestPart], float | None], measured: Measured
) -> float | None:
    parts = measured.report.requests
    return figure(measured, parts[number]) if number < len(parts) else None


def _metric(
    key: str,
    label: str,
    unit: str,
    better: Literal["more", "less", ""],
    of: Callable[[Measured], float | None],
) -> PointMetric:
    return PointMetric(Metric(key=key, label=label, unit=unit, better=better), of)


PEAK_MEMORY = _metric("peak_memory_mb", "Peak memory (RSS)", "MB", "less", peak_memory)
PER_CONNECTION = _metric(
    "memory_kb_per_connection", "Memory per connection", "kB", "less", memory_per_connection
)
THROUGHPUT = _metric("throughput_mb_per_s", "Payload throughput", "MB/s", "more", throughput)

METRICS = (
    _metric(CPU_PER_CALL, "CPU per call", "µs", "less", cpu_per_call),
    _metric("cpu_in_kernel_pct", "CPU in kernel", "%", "", cpu_in_kernel),
    _metric("switches_per_call", "Context switches per call", "", "less", switches_per_call),
    PEAK_MEMORY,
    PER_CONNECTION,
    THROUGHPUT,
    _metric("reconnects", "Reconnects", "", "less", reconnects),
    _metric("kept_alive_calls", "Kept-alive calls", "", "more", kept_alive),
    _metric("tls_resumed_pct", "Resumed handshakes", "%", "", resumed),
)
"""In display order."""

_KINDS = (
    _metric("timeouts_pct", "Timeouts", "%", "less", partial(_of_kind, is_timeout)),
    _metric("socket_errors_pct", "Socket errors", "%", "less", partial(_of_kind, is_of_socket)),
    _metric(
        "status_errors_pct", "5xx and other statuses", "%", "less", partial(_of_kind, is_status)
    ),
)
"""Of workloads whose replies have statuses, after the others."""

_HELD = (
    _metric("connect_all_s", "Time to connect all", "s", "less", connect_all),
    _metric("survivors_pct", "Survivors", "%", "more", survivors),
    _metric("cpu_us_per_connection_s", "CPU per connection", "µs/s", "less", cpu_per_connection),
)
"""Of workloads that hold their connections, after these."""

_BESIDE = (_metric(MARGIN, "CPU per call, half interval", "µs", "", cpu_per_call_margin),)
"""Recorded with the others, but shown with the figure they belong to."""


def records(
    requests: Sequence[str] = (), *, held: bool = False, statuses: bool = False
) -> list[Metric]:
    """For `RunStart.metrics`. `requests`: labels of the plan's several requests; `held`: whether
    the workload holds its connections; `statuses`: whether its replies have statuses."""
    return [metric.record for metric in _known(requests, held=held, statuses=statuses)]


def _known(requests: Sequence[str], *, held: bool, statuses: bool) -> Sequence[PointMetric]:
    return (*_of_requests(requests), *METRICS, *_KINDS * statuses, *_HELD * held)


def values(measured: Measured, requests: Sequence[str] = ()) -> dict[str, float | None]:
    """The values of one point, by key; None where a metric fails, which harms nothing else."""
    known = _known(requests, held=measured.held > 0, statuses=measured.statuses)
    return {metric.record.key: _value(metric, measured) for metric in (*known, *_BESIDE)}


def _value(metric: PointMetric, measured: Measured) -> float | None:
    try:
        value = metric.of(measured)
        return None if value is None or not isfinite(value) else float(value)
    except Exception:
        log.exception("The metric %s failed", metric.record.key)
        return None
