"""Figures and fates in words, the same on every chart, card and page. No Qt."""

from __future__ import annotations

from app.charts.series import Clock, Percentile, Reading, Series
from workbench import wording
from workbench.documents import Errors, error_class

_PERCENTILES: dict[Percentile, str] = {
    "p50": "p50",
    "p90": "p90",
    "p99": "p99",
    "p999": "p99.9",
    "max": "maximum",
}
_CLOCKS: dict[Clock, str] = {"latency": "from when due", "service": "from when sent"}
_FATES = {
    "client-timo": "timed out",
    "socket-timo": "timed out connecting",
    "connrefused": "refused",
    "connreset": "reset",
    "protocol": "answered wrongly",
    "other": "failed",
    "fd-unavail": "lacked a descriptor",
    "addrunavail": "lacked a port",
    "ftab-full": "met a full file table",
    "unsent": "never sent",
    "in flight": "left open",
}


TOOLS = ("null", "null-http")
"""Servers that are not compared: against them the clients' own limit is found."""


def count(value: float) -> str:
    """With thousands commas; decimals only below 10."""
    return f"{value:.3g}" if 0 < abs(value) < 10 and value != int(value) else f"{value:,.0f}"


def per_second(value: float) -> str:
    return f"{count(value)}/s"


def percentile(which: Percentile) -> str:
    return _PERCENTILES[which]


def clock(which: Clock) -> str:
    return _CLOCKS[which]


def fates(errors: Errors, waiting: int = 0) -> str:
    """Calls lost by what became of them: "447 timed out · 151 reset · 20 still open at the end"."""
    told = [f"{n:,} {_fate(name)}" for name, n in errors.items()]
    if waiting:
        told.append(f"{waiting:,} still open at the end")
    return " · ".join(told)


def _fate(name: str) -> str:
    detail = name.partition("-")[2]
    if error_class(name) in ("other", "protocol") and detail:
        return f"{_FATES[error_class(name)]} ({detail})"
    return _FATES.get(name, name)


def holds(series: Series, *, over: bool = True) -> tuple[str, str]:
    """What a server holds, as (words, figure): ("holds", "6,200/s")."""
    if not series.stops:
        return ("not run" if over else "not run yet"), ""
    if series.closed_loop:
        return "answers at most", per_second(series.figure_per_s)
    if series.unknown is not None:
        return "not known" if over else "not known yet", ""
    if series.knee_per_s is None:
        return "holds none of the rates" if over else "held none so far", ""
    word = "holds" if over else "held so far"
    if over and series.knee_is_floor:
        word = "holds at least"
    return word, per_second(series.knee_per_s)


def held(series: Series) -> str:
    """In a sentence without its end: "gevent holds 6,200/s"."""
    if series.unknown is not None:
        return f"{series.name}: not known what it holds"
    return " ".join([series.name, *holds(series)]).strip()


def why_unknown(series: Series) -> str:
    """Why it is not known what a server holds; empty: it is."""
    point = series.unknown
    if point is None:
        return ""
    return f"At {wording.offered(point)}: {' '.join(point.reasons) or point.verdict}"


def verdict(reading: Reading) -> str:
    """One sentence about a point."""
    if reading.reasons:
        return reading.reasons[0]
    return {
        "ok": "The server holds this rate.",
        "server-limited": "The server is the limit.",
        "client-limited": "The clients are the limit, not the server.",
        "ports-limited": "The clients ran out of ports.",
        "network-limited": "The network is the limit.",
        "inconclusive": "The evidence is not enough for a verdict.",
    }[reading.verdict]
