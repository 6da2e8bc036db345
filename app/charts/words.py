"""Formats figures as text, the same on every chart, card and page. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isnan, log10
from typing import Any

from app.charts.series import Quantity, Series
from workbench import formatting
from workbench.analysis.published import Published
from workbench.analysis.series import Clock, Percentile, PointResult, View
from workbench.axis import Axis
from workbench.documents import Errors
from workbench.formatting import listed
from workbench.messages.errors import error_label
from workbench.metrics import PEAK_MEMORY

_PERCENTILES: dict[Percentile, str] = {
    "p50": "p50",
    "p90": "p90",
    "p99": "p99",
    "p999": "p99.9",
    "max": "maximum",
    "mean": "mean",
}
_CLOCKS: dict[Clock, str] = {"latency": "from scheduled time", "service": "from send"}


TOOLS = ("null", "null-http")
"""Servers that are not compared: they measure the clients' own limit."""


def count(value: float) -> str:
    """Format with thousands commas; decimals only below 10."""
    return f"{value:.3g}" if 0 < abs(value) < 10 and value != int(value) else f"{value:,.0f}"


def counts(values: Sequence[float]) -> list[str]:
    """Format the figures of an axis, with as many decimals as tell them apart; "1.5 M"."""
    if all(value < 10 or value == int(value) for value in values) or len(values) < 2:
        texts = [count(value) for value in values]
    else:
        step = min(b - a for a, b in pairwise(values))
        texts = [f"{value:,.{max(0, ceil(-log10(step) - 1e-9))}f}" for value in values]
    short = [
        f"{value / 1e6:g} M" if value >= 1e6 else text
        for value, text in zip(values, texts, strict=True)
    ]
    return short if len(set(short)) == len(set(texts)) else texts


def per_second(value: float) -> str:
    return f"{count(value)}/s"


def percentile(which: Percentile) -> str:
    return _PERCENTILES[which]


def clock(which: Clock) -> str:
    return _CLOCKS[which]


def offered(reading: PointResult) -> str:
    """ "at 5,600/s offered", "50 concurrent"."""
    value = reading.axis.at(reading.x)
    return f"at {value} offered" if reading.axis.per_second else value


def errors(counted: Errors, waiting: int = 0) -> str:
    """Return failed calls by class: "timeout 447 · reset 151 · open at the end 20"."""
    counted = {**counted, "open": waiting} if waiting else counted
    return " · ".join(f"{error_label(name, short=True)} {n:,}" for name, n in counted.items())


def stated(figure: Published, key: str, view: View) -> tuple[str, float | None] | None:
    """Return which text of a figure is about a metric, and its value (None: no place); or None."""
    errors = figure.errors
    if errors and figure.requests:
        share: float | None = 100 * errors / (errors + figure.requests)
    else:
        share = None if errors else 0.0
    known = {
        "replies": ("replies", figure.replies_per_s),
        "time": ("mean", figure.mean_ms if view.percentile == "mean" else None),
        "errors": ("errors", share),
        PEAK_MEMORY.record.key: ("memory", figure.memory_mb),
    }
    kind, value = known.get(key, ("", None))
    unplaced = kind == "errors" and errors is not None
    return (kind, value) if unplaced or (value is not None and kind != "errors") else None


def failed_audits(series: Series, reading: PointResult) -> str:
    """Return a sentence about a point; empty: none failed there."""
    failed = [audit.label for audit in series.failed_audits(reading)]
    return f"Audit{'s' * (len(failed) > 1)} failed: {listed(failed)}." if failed else ""


def hollow(reasons: Iterable[str]) -> tuple[str, ...]:
    """Return the explanation of hollow markers; nothing: there are none."""
    *others, last = ["", *reasons]
    text = f"{', '.join(others[1:])} or {last}" if others[1:] else last
    return (f"hollow: {text}",) if text else ()


def verdict(reading: PointResult) -> str:
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


_ICONS = {
    "ok": ("circle-check", "ok"),
    "server-limited": ("gauge", "warn"),
    "client-limited": ("triangle-alert", "warn"),
    "ports-limited": ("triangle-alert", "warn"),
    "network-limited": ("triangle-alert", "warn"),
    "faulty": ("circle-x", "bad"),
    "inconclusive": ("info", "muted"),
}


@dataclass(frozen=True)
class Card:
    """What a card says beside the server's name."""

    at: str
    """ "at 5,600/s offered"."""
    figures: tuple[tuple[str, str, str], ...]
    """Three: caption, figure, unit."""
    causes: str
    """Of failed calls; empty: none failed."""
    sentence: str
    text: str
    """All of it as one sentence, for screen readers."""
    icon: tuple[str, str] = ("info", "muted")
    """(name, tone) of the sign before the sentence."""


def card(
    name: str, at: str, axis: Axis, point: Any, *, which: str, ms: float, about: str, sentence: str
) -> Card:
    """Return the card of a point or of a part of it. `about`: what stands beside the replies."""
    time, failed = split_ms(ms), formatting.percent(point.errors_pct)
    failed = "–" if isnan(point.errors_pct) else failed
    replies = per_second(point.replies_per_s)
    return Card(
        at=at,
        figures=(
            (axis.served.capitalize(), count(point.replies_per_s), about),
            (which, *time),
            ("Errors", failed, ""),
        ),
        causes=errors(point.errors, getattr(point, "waiting", 0)),
        sentence=sentence,
        text=(
            f"{name} {at}: {replies} {axis.served}, {which} {' '.join(time)}, {failed} errors."
            f" {sentence}"
        ),
        icon=_ICONS[point.verdict] if isinstance(point, PointResult) else Card.icon,
    )


def point_card(series: Series, reading: PointResult, view: View) -> Card:
    spread = reading.spread(Quantity.REPLIES.value, view)
    about = f"± {count((spread[1] - spread[0]) / 2)}/s" if spread else "/s"
    return card(
        series.name,
        offered(reading),
        series.axis,
        reading,
        which=percentile(view.percentile),
        ms=reading.value(Quantity.TIME.value, view),
        about=about,
        sentence=_judged(series, reading, view),
    )


def split_ms(ms: float) -> tuple[str, str]:
    """Return ("903", "ms"); a dash where there were no replies."""
    if isnan(ms):
        return "–", ""
    figure, _, unit = formatting.duration(ms * 1000).partition(" ")
    return figure, unit


def _judged(series: Series, reading: PointResult, view: View) -> str:
    """Return the verdict, of how many attempts, and why a point may be hollow."""
    attempts = max(stop.look for stop in reading.stops)
    again = f" Measured {attempts} times; the last one counts." if attempts > 1 else ""
    few = reading.trusted and not reading.supported(view)
    why = f" Too few samples for a steady {percentile(view.percentile)}." if few else ""
    audits = failed_audits(series, reading)
    return f"{verdict(reading)}{again}{why} {audits}".strip()
