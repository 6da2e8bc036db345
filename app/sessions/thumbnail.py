"""A session as a few short lines, and small drawings of them: replies over the offered rate, in the
colours of the charts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import log
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts.model import ChartModel
from app.charts.series import Quantity, Series
from app.context import Desk
from app.painted import Painted
from app.theme import Theme
from workbench.analysis.series import View
from workbench.results import sustained
from workbench.sessions.library import Shelved
from workbench.sessions.skim import skim

_SIZE = QSize(112, 70)
_GROWING_EVERY_NS = 20_000_000_000
_MOST_WAITING = 64
"""Older requests are dropped; a visible thumbnail requests again."""
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
    """Read a session. Raises BadInput when it is none."""
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


class Outlines(QObject):
    """The outlines that thumbnails draw, read in the engine's thread one after the other, the
    latest request first, and cached as long as the file is the same.
    """

    changed = Signal()
    """Another outline is available."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._bridge = desk.bridge
        self._known: dict[Path, tuple[object, Outline]] = {}
        """With the version of the file; of a changed one, the outline before."""
        self._waiting: dict[Path, object] = {}
        self._reading = False

    @classmethod
    def of(cls, desk: Desk) -> Outlines:
        """Return the cache that all pages share."""
        return desk.findChild(cls) or cls(desk)

    @property
    def awaited(self) -> int:
        return len(self._waiting) + self._reading

    def get(self, session: Shelved) -> Outline | None:
        """Return an outline; None: not known yet, and `changed` reports it. Of a changed file, the
        one before is returned.
        """
        key, path = _key(session), session.path
        version, known = self._known.get(path, (None, None))
        if version != key and session.start is not None:
            self._waiting.pop(path, None)
            self._waiting[path] = key
            while self.awaited > _MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
            self._read()
        return known

    def _read(self) -> None:
        if self._reading or not self._waiting:
            return
        path, key = self._waiting.popitem()
        self._reading = True

        def done(found: Outline) -> None:
            self._reading = False
            self._known[path] = key, found
            if self._waiting.get(path) == key:  # requested again in the meantime
                del self._waiting[path]
            self.changed.emit()
            self._read()

        # Why a session cannot be read is said where it is opened.
        self._bridge.do(partial(outline, path), done, lambda _: done(Outline()))


def _key(session: Shelved) -> object:
    """Return the version of a session's file; a growing one changes only now and then: reading it
    takes CPU from the run that writes it.
    """
    if session.growing:
        return session.path, session.modified_ns // _GROWING_EVERY_NS
    return session.identity


class Thumbnail(Painted):
    def __init__(self, desk: Desk, session: Shelved) -> None:
        super().__init__()
        self._outlines, self._session = Outlines.of(desk), session
        self._outlines.changed.connect(self.update)
        self.setFixedSize(_SIZE)

    def paint(self, painter: QPainter) -> None:
        known = self._outlines.get(self._session)
        paint_outline(painter, QRectF(self.rect()), known, self.theme)


def paint_outline(painter: QPainter, rect: QRectF, known: Outline | None, theme: Theme) -> None:
    """Draw an outline in a frame; None: the frame alone."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(theme.line), 1))
    painter.setBrush(QColor(theme.sunken))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    inside = rect.adjusted(8, 7, -8, -7)
    if known is not None and known.lines:
        if known.ideal:
            pen = QPen(QColor(theme.edge), 1, Qt.PenStyle.CustomDashLine)
            pen.setDashPattern([1.5, 2.5])
            painter.setPen(pen)
            painter.drawLine(inside.bottomLeft(), inside.topRight())
        for line in known.lines:
            ends = [
                QPointF(inside.left() + x * inside.width(), inside.bottom() - y * inside.height())
                for x, y in line.points
            ]
            style = theme.series(line.index)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(style.pen(1.5))
            if len(ends) > 1:
                painter.drawPolyline([inside.bottomLeft(), *ends] if known.ideal else ends)
            else:
                painter.setBrush(style.brush())
                painter.drawEllipse(ends[-1], 2.5, 2.5)
    painter.restore()
