"""The card of the table of servers: search, filters and columns above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QToolButton

from app.fields import Choice
from app.scrolling import lay
from app.servers.known import Known
from app.servers.rows import CHOICES, SHOWN, Sifted
from app.servers.table import ServerTable
from app.widgets import column, label, row, search_field, tool
from workbench.workloads.registry import ALL_FAMILIES

_SEARCH_AFTER_MS = 150
_FIELD_PX, _CHOICE_PX = 160, 128


class Finding(QFrame):
    """Searches names, facts and code."""

    sifted = Signal()
    """The filters have changed, or the search has, and the user has stopped typing."""
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
        self._timer.timeout.connect(self.sifted)
        hint = "Search names, facts, code"
        self.field = search_field("Search servers", hint, lambda _: self._timer.start())
        self.field.setMinimumWidth(_FIELD_PX)
        for each in self.field.findChildren(QToolButton):
            each.setAccessibleName("Clear the search")
        self.count = label("", 12, tone="muted")
        self.export = tool("Export features (Ctrl+E)", "share-2", self.export_requested.emit)
        self.family, self.shown, self.columns = map(Choice, ("Family", "Shown", "Columns"))
        self.set_servers(())
        for choice, items in ((self.shown, SHOWN), (self.columns, CHOICES)):
            choice.addItems(list(items))
        for choice in (self.family, self.shown):
            choice.activated.connect(self.sifted)
        self.columns.activated.connect(self._on_columns)
        find, arrange = row(gap=8), row(gap=8)
        find.addWidget(self.field, 1)
        find.addWidget(self.count)
        for choice in (self.family, self.shown, self.columns):
            choice.setMinimumWidth(_CHOICE_PX)
            choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            arrange.addWidget(choice, 1)
        arrange.addWidget(self.export)
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._head.setSpacing(8)
        self._head.addLayout(find, 1)
        self._head.addLayout(arrange)
        inside.addLayout(self._head)
        self.table = ServerTable(sifted)
        inside.addWidget(self.table, 1)
        self.group = ""

    def set_narrow(self, narrow: bool) -> None:
        """Put the choices below the search."""
        lay(self._head, below=narrow)

    def search(self) -> None:
        """Focus the search field."""
        self.field.setFocus()
        self.field.selectAll()

    def set_servers(self, servers: Sequence[Known]) -> None:
        """Offer the families, with counts; an empty one is left out."""
        chosen, counts = self.family.currentData(), Counter(known.family for known in servers)
        self.family.clear()
        self.family.addItem("All families", "")
        for id_, name in ALL_FAMILIES.items():
            if counts[id_]:
                self.family.addItem(f"{name} ({counts[id_]})", id_)
        self.family.setCurrentIndex(max(0, self.family.findData(chosen)))

    def show_all(self) -> None:
        """Clear the search and the filters."""
        self.field.clear()
        self.family.setCurrentIndex(0)
        self.shown.setCurrentIndex(0)

    def sift(self, key: str) -> None:
        """Show what matches, with this server selected if it does, or else the first."""
        chosen = self.table.current()
        key = key or (chosen.key if chosen else "")
        self._sifted.sift(self.family.currentData(), self.shown.currentText(), self.field.text())
        if not self.table.choose(key) and self._sifted.rowCount():
            self.table.choose(self._sifted.server(0).key)

    def show_count(self) -> None:
        """Show the number of matches."""
        rows, text = self._sifted.rows, self.field.text().strip()
        found, all_, ticked = self._sifted.rowCount(), len(rows.servers), len(rows.ticked)
        servers = f"{all_:,} server{'s' if all_ != 1 else ''}"
        shown = servers if found == all_ else f"{found:,} of {servers}"
        if all_ and not found:
            shown = f"No server matches “{text}”." if text else "No server matches these filters."
        ticks = f"{ticked:,} selected" if ticked else "select to compare" if found else ""
        self.count.setText(" · ".join(filter(None, (shown, ticks))))

    @property
    def group(self) -> str:
        """Return the shown group of columns."""
        return self.columns.currentText()

    @group.setter
    def group(self, name: str) -> None:
        self.columns.setCurrentIndex(max(0, self.columns.findText(name)))
        self.table.show_groups(CHOICES[self.group])

    def _on_columns(self) -> None:
        self.group = self.group
        self.regrouped.emit()
