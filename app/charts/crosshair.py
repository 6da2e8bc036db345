"""The values of all servers at one x: where the mouse is away from lines, or set by a key."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts import words
from app.charts.chart import Chart
from app.charts.drawing import draw_marker, draw_text, elided, name_among, text_width
from app.charts.model import ChartModel
from app.charts.pointing import Pointing
from app.charts.series import Floats, Quantity
from app.painted import Painted
from app.theme import SeriesStyle, Theme, Weight, font
from workbench.analysis.series import PointResult, View

_ROW, _HEAD, _MARKER, _NAME, _FIGURE, _EDGE = 17.0, 28.0, 12.0, 176.0, 66.0, 12.0
"""Unscaled: heights of a row and of the head, the size of a marker, the most that a name and a
figure take, and what the edges take on both sides.
"""


class Readout(Painted):
    """The list. It never takes the mouse."""

    scale = 1.0

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._lines: list[tuple[SeriesStyle, bool, list[str]]] = []
        """Of each server its style, whether its point is hollow, its name and its figures."""
        self._heads: list[str] = []
        self._rest, self._strong = "", 0
        """A last line without figures, and the column that decides the order."""
        self._row, self._figure = 0, 0
        """The height of a line, and the width of a column of figures."""
        self.hide()

    def display(self, model: ChartModel, charts: list[Chart], x: float, by: Chart) -> None:
        """Show every visible server at `x`, by the values of one chart, highest first."""
        view, shown = by.view_shown, [s for s in model.series.values() if s.id not in by.hidden]
        points = [(series, model.reading(series.id, x)) for series in shown]
        known = [(series, point) for series, point in points if point is not None]
        known.sort(key=lambda each: _order(each[1], by.metric, view))
        names, room = [series.name for series, _ in known], self._px(_NAME - _MARKER - 12)
        self._heads = [model.place(x), *map(_heading, charts)]
        self._strong, self._lines, spoken = charts.index(by) + 1, [], []
        for series, point in known:
            unsteady = by.quantity is Quantity.TIME and not point.supported(view)
            hollow = unsteady or not series.trusts(point)
            figures = [_figure(chart, point, view) for chart in charts]
            texts = [name_among(series.name, names, self._font(), room), *figures]
            self._lines.append((self.theme.series(series.index), hollow, texts))
            said = ", ".join(map(" ".join, zip(self._heads[1:], figures, strict=True)))
            spoken.append(f"{series.name} {said}")
        missing = len(shown) - len(known)
        self._rest = f"{missing} server{'s' * (missing > 1)} without a point here." * bool(missing)
        said = f"{self._heads[0]}: {'; '.join(spoken)}. {self._rest}"
        self.setAccessibleName(said.strip())
        self.update()

    def fit(self, column: QSize | None = None, least: int = 0) -> QSize:
        """Take the size that it needs; or that of a column beside the charts, at least so high."""
        px, rows = self._px, len(self._lines) + bool(self._rest)
        around = px(_HEAD + _EDGE)
        if column is not None:
            self._row = min(px(_ROW), (column.height() - around) // max(1, rows))
            self._figure, wide = px(_FIGURE - 8), column.width()
            high = min(column.height(), max(least, around + self._row * rows))
        else:
            texts = (self._heads[0], *(texts[0] for *_, texts in self._lines))
            longest = round(max(text_width(text, self._font()) for text in texts))
            self._row, self._figure, high = px(_ROW), px(_FIGURE), around + px(_ROW) * rows
            wide = min(px(_NAME), longest + px(_MARKER + 20)) + px(_EDGE)
            wide += self._figure * (len(self._heads) - 1)
        self.setFixedSize(wide, high)
        return self.size()

    def paint(self, painter: QPainter) -> None:
        theme, px = self.theme, self._px
        painter.setPen(QPen(QColor(theme.line2), 1))
        painter.setBrush(QColor(theme.floating))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 9, 9)
        left, y = px(_EDGE / 2 + 4), (px(_HEAD) + px(_EDGE)) / 2
        marker = px(_MARKER)
        self._write(painter, left, y, self._heads, head=True)
        y += (px(_HEAD) - self._row) / 2
        for style, hollow, texts in self._lines:
            y += self._row
            at = QPointF(left + marker / 2, y)
            draw_marker(painter, style, at, 0.33 * marker, theme.floating, hollow=hollow)
            self._write(painter, left + marker + px(4), y, texts)
        draw_text(painter, QPointF(left, y + self._row), self._rest, self._font(), theme.muted)

    def _write(
        self, painter: QPainter, left: float, y: float, texts: list[str], *, head: bool = False
    ) -> None:
        end, theme, small = self.width() - self._px(_EDGE / 2 + 4), self.theme, font(self._px(11))
        for place, text in enumerate(texts):
            strong = place == self._strong and not head
            colour = theme.muted if head else theme.text if strong else theme.soft
            size = small if head else self._font(strong=strong, figures=place > 0)
            x = end - self._figure * (len(texts) - 1 - place) if place else left
            room = end - self._figure * (len(texts) - 1) - left
            said = text if place or head else elided(text, size, room)
            draw_text(painter, QPointF(x, y), said, size, colour, "right" if place else "left")

    def _font(self, *, strong: bool = False, figures: bool = False) -> QFont:
        weight = Weight.DemiBold if strong else Weight.Normal if figures else Weight.Medium
        return font(self._px(12), weight, figures=figures)

    def _px(self, size: float) -> int:
        return round(size * self.scale)


def _order(point: PointResult, metric: str, view: View) -> float:
    value = point.value(metric, view)
    return float("inf") if isnan(value) else -value


def _heading(chart: Chart) -> str:
    if chart.quantity is Quantity.REPLIES:
        return f"{chart.model.axis.served.capitalize()}/s"
    if chart.quantity is Quantity.TIME:
        return words.percentile(chart.view_shown.percentile)
    return chart.title_text()[0]


def _figure(chart: Chart, point: PointResult, view: View) -> str:
    value = point.value(chart.metric, view)
    return "–" if isnan(value) else chart.text_of(value)


_LARGE = 0.25
"""The largest share of a plot that a list over the charts takes."""


class Crosshair:
    """Shows the values of all servers at the measured x nearest to the mouse; V keeps them."""

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
        self.readout = Readout(trio.theme, trio)

    @property
    def _first(self) -> Chart:
        return self._trio.charts[self._trio.drawn.charts[0]]

    def cross(self, quantity: Quantity, x: float) -> None:
        """Handle the mouse in a chart at x, at no line; NaN: it left."""
        if self._pointing.server or self._kept:
            return
        chart = self._first
        if isnan(x) or chart.highlighted or not len(xs := self._measured()):
            self.hide()
            return
        self._by = quantity
        self._show(float(xs[np.abs(chart.across(xs) - chart.across(x)).argmin()]))

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
        self.readout.hide()
        if not isnan(self.x) and not self._pointing.server:
            self._point(nan)
        self.x = nan

    def again(self) -> None:
        if not isnan(self.x):
            self._show(self.x)

    def renew(self) -> None:
        self.readout.theme = self._trio.theme
        self.readout.scale = max(1.0, 0.8 * self._trio.sizes.scale)
        self.again()

    def follow(self) -> None:
        if self._kept and not isnan(self._pointing.rate):
            self._show(self._pointing.rate)
            self._pointing.hide_card()

    def key(self, event: QKeyEvent) -> bool:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = event.key()
        if self._trio.drawn.bars:
            return False  # their values are written
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
        middle = np.abs(self._first.across(xs) - (low + high) / 2).argmin()
        self._kept, self._gives_way = True, False
        self._show(float(xs[middle]) if isnan(rate) else rate)
        self._pointing.hide_card()
        self._pointing.announce()

    def _step(self, step: int) -> None:
        xs = self._measured()
        if len(xs):
            at = int(np.abs(xs - self.x).argmin())
            self._show(float(xs[min(max(at + step, 0), len(xs) - 1)]))
            self._pointing.announce()

    def _measured(self) -> Floats:
        """Return where visible servers have points, in the part that is shown."""
        chart = self._first
        shown = [c.values.x for id_, c in chart.curves.items() if id_ not in chart.hidden]
        xs = np.unique(np.concatenate(shown)) if shown else np.empty(0)
        drawn = chart.across(xs)
        found: Floats = xs[(drawn >= chart.limits[0]) & (drawn <= chart.limits[1])]
        return found

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
        size, plot = readout.fit(), charts[0].plot_rect()
        large = size.width() * size.height() > _LARGE * plot.width() * plot.height()
        column = trio.beside if large and trio.beside and trio.beside.isVisible() else None
        if readout.parent() is not (column or trio):
            readout.setParent(column or trio)
        if column:
            legend = trio.legend if trio.legend and trio.legend.isVisible() else None
            readout.fit(column.size(), legend.height() if legend else 0)
            readout.move(0, 0)
        else:
            readout.move(trio.beside_cursor(size, x))
