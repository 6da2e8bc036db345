"""Bars of servers, their values and their names, in the pixels of a chart."""

from __future__ import annotations

from math import isnan

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts.curve import Curve
from app.charts.drawing import draw_text, name_among, text_width
from app.charts.plot import Plot
from app.theme import Weight, font

_WIDE, _SHARE = 72.0, 0.56
"""A bar's width: unscaled at most, and as a share of its place."""
_OVER = 1.1
"""The widest text of a value, as a share of its bar's place: it is in the bar's card, too."""


def width(chart: Plot) -> float:
    """Return how wide each bar of a chart is, in pixels."""
    place = chart.at(1, 0).x() - chart.at(0, 0).x()
    return min(chart.sizes.px(_WIDE), _SHARE * place)


def draw_bar(chart: Plot, painter: QPainter, curve: Curve) -> None:
    """Draw one server's bar with its value; pale, with an outline, where it is not trusted."""
    values, px = curve.values, chart.sizes.px
    if not len(values.x) or isnan(values.y[0]):
        return
    half, top = width(chart) / 2, chart.at(values.x[0], values.y[0])
    foot = chart.at(values.x[0], 0).y()
    box = QRectF(top.x() - half, top.y(), 2 * half, max(1.0, foot - top.y()))
    box &= chart.plot_rect()
    if values.trusted[0]:
        painter.fillRect(box, QColor(curve.style.colour))
    else:
        painter.fillRect(box, curve.style.tint(0.25))
        painter.setPen(QPen(QColor(curve.style.colour), px(1.2)))
        painter.drawRect(box)
    text, size = chart.text_of(values.y[0]), font(px(11), Weight.Medium, figures=True)
    place = chart.at(1, 0).x() - chart.at(0, 0).x()
    if chart.contains(top) and text_width(text, size) <= _OVER * place:
        at = QPointF(top.x(), top.y() - px(9))
        draw_text(painter, at, text, size, chart.theme.text, "middle")


def value_box(chart: Plot, curve: Curve) -> QRectF:
    """Return the box of the value above a bar; empty: there is none."""
    values, px = curve.values, chart.sizes.px
    if not len(values.x) or isnan(values.y[0]):
        return QRectF()
    top = chart.at(values.x[0], values.y[0])
    return QRectF(top.x() - px(22), top.y() - px(17), px(44), px(16))


def draw_names(chart: Plot, painter: QPainter) -> None:
    """Write the names below the lowest chart, in two lines where one has no room."""
    px, theme, size = chart.sizes.px, chart.theme, chart.sizes.axis_font
    places = [x for x in chart.model.axis.values if chart.contains(chart.at(x, 0))]
    names = chart.model.marks(places)
    room = chart.at(1, 0).x() - chart.at(0, 0).x() - px(6)
    for x, name in zip(places, names, strict=True):
        at = " · " if " · " in name else " "  # a session's letter is not cut
        first, _, second = name.partition(at) if text_width(name, size) > room else (name, "", "")
        for row, text in enumerate(filter(None, (first, second))):
            shown = name_among(text, names, size, room)
            where = QPointF(chart.at(x, 0).x(), chart.plot_rect().bottom() + px(11 + 12 * row))
            draw_text(painter, where, shown, size, theme.soft, "middle")
