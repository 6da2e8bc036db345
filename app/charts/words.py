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
from workbench.documents import Errors
from workbench.formatting import listed
from workbench.messages.errors import error_label
from workbench.metrics import PEAK_MEMORY

CLOCKS: dict[Clock, str] = {"latency": "from scheduled time", "service": "from send"}

TOOLS = ("null", "null-http")
"""Servers that are not compared: they measure the clients' own limit."""


count = formatting.rate


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
    return {"p999": "p99.9", "max": "maximum"}.get(which, which)


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


_VERDICTS = {
    "ok": ("The server sustains this rate.", "circle-check", "ok"),
    "server-limited": ("The server is the limit.", "gauge", "warn"),
    "client-limited": ("The clients are the limit, not the server.", "triangle-alert", "warn"),
    "ports-limited": ("The clients ran out of ports.", "triangle-alert", "warn"),
    "network-limited": ("The network is the limit.", "triangle-alert", "warn"),
    "faulty": ("The server sends unexpected responses.", "circle-x", "bad"),
    "inconclusive": ("Not enough evidence for a verdict.", "info", "muted"),
}
"""A sentence, the name of a sign, and its tone."""


def verdict(reading: PointResult) -> str:
    return reading.reasons[0] if reading.reasons else _VERDICTS[reading.verdict][0]


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


def card(series: Series, point: Any, view: View, at: str, sentence: str) -> Card:
    """Return the card of a point or of a part of it."""
    which, (time, unit) = percentile(view.percentile), split_ms(point.value("time", view))
    spread = point.spread(Quantity.REPLIES.value, view)
    about = f"± {count((spread[1] - spread[0]) / 2)}/s" if spread else "/s"
    failed = "–" if isnan(point.errors_pct) else formatting.percent(point.errors_pct)
    replies = f"{per_second(point.replies_per_s)} {series.axis.served}"
    return Card(
        at=at,
        figures=(
            (series.axis.served.capitalize(), count(point.replies_per_s), about),
            (which, time, unit),
            ("Errors", failed, ""),
        ),
        causes=errors(point.errors, point.waiting),
        sentence=sentence,
        text=f"{series.name} {at}: {replies}, {which} {time} {unit}, {failed} errors. {sentence}",
        icon=_VERDICTS[point.verdict][1:] if isinstance(point, PointResult) else Card.icon,
    )


def split_ms(ms: float) -> tuple[str, str]:
    """Return ("903", "ms"); a dash where there were no replies."""
    if isnan(ms):
        return "–", ""
    figure, _, unit = formatting.duration(ms * 1000).partition(" ")
    return figure, unit


def judged(series: Series, reading: PointResult, view: View) -> str:
    """Return the verdict, of how many attempts, and why a point may be hollow."""
    attempts = max(stop.look for stop in reading.stops)
    again = f" Measured {attempts} times; the last one counts." if attempts > 1 else ""
    few = reading.trusted and not reading.supported(view)
    why = f" Too few samples for a steady {percentile(view.percentile)}." if few else ""
    audits = failed_audits(series, reading)
    return f"{verdict(reading)}{again}{why} {audits}".strip()
