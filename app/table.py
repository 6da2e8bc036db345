"""A table whose first column stays in place while the others scroll: its head, rows and order."""

from __future__ import annotations

from itertools import groupby
from typing import Any, TypeAlias

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from app.painted import draw_focus, guarded, write
from app.theme import Theme, Weight, current, font, icon_pixmap

Index: TypeAlias = QModelIndex | QPersistentModelIndex

GROUP = Qt.ItemDataRole.UserRole + 101
"""Of a head: what it has in common with its neighbours; empty: nothing."""
ORDER = Qt.ItemDataRole.UserRole + 102
"""Of a cell: (rank, value). A lower rank comes first in either direction."""
TONE = Qt.ItemDataRole.UserRole + 103
"""Of a cell: its colour, a field of `Theme`."""
ICON = Qt.ItemDataRole.UserRole + 104
"""Of a cell: the name of the icon before its text."""

_LINE_PX, _TWO_LINES_PX = 28, 46
"""The height of the head."""
_ICON_PX, _ARROW_PX = 15, 3.0
_ALIGN = Qt.ItemDataRole.TextAlignmentRole
LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class Ordered(QSortFilterProxyModel):
    """Sorts by `ORDER`; what is equal keeps the order of the model."""

    def lessThan(self, left: Index, right: Index) -> bool:
        rising = self.sortOrder() is Qt.SortOrder.AscendingOrder
        (rank, value), (other_rank, other) = left.data(ORDER), right.data(ORDER)
        if rank != other_rank:
            return bool((rank < other_rank) == rising)
        if value == other:
            return (left.row() < right.row()) == rising
        return bool(value < other)


