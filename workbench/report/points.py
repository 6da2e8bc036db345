"""The points of a session as a table for spreadsheets and scripts."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.analysis.audits import audits_of, tainted
from workbench.analysis.results import mean_us
from workbench.analysis.tasks import Tasks
from workbench.documents import (
    ERROR_CLASSES,
    AnyDocument,
    Percentiles,
    PointStop,
    RunStart,
    error_class,
)
from workbench.spreadsheet import as_csv

_TIMES = ("latency", "service", "connect", "first_byte", "lateness")
_PERCENTILES = ("p50", "p90", "p99", "p999", "max")
_STATISTICS = (*_PERCENTILES, "mean")


def points_as_csv(documents: Iterable[AnyDocument]) -> str:
    """One row per point of every server's sweep, RFC 4180, units in the header.

    Empty cells: unknown, for example a percentile if no call was answered.
    """
    documents = list(documents)
    failed = tainted(audits_of(documents))
    names: dict[str, str] = {}
    tasks: dict[str, Tasks] = {}
    metrics: list[str] = []
    rows = []
    for document in documents:
        if isinstance(document, RunStart):
            names = {record.key: record.label for record in document.series}
            tasks = {record.id: Tasks.of(record) for record in document.servers}
            metrics = [metric.key for metric in document.metrics]
        elif isinstance(document, PointStop) and document.judged:
            row = _row(document, names.get(document.series, ""))
            counted = tasks.get(document.server, Tasks())
            row |= {key: getattr(counted, key) or None for key in _TASKS}
            row["audits_failed"] = " ".join(each.code for each in failed.get(document.point, []))
            row |= {f"metric_{key}": document.values.get(key) for key in metrics}
            rows.append(row)
    return as_csv([*_COLUMNS[:-1], *(f"metric_{key}" for key in metrics), _COLUMNS[-1]], rows)


_TASKS = ("processes", "threads")
_PLAIN = (
    "verdict",
    "complete",
    "concurrency",
    "seconds",
    "offered_per_s",
    "replies_per_s",
    "errors_pct",
    "client_cpu_pct",
    "server_cpu_pct",
    "server_rss_bytes",
    "conserved",
)
_COUNTS = ("scheduled", "unsent", "sent", "late", "succeeded", "in_flight")
_COLUMNS = [
    "server",
    "server_name",
    "load_tool",
    "pass_number",
    "point",
    "rate_per_s",
    *_PLAIN[:7],
    *(f"{name}_calls" for name in _COUNTS),
    "established_connections",
    *(f"error_{name.replace('-', '_')}_calls" for name in ERROR_CLASSES),
    *(f"{time}_{statistic}_ms" for time in _TIMES for statistic in _STATISTICS),
    *_PLAIN[7:],
    *_TASKS,
    "audits_failed",
    "reasons",
]


def _row(stop: PointStop, name: str) -> dict[str, object]:
    counts = stop.counts
    row: dict[str, object] = {
        "server": stop.server,
        "load_tool": stop.load_tool,
        "server_name": name,
        "pass_number": stop.pass_number,
        "point": stop.point,
        "rate_per_s": stop.rate_per_s,
        **{name: getattr(stop, name) for name in _PLAIN},
        **{f"{name}_calls": getattr(counts, name) for name in _COUNTS},
        "established_connections": counts.established,
        "reasons": " ".join(stop.reasons),
    }
    for known in ERROR_CLASSES:
        lost = sum(n for name, n in counts.errors.items() if error_class(name) == known)
        row[f"error_{known.replace('-', '_')}_calls"] = lost
    for time in _TIMES:
        times: Percentiles | None = getattr(stop, f"{time}_us")
        for percentile in _PERCENTILES:
            value = "" if times is None else getattr(times, percentile) / 1000
            row[f"{time}_{percentile}_ms"] = value
        mean = mean_us([stop], time)
        row[f"{time}_mean_ms"] = "" if mean is None else round(mean / 1000, 4)
    return row
