"""Drawing primitives of all charts: lines, cut at the edges of a plot, texts and how they are
shortened, markers, swatches, signs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import takewhile
from math import ceil, cos, pi, sin, sqrt

import numpy as np
import pyqtgraph as pg
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
)
from shiboken6 import wrapInstance

from app.painted import Painted
from app.plain import laid_out
from app.theme import Marker, SeriesStyle, Theme, Weight, contrast, font, mix
from workbench.results.comparison import TAGS

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
    return rows[np.column_stack((begins, begins, seen))][1:]


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


_THICK = 3.5
"""In device pixels."""

SCREEN = QPaintEngine.Type.Raster, QPaintEngine.Type.OpenGL2


def is_vector(painter: QPainter) -> bool:
    """Whether the painter writes a file that must look the same where our fonts are missing."""
    return painter.paintEngine().type() not in SCREEN


def stroke(painter: QPainter, points: Polyline, pen: QPen) -> None:
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


_BEFORE = {"left": 0.0, "middle": 0.5, "right": 1.0}
"""The share of a text that is left of where it is drawn."""


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
    width, sizes = text_width(text, font), metrics(font)
    x = at.x() - _BEFORE[align] * width
    y = at.y() + sizes.capHeight() / 2
    painter.setFont(font)
    painter.setPen(QColor(colour))
    if kind in SCREEN:
        painter.drawStaticText(QPointF(x, y - sizes.ascent()), laid_out(text, font))
    elif kind is QPaintEngine.Type.Pdf:
        painter.drawText(QPointF(x, y), text)
    else:
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)  # strokes of a letter may overlap
        path.addText(QPointF(x, y), font, text)
        painter.fillPath(path, QColor(colour))
    return width


@cache
def _searchable(font: QFont) -> QFont:
    """Return the font without feature glyphs, for which a PDF records no characters."""
    made = QFont(font)
    for feature in ("tnum", "calt"):
        made.setFeature(QFont.Tag(feature), 0)
    return made


def draw_cross(painter: QPainter, at: QPointF, radius: float, theme: Theme) -> None:
    """Draw a disc with a cross, a sign of faults that does not depend on colour."""
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
    stroke(painter, np.array([[rect.left(), middle], [rect.right(), middle]]), style.pen(width))
    draw_marker(painter, style, rect.center(), rect.height() * 0.31, ground)


_THIN = 0.75
"""Relative line width of all sessions but the first."""

_PALE_PCT = range(47, 91)
"""Their opacity in percent: the lowest with which a line is well visible."""

_CONTRAST = 3.5
"""Of a thin line with its background; of a colour that hardly has more by itself, 3."""


def side_style(style: SeriesStyle, place: int, theme: Theme) -> SeriesStyle:
    """Return a server's style in the session at this index: session 0 is solid; every other is thin
    and pale, with one more dot between its dashes than the one before.
    """
    if not place:
        return style
    shades = [mix(theme.card, style.colour, pct / 100) for pct in _PALE_PCT]
    pale = next((c for c in shades if contrast(c, theme.card) >= _CONTRAST), shades[-1])
    return replace(style, colour=pale, weight=_THIN, dots=place)


def draw_tag(painter: QPainter, box: QRectF, tag: str, theme: Theme) -> None:
    """Draw a session's letter: filled for the first one, outlined for the others."""
    filled = tag == TAGS[0]
    painter.setPen(QPen(QColor(theme.primary if filled else theme.edge), box.height() / 13))
    painter.setBrush(QColor(theme.primary if filled else theme.card))
    painter.drawRoundedRect(box, box.height() / 4, box.height() / 4)
    colour = theme.on_primary if filled else theme.soft
    size = font(box.height() * 0.77, Weight.DemiBold)
    draw_text(painter, box.center(), tag, size, colour, "middle")


