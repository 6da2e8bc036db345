"""The table of servers: the names stay in place on the left, the facts scroll beside them."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app.servers.columns import COLUMNS
from app.servers.known import Known
from app.servers.painting import BOX_PX, HEAD_PX, RowDelegate, ServerHeader, name_px
from app.servers.rows import KNOWN, Rows, Sifted
from app.theme import Theme
from app.widgets import row

ROW_PX = 34
_NAME_PX, _NAME_MOST_PX = 228, 400
_STATE, _MOST_SPARE = 1, 100
"""A column, and by how much it is widened where all are seen."""


class ServerTable(QFrame):
    """One row is selected at a time; Space ticks, Enter tests, left and right scroll the facts."""

    chosen = Signal(object)
    """A `Known`, or None."""
    sorted = Signal()
    opened = Signal()
    """The chosen one was double-clicked, or Enter was pressed."""
    menu_requested = Signal(QPoint)
    """The position on the screen."""

    def __init__(self, sifted: Sifted, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("rows")
        self._sifted = sifted
        self._theme = theme
        self._longest_px = _NAME_PX
        inside = row(self, gap=0)
        self.names, self.facts = _View(self, "Servers"), _View(self, "Server facts")
        for view in (self.names, self.facts):
            view.setModel(sifted)
            view.doubleClicked.connect(lambda _: self.opened.emit())
            view.customContextMenuRequested.connect(
                lambda at, v=view: self.menu_requested.emit(v.viewport().mapToGlobal(at))
            )
        self.names.setSelectionModel(self.facts.selectionModel())
        for place in range(len(COLUMNS)):
            (self.facts if place == 0 else self.names).setColumnHidden(place, True)
            self.facts.setColumnWidth(place, COLUMNS[place].width)
        self.names.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.facts.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.facts.setFocusProxy(self.names)
        # The scroll bar below the facts must not make them lower than the names.
        self.facts.horizontalScrollBar().rangeChanged.connect(self._level)
        # Qt moves what is painted, but texts stay within the visible part of their column.
        for part in (self.facts, self.facts.horizontalHeader()):
            self.facts.horizontalScrollBar().valueChanged.connect(part.viewport().update)
        ours, theirs = self.names.verticalScrollBar(), self.facts.verticalScrollBar()
        ours.valueChanged.connect(theirs.setValue)
        theirs.valueChanged.connect(ours.setValue)
        # A half without a layout does not follow; both have one after the next events.
        self._aligning = QTimer(self)
        self._aligning.setSingleShot(True)
        self._aligning.timeout.connect(self._align)
        for bar in (ours, theirs):
            bar.rangeChanged.connect(lambda *_: self._aligning.start())
            bar.valueChanged.connect(lambda _: self._aligning.start())
        self.setFocusProxy(self.names)
        inside.addWidget(self.names)
        inside.addWidget(self.facts, 1)
        self.facts.selectionModel().currentRowChanged.connect(lambda *_: self._emit_chosen())
        sifted.rows.modelReset.connect(self._measure)

    def current(self) -> Known | None:
        index = self.facts.currentIndex()
        return self._sifted.server(index.row()) if index.isValid() else None

    def choose(self, key: str) -> bool:
        """Select a server, if it is listed."""
        place = self._sifted.row_of(key)
        if place < 0:
            return False
        both = QItemSelectionModel.SelectionFlag
        index = self._sifted.index(place, 0)
        self.facts.selectionModel().setCurrentIndex(index, both.ClearAndSelect | both.Rows)
        self.names.scrollTo(index)
        return True

    def sort_by(self, place: int, *, rising: bool) -> None:
        order = Qt.SortOrder.AscendingOrder if rising else Qt.SortOrder.DescendingOrder
        self._sifted.sort(place, order)
        for view in (self.names, self.facts):
            view.header.viewport().update()
        if (current := self.facts.currentIndex()).isValid():
            self.names.scrollTo(self._sifted.index(current.row(), 0))
        self.sorted.emit()

    @property
    def sorting(self) -> tuple[int, bool]:
        """Return the column, and whether the order is ascending."""
        rising = self._sifted.sortOrder() == Qt.SortOrder.AscendingOrder
        return max(0, self._sifted.sortColumn()), rising

    def show_groups(self, groups: set[str]) -> None:
        """Show the columns of these groups."""
        for place, column in enumerate(COLUMNS[1:], 1):
            self.facts.setColumnHidden(place, not column.shown(groups))
        self.fit()

    def fit(self) -> None:
        """Give the names the room of the longest, up to a third of the table, and then the names
        and the state what is left beside the columns that are seen whole.
        """
        # Without the views' own widths, which change one after the other.
        room = self.contentsRect().width() - self.facts.width() + self.facts.viewport().width()
        names = max(_NAME_PX, min(self._longest_px, room // 3))
        room, spare = room - names, 0
        for place, column in enumerate(COLUMNS[1:], 1):
            if not self.facts.isColumnHidden(place):
                room -= column.width
                if room < 0:
                    break
                spare = room
        wider = min(spare, max(0, self._longest_px - names))
        spare -= wider
        if room >= 0:
            spare = min(spare, _MOST_SPARE)
        self.names.setColumnWidth(0, names + wider)
        self.names.setFixedWidth(names + wider)
        self.facts.setColumnWidth(_STATE, COLUMNS[_STATE].width + spare)

    def follow(self, height: int) -> None:
        """Keep the selected row in view, if it was while the table was this high."""
        index = self.facts.currentIndex().siblingAtColumn(0)
        if index.isValid() and 0 <= self.names.rowViewportPosition(index.row()) < height:
            self.names.scrollTo(index)

    def _measure(self) -> None:
        widths = map(name_px, self.rows.servers)
        self._longest_px = min(_NAME_MOST_PX, max(widths, default=_NAME_PX))
        self.fit()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        # The focus ring is drawn around both halves; a border would move the rows.
        self.setStyleSheet(
            "QTableView, QTableView:focus { border: none; background: transparent; }"
            "QTableView::corner { background: transparent; border: none; }"
            f"QFrame#rows {{ border: 2px solid transparent; border-radius: 8px;"
            f" background: {theme.card}; }}"
        )
        self.update()

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def rows(self) -> Rows:
        return self._sifted.rows

    @property
    def focused(self) -> bool:
        return self.names.hasFocus()

    def clicked_head(self, place: int) -> None:
        was, rising = self.sorting
        self.sort_by(place, rising=not rising if place == was else True)

    def _align(self) -> None:
        ours, theirs = self.names.verticalScrollBar(), self.facts.verticalScrollBar()
        theirs.setValue(ours.value())
        ours.setValue(theirs.value())

    def _level(self, least: int, most: int) -> None:
        bar = self.facts.horizontalScrollBar().sizeHint().height() if most > least else 0
        self.names.setViewportMargins(0, HEAD_PX, 0, bar)
        self.names.below = bar

    def _emit_chosen(self) -> None:
        self.chosen.emit(self.current())


class _View(QTableView):
    """One half of the table."""

    def __init__(self, table: ServerTable, name: str) -> None:
        super().__init__()
        self._table = table
        self.below = 0
        self.setAccessibleName(name)
        self.header = ServerHeader(table)
        self.setHorizontalHeader(self.header)
        self.header.sectionClicked.connect(table.clicked_head)
        self.header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._delegate = RowDelegate(table)
        self.setItemDelegate(self._delegate)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(ROW_PX)
        self.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        # The text of columns that are partly visible is elided.
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._table.fit()
        if self is self._table.facts:  # which is laid out after the names
            self._table.follow(event.oldSize().height())

    def updateGeometries(self) -> None:
        super().updateGeometries()
        if self.below and self.viewportMargins().bottom() != self.below:
            margins = self.viewportMargins()
            self.setViewportMargins(margins.left(), margins.top(), margins.right(), self.below)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        known = self._table.current()
        sideways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() == Qt.Key.Key_Space and known is not None:
            self._table.rows.toggle(known)
        elif event.key() in sideways:
            bar = self._table.facts.horizontalScrollBar()
            bar.setValue(bar.value() + sideways[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        # The delegate is no button: a click on the box ticks, any other click selects.
        index = self.indexAt(event.position().toPoint())
        box = index.isValid() and index.column() == 0 and event.position().x() < BOX_PX
        if box and event.button() == Qt.MouseButton.LeftButton:
            self._table.rows.toggle(index.data(KNOWN))
        super().mouseReleaseEvent(event)

    def focusInEvent(self, event: object) -> None:
        super().focusInEvent(event)  # type: ignore[arg-type]
        self.viewport().update()
        if not self.currentIndex().isValid() and self._table._sifted.rowCount():
            self._table.choose(self._table._sifted.server(0).key)
