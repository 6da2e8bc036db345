"""What finds servers: the filters, and the card of the table with its search and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.choices import Choice, Tick
from app.plain import tip
from app.servers.known import KINDS, Known
from app.servers.rows import CHOICES, COLUMNS, Sifted
from app.servers.table import ServerTable
from app.stacking import lay, widen
from app.table import RIGHT
from app.theme import Weight, font
from app.widgets import button, column, label, row, search_field, tool
from workbench.workloads.registry import ALL_FAMILIES

_ID = Qt.ItemDataRole.UserRole
_ROW_PX = 32
_SEARCH_AFTER_MS = 150
_FIELD_PX, _FIELD_MOST_PX = 160, 300
_CHOICE_PX, _CHOICE_MOST_PX = 140, 190
_ANY = 16_777_215
_WAYS = {True: "ascending", False: "descending"}


class Filters(QFrame):
    """Families with counts; whether servers run here; which table of then has them."""

    changed = Signal()

    WIDTH = 196

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self.set_wide(False)
        inside = column(self, margin=14)
        inside.addWidget(label("Families", 12, Weight.DemiBold, tone="muted"))
        inside.addSpacing(6)
        self._families = QTreeWidget()
        self._families.setAccessibleName("Families")
        self._families.setColumnCount(2)
        self._families.setHeaderHidden(True)
        self._families.setRootIsDecorated(False)
        self._families.setFont(font(13, Weight.Medium))
        self._families.setStyleSheet(
            f"QTreeView::item {{ height: {_ROW_PX}px; border: none; padding: 0 4px 0 10px; }}"
        )
        head = self._families.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._families.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._families.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._families.currentItemChanged.connect(lambda *_: self.changed.emit())
        inside.addWidget(self._families)
        self._kinds = {kind: self._tick(kind) for kind in KINDS}
        self._then = {year: self._tick(f"In the table of {year}") for year in ("2009", "2010")}
        self._ticked = self._tick("Selected")
        only = [*self._then.values(), self._ticked]
        for tick in only:
            tick.setChecked(False)
        for title, ticks in (("Show", self._kinds.values()), ("Only", only)):
            inside.addSpacing(18)
            inside.addWidget(label(title, 12, Weight.DemiBold, tone="muted"))
            inside.addSpacing(6)
            for tick in ticks:
                inside.addWidget(tick)
        inside.addStretch(1)
        self.foot = inside

    def set_servers(self, servers: Sequence[Known]) -> None:
        """Count the servers; an empty family is left out."""
        chosen = self.family
        counts: dict[str, int] = {"": len(servers)}
        for known in servers:
            counts[known.family or "?"] = counts.get(known.family or "?", 0) + 1
        counts["own"] = sum(known.own for known in servers)
        self._families.blockSignals(True)
        self._families.clear()
        for id_, name in {"": "All", **ALL_FAMILIES, "own": "My own"}.items():
            if counts.get(id_) or id_ in {"", "own"}:
                count = str(counts.get(id_, 0))
                item = QTreeWidgetItem(self._families, [name, count])
                item.setData(0, _ID, id_)
                item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{name}, {count}")
                item.setTextAlignment(1, RIGHT)
        high = self._families.topLevelItemCount() * _ROW_PX
        self._families.setFixedHeight(high + 2 * self._families.frameWidth())
        self.family = chosen
        self._families.blockSignals(False)

    def set_wide(self, wide: bool) -> None:
        """Take all of the width, where they stand above the table."""
        widen(self, self.WIDTH, below=wide)

    @property
    def family(self) -> str:
        """Return the family; empty: all; "own": the user's."""
        item = self._families.currentItem()
        return str(item.data(0, _ID)) if item else ""

    @family.setter
    def family(self, id: str) -> None:
        items = [self._families.topLevelItem(n) for n in range(self._families.topLevelItemCount())]
        found = (item for item in items if item.data(0, _ID) == id)
        self._families.setCurrentItem(next(found, items[0] if items else None))

    @property
    def kinds(self) -> set[str]:
        return {kind for kind, tick in self._kinds.items() if tick.isChecked()}

    @property
    def tables(self) -> set[str]:
        """Return the years of the tables whose servers are shown; none: all servers."""
        return {year for year, tick in self._then.items() if tick.isChecked()}

    @property
    def only_ticked(self) -> bool:
        """Whether only the ticked servers are shown, to compare them side by side."""
        return self._ticked.isChecked()

    @property
    def count(self) -> int:
        """Return the number of filters that hide servers."""
        hidden = len(set(KINDS) - self.kinds)
        return bool(self.family) + hidden + len(self.tables) + self.only_ticked

    def show_all(self) -> None:
        """Remove all filters."""
        self.blockSignals(True)
        for tick in self._kinds.values():
            tick.setChecked(True)
        for tick in (*self._then.values(), self._ticked):
            tick.setChecked(False)
        self.family = ""
        self.blockSignals(False)
        self.changed.emit()

    def plain(self) -> dict[str, Any]:
        """Return the filters for the settings."""
        kinds, tables = sorted(self.kinds), sorted(self.tables)
        return {"family": self.family, "kinds": kinds, "tables": tables}

    def restore(self, data: dict[str, Any]) -> None:
        self.blockSignals(True)
        kept = data.get("kinds")
        for name, tick in self._kinds.items():
            tick.setChecked(not isinstance(kept, list) or name in kept)
        tables = data.get("tables")
        for year, tick in self._then.items():
            tick.setChecked(isinstance(tables, list) and year in tables)
        self.family = str(data.get("family", ""))
        self.blockSignals(False)

    def _tick(self, name: str) -> Tick:
        made = Tick(name)
        made.setChecked(True)
        made.setStyleSheet("font-size: 13px;")
        made.toggled.connect(lambda _: self.changed.emit())
        return made


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

    def __init__(self, sifted: Sifted) -> None:
        super().__init__()
        self.setObjectName("card")
        self._sifted = sifted
        inside = column(self, gap=6)
        inside.setContentsMargins(12, 10, 12, 10)
        self._timer = QTimer(self, singleShot=True, interval=_SEARCH_AFTER_MS)
        self._timer.timeout.connect(self.searched)
        hint = "Search names, facts, code"
        self.field = search_field("Search servers", hint, lambda _: self._timer.start())
        for each in self.field.findChildren(QToolButton):
            each.setAccessibleName("Clear the search")
        self.count = label("", 12, tone="muted")
        self._make_columns()
        self.order = Choice("Sort by")
        for place, each in enumerate(COLUMNS):
            self.order.addItem(f"Sort: {each.name.lower() if place else 'name'}", place)
        self.order.setMinimumWidth(124)
        self.order.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.direction = button("", on_click=self._turn)
        self.export = tool("Export features (Ctrl+E)", "share-2", self.export_requested.emit)
        inside.addLayout(self._make_head())
        self.set_narrow(False)
        self.table = ServerTable(sifted)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._make_empty())
        inside.addWidget(self._stack, 1)
        self.order.activated.connect(self._on_order)
        self.table.horizontalHeader().sortIndicatorChanged.connect(lambda *_: self._show_order())

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

    def set_narrow(self, narrow: bool) -> None:
        """Show the button of the filters, and lay the controls out in two rows."""
        lay(self._head, below=narrow)
        self.filters.setVisible(narrow)
        self.field.setMaximumWidth(_ANY if narrow else _FIELD_MOST_PX)
        for each in (self.columns, self.order):
            each.setMaximumWidth(_ANY if narrow else _CHOICE_MOST_PX)

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
        """Return the shown group of columns."""
        return str(self.columns.currentData())

    @group.setter
    def group(self, name: str) -> None:
        self.columns.setCurrentIndex(max(0, self.columns.findData(name)))
        self.table.show_groups(CHOICES[self.group])

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
