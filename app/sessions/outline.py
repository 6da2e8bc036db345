"""A session as a few short lines, which a thumbnail draws. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from pathlib import Path

import numpy as np

from app.charts.model import ChartModel
from app.charts.series import Quantity, Series
from workbench.analysis.series import View
from workbench.errors import BadInput
from workbench.results import sustained
from workbench.sessions.skim import skim

_MOST_POINTS = 40
"""Of a line; a thumbnail is hardly wider in pixels."""


@dataclass(frozen=True)
class Line:
    """Replies of one server, from (0, 0) to (1, 1) of the chart."""

    index: int
    """Its place in the plan, which determines its style."""
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Outline:
    """A session at a glance."""

    lines: tuple[Line, ...] = ()
    """The highest sustained rate last: it leaves y = x last and lies beneath the others."""
    ideal: bool = True
    """Whether the line y = x has a meaning."""
    result: str = ""
    """The answer; of a session that did not run to its end, after "Incomplete: ". Empty: nothing
    was measured."""
    rates: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """What each server sustains, by its id: for people, and per second."""
    doubt: str = ""
    """The answer's doubts; empty: none."""

    @property
    def summary(self) -> str:
        return f"{self.result}. {self.doubt}" if self.doubt else self.result


def outline(path: Path) -> Outline:
    """Read the session; one that cannot be read has no lines."""
    try:
        return _outline(path)
    except (BadInput, TypeError, ValueError, AttributeError, LookupError):
        # Its error is shown where it is opened.
        return Outline()


def _outline(path: Path) -> Outline:
    model = ChartModel()
    for document in skim(path):
        model(document)
    model.end()
    measured = [series for series in model.ranked() if series.complete]
    begun = measured or [series for series in model.ranked() if series.shown]
    if not begun:
        return Outline()
    high = model.last_x
    if not model.axis.has_limit:
        most = max(max(series.values(Quantity.REPLIES, View()).y) for series in begun)
        high = most * 1.05 or 1.0
    lines = tuple(_line(series, model, high) for series in begun)
    whole = model.stop is not None and model.stop.status == "done"
    found = sustained.answer(measured, whole=whole)
    if not measured:
        last = begun[-1]
        found = sustained.Answer(f"Stopped: {last.axis.at(last.shown[-1].x)}, incomplete")
    rates = {s.id: (sustained.column(s), s.knee) for s in measured if s.knee is not None}
    return Outline(lines, model.axis.calibrated, found.text, rates, " ".join(found.doubts))


def _line(series: Series, model: ChartModel, high: float) -> Line:
    values = series.values(Quantity.REPLIES, View())
    x, y, last = values.x, values.y, model.last_x
    if model.axis.scale == "log":
        first = min(model.axis.ends, default=last)
        x, last = np.log(x / first), log(last / first) or 1.0
    chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_POINTS)).round().astype(int))
    scaled = zip(x[chosen] / last, np.minimum(y[chosen] / high, 1.0), strict=True)
    return Line(series.index, tuple((float(a), float(b)) for a, b in scaled))
