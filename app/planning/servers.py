"""The servers of a plan, and their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.plain import tip
from app.planning.picker import Picker
from app.planning.tags import ROW, Tags
from app.scrolling import Scrolled
from app.theme import Theme, Weight
from app.widgets import Elided, button, column, dress, label, row
from workbench.errors import BadInput
from workbench.servers import worker_variants
from workbench.servers.catalogue import as_improved, as_published
from workbench.workloads.registry import declaration

if TYPE_CHECKING:
    from workbench.servers.entry import ServerEntry


_MOST_ROWS = 5.5
"""Half a row shows that there are more."""


_Swap: TypeAlias = Callable[[Sequence[str], Iterable["ServerEntry"]], list[str]]


class Servers(QWidget):
    """The chosen servers as tags; a list with a search opens below."""

    edited = Signal()
    opened = Signal(object)
    """The list of all servers, which was just opened."""

    def __init__(self) -> None:
        super().__init__()
        self.before: QWidget | None = None
        """The widget before the tags in the tab order."""
        self._ids: list[str] = []
        self._entries: dict[str, ServerEntry] = {}
        self._protocol = "pong"
        self._rows = 0
        inside = column(self, gap=10)
        head = row()
        head.addWidget(label("Servers", 14, Weight.DemiBold))
        self._order_label = Elided(12, tone="muted")
        self._order_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self._order_label, 1)
        inside.addLayout(head)
        self.picker = Picker()
        self.picker.ticked.connect(self._tick)
        self.picker.done.connect(self.open_or_close)
        self.picker.hide()
        self.tags = Tags()
        self.tags.moved.connect(self._move)
        self.tags.removed.connect(self._remove)
        self._scroll = scroll = Scrolled(self.tags)
        # Not while it is laid out, or Qt would keep the height before.
        self.tags.grown.connect(self._fit, Qt.ConnectionType.QueuedConnection)
        self.tags.focused.connect(scroll.ensureWidgetVisible)
        inside.addWidget(scroll)
        foot = row(gap=4)
        self._open = button("Add or remove", "plus", on_click=self.open_or_close)
        self._clear = button("Remove all", kind="ghost", on_click=lambda: self._change([]))
        foot.addWidget(self._open)
        foot.addWidget(self._clear)
        self._published = button("Use published versions", kind="ghost", on_click=self._publish)
        self._published.setToolTip(tip("Use servers as listed in the benchmark that measured them"))
        self._improved = button("Use improved versions", kind="ghost", on_click=self._improve)
        improved = (
            "Use servers as improved since: by their communities, fixed by us, or as advised today"
        )
        self._improved.setToolTip(tip(improved))
        self._scaled = button("Add 1, 2, 4 processes", "cpu", on_click=self._scale)
        self._scaled.setToolTip(tip("Each server that can, in 1, 2 and 4 processes on one port"))
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
        self.picker.set_entries(entries)
        self._show()

    def set_protocol(self, protocol: str) -> None:
        """Mark servers that do not support the protocol."""
        if protocol != self._protocol:
            self._protocol = protocol
            self._show()

    def show_order(self, text: str) -> None:
        """Show the order of the sweeps."""
        self._order_label.show_text(text)

    def open_or_close(self) -> None:
        """Open or close the list of all servers."""
        opened = self.picker.isHidden()
        self.picker.setVisible(opened)
        self._show()
        self._fit(self._rows)
        text = "Close the list" if opened else "Add or remove"
        self._open.setText(f" {text}")
        self._open.setAccessibleName(text)
        self._open.setProperty("icon_name", "x" if opened else "plus")
        dress(self, self._theme)
        if opened:
            self.picker.start()
            # Once it is laid out.
            QTimer.singleShot(0, self, lambda: self.opened.emit(self.picker))
        else:
            self._open.setFocus()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def _usable(self, id_: str) -> bool:
        # Before the catalogue is read, all servers count as usable.
        if not self._entries:
            return True
        entry = self._entry(id_)
        return entry is not None and not entry.unavailable and self._fits(entry)

    def _fits(self, entry: ServerEntry) -> bool:
        return declaration(self._protocol).serves(self._protocol, entry.protocols)

    def _show(self) -> None:
        named = [(self._name(id_), self._usable(id_)) for id_ in self._ids]
        self.tags.show_servers(named)
        if self.before is not None:
            self.tags.chain_after(self.before)
        if self.picker.isHidden():
            self._scroll.setVisible(bool(named))
        unusable = [name for name, usable in named if not usable]
        odd = len(unusable)
        self._clear.setVisible(bool(named) and not odd)
        self._prune.setVisible(bool(odd))
        # There is room for one of these buttons.
        published = not odd and self._swapped(as_published) != self._ids
        improved = not odd and not published and self._swapped(as_improved) != self._ids
        self._published.setVisible(published)
        self._improved.setVisible(improved)
        can_scale = self._swapped(worker_variants.in_counts) != self._ids
        self._scaled.setVisible(can_scale and not self.picker.isHidden())
        text = f"Remove {odd} unusable servers" if odd > 1 else f"Remove {''.join(unusable)}"
        self._prune.setText(text)
        self._prune.setAccessibleName(text)
        self.picker.show_ticks(self._ids, self._protocol)

    def _fit(self, rows: int) -> None:
        """Many servers scroll, so that the rest of the form stays near. While the list is open, it
        stays where it is.
        """
        self._rows = rows
        if not self.picker.isHidden():
            return
        self._scroll.setVisible(bool(rows))
        self._scroll.setFixedHeight(max(0, round(min(rows, _MOST_ROWS) * ROW) - 6))

    def _entry(self, id_: str) -> ServerEntry | None:
        try:
            return worker_variants.find(self._entries, id_)
        except BadInput:
            return None

    def _name(self, id_: str) -> str:
        entry = self._entry(id_)
        return entry.name if entry else id_

    def _tick(self, id_: str, on: bool) -> None:
        others = [other for other in self._ids if other != id_]
        self._change([*others, id_] if on else others)

    def _move(self, place: int, to: int) -> None:
        ids = list(self._ids)
        ids.insert(to, ids.pop(place))
        self._change(ids)

    def _leave_unusable_out(self) -> None:
        self._change([id_ for id_ in self._ids if self._usable(id_)])
        self._open.setFocus()

    def _swapped(self, swap: _Swap) -> list[str]:
        return swap(self._ids, self._entries.values())

    def _publish(self) -> None:
        self._change(self._swapped(as_published))
        self._improved.setFocus()

    def _improve(self) -> None:
        self._change(self._swapped(as_improved))
        self._published.setFocus()

    def _scale(self) -> None:
        self._change(self._swapped(worker_variants.in_counts))
        self._open.setFocus()

    def _remove(self, place: int) -> None:
        self._change(self._ids[:place] + self._ids[place + 1 :])
        if self._ids:
            self.tags.focus(place)
        else:
            self._open.setFocus()

    def _change(self, ids: list[str]) -> None:
        if ids != self._ids:
            self._ids = ids
            self._show()
            self.edited.emit()

    _theme: Theme
