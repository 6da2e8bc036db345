"""The markers of lines. On a screen they are copied from a sheet: antialiased paths are slow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import ceil, cos, pi, sin, sqrt

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap, QPolygonF
from shiboken6 import wrapInstance

from app.charts.clipping import Polyline
from app.charts.strokes import is_vector
from app.theme import Marker, SeriesStyle

_OUTLINES: dict[Marker, Sequence[tuple[float, float]]] = {
    Marker.SQUARE: ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)),
    Marker.UP: ((0, -1.15), (1.08, 0.85), (-1.08, 0.85)),
    Marker.DOWN: ((0, 1.15), (1.08, -0.85), (-1.08, -0.85)),
    Marker.DIAMOND: ((0, -1.25), (1.05, 0), (0, 1.25), (-1.05, 0)),
    Marker.PENTAGON: tuple(
        (1.12 * sin(2 * pi * i / 5), -1.12 * cos(2 * pi * i / 5)) for i in range(5)
    ),
}

_ARM, _REACH = 0.36, 1.12
"""Half the width of a cross's arms, and how far they go."""
_OUTLINES[Marker.PLUS] = tuple(
    (x * turn - y * flip, x * flip + y * turn)
    for turn, flip in ((1, 0), (0, 1), (-1, 0), (0, -1))
    for x, y in ((_ARM, -_ARM), (_REACH, -_ARM), (_REACH, _ARM))
)
_OUTLINES[Marker.CROSS] = tuple(
    ((x - y) * sqrt(0.5), (x + y) * sqrt(0.5)) for x, y in _OUTLINES[Marker.PLUS]
)

_SHIFTS = 4
"""A marker is placed at every quarter of a device pixel, across and down."""


class Markers:
    """Markers on one ground, drawn one over another."""

    def __init__(self, painter: QPainter, ground: str) -> None:
        self._painter, self._ground = painter, ground
        self._ratio = painter.device().devicePixelRatioF()
        self._as_paths = is_vector(painter) or painter.worldTransform().isScaling()
        self._found: list[tuple[_Row, Polyline]] = []

    def add(
        self, style: SeriesStyle, places: Polyline, radius: float, *, hollow: bool = False
    ) -> None:
        """Add a marker at several pixels, filled with a rim in the background colour, or hollow:
        not to be trusted. It is drawn at the latest by `finished`.
        """
        if not len(places):
            return
        if not self._as_paths:
            row = _sheet(self._ground, self._ratio).row(style, radius, hollow)
            self._found.append((row, places))
            return
        for x, y in places.tolist():
            self._painter.translate(x, y)
            _paint_marker(self._painter, style, radius, self._ground, hollow)
            self._painter.translate(-x, -y)

    def finished(self) -> QPainter:
        """Draw all that were added, by one call; returns the painter, to draw over them."""
        if self._found:
            rows = np.repeat(
                [row for row, _ in self._found], [len(at) for _, at in self._found], axis=0
            )
            at = np.rint(np.concatenate([at for _, at in self._found]) * (_SHIFTS * self._ratio))
            whole, (across, down) = at // _SHIFTS, (at % _SHIFTS).T
            sides = rows[:, 1]
            # As Qt has them: the middle, the place on the sheet, the size there, scales, angle, and
            # opacity.
            parts = np.zeros((len(at), 10))
            parts[:, :2] = (whole + 0.5) / self._ratio
            parts[:, 2], parts[:, 3] = (across * _SHIFTS + down) * sides, rows[:, 0]
            parts[:, 4:6], parts[:, 6:8], parts[:, 9] = sides[:, None], 1 / self._ratio, 1
            first = wrapInstance(parts.ctypes.data, QPainter.PixmapFragment)
            sheet = _sheet(self._ground, self._ratio).pixmap
            self._painter.drawPixmapFragments(first, len(parts), sheet)
            self._found = []
        return self._painter


def draw_marker(
    painter: QPainter,
    style: SeriesStyle,
    at: QPointF,
    radius: float,
    ground: str,
    *,
    hollow: bool = False,
) -> None:
    """Draw one marker."""
    markers = Markers(painter, ground)
    markers.add(style, np.array([at.toTuple()]), radius, hollow=hollow)
    markers.finished()


_Row = tuple[float, float]
"""Of a sheet: its top, and the side of the squares that it consists of, in device pixels."""


class _Sheet:
    """A pixmap with a row for every marker on a ground, in which it has all its shifts."""

    def __init__(self, ground: str, ratio: float) -> None:
        self.pixmap = QPixmap()
        self._ground, self._ratio = ground, ratio
        self._rows: dict[tuple[SeriesStyle, float, bool], _Row] = {}
        self._end = 0

    def row(self, style: SeriesStyle, radius: float, hollow: bool) -> _Row:
        """Return the row of a marker; it is painted when it is first needed."""
        key = style, radius, hollow
        if key not in self._rows:
            half = ceil(1.5 * radius * self._ratio) + 1
            side = 2 * half + 1
            self._rows[key] = self._end, side
            self._make_room(side)
            painter = QPainter(self.pixmap)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for shift in range(_SHIFTS**2):
                across, down = divmod(shift, _SHIFTS)
                painter.resetTransform()
                painter.translate(
                    shift * side + half + across / _SHIFTS, self._end + half + down / _SHIFTS
                )
                painter.scale(self._ratio, self._ratio)
                _paint_marker(painter, style, radius, self._ground, hollow)
            painter.end()
            self._end += side
        return self._rows[key]

    def _make_room(self, side: int) -> None:
        before, wide, high = self.pixmap, side * _SHIFTS**2, self._end + side
        if before.width() >= wide and before.height() >= high:
            return
        self.pixmap = QPixmap(max(before.width(), wide), max(before.height(), 2 * high))
        self.pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self.pixmap)
        painter.drawPixmap(0, 0, before)
        painter.end()


@lru_cache(maxsize=8)
def _sheet(ground: str, ratio: float) -> _Sheet:
    return _Sheet(ground, ratio)


@cache
def marker_path(marker: Marker, radius: float) -> QPainterPath:
    """Return the shape of a marker around (0, 0)."""
    path = QPainterPath()
    if marker is Marker.CIRCLE:
        path.addEllipse(QPointF(0, 0), radius, radius)
    else:
        path.addPolygon(QPolygonF([QPointF(x * radius, y * radius) for x, y in _OUTLINES[marker]]))
        path.closeSubpath()
    return path


def _paint_marker(
    painter: QPainter, style: SeriesStyle, radius: float, ground: str, hollow: bool
) -> None:
    if hollow:
        painter.setPen(QPen(style.tint(), 0.38 * radius))
        painter.setBrush(QColor(ground))
    else:
        painter.setPen(QPen(QColor(ground), 0.3 * radius))
        painter.setBrush(style.brush())
    painter.drawPath(marker_path(style.marker, radius))
