"""The scales of a chart: which values are marked on its axes, and their texts."""

from __future__ import annotations

from collections.abc import Callable
from math import log10
from typing import Any

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from app.charts import scales, words
from app.charts.backend import pg
from app.charts.drawing import draw_text, text_width
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.charts.strokes import draw_hair
from app.theme import font

_BETWEEN_MARKS = 62.0
"""Unscaled, below the bottom chart, between the middles of two figures."""
_MOST_VALUES = 12
"""Values of an axis other than rates that are marked one by one."""
_MOST_MARKS = 10
"""On a linear axis of values."""
_ROW = 13.0
"""Unscaled, between two marks on a logarithmic axis of values; 30 on a linear one."""


_RIM = 20.0
"""Unscaled, around an axis: for texts at its ends."""

Marks = list[tuple[float, str]]


class ScaleAxis(pg.AxisItem):
    """An axis with marks at round values. Its texts are painted one by one, not by way of a
    recorded picture, in which a file could not be searched for them.
    """

    def __init__(self, chart: Plot, orientation: str, marks: Callable[[Plot], Marks]) -> None:
        super().__init__(orientation)
        self.enableAutoSIPrefix(False)
        self._chart, self._marks_of = chart, marks
        self._known: tuple[object, Marks] = (None, [])
        self.setZValue(-200)  # pyqtgraph draws axes, and so a grid, over the lines

    def marks(self) -> Marks:
        """Return the values that are marked, and their texts."""
        if self._known[0] is not self._chart.frame:
            self._known = self._chart.frame, self._marks_of(self._chart)
        return self._known[1]

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[None, list[float]]]:
        return [(None, [value for value, _ in self.marks()])]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        texts = dict(self.marks())
        return [texts[value] for value in values]

    def boundingRect(self) -> QRectF:
        rim, view = self._chart.sizes.px(_RIM), self.linkedView()
        room = self.mapRectFromParent(self.geometry())
        room |= view.mapRectToItem(self, view.rect()) if view is not None else QRectF()
        return room.adjusted(-rim, -rim, rim, rim)

    def paint(self, painter: QPainter, option: Any, widget: object = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self.scenePos())
        self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw it in the scene's pixels."""
        raise NotImplementedError


class ValueAxis(ScaleAxis):
    """The values at the left, with the lines of the grid."""

    def __init__(self, chart: Plot) -> None:
        super().__init__(chart, "left", up)

    def draw(self, painter: QPainter) -> None:
        chart = self._chart
        theme, sizes, plot = chart.theme, chart.sizes, chart.plot_rect()
        px = sizes.px
        for value, text in self.marks():
            y = round(chart.at(0, value).y()) + 0.5
            draw_hair(painter, plot.left(), plot.right(), y, theme.line, max(1.0, px(0.8)))
            where = QPointF(plot.left() - px(8), y)
            draw_text(painter, where, text, sizes.axis_font, theme.muted, "right")


class RateAxis(ScaleAxis):
    """What the plan varies, below the lowest chart."""

    def __init__(self, chart: Plot) -> None:
        super().__init__(chart, "bottom", across)

    def draw(self, painter: QPainter) -> None:
        chart = self._chart
        if not chart.lowest:
            return
        sizes, theme, plot = chart.sizes, chart.theme, chart.plot_rect()
        px = sizes.px
        for rate, text in self.marks():
            x = chart.at(rate, 1).x()
            if len(chart.curves) > 10:  # names need the room right of the lower corner, too
                x = min(x, plot.right() - text_width(text, sizes.axis_font) / 2)
            at = QPointF(x, plot.bottom() + px(13))
            draw_text(painter, at, text, sizes.axis_font, theme.muted, "middle")
        at = QPointF(plot.center().x(), plot.bottom() + px(34))
        draw_text(painter, at, chart.axis_text(), font(px(12)), theme.muted, "middle")


def up(chart: Plot) -> Marks:
    """Return the marks on the axis of the values."""
    height = max(1.0, chart.plot_rect().height() / chart.sizes.scale)
    _, _, low, high = chart.limits
    zoomed = len(chart.showing.zoom) > 0
    if chart.log:
        least = max(low, chart.zero[1])
        most = 10**high
        if chart.quantity is Quantity.TIME and 10**least < chart.model.timeout_ms:
            most = min(most, chart.model.timeout_ms)  # no point can be beyond
        marks = scales.close_log_ticks(10**least, most, _ROW * (high - low) / height)
        if low < chart.zero[1]:
            room = _ROW * (high - low) / height
            marks = [0.0, *(mark for mark in marks if log10(mark) - chart.zero[1] >= room)]
    elif chart.metric == Quantity.ERRORS.value and not zoomed:
        marks = [0, 25, 50, 75, 100] if height > 90 else [0, 50, 100]
    else:
        least = 5 if chart.quantity is Quantity.REPLIES and not zoomed else 2
        marks = _even(max(0.0, low), high, min(_MOST_MARKS, max(least, int(height / 30))))
    return list(zip(marks, _texts(chart, marks), strict=True))


def _texts(chart: Plot, marks: list[float]) -> list[str]:
    if chart.quantity is Quantity.TIME:
        return [time_text(mark) for mark in marks]
    metric = chart.model.metric(chart.metric)
    factor, _ = chart.in_unit(metric.unit if metric else "")
    texts = words.counts([mark * factor for mark in marks])
    percent = chart.metric == Quantity.ERRORS.value
    return [f"{text} %" for text in texts] if percent else texts


def across(chart: Plot) -> Marks:
    """Return the marks below the bottom chart: the planned values where they are no rates, few, and
    more than one of them is in view; otherwise round ones.
    """
    axis, (low, last, _, _) = chart.model.axis, chart.limits
    least, width = chart.sizes.px(_BETWEEN_MARKS), max(1.0, chart.plot_rect().width())
    planned = [x for x in axis.values if low <= chart.at_across(x) <= last]
    several = len(planned) > 1 or len(planned) == len(axis.values) == 1
    if not axis.per_second and several and len(planned) <= _MOST_VALUES:
        marks = scales.apart(planned, [chart.at(x, 1).x() for x in planned], least)
    elif chart.log_across:
        room = least / width * (last - low)
        marks = scales.close_log_ticks(10**low, 10**last, room, chart.model.round_values)
    else:
        whole = not axis.per_second and all(x.is_integer() for x in axis.values)
        most = max(2, min(10, int(width / least)))
        marks = _even(low, last, most, whole=whole)
    return list(zip(marks, chart.model.marks(marks), strict=True))


def _even(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Return at most `most` + 1 marks; more where there would be a single one."""
    marks = scales.ticks(high, most, whole=whole, low=low)
    while len(marks) < 2 and most < 32 and low < high:
        most += 1
        marks = scales.ticks(high, most, low=low)
    return marks


def time_text(ms: float) -> str:
    """ "1.5 s", "20 ms", "50 µs"."""
    if ms <= 0:
        return "0"
    value, unit = (ms / 1000, "s") if ms >= 1000 else (ms, "ms") if ms >= 0.1 else (ms * 1e3, "µs")
    return f"{value:g} {unit}"
