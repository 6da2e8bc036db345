"""The servers of a plan in their order, each with the style of its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QIcon, QKeyEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QWidget

from app.charts.drawing import draw_swatch
from app.fields import lay_grid
from app.plain import tip
from app.planning.picker import Picker
from app.style_places import style_places
from app.theme import Theme, Weight, current
from app.widgets import button, column, label, row, set_icon
from workbench.errors import BadInput
from workbench.servers.address import is_address
from workbench.servers.catalogue import as_improved, as_published, entry_of, in_counts, variant_of
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import declaration

_ROW_PX, _ACROSS_PX, _SWATCH = 32, 190, QSize(28, 14)
_MOST_ROWS = 5.5
"""Half a row shows that there are more."""
_RATIO = 2
"""Device pixels of a swatch per pixel."""

_Swap: TypeAlias = Callable[[Sequence[str], Iterable[ServerEntry]], list[str]]


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
        inside = column(self, gap=10)
        inside.addWidget(label("Servers", 14, Weight.DemiBold))
        self.picker = Picker()
        self.picker.list.edited.connect(lambda: self._change(self.picker.list.value()))
        self.picker.done.connect(self.open_or_close)
        self.picker.hide()
        self.chosen = Chosen()
        self.chosen.edited.connect(lambda: self._change(self.chosen.ids()))
        self.chosen.itemSelectionChanged.connect(self._fit_remove)
        inside.addWidget(self.chosen)
        foot = row(gap=4)
        self._open = button("Add or remove", "plus", on_click=self.open_or_close)
        self._remove = button("Remove", kind="ghost", on_click=self.chosen.remove)
        self._remove.setToolTip("Delete; Ctrl+A selects all")
        foot.addWidget(self._open)
        foot.addWidget(self._remove)
        self._published = self._swapping(
            "Use published versions",
            as_published,
            "Use servers as listed in the benchmark that measured them",
        )
        self._improved = self._swapping(
            "Use improved versions",
            as_improved,
            "Use servers as improved since: by their communities, fixed by us, or as advised today",
        )
        self._scaled = self._swapping(
            "Add 1, 2, 4 processes",
            in_counts,
            "Each server that can, in 1, 2 and 4 processes on one port",
            "cpu",
        )
        foot.addWidget(self._published)
        foot.addWidget(self._improved)
        self._prune = button("", kind="ghost", on_click=self._leave_unusable_out)
        foot.addWidget(self._prune)
        foot.addStretch(1)
        inside.addLayout(foot)
        inside.addWidget(self._scaled, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addWidget(self.picker)
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
        """Open or close the list of all servers."""
        opened = self.picker.isHidden()
        self.picker.setVisible(opened)
        self.chosen.still = opened  # or the list would move under the pointer
        self._show()
        text = "Close the list" if opened else "Add or remove"
        self._open.setText(f" {text}")
        self._open.setAccessibleName(text)
        set_icon(self._open, "x" if opened else "plus")
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
        if entry is None or entry.unavailable:
            return False
        return declaration(protocol).serves(protocol, entry.protocols)

    def _show(self) -> None:
        places = style_places(self._ids)
        named = [(id_, self._name(id_), self._usable(id_), places[id_]) for id_ in self._ids]
        self.chosen.show_servers(named)
        self._fit_remove()
        unusable = [name for _, name, usable, _ in named if not usable]
        odd = len(unusable)
        self._prune.setVisible(bool(odd))
        # There is room for one of these buttons.
        published = not odd and self._swapped(as_published) != self._ids
        improved = not odd and not published and self._swapped(as_improved) != self._ids
        self._published.setVisible(published)
        self._improved.setVisible(improved)
        can_scale = self._swapped(in_counts) != self._ids
        self._scaled.setVisible(can_scale and not self.picker.isHidden())
        text = f"Remove {odd} unusable servers" if odd > 1 else f"Remove {''.join(unusable)}"
        self._prune.setText(text)
        self._prune.setAccessibleName(text)
        self.picker.list.set_value(self._ids)

    def _fit_remove(self) -> None:
        self._remove.setEnabled(bool(self.chosen.selectedItems()))

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

    def _leave_unusable_out(self) -> None:
        self._change([id_ for id_ in self._ids if self._usable(id_)])
        self._open.setFocus()

    def _swapped(self, swap: _Swap) -> list[str]:
        return swap(self._ids, self._entries.values())

    def _swapping(self, text: str, swap: _Swap, about: str, icon: str = "") -> QPushButton:
        """Return a button that replaces the servers."""

        def press() -> None:
            self._change(self._swapped(swap))
            # The button is hidden now; another one may stand in its place.
            places = (self._published, self._improved, self._open)
            next(each for each in places if not each.isHidden()).setFocus()

        made = button(text, icon, kind="" if icon else "ghost", on_click=press)
        made.setToolTip(tip(about))
        return made

    def _change(self, ids: list[str]) -> None:
        if ids != self._ids:
            self._ids = ids
            self._show()
            self.edited.emit()


class Chosen(QListWidget):
    """Servers are moved by dragging or Alt and an arrow key, and those selected are removed by
    Delete."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.still = False
        """Keeps its height, also with more or fewer rows."""
        self.setAccessibleName("Servers of the plan")
        self.setProperty("kind", "tags")
        self.setFlow(QListWidget.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QListWidget.DragDropMode.InternalMove)
        self.setIconSize(_SWATCH)
        # Not while it is moved, or Qt would lose its place.
        self.model().rowsMoved.connect(self.edited, Qt.ConnectionType.QueuedConnection)

    def ids(self) -> list[str]:
        return [self.item(n).data(Qt.ItemDataRole.UserRole) for n in range(self.count())]

    def show_servers(self, servers: Sequence[tuple[str, str, bool, int]]) -> None:
        """Show servers: their ids, names, whether they can run, and the places of their styles."""
        self._servers, at = servers, self.currentRow()
        self.clear()
        theme = current()
        for place, (id_, name, usable, style) in enumerate(servers, 1):
            item = QListWidgetItem(_swatch(theme, style), name, self)
            item.setData(Qt.ItemDataRole.UserRole, id_)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, number {place}")
            item.setForeground(QBrush(QColor(theme.text if usable else theme.bad)))
            item.setToolTip(tip(f"{name}. Drag or Alt+arrow key moves it, Delete removes it."))
        self.setCurrentRow(min(at, len(servers) - 1))
        self._fit()

    def set_theme(self, theme: Theme) -> None:
        self.show_servers(self._servers)

    _servers: Sequence[tuple[str, str, bool, int]] = ()

    def remove(self) -> None:
        """Remove those that are selected."""
        for item in self.selectedItems():
            self.takeItem(self.row(item))
        self.edited.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys, place = Qt.Key, self.currentRow()
        steps = {keys.Key_Left: -1, keys.Key_Right: 1, keys.Key_Up: -1, keys.Key_Down: 1}
        alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
        if event.key() in (keys.Key_Delete, keys.Key_Backspace):
            self.remove()
        elif alt and event.key() in steps and place >= 0:
            to = min(max(place + steps[Qt.Key(event.key())], 0), self.count() - 1)
            self.insertItem(to, self.takeItem(place))
            self.setCurrentRow(to)
            self.edited.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        """Many servers scroll, so that the rest of the form stays near."""
        rows = min(lay_grid(self, self.width() // _ACROSS_PX, _ROW_PX), _MOST_ROWS)
        if not self.still:
            self.setFixedHeight(round(rows * _ROW_PX) + 2 * self.frameWidth())
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
