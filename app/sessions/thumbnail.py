"""Small drawings of sessions: replies over the offered rate, in the colours of the charts."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.sessions.outline import Outline, outline
from app.theme import Theme
from workbench.sessions.library import Shelved

_SIZE = QSize(112, 70)
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
        """Return how many were requested and are not read yet."""
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

        self._bridge.submit(asyncio.to_thread(outline, path), done, lambda _: done(Outline()))


def _key(session: Shelved) -> object:
    """Return the version of a session's file; a growing one changes only now and then: reading it
    takes CPU from the run that writes it.
    """
    if session.growing:
        return session.path, session.modified_ns // _GROWING_EVERY_NS
    return session.identity


class Thumbnail(QWidget):
    """One session."""

    def __init__(self, desk: Desk, session: Shelved) -> None:
        super().__init__()
        self._desk, self._session = desk, session
        Outlines.of(desk).changed.connect(self.update)
        self.setFixedSize(_SIZE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        known = Outlines.of(self._desk).get(self._session)
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
