"""The servers of a plan in their order, each with the style of its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QListWidget, QWidget

from app.charts.drawing import draw_swatch
from app.fields import NameGrid, TickList
from app.plain import tip
from app.style_places import style_places
from app.theme import Theme, Weight, current
from app.widgets import beside, button, column, label, rename, search_field
from workbench.errors import BadInput
from workbench.servers.address import is_address
from workbench.servers.catalogue import as_improved, as_published, entry_of, in_counts, variant_of
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import ALL_FAMILIES, declaration

_ROW_PX, _SWATCH = 32, QSize(28, 14)
_MOST_ROWS = 5.5
"""Half a row shows that there are more."""
_RATIO = 2
"""Device pixels of a swatch per pixel."""
_LIST_PX = 300
_VERSIONS = (
    (
        "Use published versions",
        as_published,
        "Use servers as listed in the benchmark that measured them",
    ),
    (
        "Use improved versions",
        as_improved,
        "Use servers as improved since: by their communities, fixed by us, or as advised today",
    ),
)


class Servers(QWidget):
    """The chosen servers as tags; a list with a search opens below."""

    edited = Signal()
    opened = Signal(object)
    """The list of all servers, which was just opened."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: list[str] = []
        self._entries: dict[str, ServerEntry] = {}
        self._protocol = "pong"
        self.picker = Picker()
        self.picker.list.edited.connect(lambda: self._change(self.picker.list.value()))
        self.picker.done.connect(self.open_or_close)
        self.picker.hide()
        self.chosen = Chosen()
        self.chosen.edited.connect(lambda: self._change(self.chosen.ids()))
        self._open = button("Add or remove", "plus", on_click=self.open_or_close)
        self._offer = button("", kind="ghost", on_click=lambda: self._change(self._offered))
        self._offered: list[str] = []
        """The servers after a press of it."""
        self._scaled = button("Add 1, 2, 4 processes", "cpu")
        self._scaled.clicked.connect(
            lambda: self._change(in_counts(self._ids, self._entries.values()))
        )
        self._scaled.setToolTip("Each server that can, in 1, 2 and 4 processes on one port")
        head, foot = label("Servers", 14, Weight.DemiBold), beside(self._open, self._offer, None)
        column(self, head, self.chosen, foot, beside(self._scaled, None), self.picker, gap=10)
        self._show()

    def value(self) -> list[str]:
        return list(self._ids)

    def set_value(self, value: Any) -> None:
        ids = value if isinstance(value, list) else []
        self._ids = [id_ for id_ in ids if isinstance(id_, str)]
        self._show()

    def set_entries(self, entries: Sequence[ServerEntry]) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self.picker.offer(entries, self._protocol)
        self._show()

    def set_protocol(self, protocol: str) -> None:
        """Mark servers that do not support the protocol."""
        if protocol != self._protocol:
            self._protocol = protocol
            self.picker.offer(list(self._entries.values()), protocol)
            self._show()

    def open_or_close(self) -> None:
        opened = self.picker.isHidden()
        self.picker.setVisible(opened)
        self.chosen.still = opened  # or the list would move under the pointer
        self._show()
        rename(self._open, *(("Close the list", "x") if opened else ("Add or remove", "plus")))
        if opened:
            self.picker.start()
            # Once it is laid out.
            QTimer.singleShot(0, self, lambda: self.opened.emit(self.picker))
        else:
            self._open.setFocus()

    def _usable(self, id_: str) -> bool:
        # Before the catalogue is read, all servers count as usable.
        if not self._entries:
            return True
        entry, protocol = self._entry(id_), self._protocol
        able = entry is not None and not entry.unavailable
        return able and declaration(protocol).serves(protocol, entry.protocols)

    def _show(self) -> None:
        places = style_places(self._ids)
        named = [(id_, self._name(id_), self._usable(id_), places[id_]) for id_ in self._ids]
        self.chosen.show_servers(named)
        # There is room for one of these.
        offers = (each for each in self._offers(named) if each[2] != self._ids)
        text, about, self._offered = next(offers, ("", "", []))
        self._offer.setVisible(bool(text))
        rename(self._offer, text)
        self._offer.setToolTip(tip(about))
        can_scale = in_counts(self._ids, self._entries.values()) != self._ids
        self._scaled.setVisible(can_scale and not self.picker.isHidden())
        self.picker.list.set_value(self._ids)

    def _entry(self, id_: str) -> ServerEntry | None:
        try:
            if is_address(id_):
                return entry_of(id_)
            return variant_of(self._entries, id_)
        except BadInput:
            return None

    def _name(self, id_: str) -> str:
        entry = self._entry(id_)
        return entry.name if entry else id_

    def _offers(
        self, named: Sequence[tuple[str, str, bool, int]]
    ) -> Iterator[tuple[str, str, list[str]]]:
        """Yield what can be done to all servers at once: its name, more about it, and the servers
        then. `named`: see `Chosen.show_servers`.
        """
        odd = [name for _, name, usable, _ in named if not usable]
        if odd:
            what = f"{len(odd)} unusable servers" if len(odd) > 1 else odd[0]
            yield f"Remove {what}", "", [id_ for id_, _, usable, _ in named if usable]
            return
        for text, swap, about in _VERSIONS:
            yield text, about, swap(self._ids, self._entries.values())

    def _change(self, ids: list[str]) -> None:
        if ids != self._ids:
            self._ids = ids
            self._show()
            self.edited.emit()


