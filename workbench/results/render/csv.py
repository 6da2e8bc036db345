"""Points, windows, distributions and comparisons as CSV (RFC 4180), for spreadsheets and scripts.
Units are in the header; empty cells: unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan
from typing import Literal, TypeAlias

from workbench import spreadsheet
from workbench.analysis.audits import audits_of, tainted
from workbench.analysis.distribution import Distribution
from workbench.analysis.over_time import METRICS, OverTime, Slice
from workbench.analysis.series import PERCENTILES, Clock, SeriesResult, View, mean_us
from workbench.analysis.summary import summarise
from workbench.analysis.tasks import Tasks
from workbench.documents import (
    ERROR_CLASSES,
    WINDOW_US,
    AnyDocument,
    Counts,
    Percentiles,
    PointStop,
    RunStart,
    error_class,
)
from workbench.results.comparison import Comparison
from workbench.results.rows import compared

What: TypeAlias = Literal["sweep", "time", "distribution"]


def of_session(documents: Sequence[AnyDocument], view: What, clock: Clock) -> str:
    """A line for every point, for every window, or for every percentile of every point."""
    if view == "sweep":
        return points(documents)
    if view == "distribution":
        return _percentiles(summarise(documents).servers, clock)
    collected = OverTime()
    for document in documents:
        collected(document)
    return _windows(collected)


def of_comparison(comparison: Comparison, view: What, clock: Clock) -> str:
    """A line for each server or, of those comparable with the first, window or percentile."""
    if view == "sweep":
        return servers(comparison)
    results = {each.key: each.result for each in comparison.comparable()}
    if view == "distribution":
        return _percentiles(results, clock)
    sides = {side.tag: side.over_time for side in comparison.sides}
    return _windows(OverTime.joined(comparison.axis, sides, results))


def servers(comparison: Comparison) -> str:
    """A line for each server by rank."""
    table, lines = compared(comparison), []
    first, *more = (
        c.key for c in table.columns if c.key not in ("session", "knee_per_s", "interval")
    )
    for row in table.rows:
        cells, result = {key: cell.value for key, cell in row.cells.items()}, row.of.result
        limit = result.interval
        lines.append(
            {
                **{key: cells[key] for key in (first, "session", "knee_per_s")},
                "limit_low_per_s": limit and limit.low,
                "limit_high_per_s": limit.high if limit and isfinite(limit.high) else None,
                "passes": limit and limit.passes,
                "common_rate": comparison.rate,
                **{key: cells[key] for key in more},
                "clock": comparison.clock,
                "threads": result.tasks.threads or None,
                "file": comparison.side(row.of).path.name,
            }
        )
    return spreadsheet.as_csv(list(lines[0]), lines) if lines else ""


_TIMES = ("latency", "service", "connect", "first_byte", "lateness")
_STATISTICS = ("p50", "p90", "p99", "p999", "max", "mean")
_COUNTS = ("scheduled", "unsent", "sent", "late", "succeeded", "in_flight")
_LOAD = (
    *("pass_number", "point", "rate_per_s", "verdict", "complete", "concurrency", "seconds"),
    *("offered_per_s", "replies_per_s", "errors_pct"),
)
_USED = ("client_cpu_pct", "server_cpu_pct", "server_rss_bytes", "conserved")
_NO_POINT = PointStop(
    t_us=0,
    point=0,
    server="",
    complete=False,
    seconds=0.0,
    counts=Counts(scheduled=0, unsent=0, sent=0, late=0, established=0, succeeded=0),
    verdict="inconclusive",
)
"""Has the columns of all."""


def points(documents: Sequence[AnyDocument]) -> str:
    """A line for each point of every server's sweep."""
    start = next((each for each in documents if isinstance(each, RunStart)), None)
    names = {record.key: record.label for record in start.series} if start else {}
    tasks = {record.id: Tasks.of(record) for record in start.servers} if start else {}
    metrics = [metric.key for metric in start.metrics] if start else []
    failed = tainted(audits_of(documents))

    def row(stop: PointStop) -> dict[str, object]:
        of_server = tasks.get(stop.server, Tasks())
        return {
            "server": stop.server,
            "server_name": names.get(stop.series, ""),
            "load_tool": stop.load_tool,
            **{key: getattr(stop, key) for key in _LOAD},
            **{f"{key}_calls": getattr(stop.counts, key) for key in _COUNTS},
            "established_connections": stop.counts.established,
            **{f"error_{key.replace('-', '_')}_calls": _lost(stop, key) for key in ERROR_CLASSES},
            **{
                f"{time}_{each}_ms": _ms(stop, time, each)
                for time in _TIMES
                for each in _STATISTICS
            },
            **{key: getattr(stop, key) for key in _USED},
            "processes": of_server.processes or None,
            "threads": of_server.threads or None,
            "audits_failed": " ".join(each.code for each in failed.get(stop.point, [])),
            **{f"metric_{key}": stop.values.get(key) for key in metrics},
            "reasons": " ".join(stop.reasons),
        }

    stops = (each for each in documents if isinstance(each, PointStop) and each.judged)
    return spreadsheet.as_csv(list(row(_NO_POINT)), list(map(row, stops)))


