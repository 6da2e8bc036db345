"""What a plot consists of: items of pyqtgraph, as wide in files as on a screen, and drawings."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmapCache
from PySide6.QtWidgets import QGraphicsSceneWheelEvent

from app.charts.strokes import Segments, draw_segments
from app.colour import with_opacity
from app.painted import guarded
from app.theme import Theme

# Moves of the mouse are not dropped: the card and a drag follow it.
pg.setConfigOptions(mouseRateLimit=-1)

_WHEEL_STEP, _NOTCH = 0.82, 120.0
"""What one notch of the wheel leaves, and its size."""
_PAN = 0.1
"""By which share of the part shown a notch sideways pans."""
_KEPT_KB = 1 << 17
"""Qt's memory for pictures: of the still lines of three charts on a large screen."""


class Drawing(pg.GraphicsObject):
    """Draws in the pixels of the scene, so that pens and symbols do not depend on the zoom, and are
    the same in files.
    """

    def __init__(self, box: ZoomBox, z: float, paint: Callable[[QPainter], None]) -> None:
        super().__init__(box)
        self._box, self._paint = box, paint
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setZValue(z)
        box.sigResized.connect(lambda *_: self.prepareGeometryChange())

    def boundingRect(self) -> QRectF:
        return self._box.room()

    def keep(self, kept: bool) -> None:
        """Keep it as a picture on the screen until it changes."""
        QPixmapCache.setCacheLimit(_KEPT_KB)  # which Qt ignores before there is an application
        modes = self.CacheMode
        if kept == (self.cacheMode() == modes.DeviceCoordinateCache):
            return
        self.setCacheMode(modes.DeviceCoordinateCache if kept else modes.NoCache)

    def viewRangeChanged(self, *_: object) -> None:
        self.update()

    @guarded
    def paint(self, painter: QPainter, *_: object) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self.scenePos())
        self._paint(painter)


class ZoomBox(pg.ViewBox):
    """The view of a chart: the wheel zooms what all charts share, and over the axis of the values
    these; what a drag does is decided by whoever handles `dragged`.
    """

    dragged = Signal(object)
    """An event of pyqtgraph."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0)
        self.rim = 0.0
        """Pixels around it, for halos and markers on its edges."""
        self.disableAutoRange()
        self.state["wheelScaleFactor"] = log(_WHEEL_STEP) / log(1.02) / _NOTCH
        # pyqtgraph would move its items while it paints, and so paint all of them twice.
        self.sigRangeChanged.connect(lambda *_: self.updateMatrix())

    def room(self) -> QRectF:
        """Return where its items may be seen, in its own pixels."""
        return self.rect().adjusted(-self.rim, -self.rim, self.rim, self.rim)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.room())
        return path

    def wheelEvent(self, event: QGraphicsSceneWheelEvent, axis: int | None = None) -> None:
        if event.orientation() is Qt.Orientation.Horizontal:
            low, high = self.viewRange()[0]
            self.translateBy(x=event.delta() / _NOTCH * _PAN * (low - high))
            self.sigRangeChangedManually.emit([True, False])
        else:
            beside = 1 if event.pos().x() < 0 else 0
            super().wheelEvent(event, axis=beside if axis is None else axis)
        event.accept()

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        event.accept()
        self.dragged.emit(event)

    def pan(self, event: Any, *, across: bool, up: bool) -> None:
        """Move the part that is shown, by an event of a drag."""
        self.setMouseEnabled(x=across, y=up)
        super().mouseDragEvent(event)
        self.setMouseEnabled(x=True, y=True)


def _in_scene(painter: QPainter, item: pg.GraphicsObject) -> None:
    """Let a painter of an item draw in the pixels of the scene."""
    painter.setWorldTransform(item.sceneTransform().inverted()[0] * painter.worldTransform())


class Rule(pg.InfiniteLine):
    """A straight line through a plot."""

    def paint(self, painter: QPainter, *_: object) -> None:
        part = self.viewRect()
        (start, end) = (self.mapToScene(QPointF(x, 0)) for x in (part.left(), part.right()))
        if self.angle == 0:
            start.setY(round(start.y()) + 0.5)
            end.setY(start.y())
        else:
            start.setX(round(start.x()) + 0.5)
            end.setX(start.x())
        _in_scene(painter, self)
        # Qt needs two milliseconds for an antialiased dashed line.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self.pen)
        painter.drawLine(QLineF(start, end))


class ClientLimit(pg.LinearRegionItem):
    """The hatched part of a plot beyond the client limit."""

    def __init__(self) -> None:
        super().__init__(movable=False)
        self._theme: Theme | None = None
        self._scale = 1.0
        for line in self.lines:
            line.hide()

    def dress(self, theme: Theme, scale: float) -> None:
        self._theme, self._scale = theme, scale

    def paint(self, painter: QPainter, *_: object) -> None:
        area = self.mapRectToScene(self.boundingRect() & self.viewRect())
        if self._theme is None or area.isEmpty():
            return
        muted, px = self._theme.muted, self._scale
        _in_scene(painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(area, with_opacity(muted, 0.10))
        painter.setPen(QPen(with_opacity(muted, 0.22), 0.9 * px))
        draw_segments(painter, _hatch(area, 8 * px))
        painter.setPen(QPen(QColor(muted), px))
        painter.drawLine(area.topLeft(), area.bottomLeft())


def _hatch(area: QRectF, apart: float) -> Segments:
    """Return lines at 45 degrees within an area: Qt's SVG painter does not clip."""
    x = np.arange(area.left() - area.height(), area.right(), apart)
    left, right = np.maximum(x, area.left()), np.minimum(x + area.height(), area.right())
    foot = area.bottom() + x
    return np.column_stack((left, foot - left, right, foot - right))