class Chosen(NameGrid):
    """Servers are moved by dragging or Alt and an arrow key, and those selected are removed by
    Delete."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__("Servers of the plan", "tags", _ROW_PX, 4)
        self.still = False
        """Keeps its height, also with more or fewer rows."""
        self.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QListWidget.DragDropMode.InternalMove)
        self._servers: Sequence[tuple[str, str, bool, int]] = ()
        self.setIconSize(_SWATCH)
        # Not while it is moved, or Qt would lose its place.
        self.model().rowsMoved.connect(self.edited, Qt.ConnectionType.QueuedConnection)

    def show_servers(self, servers: Sequence[tuple[str, str, bool, int]]) -> None:
        """Show servers: their ids, names, whether they can run, and the places of their styles."""
        self._servers, at = servers, self.currentRow()
        self.clear()
        theme = current()
        for place, (id_, name, usable, style) in enumerate(servers, 1):
            about = f"{name}. Drag or Alt+arrow key moves it, Delete removes it."
            item = self.add(id_, name, about)
            item.setIcon(_swatch(theme, style))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, number {place}")
            item.setForeground(QBrush(QColor(theme.text if usable else theme.bad)))
        self.setCurrentRow(min(at, len(servers) - 1))
        self.fit()

    def set_theme(self, theme: Theme) -> None:
        self.show_servers(self._servers)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys, place = Qt.Key, self.currentRow()
        steps = {keys.Key_Left: -1, keys.Key_Right: 1, keys.Key_Up: -1, keys.Key_Down: 1}
        alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
        if event.key() in (keys.Key_Delete, keys.Key_Backspace):
            for item in self.selectedItems():
                self.takeItem(self.row(item))
            self.edited.emit()
        elif alt and event.key() in steps and place >= 0:
            to = min(max(place + steps[Qt.Key(event.key())], 0), self.count() - 1)
            self.insertItem(to, self.takeItem(place))
            self.setCurrentRow(to)
            self.edited.emit()
        else:
            super().keyPressEvent(event)

    def fit(self, most_rows: float | None = None) -> None:
        """Many servers scroll, so that the rest of the form stays near."""
        super().fit(None if self.still else _MOST_ROWS)
        if not self.still:
            self.setVisible(self.count() > 0)


def _swatch(theme: Theme, place: int) -> QIcon:
    """Return the style of a server's line."""
    drawn = QPixmap(_SWATCH * _RATIO)
    drawn.setDevicePixelRatio(_RATIO)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw_swatch(painter, theme.series(place), QRectF(0, 0, *_SWATCH.toTuple()), theme.sunken)
    painter.end()
    return QIcon(drawn)


class Picker(QFrame):
    """Typing narrows the list, Enter ticks the first that matches, Escape closes."""

    done = Signal()

    def __init__(self) -> None:
        super().__init__(objectName="sunken")
        self._entries: list[ServerEntry] = []
        hint = "Search by name, family, style or language"
        self.search = search_field("Search servers", hint, self._filter)
        self.search.returnPressed.connect(self._tick_first)
        self.list = TickList("All servers", whole=False, across=1)
        self.list.setFixedHeight(_LIST_PX)
        self._none = label("No server matches.", 12, tone="muted")
        self._none.hide()
        column(self, self.search, self.list, self._none, margin=10, gap=8)

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

    def start(self) -> None:
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
