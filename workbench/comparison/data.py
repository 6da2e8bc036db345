"""A comparison as plain data, the output of `pongbench compare --json`. None: unknown."""

from __future__ import annotations

from math import isfinite
from typing import Any

from workbench.analysis.results import PointResult
from workbench.analysis.summary_data import times_ms
from workbench.comparison.contenders import Contender
from workbench.comparison.pairwise import to_data as figures_data
from workbench.comparison.sides import Comparison
from workbench.comparison.words import difference_in


def server_data(comparison: Comparison, contender: Contender) -> dict[str, Any]:
    """One server."""
    result = contender.result
    interval = result.interval
    at_common = result.at(comparison.rate) if comparison.rate is not None else None
    return {
        "session": contender.tag,
        "server": contender.id,
        "name": contender.name,
        "version": contender.record.version,
        "knee_per_s": result.knee,
        "limit": None
        if interval is None
        else {
            "low_per_s": interval.low,
            "high_per_s": _finite(interval.high),
            "passes": interval.passes,
            "coverage": interval.coverage,
        },
        "at_knee": _figures_data(result.at_knee),
        "at_most": None if result.axis.has_limit else _figures_data(result.most),
        "at_common": _figures_data(at_common),
        "rss_bytes": result.rss_bytes or None,
        "processes": result.tasks.processes or None,
        "threads": result.tasks.threads or None,
        "verdicts": dict(result.verdicts),
        "backlog": contender.backlog or None,
        "incomplete_at": result.cut.x if result.cut else None,
        "faulty": result.what_is_faulty or None,
        "disqualified": result.disqualified or None,
        "died": result.died or None,
        "gave_up": result.gave_up or None,
    }


def difference_data(comparison: Comparison, a: Contender, b: Contender) -> dict[str, Any]:
    """Differences of two knees, and of the figures at the common rate."""
    found = comparison.difference(a, b)
    data: dict[str, Any] = {"first": a.key, "second": b.key}
    if found is not None:
        data |= {
            "figure_per_s": found.figure,
            "low_per_s": _finite(found.low),
            "high_per_s": _finite(found.high),
            "outcome": found.outcome,
            "most_pct": _finite(100 * found.most),
            "paired": found.paired,
            "passes": found.passes,
        }
    data["text"] = difference_in(comparison, a, b)
    data["at_common"] = figures_data(comparison.figures(a, b))
    return data


def _figures_data(at: PointResult | None) -> dict[str, Any] | None:
    if at is None:
        return None
    return {
        "x": at.x,
        "rate_per_s": at.x,
        "replies_per_s": at.replies_per_s,
        "calls_per_s": at.axis.calls_per_s(at.replies_per_s) or at.replies_per_s,
        "errors_pct": at.errors_pct,
        "latency_ms": times_ms(at.latency_us, at.latency_mean_us),
        "service_ms": times_ms(at.service_us, at.service_mean_us),
        "cpu_pct": at.cpu_pct or None,
        "rss_bytes": at.rss_bytes or None,
        "passes": len(at.stops),
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
