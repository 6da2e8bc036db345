"""Formats figures as text, the same on every chart, card and page. No Qt."""

from __future__ import annotations

from app.charts.series import Series
from workbench.analysis.results import Clock, Percentile, PointResult
from workbench.documents import Errors
from workbench.messages.errors import error_label

_PERCENTILES: dict[Percentile, str] = {
    "p50": "p50",
    "p90": "p90",
    "p99": "p99",
    "p999": "p99.9",
    "max": "maximum",
}
_CLOCKS: dict[Clock, str] = {"latency": "from scheduled time", "service": "from send"}


TOOLS = ("null", "null-http")
"""Servers that are not compared: against them the clients' own limit is found."""


MOST_REPLIES = "most replies"
"""What servers are ranked by where an axis has no limit."""


def count(value: float) -> str:
    """Format with thousands commas; decimals only below 10."""
    return f"{value:.3g}" if 0 < abs(value) < 10 and value != int(value) else f"{value:,.0f}"


def per_second(value: float) -> str:
    return f"{count(value)}/s"


def percentile(which: Percentile) -> str:
    return _PERCENTILES[which]


def clock(which: Clock) -> str:
    return _CLOCKS[which]


def offered(reading: PointResult) -> str:
    """ "at 5,600/s offered", "50 concurrent"."""
    said = reading.axis.at(reading.x)
    return f"at {said} offered" if reading.axis.per_second else said


def errors(counted: Errors, waiting: int = 0) -> str:
    """Return failed calls by class: "timeout 447 · reset 151 · open at the end 20"."""
    counted = {**counted, "open": waiting} if waiting else counted
    return " · ".join(f"{error_label(name, short=True)} {n:,}" for name, n in counted.items())


def holds(series: Series, *, over: bool = True) -> tuple[str, str]:
    """Return what a server sustains, as (words, figure): ("sustains", "≥ 6,200/s")."""
    if not series.complete:
        return _unfinished(series, over), ""
    if not series.axis.has_limit:
        return MOST_REPLIES, per_second(series.figure)
    if series.unknown is not None:
        return "unknown" if over else "unknown so far", ""
    if series.knee is None and series.faulty:
        return "faulty from", series.axis.of(series.faulty)
    if series.knee is None:
        return "sustains no tested rate" if over else "sustains none so far", ""
    least = "≥ " if over and series.knee_is_floor else ""
    return "sustains" if over else "sustains so far", f"{least}{series.axis.at(series.knee)}"


def _unfinished(series: Series, over: bool) -> str:
    if series.shown:
        return "interrupted"
    return "not run" if over else "not run yet"


def held(series: Series) -> str:
    """Return a sentence without its end: "gevent sustains 6,200/s"."""
    if series.most and not series.axis.has_limit:
        return f"{series.name}: {series.sustained} at {series.axis.at(series.most.x)}"
    if series.unknown is not None:
        return f"{series.name}: sustained rate unknown"
    if series.faulty and series.knee is not None:
        return f"{' '.join([series.name, *holds(series)])}, {series.what_is_faulty}"
    if series.faulty:
        return f"{series.name} is {series.what_is_faulty}"
    return " ".join([series.name, *holds(series)]).strip()


def why_unknown(series: Series) -> str:
    """Return why the sustained rate of a server is unknown or no limit; empty if it is known."""
    if series.faulty:
        told = series.what_is_faulty
        return f"{told[:1].upper()}{told[1:]}."
    point = series.unknown
    if point is None:
        return ""
    return f"At {series.axis.of(point)}: {' '.join(point.reasons) or point.verdict}"


def verdict(reading: PointResult) -> str:
    """Describe a point in one sentence."""
    if reading.reasons:
        return reading.reasons[0]
    return {
        "ok": "The server sustains this rate.",
        "server-limited": "The server is the limit.",
        "client-limited": "The clients are the limit, not the server.",
        "ports-limited": "The clients ran out of ports.",
        "network-limited": "The network is the limit.",
        "faulty": "The server sends unexpected responses.",
        "inconclusive": "Not enough evidence for a verdict.",
    }[reading.verdict]
