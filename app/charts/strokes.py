"""Lines on charts: fast ones on a screen, whole ones in a file."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter, QPen
from shiboken6 import wrapInstance

from app.charts.backend import pg
from app.charts.clipping import Polyline, Segments, chained, segments

_THICK = 3.5
"""In device pixels."""

SCREEN = QPaintEngine.Type.Raster, QPaintEngine.Type.OpenGL2


def is_vector(painter: QPainter) -> bool:
    """Whether the painter writes a file that must look the same where our fonts are missing."""
    return painter.paintEngine().type() not in SCREEN


def stroke(painter: QPainter, points: Polyline, pen: QPen) -> None:
    """Draw a line through pixels."""
    each, _ = segments(points)
    stroke_segments(painter, each, pen)


def stroke_segments(painter: QPainter, each: Segments, pen: QPen) -> None:
    """Draw segments: into a file, or with dashes, as lines with corners.

    Qt strokes one antialiased path five times slower than its segments one by one. Pens must be
    opaque: segments of a translucent line would overlap visibly.
    """
    vector = is_vector(painter)
    if vector or pen.dashPattern():
        pen = QPen(pen)
        pen.setCosmetic(vector)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for line in chained(each):
            painter.drawPolyline(pg.functions.arrayToQPolygonF(line[:, 0], line[:, 1]))
        return
    quick = QPen(pen.color(), pen.widthF())
    # Where thick segments meet, flat ends leave notches. Round ends take twelve times as long.
    notched = pen.widthF() * painter.device().devicePixelRatioF() >= _THICK
    quick.setCapStyle(Qt.PenCapStyle.SquareCap if notched else Qt.PenCapStyle.FlatCap)
    painter.setPen(quick)
    draw_segments(painter, each)


def draw_hair(  # noqa: PLR0917 - read like draw_text
    painter: QPainter, left: float, right: float, y: float, colour: QColor | str, width: float = 1.0
) -> None:
    """Draw a level line. Qt needs sixty times as long for one that a pen draws."""
    box = QRectF(left - width / 2, y - width / 2, right - left + width, width)
    painter.fillRect(box, QColor(colour))


def draw_segments(painter: QPainter, lines: Segments) -> None:
    """Draw separate lines with the painter's pen, without an object of Python for each."""
    if len(lines):
        lines = np.ascontiguousarray(lines, dtype=np.float64)
        painter.drawLines(wrapInstance(lines.ctypes.data, QLineF), len(lines))