class Swatch(Painted):
    """A series' line, dash and marker, for legends and cards."""

    def __init__(self, style: SeriesStyle, theme: Theme, scale: float = 1.0) -> None:
        super().__init__(theme)
        self._style = style
        self.setFixedSize(round(40 * scale), round(16 * scale))

    def set_style(self, style: SeriesStyle) -> None:
        self._style = style
        self.update()

    def paint(self, painter: QPainter) -> None:
        draw_swatch(painter, self._style, QRectF(self.rect()), self.theme.card)


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


def draw_markers(
    painter: QPainter,
    style: SeriesStyle,
    places: Polyline,
    radius: float,
    ground: str,
    *,
    hollow: bool = False,
) -> None:
    """Draw a marker at several pixels, filled with a rim in the colour of its ground, or hollow:
    not to be trusted. On a screen pictures of it are copied: antialiased paths are slow.
    """
    if is_vector(painter) or painter.worldTransform().isScaling():
        for x, y in places.tolist():
            painter.translate(x, y)
            _paint_marker(painter, style, radius, ground, hollow)
            painter.translate(-x, -y)
        return
    ratio = painter.device().devicePixelRatioF()
    at = np.rint(places * (_SHIFTS * ratio)).astype(np.int64)
    corners = (at // _SHIFTS - _half(radius, ratio)) / ratio
    for (x, y), shift in zip(corners.tolist(), (at % _SHIFTS).tolist(), strict=True):
        picture = _picture(style, radius, ground, hollow, ratio, *shift)
        painter.drawPixmap(QPointF(x, y), picture)


def draw_marker(
    painter: QPainter,
    style: SeriesStyle,
    at: QPointF,
    radius: float,
    ground: str,
    *,
    hollow: bool = False,
) -> None:
    draw_markers(painter, style, np.array([at.toTuple()]), radius, ground, hollow=hollow)


def _half(radius: float, ratio: float) -> int:
    """Return the device pixels from the middle of a marker's picture to its edge."""
    return ceil(1.5 * radius * ratio) + 1


@lru_cache(maxsize=8192)
def _picture(  # noqa: PLR0917 - a key
    style: SeriesStyle,
    radius: float,
    ground: str,
    hollow: bool,
    ratio: float,
    across: int,
    down: int,
) -> QPixmap:
    half = _half(radius, ratio)
    picture = QPixmap(2 * half + 1, 2 * half + 1)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(half + across / _SHIFTS, half + down / _SHIFTS)
    painter.scale(ratio, ratio)
    _paint_marker(painter, style, radius, ground, hollow)
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


@cache
def marker_path(marker: Marker, radius: float) -> QPainterPath:
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


@lru_cache(maxsize=256)
def distinct_names(names: frozenset[str], font: QFont, width: float) -> dict[str, str]:
    """Return the text of each name within `width` pixels: its beginning; where several begin alike,
    the part from the first word that differs; else both of its ends. Where those are equal too, the
    differing word is tried again, since fewer names are left to distinguish.
    """
    written = {name: elided(name, font, width) for name in names}
    for shorten in (_from_first_difference, _both_ends, _from_first_difference):
        alike = defaultdict(list)
        for name, short in written.items():
            alike[short].append(name)
        for group in alike.values():
            if len(group) > 1:
                written.update(shorten(group, font, width))
    return written


def name_among(name: str, others: Iterable[str], font: QFont, width: float) -> str:
    """Return the text of a name within `width` pixels that reads unlike that of every other."""
    if text_width(name, font) <= width:
        return name
    return distinct_names(frozenset((name, *others)), font, width)[name]


def _from_first_difference(names: Sequence[str], font: QFont, width: float) -> dict[str, str]:
    words = [name.split() for name in names]
    bare = ([word.rstrip(",") for word in each] for each in words)
    start = len(list(takewhile(lambda each: len(set(each)) == 1, zip(*bare, strict=False))))
    tails = (" ".join(each[start:]) for each in words)
    return {
        name: elided(f"…{tail}" if start and tail else name, font, width)
        for name, tail in zip(names, tails, strict=True)
    }


def _both_ends(names: Sequence[str], font: QFont, width: float) -> dict[str, str]:
    middle = Qt.TextElideMode.ElideMiddle
    return {name: metrics(font).elidedText(name, middle, width) for name in names}