def _lost(stop: PointStop, known: str) -> int:
    return sum(n for name, n in stop.counts.errors.items() if error_class(name) == known)


def _ms(stop: PointStop, time: str, statistic: str) -> float | None:
    if statistic == "mean":
        mean = mean_us([stop], time)
        return None if mean is None else round(mean / 1000, 4)
    times: Percentiles | None = getattr(stop, f"{time}_us")
    return None if times is None else float(getattr(times, statistic) / 1000)


_WINDOW_TIMES = {
    f"{clock}_{statistic}_ms": View(statistic, clock)
    for clock in ("latency", "service")
    for statistic in PERCENTILES
}
_WINDOW = [
    *("server", "pass_number", "point", "x", "phase", "from_s", "seconds"),
    *("replies_per_s", "errors_pct", *_WINDOW_TIMES, *(metric.key for metric in METRICS)),
]


def _windows(collected: OverTime) -> str:
    """One line for every recorded window. `from_s` counts from the start of its block."""
    rows = [
        _window(series, number, moment)
        for series, number in collected.blocks
        for moment in collected.slices(series, number, None, WINDOW_US / 1e6)
    ]
    return spreadsheet.as_csv(_WINDOW, rows)


def _window(series: str, number: int, moment: Slice) -> dict[str, object]:
    start = moment.stretch.start
    values = {key: moment.value("time", view) for key, view in _WINDOW_TIMES.items()}
    values |= {metric.key: moment.value(metric.key, View()) for metric in METRICS}
    values |= {"replies_per_s": moment.replies_per_s, "errors_pct": moment.errors_pct}
    return {
        "server": series,
        "pass_number": number,
        "point": start.point,
        "x": start.x,
        "phase": moment.phase,
        "from_s": round(moment.from_s, 6),
        "seconds": moment.seconds,
        **{key: "" if isnan(value) else round(value, 4) for key, value in values.items()},
    }


def _percentiles(servers: Mapping[str, SeriesResult], clock: Clock) -> str:
    """One line for every percentile of every point; `supported`: by ten slower replies."""
    rows: list[dict[str, object]] = [
        {
            "server": key,
            "x": point.x,
            "percentile": round(100 * row.quantile, 6),
            f"{clock}_ms": row.us / 1000,
            "supported": row.supported,
            "replies": found.count,
        }
        for key, server in servers.items()
        for point in server.points
        for found in [Distribution.of(point, clock)]
        for row in found.curve()
    ]
    return spreadsheet.as_csv(
        ["server", "x", "percentile", f"{clock}_ms", "supported", "replies"], rows
    )
