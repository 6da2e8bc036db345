"""Servers, best first: what each sustains, and the interval of its limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.charts.drawing import (
    draw_cross,
    draw_marker,
    draw_swatch,
    draw_tag,
    draw_text,
    elided,
    name_among,
    text_width,
)
from app.painted import draw_focus, guarded
from app.plain import tip
from app.table import Index
from app.theme import SeriesStyle, Theme, Weight, current, font, paint_icon, with_opacity
from workbench.analysis.series import SeriesResult

_ROW_PX, _GAP_PX = 24, 28.0
"""The height of a row, and between columns."""
_NAME, _TAG = 40, 22
"""Where names start, right of the line; the width of a session's letter."""
_MOST_NAMES = 0.55
"""The largest share of a row for its name."""
_LEAST_BAR_PX = 40.0
_SIGN = 18


@dataclass(frozen=True)
class Ranked:
    """A row."""

    key: str
    result: SeriesResult
    style: Callable[[Theme], SeriesStyle]
    name: str
    figure: str
    spoken: str
    """All of it as text."""
    tag: str = ""
    """The letter of its session; empty: there is one."""
    named: bool = True
    """Whether it has the name; else it belongs to the row above."""
    unlike: bool = False
    """It is not comparable, so it has no bar."""


class _Delegate(QStyledItemDelegate):
    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        bars: RankedBars = self.parent()
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        bars.paint_row(painter, index.row(), QRectF(option.rect), focused=focused)
        painter.restore()


