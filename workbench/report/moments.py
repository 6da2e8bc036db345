"""What happened over time, and distributions of response times, as tables for spreadsheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

from workbench.analysis.distribution import Distribution
from workbench.analysis.over_time import OverTime
from workbench.analysis.results import PERCENTILES, Clock, SeriesResult, View
from workbench.analysis.slices import METRICS, Slice
from workbench.analysis.summary import summarise
from workbench.documents import WINDOW_US, AnyDocument
from workbench.spreadsheet import as_csv

_TIMES = {
    f"{clock}_{statistic}_ms": View(statistic, clock)
    for clock in ("latency", "service")
    for statistic in PERCENTILES
}
_COLUMNS = [
    *("server", "pass_number", "point", "x", "phase", "from_s", "seconds"),
    *("replies_per_s", "errors_pct", *_TIMES, *(metric.key for metric in METRICS)),
]


def over_time_as_csv(documents: Sequence[AnyDocument]) -> str:
    """Return the windows of a session; see `windows_as_csv`."""
    collected = OverTime()
    for document in documents:
        collected(document)
    return windows_as_csv(collected)


def windows_as_csv(collected: OverTime) -> str:
    """One line for every recorded window, RFC 4180. `from_s` counts from the start of the server's
    block. Empty cells: unknown.
    """
    rows = [
        _row(series, number, moment)
        for series, number in collected.blocks
        for moment in collected.slices(series, number, None, WINDOW_US / 1e6)
    ]
    return as_csv(_COLUMNS, rows)


def _row(series: str, number: int, moment: Slice) -> dict[str, object]:
    start = moment.stretch.start
    values = {key: moment.value("time", view) for key, view in _TIMES.items()}
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


def distributions_as_csv(documents: Sequence[AnyDocument], clock: Clock) -> str:
    """Return the distributions of a session; see `percentiles_as_csv`."""
    return percentiles_as_csv(summarise(documents).servers, clock)


def percentiles_as_csv(servers: Mapping[str, SeriesResult], clock: Clock) -> str:
    """One line for every percentile of every server at every value of the axis; `supported`: at
    least ten replies were slower, or it is the longest.
    """
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
    return as_csv(["server", "x", "percentile", f"{clock}_ms", "supported", "replies"], rows)
