"""Drawing primitives of all charts: markers, swatches, text, and fast thick lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import ceil, cos, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPaintEngine,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
    QTransform,
)
from PySide6.QtWidgets import QWidget
from shiboken6 import wrapInstance

from app.charts.clipping import Polyline, Segments, begins, chained, segments
from app.plain import laid_out
from app.theme import Marker, SeriesStyle, Theme

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

_THICK = 3.5

_SCREEN = QPaintEngine.Type.Raster, QPaintEngine.Type.OpenGL2


def is_vector(painter: QPainter) -> bool:
    """Whether the painter writes a file that must look the same where our fonts are missing."""
    return painter.paintEngine().type() not in _SCREEN


@cache
def metrics(font: QFont) -> QFontMetricsF:
    return QFontMetricsF(font)


@lru_cache(maxsize=4096)
def text_width(text: str, font: QFont) -> float:
    return metrics(font).horizontalAdvance(text)


def elided(text: str, font: QFont, width: float) -> str:
    return metrics(font).elidedText(text, Qt.TextElideMode.ElideRight, width)


def fitting(texts: Iterable[str], font: QFont, width: float) -> str:
    """Return the first of several forms of a text, longest first, that is no wider; empty: none."""
    return next((text for text in texts if text_width(text, font) <= width), "")


def draw_text(  # noqa: PLR0917 - read like QPainter.drawText
    painter: QPainter,
    at: QPointF,
    text: str,
    font: QFont,
    colour: QColor | str,
    align: str = "left",
) -> float:
    """Draw one line of text, `at` its left, middle or right end ("left", "middle", "right"),
    vertically centred on it; returns its width.

    In an SVG it becomes outlines, which look the same on machines without our fonts; a PDF embeds
    the fonts, and its text can be searched and copied.
    """
    kind = painter.paintEngine().type()
    if kind is QPaintEngine.Type.Pdf:
        font = _searchable(font)
    width = text_width(text, font)
    x = at.x() - {"left": 0.0, "middle": 0.5, "right": 1.0}[align] * width
    baseline = QPointF(x, at.y() + metrics(font).capHeight() / 2)
    if kind in _SCREEN:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawStaticText(baseline - QPointF(0, metrics(font).ascent()), laid_out(text, font))
    elif kind is not QPaintEngine.Type.Pdf:
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)  # strokes of a letter may overlap
        path.addText(baseline, font, text)
        painter.fillPath(path, QColor(colour))
    else:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(baseline, text)
    return width


@cache
def _searchable(font: QFont) -> QFont:
    """Return the font without feature glyphs, for which a PDF records no characters."""
    made = QFont(font)
    for feature in ("tnum", "calt"):
        made.setFeature(QFont.Tag(feature), 0)
    return made


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


def draw_marker(
    painter: QPainter,
    style: SeriesStyle,
    at: QPointF,
    radius: float,
    ground: str,
    *,
    hollow: bool = False,
) -> None:
    """Draw a marker, filled with a rim in the background colour, or hollow: not to be trusted."""
    draw_markers(painter, style, np.array([at.toTuple()]), radius, ground, hollow=hollow)


def draw_markers(
    painter: QPainter,
    style: SeriesStyle,
    places: Polyline,
    radius: float,
    ground: str,
    *,
    hollow: bool = False,
) -> None:
    """Draw the same marker at several pixels."""
    if not len(places):
        return
    kind = QTransform.TransformationType
    still = painter.worldTransform().type() in (kind.TxNone, kind.TxTranslate)
    if is_vector(painter) or not still:
        for x, y in places.tolist():
            painter.translate(x, y)
            _paint_marker(painter, style, radius, ground, hollow)
            painter.translate(-x, -y)
        return
    # Antialiased paths are slow; a marker is cached as a pixmap for every quarter of a pixel.
    ratio = painter.device().devicePixelRatioF()
    stamps, half = _stamps(style, radius, ground, hollow, ratio), _half(radius, ratio)
    quarters = np.rint(places * (4 * ratio)).astype(np.int64)
    corners = ((quarters >> 2) - half) / ratio
    for (x, y), shift in zip(corners.tolist(), map(tuple, (quarters & 3).tolist()), strict=True):
        stamp = stamps.get(shift)
        if stamp is None:
            stamp = stamps[shift] = _stamp(style, radius, ground, hollow, *shift, ratio)
        painter.drawPixmap(QPointF(x, y), stamp)


@lru_cache(maxsize=256)
def _stamps(
    style: SeriesStyle, radius: float, ground: str, hollow: bool, ratio: float
) -> dict[tuple[int, ...], QPixmap]:
    """Return the pixmaps of a marker, by its shift; they are made when they are needed."""
    return {}


def _half(radius: float, ratio: float) -> int:
    """Return the device pixels on each side of a stamp's middle."""
    return ceil(1.5 * radius * ratio) + 1


def _stamp(  # noqa: PLR0917 - what makes it unique
    style: SeriesStyle, radius: float, ground: str, hollow: bool, x: int, y: int, ratio: float
) -> QPixmap:
    """Return a marker in the middle of a pixmap, shifted by quarters of a device pixel."""
    half = _half(radius, ratio)
    stamp = QPixmap(2 * half + 1, 2 * half + 1)
    stamp.fill(Qt.GlobalColor.transparent)
    painter = QPainter(stamp)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(half + x / 4, half + y / 4)
    painter.scale(ratio, ratio)
    _paint_marker(painter, style, radius, ground, hollow)
    painter.end()
    stamp.setDevicePixelRatio(ratio)
    return stamp


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


def draw_ring(painter: QPainter, at: QPointF, radius: float, theme: Theme) -> None:
    """Draw a ring on a disc of the background, for a point at which an audit failed: its marker
    fits into it.
    """
    painter.setPen(QPen(QColor(theme.warn), 0.2 * radius))
    painter.setBrush(QColor(theme.card))
    painter.drawEllipse(at, radius, radius)


def draw_cross(painter: QPainter, at: QPointF, radius: float, theme: Theme) -> None:
    """Draw a disc with a cross, for a point at which the server is faulty: the sign does not depend
    on colour.
    """
    arm = 0.45 * radius
    strokes = [
        QLineF(at.x() - arm, at.y() - arm, at.x() + arm, at.y() + arm),
        QLineF(at.x() - arm, at.y() + arm, at.x() + arm, at.y() - arm),
    ]
    painter.setPen(QPen(QColor(theme.card), 0.25 * radius))
    painter.setBrush(QColor(theme.bad))
    painter.drawEllipse(at, radius, radius)
    pen = QPen(QColor(theme.card), 0.34 * radius)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.drawLines(strokes)


def draw_swatch(painter: QPainter, style: SeriesStyle, rect: QRectF, ground: str) -> None:
    """Draw line, dash and marker of a series, as wide as `rect`."""
    middle = rect.center().y()
    width = rect.height() / 7
    stroke(
        painter,
        np.array([[rect.left(), middle], [rect.right(), middle]]),
        style.pen(width),
    )
    draw_marker(painter, style, rect.center(), rect.height() * 0.31, ground)


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


class Swatch(QWidget):
    """A series' line, dash and marker, for legends and cards."""

    def __init__(self, style: SeriesStyle, theme: Theme, scale: float = 1.0) -> None:
        super().__init__()
        self._style, self._theme = style, theme
        self.setFixedSize(round(40 * scale), round(16 * scale))

    def set_style(self, style: SeriesStyle) -> None:
        self._style = style
        self.update()

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_swatch(painter, self._style, QRectF(self.rect()), self._theme.card)
        painter.end()
