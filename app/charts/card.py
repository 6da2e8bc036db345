"""The content of the card of a point: its metrics, the errors, and the verdict. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from app.charts import words
from app.charts.series import Quantity, Series
from workbench import formatting
from workbench.analysis.results import PointResult, View

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


def of_point(series: Series, reading: PointResult, view: View) -> Card:
    """Return the card of a point of a sweep."""
    spread = reading.spread(Quantity.REPLIES.value, view)
    about = f"± {words.count((spread[1] - spread[0]) / 2)}/s" if spread else "/s"
    time = split_ms(reading.value(Quantity.TIME.value, view))
    sentence = _judged(series, reading, view)
    errors = formatting.percent(reading.errors_pct)
    percentile, offered = words.percentile(view.percentile), words.offered(reading)
    return Card(
        at=offered,
        figures=(
            (series.axis.served_title, words.count(reading.replies_per_s), about),
            (percentile, *time),
            ("Errors", errors, ""),
        ),
        causes=words.errors(reading.errors, reading.waiting),
        sentence=sentence,
        text=(
            f"{series.name} {offered}: {words.per_second(reading.replies_per_s)}"
            f" {series.axis.served}, {percentile} {' '.join(time)}, {errors} errors. {sentence}"
        ),
        icon=_ICONS[reading.verdict],
    )


def split_ms(ms: float) -> tuple[str, str]:
    """Return ("903", "ms"); a dash where there were no replies."""
    if isnan(ms):
        return "–", ""
    figure, _, unit = formatting.duration(ms * 1000).partition(" ")
    return figure, unit


def _judged(series: Series, reading: PointResult, view: View) -> str:
    """Return the verdict, the number of attempts behind it, why the response time may be hollow,
    and the audits that failed.
    """
    attempts = max(stop.look for stop in reading.stops)
    again = f" Measured {attempts} times; the last one counts." if attempts > 1 else ""
    few = reading.trusted and not reading.supported(view)
    why = f" Too few samples for a steady {words.percentile(view.percentile)}." if few else ""
    audits = words.failed_audits(series, reading)
    return f"{words.verdict(reading)}{again}{why} {audits}".strip()
