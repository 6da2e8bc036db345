"""The values of all servers at one x: where the mouse is away from lines, or set by a key."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFont,
    QIcon,
    QKeyEvent,
    QPainter,
    QPixmap,
)
from PySide6.QtWidgets import QTableWidget, QTableWidgetItem, QWidget

from app.charts import words
from app.charts.chart import Chart
from app.charts.drawing import draw_marker, name_among, text_width
from app.charts.model import ChartModel
from app.charts.pointing import Pointing
from app.charts.series import Quantity
from app.table import LEFT, RIGHT
from app.theme import Theme, Weight, font
from workbench.analysis.series import PointResult, View

_ROW, _HEAD, _MARKER, _NAME, _FIGURE = 17.0, 28.0, 12.0, 176.0, 66.0
"""Unscaled: heights of a row and of the head, the size of a marker, and the most that a name and a
figure take.
"""


class Readout(QTableWidget):
    """The list. It never takes the mouse."""

    def __init__(self, theme: Theme, parent: QWidget, scale: float = 1.0) -> None:
        super().__init__(parent)
        self._theme, self._scale = theme, scale
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSelectionMode(QTableWidget.SelectionMode.NoSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setIconSize(QSize(self._px(_MARKER), self._px(_MARKER)))
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.horizontalHeader().setFixedHeight(self._px(_HEAD))
        self.setStyleSheet(
            f"QTableView {{ background: {theme.floating}; border: 1px solid {theme.line2};"
            " border-radius: 9px; padding: 4px; }"
            f"QTableView::item {{ border: none; padding: 0 {self._px(4)}px; }}"
            f"QHeaderView {{ background: transparent; }}"
            f"QHeaderView::section {{ background: transparent; border: none; color: {theme.muted};"
            f" font-size: {self._px(11)}px; padding: 0 {self._px(4)}px; }}"
        )
        self.hide()

    def display(self, model: ChartModel, charts: list[Chart], x: float, by: Chart) -> None:
        """Show every visible server at `x`, sorted by the values of one chart, highest first, as
        their lines lie.
        """
        view, shown = by.view_shown, [s for s in model.series.values() if s.id not in by.hidden]
        points = [(series, by.reading(series.id, x)) for series in shown]
        known = [(series, point) for series, point in points if point is not None]
        known.sort(key=lambda each: _order(each[1], by.metric, view))
        heads = [_heading(chart) for chart in charts]
        spoken = []
        self.clear()
        self.clearSpans()
        self.setColumnCount(1 + len(charts))
        self.setRowCount(len(known))
        self.setHorizontalHeaderLabels([model.place(x), *heads])
        names = [series.name for series, _ in known]
        for line, (series, point) in enumerate(known):
            trusted = series.trusts(point) and (
                by.quantity is not Quantity.TIME or point.supported(view)
            )
            plain = font(self._px(12), Weight.Medium)
            room = self._px(_NAME - _MARKER - 12)
            name = QTableWidgetItem(name_among(series.name, names, plain, room))
            name.setIcon(self._marker(series.index, hollow=not trusted))
            self._put(line, 0, name, plain, self._theme.soft)
            figures = [_figure(chart, point, view) for chart in charts]
            for place, (chart, text) in enumerate(zip(charts, figures, strict=True), 1):
                item = QTableWidgetItem(text)
                item.setTextAlignment(RIGHT)
                weight = Weight.DemiBold if chart is by else Weight.Normal
                colour = self._theme.text if chart is by else self._theme.soft
                self._put(line, place, item, font(self._px(12), weight, figures=True), colour)
            said = ", ".join(map(" ".join, zip(heads, figures, strict=True)))
            spoken.append(f"{series.name} {said}")
        for place in range(self.columnCount()):
            self.horizontalHeaderItem(place).setTextAlignment(RIGHT if place else LEFT)
        missing = len(shown) - len(known)
        rest = f"{missing} server{'s' * (missing > 1)} without a point here." if missing else ""
        if rest:
            self.setRowCount(len(known) + 1)
            self.setSpan(len(known), 0, 1, self.columnCount())
            note = QTableWidgetItem(rest)
            self._put(len(known), 0, note, font(self._px(12)), self._theme.muted)
        self.setAccessibleName(f"{model.place(x)}: {'; '.join(spoken)}. {rest}".strip())

    def fill(self, column: QSize, least: int) -> None:
        """Take the place of a column beside the charts, at least so high."""
        around = self._px(_HEAD) + 12
        row = min(self._px(_ROW), (column.height() - around) // max(1, self.rowCount()))
        high = min(column.height(), max(least, around + row * self.rowCount()))
        self._lay_out(column.width(), high, row, self._px(_FIGURE - 8))
        self.move(0, 0)

    def float(self) -> QSize:
        """Take the size that it needs over the charts."""
        plain = font(self._px(12), Weight.Medium)
        names = (self.item(line, 0).text() for line in range(self.rowCount()))
        texts = (self.horizontalHeaderItem(0).text(), *names)
        longest = max(text_width(text, plain) for text in texts)
        name = min(self._px(_NAME), round(longest) + self._px(_MARKER + 20))
        figures = self._px(_FIGURE) * (self.columnCount() - 1)
        high = self._px(_HEAD) + self._px(_ROW) * self.rowCount() + 12
        self._lay_out(name + figures + 12, high, self._px(_ROW), self._px(_FIGURE))
        return self.size()

    def _lay_out(self, wide: int, high: int, row: int, figure: int) -> None:
        self.verticalHeader().setDefaultSectionSize(max(1, row))
        self.setFixedSize(wide, high)
        for place in range(1, self.columnCount()):
            self.setColumnWidth(place, figure)
        self.setColumnWidth(0, wide - 12 - figure * (self.columnCount() - 1))

    def _put(self, line: int, place: int, item: QTableWidgetItem, face: QFont, colour: str) -> None:
        item.setFont(face)
        item.setForeground(QColor(colour))
        self.setItem(line, place, item)

    def _marker(self, index: int, *, hollow: bool) -> QIcon:
        side = self._px(_MARKER)
        picture = QPixmap(2 * side, 2 * side)
        picture.setDevicePixelRatio(2)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, theme = QPointF(side / 2, side / 2), self._theme
        style = theme.series(index)
        draw_marker(painter, style, middle, 0.33 * side, theme.floating, hollow=hollow)
        painter.end()
        return QIcon(picture)

    def _px(self, size: float) -> int:
        return round(size * self._scale)


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
    return "–" if isnan(value) else chart.text_of(value)


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
