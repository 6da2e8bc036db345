"""Drawing primitives of all charts: markers, swatches, text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import ceil, cos, pi, sin, sqrt

import numpy as np
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
from PySide6.QtWidgets import QWidget

from app.charts.clipping import Polyline
from app.charts.strokes import SCREEN, is_vector, stroke
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
    if kind in SCREEN:
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
    if is_vector(painter) or painter.worldTransform().isScaling():
        for x, y in places.tolist():
            painter.translate(x, y)
            _paint_marker(painter, style, radius, ground, hollow)
            painter.translate(-x, -y)
        return
    # Antialiased paths are slow; a marker is cached as a pixmap for every quarter of a pixel.
    ratio = painter.device().devicePixelRatioF()
    stamps, half = _stamps(style, radius, ground, hollow, ratio), _half(radius, ratio)
    # Most calls have a few places, for which numpy takes longer.
    for x, y in places.tolist():
        across, down = round(x * 4 * ratio), round(y * 4 * ratio)
        shift = across & 3, down & 3
        stamp = stamps.get(shift)
        if stamp is None:
            stamp = stamps[shift] = _stamp(style, radius, ground, hollow, *shift, ratio)
        corner = QPointF(((across >> 2) - half) / ratio, ((down >> 2) - half) / ratio)
        painter.drawPixmap(corner, stamp)


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
