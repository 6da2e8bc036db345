"""The list of all servers, with a search and check boxes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame

from app.fields import TickList
from app.widgets import column, label, search_field
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import ALL_FAMILIES, declaration

_LEAST, _SHARE = 220, 0.4
"""Of the list's height, in pixels and of the page."""


class Picker(QFrame):
    """Typing narrows the list, Enter ticks the first that matches, Escape closes."""

    done = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[ServerEntry] = []
        self.setObjectName("sunken")
        inside = column(self, margin=10, gap=8)
        hint = "Search by name, family, style or language"
        self.search = search_field("Search servers", hint, self._filter)
        self.search.returnPressed.connect(self._tick_first)
        inside.addWidget(self.search)
        self.list = TickList("All servers", whole=False, across=1)
        self.list.setFixedHeight(_LEAST)
        inside.addWidget(self.list)
        self._none = label("No server matches.", 12, tone="muted")
        self._none.hide()
        inside.addWidget(self._none)

    def offer(self, entries: Sequence[ServerEntry], protocol: str) -> None:
        """List servers; what is said of each begins with why it cannot be used."""
        families = list(ALL_FAMILIES)
        self._entries = sorted(entries, key=lambda e: (families.index(e.family), e.name.casefold()))
        options = []
        for entry in self._entries:
            gone = entry.unavailable
            fits = declaration(protocol).serves(protocol, entry.protocols)
            why = "unavailable" if gone else "" if fits else f"no {protocol}"
            about = " · ".join(filter(None, (entry.name, why, *_facts(entry))))
            options.append((entry.id, about, gone.reason if gone else entry.description))
        self.list.offer(options)
        self._filter(self.search.text())

    def fit(self, height: int) -> None:
        """Use the room of a page of this height in pixels."""
        self.list.setFixedHeight(max(_LEAST, int(_SHARE * height)))

    def start(self) -> None:
        """Open with an empty search."""
        self.search.clear()
        self.list.setCurrentRow(0)
        self.search.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.done.emit()
        elif event.key() == Qt.Key.Key_Down:  # the search has no use for it
            self.list.setFocus()
        else:
            super().keyPressEvent(event)

    def _tick_first(self) -> None:
        if self.list.currentRow() >= 0:
            self.list.toggle(self._entries[self.list.currentRow()].id)

    def _filter(self, wanted: str) -> None:
        parts = wanted.casefold().split()
        shown = []
        for place, entry in enumerate(self._entries):
            facts = " ".join(_facts(entry))
            said = f"{entry.id} {entry.name} {facts} {entry.description}".casefold()
            fits = all(part in said for part in parts)
            self.list.setRowHidden(place, not fits)
            if fits:
                shown.append(place)
        self._none.setVisible(not shown)
        if self.list.currentRow() not in shown or parts:
            self.list.setCurrentRow(shown[0] if shown else -1)


def _facts(entry: ServerEntry) -> tuple[str, str, str]:
    return ALL_FAMILIES[entry.family], entry.language, entry.style
