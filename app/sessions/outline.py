"""A session as a few short lines, which a thumbnail draws. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np

from app.charts.model import ChartModel
from app.charts.series import Quantity, Series
from workbench.analysis.results import View
from workbench.errors import BadInput
from workbench.formatting import listed
from workbench.report import sustained
from workbench.sessions.skim import skim

_MOST_POINTS = 40
"""Of a line; a thumbnail is hardly wider in pixels."""
_MOST_NAMES = 3


@dataclass(frozen=True)
class Line:
    """Replies of one server, from (0, 0) to (1, 1) of the chart."""

    index: int
    """Its place in the plan, which determines its style."""
    points: tuple[tuple[float, float], ...]
    trusted: tuple[bool, ...]
    """Whether each point is trusted."""


@dataclass(frozen=True)
class Outline:
    """A session at a glance."""

    lines: tuple[Line, ...] = ()
    """The highest sustained rate last: it leaves y = x last and lies beneath the others."""
    ideal: bool = True
    """Whether the line y = x has a meaning."""
    result: str = ""
    """ "gevent sustains 7,400/s"; where another may sustain more, "Highest
    measured: gevent at 7,400/s"; of a session that did not run to its end, after "Incomplete: ".
    Empty: nothing was measured."""
    doubt: str = ""
    """Sentences about servers whose limit was not reached and about faulty ones; empty: none."""

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
    result, doubt = _result(measured) or _stopped(begun[-1])
    whole = model.stop is not None and model.stop.status == "done"
    partial = "Incomplete: " if measured and not whole else ""
    return Outline(lines, model.axis.calibrated, f"{partial}{result}", doubt)


def _stopped(last: Series) -> tuple[str, str]:
    return f"Stopped: {last.axis.at(last.shown[-1].x)}, incomplete", ""


def _result(ranked: Sequence[Series]) -> tuple[str, str] | None:
    """Describe servers by sustained rate: the best measured, and those whose limit was
    not reached. None: no point is complete.
    """
    if not ranked:
        return None
    axis = ranked[0].axis
    if len(ranked) == 1 or not axis.has_limit:
        return sustained.sentence(ranked[0]), ""
    faulty = [series for series in ranked if series.faulty]
    wrong = f"{_names(faulty)} {'is' if len(faulty) == 1 else 'are'} faulty." * bool(faulty)
    leaders = sustained.leaders(ranked)
    if not leaders.best:
        known = "is known to sustain" if leaders.open else "sustained"
        return f"No server {known} any tested rate", wrong
    names, value = _names(leaders.best), axis.at(ranked[0].figure)
    if leaders.open:
        more = f"{_names(leaders.open)}: limit not reached."
        return f"Highest measured: {names} at {value}", f"{more} {wrong}".strip()
    parts = sustained.parts(leaders.best[0])
    verb = (parts if len(leaders.best) == 1 else parts.of_several()).verb
    return f"{names} {verb} {leaders.at_least}{value}", wrong


def _names(servers: Sequence[Series]) -> str:
    """Return the names; of many, only their number."""
    if len(servers) > _MOST_NAMES:
        return f"{len(servers)} servers"
    return listed([series.name for series in servers])


def _line(series: Series, model: ChartModel, high: float) -> Line:
    values = series.values(Quantity.REPLIES, View())
    x, y, last = values.x, values.y, model.last_x
    if model.axis.scale == "log":
        first = min(model.axis.ends, default=last)
        x, last = np.log(x / first), log(last / first) or 1.0
    chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_POINTS)).round().astype(int))
    scaled = zip(x[chosen] / last, np.minimum(y[chosen] / high, 1.0), strict=True)
    trusted = tuple(bool(each) for each in values.trusted[chosen])
    return Line(series.index, tuple((float(a), float(b)) for a, b in scaled), trusted)
