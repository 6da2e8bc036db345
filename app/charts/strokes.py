"""Lines on charts: fast thick ones on a screen, whole ones in a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter, QPen
from shiboken6 import wrapInstance

from app.charts.clipping import Polyline, Segments, begins, chained, segments

Piece = tuple[Segments, QPen]

_THICK = 3.5
"""In device pixels."""

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
        for piece in pieces([(each, pen)], painter.device().devicePixelRatioF()):
            draw_pieces(painter, *piece)


def stroke_segments(painter: QPainter, each: Segments, pen: QPen) -> None:
    """Draw segments into a file: as lines with corners and dashes of their own."""
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for line in chained(each):
        painter.drawPolyline([QPointF(x, y) for x, y in line.tolist()])


def pieces(lines: Sequence[Piece], ratio: float) -> list[Piece]:
    """Return what `draw_pieces` draws of each line, given as its segments, on a screen. `ratio`:
    its device pixels per pixel.

    Qt strokes one antialiased path five times slower than its segments one by one, so on screen
    lines are drawn by segment, with the dashes cut here, of all lines at once: numpy takes as long
    for one of them. Pens must be opaque: segments of a translucent line would overlap visibly.
    """
    patterns = [_dashes(pen) for _, pen in lines]
    cut = iter(_dashed([(each, p) for (each, _), p in zip(lines, patterns, strict=True) if p]))
    return [
        (next(cut) if pattern else each, _quick(pen, ratio, dashed=bool(pattern)))
        for (each, pen), pattern in zip(lines, patterns, strict=True)
    ]


def _dashes(pen: QPen) -> list[float]:
    """Return the pattern (drawn, left out, ...) in pixels; empty: a solid line."""
    width = pen.widthF()
    # Square ends lengthen the dashes.
    longer = width if pen.capStyle() is Qt.PenCapStyle.SquareCap else 0.0
    return [
        length * width + (-longer if place % 2 else longer)
        for place, length in enumerate(pen.dashPattern())
    ]


def _quick(pen: QPen, ratio: float, *, dashed: bool) -> QPen:
    """Return a pen with which Qt draws segments fast."""
    quick = QPen(pen.color(), pen.widthF())
    # Where thick segments meet, flat ends leave notches.
    notched = pen.widthF() * ratio >= _THICK and not dashed
    quick.setCapStyle(Qt.PenCapStyle.RoundCap if notched else Qt.PenCapStyle.FlatCap)
    return quick


def draw_pieces(painter: QPainter, lines: Segments, pen: QPen) -> None:
    painter.setPen(pen)
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


def _dashed(lines: Sequence[tuple[Segments, list[float]]]) -> list[Segments]:
    """Return the drawn pieces of each line's segments; its pattern continues over the corners."""
    if not lines:
        return []
    each = np.concatenate([line for line, _ in lines])
    sizes = [len(line) for line, _ in lines]
    edges = _edges([pattern for _, pattern in lines])[np.repeat(np.arange(len(lines)), sizes)]
    whole = edges[:, -1]
    first = begins(each)
    ends = np.cumsum(sizes)
    first[ends[:-1][ends[:-1] < len(each)]] = True
    ways = each[:, 2:] - each[:, :2]
    lengths = np.hypot(ways[:, 0], ways[:, 1])
    along = np.cumsum(lengths) - lengths
    # From the beginning of each line.
    along -= along[np.maximum.accumulate(np.where(first, np.arange(len(each)), 0))]
    begun = np.floor(along / whole)
    turns = (np.floor((along + lengths) / whole) - begun + 1).astype(np.intp)
    which = np.repeat(np.arange(len(each)), turns)
    turn = np.arange(len(which)) - np.repeat(np.cumsum(turns) - turns, turns) + begun[which]
    since, most = (turn * whole[which] - along[which])[:, None], lengths[which, None]
    start = np.clip(since + edges[which, :-1:2], 0.0, most)
    end = np.clip(since + edges[which, 1::2], 0.0, most)
    drawn = end > start
    row = which[np.nonzero(drawn)[0]]
    unit, at = ways[row] / lengths[row, None], each[row, :2]
    found = np.hstack((at + unit * start[drawn][:, None], at + unit * end[drawn][:, None]))
    return np.split(found, np.searchsorted(row, ends[:-1]))


def _edges(patterns: Sequence[list[float]]) -> NDArray[np.float64]:
    """Return where dashes begin and end in each pattern; the last one is its length."""
    dashes = np.zeros((len(patterns), max(map(len, patterns)) + 1))
    for row, pattern in zip(dashes, patterns, strict=True):
        row[1 : len(pattern) + 1] = pattern  # the rest are dashes without a length
    return dashes.cumsum(axis=1)
