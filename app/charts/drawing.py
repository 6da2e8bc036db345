"""Drawing primitives of all charts: text, swatches, signs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

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
)
from PySide6.QtWidgets import QWidget

from app.charts.markers import draw_marker
from app.charts.strokes import SCREEN, stroke
from app.plain import laid_out
from app.theme import SeriesStyle, Theme

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
    if kind in SCREEN:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawStaticText(QPointF(x, y - sizes.ascent()), laid_out(text, font))
    elif kind is not QPaintEngine.Type.Pdf:
        path = QPainterPath()
        path.setFillRule(Qt.FillRule.WindingFill)  # strokes of a letter may overlap
        path.addText(QPointF(x, y), font, text)
        painter.fillPath(path, QColor(colour))
    else:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(QPointF(x, y), text)
    return width


@cache
def _searchable(font: QFont) -> QFont:
    """Return the font without feature glyphs, for which a PDF records no characters."""
    made = QFont(font)
    for feature in ("tnum", "calt"):
        made.setFeature(QFont.Tag(feature), 0)
    return made


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
