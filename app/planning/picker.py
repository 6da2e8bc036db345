"""The list of all servers, with a search and check boxes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
)

from app.plain import tip
from app.widgets import column, label, search_field
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import ALL_FAMILIES, declaration

_ENTRY = Qt.ItemDataRole.UserRole
_NAME, _ABOUT = range(2)
"""Columns; the second says first why a server cannot be used."""
_NAME_PX = 220
_LEAST, _SHARE = 220, 0.4
"""Of the list's height, in pixels and of the page."""


class Picker(QFrame):
    """Typing narrows the list, Space or Enter ticks, Escape closes."""

    ticked = Signal(str, bool)
    done = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sunken")
        inside = column(self, margin=10, gap=8)
        hint = "Search by name, family, style or language"
        self.search = search_field("Search servers", hint, self._filter)
        self.search.installEventFilter(self)
        inside.addWidget(self.search)
        self.list = QTreeWidget()
        self.list.setAccessibleName("All servers")
        self.list.setFixedHeight(_LEAST)
        self.list.setStyleSheet(
            "QTreeView { background: transparent; } QTreeView::item { height: 27px; border: none; }"
        )
        self.list.setColumnCount(2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setAllColumnsShowFocus(True)
        self.list.setColumnWidth(_NAME, _NAME_PX)
        self.list.setItemDelegateForColumn(_ABOUT, _Beside(self.list))
        self.list.itemChanged.connect(self._on_changed)
        self.list.itemClicked.connect(self._toggle)
        self.list.installEventFilter(self)
        inside.addWidget(self.list)
        self._none = label("No server matches.", 12, tone="muted")
        self._none.hide()
        inside.addWidget(self._none)

    def set_entries(self, entries: Sequence[ServerEntry]) -> None:
        """List other servers; whoever goes through them by keys stays where they are."""
        current = self.list.currentItem()
        at = current.data(_NAME, _ENTRY).id if current is not None else ""
        families = list(ALL_FAMILIES)
        with QSignalBlocker(self.list):
            self.list.clear()
            for entry in sorted(
                entries, key=lambda e: (families.index(e.family), e.name.casefold())
            ):
                item = QTreeWidgetItem(self.list, [entry.name])
                item.setData(_NAME, _ENTRY, entry)
                # A click anywhere in a row ticks, not only one on the box.
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
                gone = entry.unavailable
                for place in (_NAME, _ABOUT):
                    item.setToolTip(place, tip(gone.reason if gone else entry.description))
                item.setCheckState(_NAME, Qt.CheckState.Unchecked)
        self._filter(self.search.text())
        for item in self._items():
            if item.data(_NAME, _ENTRY).id == at and not item.isHidden():
                self.list.setCurrentItem(item)

    def show_ticks(self, ids: Sequence[str], protocol: str) -> None:
        with QSignalBlocker(self.list):
            for item in self._items():
                entry: ServerEntry = item.data(_NAME, _ENTRY)
                on = entry.id in ids
                item.setCheckState(_NAME, Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
                if entry.unavailable:
                    why = "unavailable"
                else:
                    fits = declaration(protocol).serves(protocol, entry.protocols)
                    why = "" if fits else f"no {protocol}"
                about = filter(None, (why, *_facts(entry)))
                item.setText(_ABOUT, " · ".join(about))
                spoken = f"{entry.name}, {item.text(_ABOUT).replace(' · ', ', ')}"
                item.setData(_NAME, Qt.ItemDataRole.AccessibleTextRole, spoken)

    def fit(self, height: int) -> None:
        """Use the room of a page of this height in pixels."""
        self.list.setFixedHeight(max(_LEAST, int(_SHARE * height)))

    def start(self) -> None:
        """Open with an empty search."""
        self.search.clear()
        self.list.setCurrentItem(self.list.topLevelItem(0))
        self.search.setFocus()

    def eventFilter(self, watched: object, event: object) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QKeyEvent.Type.KeyPress:
            return False
        key, current, searching = event.key(), self.list.currentItem(), watched is self.search
        if key == Qt.Key.Key_Escape:
            self.done.emit()
        elif key == Qt.Key.Key_Down and searching:
            self.list.setFocus()
        elif key == Qt.Key.Key_Return or (key == Qt.Key.Key_Space and not searching):
            # While somebody searches, the current one is the first that matches.
            if current is not None and not current.isHidden():
                self._toggle(current)
        else:
            return False
        return True

    def _toggle(self, item: QTreeWidgetItem) -> None:
        on = item.checkState(_NAME) == Qt.CheckState.Checked
        item.setCheckState(_NAME, Qt.CheckState.Unchecked if on else Qt.CheckState.Checked)

    def _on_changed(self, item: QTreeWidgetItem) -> None:
        on = item.checkState(_NAME) == Qt.CheckState.Checked
        self.ticked.emit(item.data(_NAME, _ENTRY).id, on)

    def _filter(self, wanted: str) -> None:
        parts = wanted.casefold().split()
        for item in self._items():
            entry: ServerEntry = item.data(_NAME, _ENTRY)
            facts = " ".join(_facts(entry))
            said = f"{entry.id} {entry.name} {facts} {entry.description}".casefold()
            item.setHidden(not all(part in said for part in parts))
        shown = [item for item in self._items() if not item.isHidden()]
        self._none.setVisible(not shown)
        if shown:
            self.list.setCurrentItem(shown[0])

    def _items(self) -> list[QTreeWidgetItem]:
        return [self.list.topLevelItem(n) for n in range(self.list.topLevelItemCount())]


def _facts(entry: ServerEntry) -> tuple[str, str, str]:
    return ALL_FAMILIES[entry.family], entry.language, entry.style


class _Beside(QStyledItemDelegate):
    """What stands beside a name is paler."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        palette = option.palette  # type: ignore[attr-defined]
        palette.setBrush(palette.ColorRole.Text, palette.placeholderText())
