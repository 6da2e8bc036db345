"""The card of the table: search, order, count, and a hint when nothing matches."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QLineEdit,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from app.choices import Choice
from app.plain import tip
from app.servers.columns import CHOICES, COLUMNS, GROUPS
from app.servers.filters import Filters
from app.servers.rows import Sifted
from app.servers.table import ServerTable
from app.theme import Theme, icon_pixmap
from app.widgets import button, column, dress, label, row, tool

_SEARCH_AFTER_MS = 150
_FIELD_PX, _FIELD_MOST_PX = 160, 300
_CHOICE_PX, _CHOICE_MOST_PX = 140, 190
_ANY = 16_777_215
_WAYS = {True: "ascending", False: "descending"}


class Finding(QFrame):
    """Searches names, facts and code."""

    searched = Signal()
    """The search has changed, and the user has stopped typing."""
    all_requested = Signal()
    """The user wants to see every server again."""
    regrouped = Signal()
    """Another group of columns is shown."""
    export_requested = Signal()
    """The user wants the features of the shown servers as a table."""

    def __init__(self, sifted: Sifted, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._sifted = sifted
        inside = column(self, gap=6)
        inside.setContentsMargins(12, 10, 12, 10)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Search names, facts, code")
        self.field.setAccessibleName("Search servers")
        self.field.setClearButtonEnabled(True)
        self._glass = QAction(self)
        self.field.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        for each in self.field.findChildren(QToolButton):
            each.setAccessibleName("Clear the search")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SEARCH_AFTER_MS)
        self._timer.timeout.connect(self.searched)
        self.field.textChanged.connect(lambda _: self._timer.start())
        self.count = label("", 12, tone="muted")
        self._make_columns()
        self.order = Choice("Sort by")
        for place, each in enumerate(COLUMNS):
            self.order.addItem(f"Sort: {each.name.lower() if place else 'name'}", place)
        self.order.setMinimumWidth(124)
        self.order.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.direction = button("", on_click=self._turn)
        self.export = tool("Export features (Ctrl+E)", "share-2", self.export_requested.emit)
        dress(self.export, theme)
        inside.addLayout(self._make_head())
        self.set_narrow(False, low=False)
        self.table = ServerTable(sifted, theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._make_empty())
        inside.addWidget(self._stack, 1)
        self.order.activated.connect(self._on_order)
        self.table.sorted.connect(self._show_order)

    def _make_head(self) -> QBoxLayout:
        """Lay out what finds servers, and beside or below it how the table shows them."""
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._head.setSpacing(8)
        find, arrange = row(gap=8), row(gap=8)
        find.addWidget(self.filters)
        find.addWidget(self.field, 1)
        find.addWidget(self.count)
        arrange.addWidget(self.columns, 1)
        arrange.addWidget(self.order, 1)
        arrange.addWidget(self.direction)
        arrange.addWidget(self.export)
        self._head.addLayout(find, 1)
        self._head.addLayout(arrange)
        return self._head

    def _make_columns(self) -> None:
        """Make the controls of what the table shows."""
        self.filters = button("Filters", "sliders-horizontal")
        self.filters.setCheckable(True)
        self.columns = Choice("Columns")
        self.columns.addItem("All columns", "")
        for group in CHOICES:
            self.columns.addItem(group, group)
        self.columns.activated.connect(self._on_columns)
        for each in (self.columns, self.field):
            each.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.columns.setMinimumWidth(_CHOICE_PX)
        self.field.setMinimumWidth(_FIELD_PX)

    def _make_empty(self) -> QWidget:
        made = QWidget()
        inside = column(made, gap=12)
        inside.addStretch()
        self._nothing = label("", 13, tone="soft", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        again = button("Clear search and filters", "x", on_click=self.all_requested.emit)
        inside.addWidget(self._nothing)
        inside.addWidget(again, 0, Qt.AlignmentFlag.AlignHCenter)
        inside.addStretch()
        return made

    def set_narrow(self, narrow: bool, *, low: bool) -> None:
        """Show the button of the filters, and lay the controls out in two rows. `low`: in one row
        without the count, as the table has few rows.
        """
        direction, tall = QBoxLayout.Direction, narrow and not low
        self._head.setDirection(direction.TopToBottom if tall else direction.LeftToRight)
        self.filters.setVisible(narrow)
        self.count.setVisible(tall or not narrow)
        self.field.setMaximumWidth(_ANY if narrow else _FIELD_MOST_PX)
        for each in (self.columns, self.order):
            each.setMaximumWidth(_ANY if tall else _CHOICE_PX if narrow else _CHOICE_MOST_PX)

    def search(self) -> None:
        """Focus the search field."""
        self.field.setFocus()
        self.field.selectAll()

    def sift(self, filters: Filters, key: str = "") -> None:
        """Apply the filters. Select the server of `key`, or the one selected before; otherwise the
        first.
        """
        current = self.table.current()
        key = key or (current.key if current else "")

        def change(sifted: Sifted) -> None:
            sifted.family, sifted.kinds = filters.family, filters.kinds
            sifted.tables = filters.tables
            sifted.only_ticked = filters.only_ticked
            sifted.words = self.field.text().casefold().split()

        self._sifted.sift(change)
        number = filters.count
        self.filters.setText(f" Filters ({number})" if number else " Filters")
        self.filters.setAccessibleName(self.filters.text().strip())
        if not self.table.choose(key) and self._sifted.rowCount():
            self.table.choose(self._sifted.server(0).key)

    def show_count(self) -> None:
        """Show the number of matches."""
        rows = self._sifted.rows
        found, all_, ticked = self._sifted.rowCount(), len(rows.servers), len(rows.ticked)
        servers = f"{all_:,} server{'s' if all_ != 1 else ''}"
        text = servers if found == all_ else f"{found:,} of {servers}"
        ticks = f"{ticked:,} selected" if ticked else "select to compare" if found else ""
        self.count.setText(" · ".join(filter(None, (text, ticks))))
        text = self.field.text().strip()
        self._nothing.setText(
            f"No server matches “{text}”." if text else "No server matches these filters."
        )
        self._stack.setCurrentIndex(0 if found or not all_ else 1)

    @property
    def group(self) -> str:
        """Return the shown group of columns; empty: all."""
        return str(self.columns.currentData() or "")

    @group.setter
    def group(self, name: str) -> None:
        self.columns.setCurrentIndex(max(0, self.columns.findData(name)))
        self.table.show_groups(CHOICES.get(self.group, set(GROUPS)))

    def _on_columns(self) -> None:
        self.group = self.group
        self.regrouped.emit()

    def _on_order(self, place: int) -> None:
        self.table.sort_by(place, rising=True)

    def _turn(self) -> None:
        place, rising = self.table.sorting
        self.table.sort_by(place, rising=not rising)

    def _show_order(self) -> None:
        place, rising = self.table.sorting
        self.order.setCurrentIndex(place)
        by, way = COLUMNS[place].name.lower() if place else "name", _WAYS[rising]
        self.direction.setText(f"Order: {way}")
        self.direction.setAccessibleName(f"Order by {by}: {way}")
        self.direction.setToolTip(tip(f"Sorted by {by}, {way}. Press for {_WAYS[not rising]}."))

    def set_theme(self, theme: Theme) -> None:
        self._glass.setIcon(QIcon(icon_pixmap("search", theme.muted, 16)))