class Head(QHeaderView):
    """Two lines: what neighbouring columns have in common, and each column's own title."""

    def __init__(self, table: FixedTable) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._table = table
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(24)
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def sizeHint(self) -> QSize:
        grouped = any(self._data(n, GROUP) for n in range(self.count()))
        return QSize(super().sizeHint().width(), _TWO_LINES_PX if grouped else _LINE_PX)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, whole = self._table.theme, self.viewport().rect()
        painter = QPainter(self.viewport())
        painter.fillRect(whole, QColor(theme.card))
        shown = [n for n in range(self.count()) if not self.isSectionHidden(n)]
        for name, places in groupby(shown, lambda n: self._data(n, GROUP) or ""):
            if name:
                self._paint_group(painter, name, list(places))
        for place in shown:
            if place:
                self._paint_title(painter, place, self.sectionViewportPosition(place))
        # Over what is scrolled beneath it.
        painter.fillRect(self._names, QColor(theme.card))
        self._paint_title(painter, 0, 0)
        painter.fillRect(whole.adjusted(0, self.height() - 1, 0, 0), QColor(theme.line2))
        self._table.paint_edge(painter)
        painter.end()

    def _paint_group(self, painter: QPainter, name: str, places: list[int]) -> None:
        """A name stays visible while its columns scroll."""
        theme, last = self._table.theme, places[-1]
        end = self.sectionViewportPosition(last) + self.sectionSize(last)
        pad = self._table.pad
        left = max(self.sectionSize(0), self.sectionViewportPosition(places[0])) + pad
        room = QRectF(left, 2, min(end, self.viewport().width()) - pad - left, 17)
        if room.width() > 0:
            face, middle = font(11, Weight.Medium), Qt.AlignmentFlag.AlignCenter
            write(painter, room, name, face, theme.soft, align=middle)
            painter.fillRect(QRectF(left, 20, room.width(), 1), QColor(theme.line2))

    def _paint_title(self, painter: QPainter, place: int, left: int) -> None:
        theme, sorts = self._table.theme, place == self.sortIndicatorSection()
        begin, end = self._table.pad if place else self._table.indent, self.sectionSize(place)
        room = QRectF(left + begin, self.height() - 25, end - self._table.pad - begin, 20)
        title = str(self._data(place, Qt.ItemDataRole.DisplayRole))
        align = self._data(place, _ALIGN)
        face = font(11, Weight.Medium)
        write(painter, room, title, face, theme.text if sorts else theme.muted, align=align or LEFT)
        if not sorts:
            return
        used = min(QFontMetricsF(face).horizontalAdvance(title), room.width()) + _ARROW_PX + 1
        x = max(left + _ARROW_PX, room.right() - used) if align == RIGHT else room.left() + used
        y, rising = room.center().y(), self.sortIndicatorOrder() is Qt.SortOrder.AscendingOrder
        tip = -_ARROW_PX / 2 if rising else _ARROW_PX / 2
        points = (-_ARROW_PX, -tip), (_ARROW_PX, -tip), (0.0, tip)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.text))
        painter.drawPolygon([QPointF(x + across, y + along) for across, along in points])

    def _data(self, place: int, role: int) -> Any:
        found = self.model()  # none while the window is taken down
        return found.headerData(place, Qt.Orientation.Horizontal, role) if found else ""

    @property
    def _names(self) -> QRect:
        return QRect(0, 0, self.sectionSize(0), self.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(self._in_place(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(self._in_place(event))

    def _in_place(self, event: QMouseEvent) -> QMouseEvent:
        """Return the event where the head of the names would be if it scrolled."""
        at = event.position()
        if not self._names.contains(at.toPoint()):
            return event
        button, buttons, keys = event.button(), event.buttons(), event.modifiers()
        at -= QPointF(self.offset(), 0)
        return QMouseEvent(event.type(), at, event.globalPosition(), button, buttons, keys)


class Cells(QStyledItemDelegate):
    """Draws the cells of every column but the first."""

    def __init__(self, table: FixedTable) -> None:
        super().__init__(table)
        self.table = table

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, cell = self.table.theme, QRectF(option.rect)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ground = (theme.raised if theme.dark else theme.line) if chosen else theme.card
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(cell, QColor(ground))
        hair = QRectF(cell.left(), cell.bottom() - 1, cell.width(), 1)
        painter.fillRect(hair, QColor(theme.line))
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused:
            draw_focus(painter, theme, cell.adjusted(1, 1, -1, -2), 5)
        if index.column() == 0:
            if chosen and not focused:
                bar = QRectF(cell.left(), cell.top() + 6, 3, cell.height() - 13)
                painter.fillRect(bar, QColor(theme.text))
            self.paint_first(painter, cell.adjusted(0, 0, 0, -1), index)
        else:
            pad = self.table.pad
            self.paint_text(painter, cell.adjusted(pad, 0, -pad, -1), index)
        painter.restore()

    def paint_first(self, painter: QPainter, cell: QRectF, index: Index) -> None:
        raise NotImplementedError

    def paint_text(self, painter: QPainter, room: QRectF, index: Index) -> None:
        align = index.data(_ALIGN) or LEFT
        colour = getattr(self.table.theme, index.data(TONE) or "text")
        if icon := index.data(ICON):
            at = QPointF(room.left(), room.center().y() - _ICON_PX / 2)
            painter.drawPixmap(at, icon_pixmap(icon, colour, _ICON_PX))
            room.setLeft(room.left() + _ICON_PX + 6)
        face = font(12, figures=align == RIGHT)
        write(painter, room, self.text_of(index), face, colour, align=align)

    def text_of(self, index: Index) -> str:
        return index.data() or "–"


class FixedTable(QTableView):
    """Whole rows are selected. A click on a head sorts; arrow keys reach every cell, which has the
    ring of the focus.
    """

    def __init__(self, name: str, *, row_px: int = 34, pad_px: int = 8) -> None:
        """`pad_px`: beside the texts of a cell."""
        super().__init__(accessibleName=name, showGrid=False, wordWrap=False)
        self.pad = pad_px
        self.indent = pad_px
        """Pixels before the title of the first column."""
        self.setProperty("kind", "rows")
        head = Head(self)
        self.setHorizontalHeader(head)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(row_px)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSortingEnabled(True)
        # What is scrolled would take the names with it.
        for view in (self.viewport(), head.viewport()):
            self.horizontalScrollBar().valueChanged.connect(lambda _, view=view: view.update())

    @property
    def theme(self) -> Theme:
        return current()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the first column over what is scrolled beneath it."""
        super().paintEvent(event)
        if not self.horizontalOffset():
            return
        painter, option = QPainter(self.viewport()), QStyleOptionViewItem()
        self.initViewItemOption(option)
        for row in self.seen_rows():
            index = self.model().index(row, 0)
            option.rect = self.visualRect(index)
            option.state = QStyle.StateFlag.State_Enabled
            if self.selectionModel().isSelected(index):
                option.state |= QStyle.StateFlag.State_Selected
            if self.hasFocus() and index == self.currentIndex():
                option.state |= QStyle.StateFlag.State_HasFocus
            self.itemDelegate().paint(painter, option, index)
        self.paint_edge(painter)
        painter.end()

    def seen_rows(self) -> range:
        """Return the rows of which something is in view."""
        first, end = self.rowAt(0), self.rowAt(self.viewport().height())
        if first < 0:
            return range(0)
        return range(first, self.model().rowCount() if end < 0 else end + 1)

    def paint_edge(self, painter: QPainter) -> None:
        """Draw the line beside the first column while others are scrolled beneath it."""
        if self.horizontalOffset():
            edge = QRect(self.columnWidth(0) - 1, 0, 1, self.height())
            painter.fillRect(edge, QColor(self.theme.line2))

    def indexAt(self, at: QPoint) -> QModelIndex:
        found = super().indexAt(at)
        return found.siblingAtColumn(0) if at.x() < self.columnWidth(0) else found

    def visualRect(self, index: Index) -> QRect:
        found = super().visualRect(index)
        return found if index.column() else found.translated(self.horizontalOffset(), 0)

    def scrollTo(
        self,
        index: Index,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Bring a cell into view, not beneath the first column, which always is."""
        bar = self.horizontalScrollBar()
        was = bar.value()
        super().scrollTo(index, hint)
        hidden = self.columnWidth(0) - self.columnViewportPosition(index.column())
        if not index.column():
            bar.setValue(was)
        elif hidden > 0:
            bar.setValue(bar.value() - hidden)
