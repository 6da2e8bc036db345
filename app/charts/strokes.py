"""Lines on charts: fast thick ones on a screen, whole ones in a file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter, QPen
from shiboken6 import wrapInstance

from app.charts.clipping import Polyline, Segments, begins, chained, segments

_THICK = 3.5

SCREEN = QPaintEngine.Type.Raster, QPaintEngine.Type.OpenGL2


def is_vector(painter: QPainter) -> bool:
    """Whether the painter writes a file that must look the same where our fonts are missing."""
    return painter.paintEngine().type() not in SCREEN


def stroke(painter: QPainter, points: Polyline, pen: QPen) -> None:
    """Draw a line through pixels."""
    each, _ = segments(points)
    if is_vector(painter):
        stroke_segments(painter, each, pen)
    else:
        draw_pieces(painter, pieces(each, pen), pen)


def stroke_segments(painter: QPainter, each: Segments, pen: QPen) -> None:
    """Draw segments into a file: as lines with corners and dashes of their own."""
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for line in chained(each):
        painter.drawPolyline([QPointF(x, y) for x, y in line.tolist()])


def pieces(each: Segments, pen: QPen) -> Segments:
    """Return what `draw_pieces` draws of segments on a screen.

    Qt strokes one antialiased path five times slower than its segments one by one, so on screen
    lines are drawn by segment, with the dashes cut here. Pens must be opaque: segments of a
    translucent line would overlap visibly.
    """
    width, pattern = pen.widthF(), pen.dashPattern()
    if not pattern:
        return each
    dashes = np.array(pattern) * width
    if pen.capStyle() is Qt.PenCapStyle.SquareCap:  # square ends lengthen the dashes
        dashes += np.tile((width, -width), len(dashes) // 2)
    return _dashed(each, dashes)


def draw_pieces(painter: QPainter, lines: Segments, pen: QPen) -> None:
    quick = QPen(pen.color(), pen.widthF())
    # Where thick segments meet, flat ends leave notches.
    notched = pen.widthF() >= _THICK and not pen.dashPattern()
    quick.setCapStyle(Qt.PenCapStyle.RoundCap if notched else Qt.PenCapStyle.FlatCap)
    painter.setPen(quick)
    draw_segments(painter, lines)


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


def _dashed(each: Segments, pattern: NDArray[np.float64]) -> Segments:
    """Return the drawn pieces of segments; the pattern (drawn, left out, ...) continues over the
    corners of a line.
    """
    ways = each[:, 2:] - each[:, :2]
    lengths = np.hypot(ways[:, 0], ways[:, 1])
    along = np.cumsum(lengths) - lengths
    # From the beginning of each line.
    along -= along[np.maximum.accumulate(np.where(begins(each), np.arange(len(each)), 0))]
    edges = np.concatenate(([0.0], np.cumsum(pattern)))
    first = np.floor(along / edges[-1])
    turns = (np.floor((along + lengths) / edges[-1]) - first + 1).astype(np.intp)
    which = np.repeat(np.arange(len(each)), turns)
    turn = np.arange(len(which)) - np.repeat(np.cumsum(turns) - turns, turns) + first[which]
    since, most = (turn * edges[-1] - along[which])[:, None], lengths[which, None]
    start = np.clip(since + edges[:-1:2], 0.0, most)
    end = np.clip(since + edges[1::2], 0.0, most)
    drawn = end > start
    row = which[np.nonzero(drawn)[0]]
    unit, at = ways[row] / lengths[row, None], each[row, :2]
    return np.hstack((at + unit * start[drawn][:, None], at + unit * end[drawn][:, None]))
