"""Small drawings of sessions: replies over the offered rate, in the colours of the charts."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from itertools import groupby, pairwise
from pathlib import Path

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.colour import mix
from app.context import Desk
from app.sessions.outline import Line, Outline, outline
from app.theme import Theme
from workbench.sessions.library import Shelved

WIDTH, HEIGHT = 112, 64
_MOST_KEPT = 4096
_GROWING_EVERY_NS = 20_000_000_000
_MOST_WAITING = 64
"""Older requests are dropped; a visible thumbnail requests again."""


class Outlines(QObject):
    """The outlines that thumbnails draw, read in the engine's thread one after the other, the
    latest request first, and cached as long as the file is the same.
    """

    changed = Signal()
    """Another outline is available."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._bridge = desk.bridge
        self._kept: OrderedDict[object, Outline] = OrderedDict()
        self._waiting: OrderedDict[object, Path] = OrderedDict()
        self._latest: dict[Path, Outline] = {}
        self._reading = False

    @classmethod
    def of(cls, desk: Desk) -> Outlines:
        """Return the cache that all pages share."""
        return desk.findChild(cls) or cls(desk)

    @property
    def awaited(self) -> int:
        """Return how many were requested and are not read yet."""
        return len(self._waiting) + self._reading

    def get(self, session: Shelved) -> Outline | None:
        """Return an outline; None: not known yet, and `changed` reports it. Of a changed file, the
        one before is returned.
        """
        key = _key(session)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        if session.start is not None:
            self._waiting[key] = session.path
            self._waiting.move_to_end(key)
            while self.awaited > _MOST_WAITING:
                self._waiting.popitem(last=False)
            self._read()
        return self._latest.get(session.path)

    def _read(self) -> None:
        if self._reading or not self._waiting:
            return
        key, path = self._waiting.popitem()
        if key in self._kept:
            self._read()
            return
        self._reading = True
        self._bridge.submit(
            asyncio.to_thread(outline, path),
            lambda found: self._on_read(key, path, found),
            lambda _: self._on_read(key, path, Outline()),
        )

    def _on_read(self, key: object, path: Path, found: Outline) -> None:
        self._reading = False
        self._kept[key] = self._latest[path] = found
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        self.changed.emit()
        self._read()


def _key(session: Shelved) -> object:
    """Return the version of a session's file; a growing one changes only now and then: reading it
    takes CPU from the run that writes it.
    """
    if session.growing:
        return session.path, session.modified_ns // _GROWING_EVERY_NS
    return session.identity


class Thumbnail(QWidget):
    """One session; set it with `show`."""

    def __init__(self, desk: Desk, width: int = WIDTH, height: int = HEIGHT) -> None:
        super().__init__()
        self._desk = desk
        self._session: Shelved | None = None
        self._outlines = Outlines.of(desk)
        self._outlines.changed.connect(self.update)
        self.setFixedSize(QSize(width, height))

    def show(self, session: Shelved | None = None) -> None:
        """Show a session; without one the widget is empty."""
        if session is None:
            super().show()
        else:
            self._session = session
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        known = self._outlines.get(self._session) if self._session else None
        paint_outline(painter, QRectF(self.rect()), known, self._desk.theme)
        painter.end()


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
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for line in known.lines:
            ends = [
                QPointF(inside.left() + x * inside.width(), inside.bottom() - y * inside.height())
                for x, y in line.points
            ]
            origin = [inside.bottomLeft()] if known.ideal else []
            _paint_line(painter, [*origin, *ends], line, theme)
    painter.restore()


def _paint_line(painter: QPainter, ends: list[QPointF], line: Line, theme: Theme) -> None:
    """Draw a line as in the charts: thin, pale and broken where one of its ends must not be
    trusted.
    """
    style = theme.series(line.index)
    pale = QPen(QColor(mix(theme.sunken, style.colour, 0.5)), 1, Qt.PenStyle.CustomDashLine)
    pale.setDashPattern([2.0, 2.5])
    if len(line.points) == 1:
        known = line.trusted[0]
        painter.setPen(Qt.PenStyle.NoPen if known else QPen(QColor(style.colour), 1))
        painter.setBrush(style.brush() if known else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(ends[-1], 2.5, 2.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        return
    # The segment to the first point is trusted like that point.
    trusted = [*line.trusted[:1] * (len(ends) - len(line.points)), *line.trusted]
    begin = 0
    for sure, stretch in groupby(map(all, pairwise(trusted))):
        end = begin + len(list(stretch))
        painter.setPen(style.pen(1.5) if sure else pale)
        painter.drawPolyline(ends[begin : end + 1])
        begin = end