class RankedBars(QListWidget):
    """Bars, or only intervals: a bar says nothing on an axis that does not begin at 0. Arrow keys
    point at a row as the pointer does; Enter or a click picks it.
    """

    pointed, picked = Signal(str), Signal(str)
    """A row's key; empty: none."""

    def __init__(self, *, filled: bool = False, most_rows: float = inf) -> None:
        """`most_rows`: of a column; more rows have several columns."""
        super().__init__(accessibleName="Servers, best first", frameShape=QListWidget.Shape.NoFrame)
        self.rows: Sequence[Ranked] = ()
        self._filled = filled
        self._most, self._columns, self._lines = most_rows, 1, 1
        self._low, self._high, self._marked = 0.0, 1.0, ""
        self.setProperty("kind", "bars")
        self.setItemDelegate(_Delegate(self))
        self.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        for set_policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.itemEntered.connect(lambda item: self._tell(self.pointed, item))
        self.currentItemChanged.connect(lambda item, _: self._tell(self.pointed, item))
        self.itemClicked.connect(lambda item: self._tell(self.picked, item))

    def display(self, rows: Sequence[Ranked], low: float, high: float) -> None:
        """Show rows on an axis from `low` to `high`."""
        at, self.rows, self._low, self._high = self.currentRow(), rows, low, high
        self.blockSignals(True)
        self.clear()
        for each in rows:
            item = QListWidgetItem(self)
            item.setToolTip(tip(each.spoken))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, each.spoken)
        self.setCurrentRow(min(max(at, 0), len(rows) - 1))
        self.blockSignals(False)
        self._columns = max(1, ceil(len(rows) / self._most))
        self._lines = max(1, ceil(len(rows) / self._columns))
        self.setWrapping(self._columns > 1)
        self.setFixedHeight(_ROW_PX * self._lines + 1)  # Qt wraps what fills a column
        self._fit()

    def mark(self, key: str) -> None:
        """Highlight a row."""
        self._marked = key
        self.viewport().update()

    def _tell(self, signal: Any, item: QListWidgetItem | None) -> None:
        signal.emit(self.rows[self.row(item)].key if item is not None else "")

    def _fit(self) -> None:
        self.setGridSize(QSize(self.viewport().width() // self._columns, _ROW_PX))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit("")

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._tell(self.pointed, self.currentItem())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.pointed.emit("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._tell(self.picked, self.currentItem())
        elif event.text():
            event.ignore()  # it is a key of the page, not the beginning of a name
        else:
            super().keyPressEvent(event)

    def paint_row(self, painter: QPainter, place: int, room: QRectF, *, focused: bool) -> None:
        wide = (self.viewport().width() - _GAP_PX * (self._columns - 1)) / self._columns
        room.translate(place // self._lines * _GAP_PX / self._columns, 0)
        room.setWidth(wide)
        name, figure = font(13, Weight.Medium), font(13, Weight.DemiBold, figures=True)
        tag = _TAG * any(each.tag for each in self.rows)
        names = max(text_width(each.name, name) for each in self.rows)
        names = min(_NAME + names + tag + 10, _MOST_NAMES * wide + tag)
        figures = max(text_width(each.figure, figure) for each in self.rows)
        figures += 14 + _SIGN * max(_signs(each) for each in self.rows)
        figures = min(figures, wide - names - _LEAST_BAR_PX)
        self._paint_row(painter, self.rows[place], room, names, figures)
        if focused:
            draw_focus(painter, current(), room.adjusted(1, 1, -1, -1), 5)

    def _paint_row(
        self, painter: QPainter, each: Ranked, room: QRectF, names: float, figures: float
    ) -> None:
        """`names`, `figures`: the widths of the parts left and right of the bar."""
        theme, middle = current(), room.center().y()
        style = each.style(theme)
        name, figure = font(13, Weight.Medium), font(13, Weight.DemiBold, figures=True)
        if each.key == self._marked:
            painter.fillRect(room, QColor(theme.raised))
        line = QRectF(room.left() + 2, middle - 6.5, 30, 13)
        draw_swatch(painter, style, line, theme.card)
        left, end = room.left() + _NAME, room.left() + names - 8
        if each.named:
            others = [other.name for other in self.rows]
            text = name_among(each.name, others, name, end - left - _TAG * bool(each.tag))
            draw_text(painter, QPointF(left, middle), text, name, theme.text)
        if each.tag:
            box = QRectF(end - 17, middle - 7.5, 15, 15)
            draw_tag(painter, box, each.tag, theme)
        result, right = each.result, room.right()
        text = elided(each.figure, figure, figures - 8)
        colour = theme.muted if each.unlike or result.unknown is not None else theme.text
        draw_text(painter, QPointF(right, middle), text, figure, colour, "right")
        right -= text_width(text, figure) + 8
        if result.disqualified:
            sign = QRectF(right - 13, middle - 7, 14, 14)
            paint_icon(painter, "octagon-x", theme.bad, sign)
            right -= _SIGN
        if result.faulty:
            draw_cross(painter, QPointF(right - 6, middle), 6, theme)
        bar = QRectF(room.left() + names, middle - 5, room.width() - names - figures, 10)
        if not each.unlike:
            self._paint_bar(painter, result, style, bar)

    def _paint_bar(
        self, painter: QPainter, result: SeriesResult, style: SeriesStyle, bar: QRectF
    ) -> None:
        theme, middle = current(), bar.center().y()

        def at(value: float) -> float:
            share = (value - self._low) / max(1e-9, self._high - self._low)
            return bar.left() + bar.width() * min(1.0, max(0.0, share))

        known = result.unknown is None
        if self._filled:
            painter.fillRect(bar, with_opacity(theme.muted, 0.12))
            done = QRectF(bar)
            done.setRight(at(result.figure if known else 0.0))
            painter.fillRect(done, style.tint(0.75))
        found = result.interval
        if found is None or not known or (result.faulty and result.knee is None):
            return
        ends = found.high == inf
        low, high = at(found.low), bar.right() if ends else at(found.high)
        for colour, width in ((theme.card, 4.0), (theme.text, 1.6)):
            pen = QPen(QColor(colour), width)
            painter.setPen(pen)
            painter.drawLine(QPointF(low, middle - 4), QPointF(low, middle + 4))
            tip_at = QPointF(high, middle)
            if ends:
                painter.drawPolyline([tip_at + QPointF(-4, -4), tip_at, tip_at + QPointF(-4, 4)])
            else:
                painter.drawLine(QPointF(high, middle - 4), QPointF(high, middle + 4))
            if found.coverage is None and colour == theme.text:
                pen.setDashPattern([1.5, 1.5])
                painter.setPen(pen)
            painter.drawLine(QPointF(low, middle), tip_at)
        if self._low != 0.0 and result.knee is not None:
            draw_marker(painter, style, QPointF(at(result.knee), middle), 3.4, theme.card)


def _signs(each: Ranked) -> int:
    return bool(each.result.disqualified) + bool(each.result.faulty)
