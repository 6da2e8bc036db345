"""The table of servers, with the search, filters and columns above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QItemSelectionModel, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QSizePolicy, QToolButton

from app.fields import Options
from app.painted import draw_tick, write
from app.servers.known import Known
from app.servers.rows import CHOICES, COLUMNS, KNOWN, SHOWN, Rows, Sifted
from app.table import Cells, FixedTable, Index
from app.theme import Weight, font
from app.widgets import beside, column, label, search_field, tool
from workbench.formatting import number_of
from workbench.workloads.registry import ALL_FAMILIES

_NAME_PX, _NAME_MOST_PX, _NAME_WIDE_PX = 228, 400, 540
_BOX_PX, _NAME_AT_PX, _NAME_RIGHT_PX, _BEFORE_TAG_PX = 38, 40, 8, 6
"""The width of the check box, from the left; and what is beside a name."""
_TAG = "yours"
_SEARCH_AFTER_MS = 150
_FIELD_PX, _CHOICE_PX = 160, 128


class ServerTable(FixedTable):
    """The names stay in place on the left, the facts scroll beside them. One row is selected at a
    time; Space ticks, Enter tests.
    """

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
        keys = [known.key for known in self._sifted.servers()]
        if key not in keys:
            return False
        place, both = keys.index(key), QItemSelectionModel.SelectionFlag
        index = self._sifted.index(place, 0)
        self.selectionModel().setCurrentIndex(index, both.ClearAndSelect | both.Rows)
        self.scrollTo(index)
        return True

    def show_groups(self, groups: set[str]) -> None:
        for place, each in enumerate(COLUMNS[1:], 1):
            self.setColumnHidden(place, not each.shown(groups))
            self.setColumnWidth(place, each.width)
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
        """Find the width in which every server's name is seen whole, with any tag."""
        face, tag = QFontMetricsF(font(13, Weight.DemiBold)), _tag_px(_TAG) + _BEFORE_TAG_PX
        names = (face.horizontalAdvance(s.name) + tag * s.own for s in self.rows.servers)
        widest = ceil(_NAME_AT_PX + max(names, default=0) + _NAME_RIGHT_PX)
        self._longest_px = min(_NAME_MOST_PX, max(_NAME_PX, widest))
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


def _tag_px(text: str) -> float:
    return QFontMetricsF(font(11)).horizontalAdvance(text) + 12


class Finding(QFrame):
    """Searches names, facts and code."""

    sifted = Signal()
    """The filters have changed, or the search has, and the user has stopped typing."""
    regrouped = Signal()
    """Another group of columns is shown."""
    export_requested = Signal()
    """The user wants the features of the shown servers as a table."""

    def __init__(self, sifted: Sifted) -> None:
        super().__init__(objectName="card")
        self._sifted = sifted
        self._timer = QTimer(self, singleShot=True, interval=_SEARCH_AFTER_MS)
        self._timer.timeout.connect(self.sifted)
        hint = "Search names, facts, code"
        self.field = search_field("Search servers", hint, lambda _: self._timer.start())
        self.field.setMinimumWidth(_FIELD_PX)
        for each in self.field.findChildren(QToolButton):
            each.setAccessibleName("Clear the search")
        self.count = label("", 12, tone="muted")
        self.export = tool("Export features (Ctrl+E)", "share-2", self.export_requested.emit)
        choices = self.family, self.shown, self.columns = (
            Options("Family", []),
            Options("Shown", [(each, each) for each in SHOWN]),
            Options("Columns", [(each, each) for each in CHOICES]),
        )
        self.set_servers(())
        for choice in choices:
            choice.setMinimumWidth(_CHOICE_PX)
            choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.family.edited.connect(self.sifted)
        self.shown.edited.connect(self.sifted)
        self.columns.edited.connect(self._on_columns)
        arrange = beside(*((choice, 1) for choice in choices), self.export)
        self.head = beside((beside((self.field, 1), self.count), 1), arrange)
        self.table = ServerTable(sifted)
        column(self, self.head, (self.table, 1), margin=(12, 10, 12, 10), gap=6)
        self.group = ""

    def search(self) -> None:
        self.field.setFocus()
        self.field.selectAll()

    def set_servers(self, servers: Sequence[Known]) -> None:
        """Offer the families, with counts; an empty one is left out."""
        counts = Counter(known.family for known in servers)
        there = [(id_, f"{n} ({counts[id_]})") for id_, n in ALL_FAMILIES.items() if counts[id_]]
        self.family.offer([("", "All families"), *there], self.family.value())

    def show_all(self) -> None:
        self.field.clear()
        self.family.setCurrentIndex(0)
        self.shown.setCurrentIndex(0)

    def sift(self, key: str) -> None:
        """Show what matches, with this server selected if it does, or else the first."""
        chosen = self.table.current()
        key = key or (chosen.key if chosen else "")
        self._sifted.sift(self.family.value(), self.shown.value(), self.field.text())
        if not self.table.choose(key) and self._sifted.rowCount():
            self.table.choose(self._sifted.server(0).key)

    def show_count(self) -> None:
        rows, text = self._sifted.rows, self.field.text().strip()
        found, all_, ticked = self._sifted.rowCount(), len(rows.servers), len(rows.ticked)
        servers = number_of(all_, "servers")
        shown = servers if found == all_ else f"{found:,} of {servers}"
        if all_ and not found:
            shown = f"No server matches “{text}”." if text else "No server matches these filters."
        ticks = f"{ticked:,} selected" if ticked else "select to compare" if found else ""
        self.count.setText(" · ".join(filter(None, (shown, ticks))))

    @property
    def group(self) -> str:
        return str(self.columns.value())

    @group.setter
    def group(self, name: str) -> None:
        self.columns.set_value(name)
        self.table.show_groups(CHOICES[self.group])

    def _on_columns(self) -> None:
        self.group = self.group
        self.regrouped.emit()
