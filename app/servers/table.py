"""The table of servers: the names stay in place on the left, the facts scroll beside them."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QItemSelectionModel, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView

from app.painted import draw_tick, write
from app.servers.known import Known
from app.servers.rows import COLUMNS, KNOWN, Rows, Sifted
from app.table import Cells, FixedTable, Index
from app.theme import Weight, font

_NAME_PX, _NAME_MOST_PX, _NAME_WIDE_PX = 228, 400, 540
_BOX_PX, _NAME_AT_PX, _NAME_RIGHT_PX, _BEFORE_TAG_PX = 38, 40, 8, 6
"""The width of the check box, from the left; and what is beside a name."""
_TAG = "yours"


class ServerTable(FixedTable):
    """One row is selected at a time; Space ticks, Enter tests."""

    chosen = Signal(object)
    """A `Known`, or None."""

    def __init__(self, sifted: Sifted) -> None:
        super().__init__("Servers")
        self.indent = _NAME_AT_PX
        self._sifted = sifted
        self._longest_px = _NAME_PX
        self.setModel(sifted)
        self.setItemDelegate(_Names(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.selectionModel().currentRowChanged.connect(lambda *_: self.chosen.emit(self.current()))
        self.horizontalHeader().sortIndicatorChanged.connect(lambda *_: self._follow())
        sifted.rows.modelReset.connect(self._measure)

    def current(self) -> Known | None:
        index = self.currentIndex()
        return self._sifted.server(index.row()) if index.isValid() else None

    def choose(self, key: str) -> bool:
        """Select a server, if it is listed."""
        place = self._sifted.row_of(key)
        if place < 0:
            return False
        both = QItemSelectionModel.SelectionFlag
        index = self._sifted.index(place, 0)
        self.selectionModel().setCurrentIndex(index, both.ClearAndSelect | both.Rows)
        self.scrollTo(index)
        return True

    def sort_by(self, place: int, *, rising: bool) -> None:
        order = Qt.SortOrder.AscendingOrder if rising else Qt.SortOrder.DescendingOrder
        self.sortByColumn(place, order)

    def show_groups(self, groups: set[str]) -> None:
        """Show the columns of these groups."""
        for place, column in enumerate(COLUMNS[1:], 1):
            self.setColumnHidden(place, not column.shown(groups))
            self.setColumnWidth(place, column.width)
        self.fit()

    def fit(self) -> None:
        """Give names the room beside the other columns, or the longest a third of the table."""
        room = self.viewport().width()
        others = (n for n in range(1, len(COLUMNS)) if not self.isColumnHidden(n))
        beside = room - sum(COLUMNS[place].width for place in others)
        names = max(min(beside, _NAME_WIDE_PX), min(self._longest_px, room // 3))
        self.setColumnWidth(0, max(_NAME_PX, names))

    @property
    def rows(self) -> Rows:
        return self._sifted.rows

    def _follow(self) -> None:
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex().siblingAtColumn(0))

    def _measure(self) -> None:
        widths = map(_name_px, self.rows.servers)
        self._longest_px = min(_NAME_MOST_PX, max(widths, default=_NAME_PX))
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the selected row in view, if it was before."""
        super().resizeEvent(event)
        self.fit()
        top = self.rowViewportPosition(self.currentIndex().row())
        if self.currentIndex().isValid() and 0 <= top < event.oldSize().height():
            self._follow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        known = self.current()
        if event.key() == Qt.Key.Key_Space and known is not None:
            self.rows.toggle(known)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        # The delegate is no button: a click on the box ticks, any other click selects.
        index = self.indexAt(event.position().toPoint())
        box = index.isValid() and index.column() == 0 and event.position().x() < _BOX_PX
        if box and event.button() == Qt.MouseButton.LeftButton:
            self.rows.toggle(index.data(KNOWN))
        super().mouseReleaseEvent(event)


class _Names(Cells):
    """Check box, name, and whether it is the user's own."""

    table: ServerTable

    def editorEvent(self, *arguments: object) -> bool:
        """Ignored: the view ticks, because Qt expects the box elsewhere than it is painted."""
        return False

    def paint_first(self, painter: QPainter, cell: QRectF, index: Index) -> None:
        theme, rows = self.table.theme, self.table.rows
        known: Known = index.data(KNOWN)
        on = known.id in rows.ticked and known.comparable
        box = QRectF(cell.left() + 12.5, cell.center().y() - 8.5, 16, 16)
        draw_tick(painter, theme, box, on=on, usable=known.comparable)
        room = cell.adjusted(_NAME_AT_PX, 0, -_NAME_RIGHT_PX, 0)
        if known.own:
            wide = _tag_px(_TAG)
            tag = QRectF(room.right() - wide, cell.center().y() - 9, wide, 18)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.tinted(theme.soft)))
            painter.drawRoundedRect(tag, 9, 9)
            write(painter, tag, _TAG, font(11), theme.soft, align=Qt.AlignmentFlag.AlignCenter)
            room.setRight(tag.left() - _BEFORE_TAG_PX)
        colour = theme.text if known.runs else theme.muted
        write(painter, room, known.name, font(13, Weight.DemiBold), colour)


def _name_px(known: Known) -> int:
    """Return the width of the column in which a server's name is seen whole, with any tag."""
    text = QFontMetricsF(font(13, Weight.DemiBold)).horizontalAdvance(known.name)
    tag = _tag_px(_TAG) + _BEFORE_TAG_PX if known.own else 0
    return ceil(_NAME_AT_PX + text + tag + _NAME_RIGHT_PX)


def _tag_px(text: str) -> float:
    return QFontMetricsF(font(11)).horizontalAdvance(text) + 12
