"""The values of all servers at one x: where the mouse is away from lines, or set by a key."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from app.charts import words
from app.charts.chart import Chart
from app.charts.drawing import draw_marker, draw_text, name_among, text_width
from app.charts.model import ChartModel
from app.charts.pointing import Pointing
from app.charts.series import Quantity
from app.theme import Theme, Weight, font
from workbench import formatting
from workbench.analysis.results import PointResult, View

_ROW, _HEAD, _MARGIN, _NAME = 17.0, 40.0, 11.0, 150.0
_FIGURE = 66.0
"""The width of a column of figures. All unscaled."""
_MOST_IN_ONE = 12
"""Servers in one list over the charts; more stand in two, with one figure each."""


@dataclass(frozen=True)
class Row:
    """One server."""

    name: str
    index: int
    figures: tuple[str, ...]
    """In the order of the charts."""
    trusted: bool


class Readout(QWidget):
    """Paints the list. It never takes the mouse."""

    def __init__(self, theme: Theme, parent: QWidget, scale: float = 1.0) -> None:
        super().__init__(parent)
        self._theme, self._scale, self._lists = theme, scale, 1
        self._head, self._heads, self._rows, self._missing = "", ("", "", ""), (), 0
        self._sorted = 0
        self._beside: QSize | None = None
        """The size of the column in whose place it is, unscaled; None: it is over the charts."""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    _rows: tuple[Row, ...]

    def display(self, model: ChartModel, charts: list[Chart], x: float, by: Chart) -> None:
        """Show every visible server at `x`, sorted by the values of one chart, highest first, as
        their lines lie.
        """
        view, shown = by.view_shown, [s for s in model.series.values() if s.id not in by.hidden]
        points = [(series, by.reading(series.id, x)) for series in shown]
        known = [(series, point) for series, point in points if point is not None]
        known.sort(key=lambda each: _order(each[1], by.metric, view))
        self._sorted = charts.index(by)
        self._head = model.place(x)
        self._heads = tuple(_heading(chart) for chart in charts)
        self._rows = tuple(
            Row(
                series.name,
                series.index,
                tuple(_figure(chart, point, view) for chart in charts),
                series.trusts(point)
                and (by.quantity is not Quantity.TIME or point.supported(view)),
            )
            for series, point in known
        )
        self._missing = len(shown) - len(known)
        self.setAccessibleName(self._text())
        self.update()

    def fill(self, column: QSize, least: int) -> None:
        """Take the place of a column beside the charts, in one list with all figures, at least so
        high.
        """
        self._lists, self._beside = 1, column / self._scale
        self.setFixedSize(column.width(), min(column.height(), max(least, self._height())))
        self.move(0, 0)

    def float(self) -> QSize:
        """Take the size that it needs over the charts."""
        self._lists, self._beside = 1 if len(self._rows) <= _MOST_IN_ONE else 2, None
        wide = 2 * _MARGIN + self._lists * self._list_width() + (self._lists - 1) * 14
        self.setFixedSize(round(self._px(wide)), self._height())
        return self.size()

    def _text(self) -> str:
        """Return the list as text, for screen readers."""
        rows = (
            f"{row.name} " + ", ".join(map(" ".join, zip(self._heads, row.figures, strict=True)))
            for row in self._rows
        )
        return f"{self._head}: {'; '.join(rows)}. {self._rest()}".strip()

    def _rest(self) -> str:
        if not self._missing:
            return ""
        return f"{self._missing} server{'s' * (self._missing > 1)} without a point here."

    def _height(self) -> int:
        return round(self._px(2 * _MARGIN + _HEAD + self._lines() * self._row()))

    def _row(self) -> float:
        """Return the height of a row: lower where a column has not the height for all."""
        if self._beside is None:
            return _ROW
        return min(_ROW, (self._beside.height() - 2 * _MARGIN - _HEAD) / max(1, self._lines()))

    def _figure(self) -> float:
        return _FIGURE if self._beside is None else _FIGURE - 8

    def _lines(self) -> int:
        return -(-len(self._rows) // self._lists) + bool(self._missing)

    def _columns(self) -> list[int]:
        """Return the charts whose figures are shown."""
        return [self._sorted] if self._lists > 1 else list(range(len(self._heads)))

    def _list_width(self) -> float:
        if self._beside is not None:
            return self._beside.width() - 2 * _MARGIN
        size = font(12, Weight.Medium)
        longest = max((text_width(row.name, size) for row in self._rows), default=0.0)
        return 16 + min(longest + 8, _NAME) + _FIGURE * len(self._columns())

    def _px(self, size: float) -> float:
        return size * self._scale

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, px = QPainter(self), self._theme, self._px
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.line2), 1))
        painter.setBrush(QColor(theme.floating))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 9, 9)
        at = QPointF(px(_MARGIN), px(_MARGIN + 8))
        draw_text(painter, at, self._head, font(px(13), Weight.DemiBold), theme.text)
        wide, lines, high = self._list_width(), self._lines() - bool(self._missing), self._row()
        for place in range(self._lists):
            left = _MARGIN + place * (wide + 14)
            self._paint_heads(painter, left + wide)
            for line, row in enumerate(self._rows[place * lines : (place + 1) * lines]):
                self._paint_row(painter, row, left, wide, _MARGIN + _HEAD + (line + 0.5) * high)
        if self._missing:
            y = px(_MARGIN + _HEAD + (lines + 0.5) * high)
            draw_text(painter, QPointF(px(_MARGIN), y), self._rest(), font(px(12)), theme.muted)
        painter.end()

    def _paint_heads(self, painter: QPainter, right: float) -> None:
        for place, column in enumerate(reversed(self._columns())):
            weight = Weight.DemiBold if column == self._sorted else Weight.Normal
            at = QPointF(self._px(right - place * self._figure()), self._px(_MARGIN + 29))
            size = font(self._px(11), weight)
            draw_text(painter, at, self._heads[column], size, self._theme.muted, "right")

    def _paint_row(self, painter: QPainter, row: Row, left: float, wide: float, y: float) -> None:
        theme, px = self._theme, self._px
        at = QPointF(px(left + 5), px(y))
        style = theme.series(row.index)
        draw_marker(painter, style, at, px(4), theme.floating, hollow=not row.trusted)
        columns = self._columns()
        size = font(px(12), Weight.Medium)
        room, names = px(wide - 20 - self._figure() * len(columns)), [r.name for r in self._rows]
        name = name_among(row.name, names, size, room)
        draw_text(painter, QPointF(px(left + 16), px(y)), name, size, theme.soft)
        for place, column in enumerate(reversed(columns)):
            main = column == self._sorted
            digits = font(px(12), Weight.DemiBold if main else Weight.Normal, figures=True)
            at = QPointF(px(left + wide - place * self._figure()), px(y))
            colour = theme.text if main else theme.soft
            draw_text(painter, at, row.figures[column], digits, colour, "right")


def _order(point: PointResult, metric: str, view: View) -> float:
    value = point.value(metric, view)
    return float("inf") if isnan(value) else -value


def _heading(chart: Chart) -> str:
    if chart.quantity is Quantity.REPLIES:
        return f"{chart.model.axis.served_title}/s"
    if chart.quantity is Quantity.TIME:
        return words.percentile(chart.view_shown.percentile)
    return chart.title_text()[0]


def _figure(chart: Chart, point: PointResult, view: View) -> str:
    value = point.value(chart.metric, view)
    if isnan(value):
        return "–"
    if chart.quantity is Quantity.REPLIES:
        return words.count(value)
    if chart.quantity is Quantity.TIME:
        return formatting.duration(value * 1000)
    described = chart.model.metric(chart.metric)
    return formatting.figure(value, described.unit) if described else formatting.percent(value)


_LARGE = 0.25
"""The largest share of a plot that a list over the charts takes."""


class Crosshair:
    """Shows the values of all servers at the measured x that is nearest to the mouse, unless one
    server is selected. The key V shows them at the selected point, or hides them; left and right
    then go from value to value.
    """

    def __init__(self, trio: Any, pointing: Pointing) -> None:
        """`trio`: a `Trio`, as for `Pointing`."""
        self._trio, self._pointing = trio, pointing
        self.x = nan
        """Where it is; NaN: nowhere."""
        self._kept = False
        """It stays when the mouse leaves."""
        self._gives_way = False
        """The mouse is at a line, whose card is shown in its place."""
        self._by = Quantity.REPLIES
        """The chart whose values decide the order."""
        self._readout: Readout | None = None

    @property
    def readout(self) -> Readout:
        """Created on first use."""
        if self._readout is None:
            trio = self._trio
            scale = max(1.0, 0.8 * trio.sizes.scale)
            self._readout = Readout(trio.theme, trio, scale)
        return self._readout

    @property
    def _first(self) -> Chart:
        return self._trio.charts[self._trio.drawn.charts[0]]

    def cross(self, quantity: Quantity, x: float) -> None:
        """Handle the mouse in a chart at x, at no line; NaN: it left."""
        if self._pointing.server or self._kept:
            return
        if isnan(x) or self._first.highlighted:
            self.hide()
            return
        self._by = quantity
        self._show(self._nearest(x))

    def give_way(self, server: str) -> None:
        """Handle the mouse at a server's line; empty: at none. A list that is kept comes back."""
        self._gives_way = bool(server)
        if not self._kept:
            return
        if server:
            self.readout.hide()
        elif self.readout.isHidden():
            self._pointing.hide_card()
            self._show(self.x)

    def hide(self) -> None:
        self._kept = False
        if self._readout is not None and not isnan(self.x):
            self._readout.hide()
            if not self._pointing.server:
                self._point(nan)
        self.x = nan

    def again(self) -> None:
        """Handle other data, another part or another size."""
        if not isnan(self.x):
            self._show(self.x)

    def renew(self) -> None:
        """Apply other colours, or another size."""
        if self._readout is not None:
            self._readout.deleteLater()
            self._readout = None
        self.again()

    def follow(self) -> None:
        """Handle another selected point."""
        if self._kept and not isnan(self._pointing.rate):
            self._show(self._pointing.rate)
            self._pointing.hide_card()

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key; False: it has no meaning here."""
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = event.key()
        if plain and key == Qt.Key.Key_V:
            self._toggle()
            return True
        sideways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if plain and self._kept and not self._pointing.server and key in sideways:
            self._step(sideways[Qt.Key(key)])
            return True
        if self._kept and key in (Qt.Key.Key_Escape, Qt.Key.Key_Backspace):
            self._toggle()
            return True
        return False

    # Implementation

    def _toggle(self) -> None:
        if self._kept:
            self.hide()
            self._pointing.forget()
            self._pointing.again()
            return
        low, high, _, _ = self._first.limits
        rate = self._pointing.rate
        xs = self._measured()
        if not len(xs):
            return
        drawn = self._first.across(xs)
        middle = float(xs[np.abs(drawn - (low + high) / 2).argmin()])
        self._kept, self._gives_way = True, False
        self._show(middle if isnan(rate) else rate)
        self._pointing.hide_card()
        self._announce()

    def _step(self, step: int) -> None:
        xs = self._measured()
        if len(xs):
            at = int(np.abs(xs - self.x).argmin())
            self._show(float(xs[min(max(at + step, 0), len(xs) - 1)]))
            self._announce()

    def _measured(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return where visible servers have points, in the part that is shown."""
        chart = self._first
        shown = [c.values.x for id_, c in chart.curves.items() if id_ not in chart.hidden]
        xs = np.unique(np.concatenate(shown)) if shown else np.empty(0)
        drawn = chart.across(xs)
        inside: np.ndarray[tuple[int], np.dtype[np.float64]] = xs[
            (drawn >= chart.limits[0]) & (drawn <= chart.limits[1])
        ]
        return inside

    def _nearest(self, x: float) -> float:
        chart, xs = self._first, self._measured()
        if not len(xs):
            return nan
        at = chart.at_across(x)
        return float(xs[np.abs(chart.across(xs) - at).argmin()])

    def _point(self, x: float) -> None:
        for chart in self._trio.charts.values():
            chart.point_to("", x)

    def _show(self, x: float) -> None:
        if isnan(x):
            self.hide()
            return
        trio = self._trio
        charts = [chart for chart in trio.charts.values() if chart.isVisibleTo(trio)]
        by = trio.charts[self._by]
        self.x = x
        if not self._pointing.server:
            self._point(x)
        self.readout.display(trio.drawn, charts, x, by if by in charts else charts[0])
        self._place(charts, x)
        self.readout.setVisible(not self._gives_way)
        self.readout.raise_()
        trio.setAccessibleDescription(self.readout.accessibleName())

    def _place(self, charts: list[Chart], x: float) -> None:
        """Place the list in the column beside the charts, unless it is small, or there is none."""
        trio, readout = self._trio, self.readout
        size, plot = readout.float(), charts[0].plot_rect()
        large = size.width() * size.height() > _LARGE * plot.width() * plot.height()
        column = trio.beside if large and trio.beside and trio.beside.isVisible() else None
        if readout.parent() is not (column or trio):
            readout.setParent(column or trio)
        if column:
            legend = trio.legend if trio.legend and trio.legend.isVisible() else None
            readout.fill(column.size(), legend.height() if legend else 0)
        else:
            readout.move(trio.beside_cursor(size, x))

    def _announce(self) -> None:
        description = self.readout.accessibleName()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._trio, description))
