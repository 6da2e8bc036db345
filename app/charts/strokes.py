"""Lines on charts: cut at the edges of a plot; fast on a screen, whole in a file."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter, QPen
from shiboken6 import wrapInstance

Polyline = NDArray[np.float64]
"""Shape (n, 2); points of NaN are gaps."""

Segments = NDArray[np.float64]
"""Shape (n, 4): x and y of both ends."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_NO_WAY = 1e-200
"""In place of zero, by which nothing can be divided."""


def clipped(points: Polyline, box: Box) -> Polyline:
    """Return what of a line lies within the box (left, top, right, bottom), in order. Columns
    beyond x and y belong to the segment that begins at a point, and stay so.
    """
    at, low, high = points[:, :2], np.array(box[:2]), np.array(box[2:])
    inside = ((low <= at) & (at <= high)).all(axis=1)
    if inside.all():
        return points
    start, end = at[:-1], at[1:]
    way = end - start
    along = way == 0
    way[along] = _NO_WAY
    # Each edge narrows the part of a segment that is seen, as Liang and Barsky found.
    to_low, to_high = (low - start) / way, (high - start) / way
    to_high[along & (start <= high)] = np.inf
    first = np.minimum(to_low, to_high).max(axis=1).clip(min=0)[:, None]
    last = np.maximum(to_low, to_high).min(axis=1).clip(max=1)[:, None]
    seen = np.append(first < last, False)
    before = np.append(False, seen[:-1])
    begins = (seen & ~(before & inside)) | (inside & ~seen & ~before)
    # A gap before each part, where a segment begins, and where it ends.
    rows = np.repeat(points[:, None], 3, axis=1)
    rows[:, 0, :2] = np.nan
    rows[:-1, 1, :2] = np.where(inside[:-1, None], start, start + first * way)
    rows[:-1, 2, :2] = np.where(inside[1:, None], end, start + last * way)
    rows[:-1, 2, 2:] = points[np.arange(len(seen) - 1) + inside[1:], 2:]
    found: Polyline = rows[np.column_stack((begins, begins, seen))]
    return found[1:]


def segments(line: Polyline) -> tuple[Segments, NDArray[np.intp]]:
    """Return the segments of a line, and the index of the point at which each begins."""
    each = np.hstack((line[:-1, :2], line[1:, :2]))
    (begin,) = np.nonzero(~np.isnan(each).any(axis=1))
    return each[begin], begin


def chained(each: Segments) -> list[Polyline]:
    """Return segments as lines without gaps."""
    apart = (each[1:, :2] != each[:-1, 2:]).any(axis=1)
    parts = np.split(each, np.flatnonzero(apart) + 1) if len(each) else []
    return [np.vstack((part[:1, :2], part[:, 2:])) for part in parts]


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(first, end) of the runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


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
