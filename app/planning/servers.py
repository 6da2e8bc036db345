"""The servers of a plan in their order, each with the style of its line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QPushButton,
    QWidget,
)

from app.charts.drawing import draw_swatch
from app.painted import Painted
from app.plain import tip
from app.planning.picker import Picker
from app.scrolling import Scrolled
from app.style_places import style_places
from app.theme import Weight
from app.widgets import Elided, button, column, label, retone, row, set_icon
from workbench.errors import BadInput
from workbench.servers.address import is_address
from workbench.servers.catalogue import as_improved, as_published, entry_of, in_counts, variant_of
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import declaration

_ROW, _LEAST, _MOST_ACROSS = 36, 190, 4
_MOST_ROWS = 5.5
"""Half a row shows that there are more."""

_Swap: TypeAlias = Callable[[Sequence[str], Iterable[ServerEntry]], list[str]]


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
        named = [(self._name(id_), self._usable(id_), places[id_]) for id_ in self._ids]
        self.tags.show_servers(named)
        if self.before is not None:
            self.tags.chain_after(self.before)
        if self.picker.isHidden():
            self._scroll.setVisible(bool(named))
        unusable = [name for name, usable, _ in named if not usable]
        odd = len(unusable)
        self._clear.setVisible(bool(named) and not odd)
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
        self.picker.show_ticks(self._ids, self._protocol)

    def _fit(self, rows: int) -> None:
        """Many servers scroll, so that the rest of the form stays near. While the list is open, it
        stays where it is.
        """
        self._rows = rows
        if not self.picker.isHidden():
            return
        self._scroll.setVisible(bool(rows))
        self._scroll.setFixedHeight(max(0, round(min(rows, _MOST_ROWS) * _ROW) - 6))

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


class Tags(QWidget):
    """Tags are moved by dragging or Alt and an arrow key, and removed by their cross or Delete."""

    grown = Signal(int)
    """The number of rows has changed."""
    moved = Signal(int, int)
    removed = Signal(int)
    focused = Signal(object)
    """The tag to scroll to."""

    def __init__(self) -> None:
        super().__init__()
        self._tags: list[Tag] = []
        self._across = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(6)

    def show_servers(self, servers: Sequence[tuple[str, bool, int]]) -> None:
        """Show servers: their names, whether they can run, and the places of their styles."""
        while len(self._tags) > len(servers):
            gone = self._tags.pop()
            self._grid.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        while len(self._tags) < len(servers):
            self._tags.append(Tag(len(self._tags), self))
        for tag, (name, usable, place) in zip(self._tags, servers, strict=True):
            tag.show_text(name, usable)
            tag.sample.show_place(place)
        self._across = 0
        self._arrange()

    def chain_after(self, widget: QWidget) -> None:
        """Set the widget from which Tab leads here: new widgets are last in the tab order."""
        for before, after in pairwise([widget, *self._tags]):
            QWidget.setTabOrder(before, after)

    def focus(self, place: int) -> None:
        """Focus the tag at this place, or the last."""
        if self._tags:
            tag = self._tags[min(place, len(self._tags) - 1)]
            tag.setFocus()
            self.focused.emit(tag)

    def resizeEvent(self, event: object) -> None:
        self._arrange()

    def _arrange(self) -> None:
        across = max(1, min(_MOST_ACROSS, (self.width() + 6) // (_LEAST + 6)))
        if across == self._across:
            return
        self._across = across
        for place in range(_MOST_ACROSS):
            self._grid.setColumnStretch(place, int(place < across))
        for place, tag in enumerate(self._tags):
            self._grid.addWidget(tag, place // across, place % across)
        rows = -(-len(self._tags) // across)
        self.setFixedHeight(max(0, rows * _ROW - 6))
        self.grown.emit(rows)

    def move_by(self, place: int, by: int) -> None:
        """Move a tag by one (1) or by a row (2), forward or back."""
        to = place + by * (1 if abs(by) == 1 else self._across)
        if 0 <= to < len(self._tags):
            self.moved.emit(place, to)
            self.focus(to)

    def drop(self, place: int, at: QPoint) -> None:
        """Move a tag to where another one is."""
        for to, tag in enumerate(self._tags):
            if tag.geometry().contains(at) and to != place:
                self.moved.emit(place, to)
                self.focus(to)


class _Sample(Painted):
    """The style of a server's line."""

    def __init__(self) -> None:
        super().__init__()
        self._place = 0
        self.setFixedSize(28, 14)

    def show_place(self, place: int) -> None:
        self._place = place
        self.update()

    def paint(self, painter: QPainter) -> None:
        theme = self.theme
        draw_swatch(painter, theme.series(self._place), QRectF(self.rect()), theme.sunken)


class Tag(QFrame):
    """One server."""

    def __init__(self, place: int, tags: Tags) -> None:
        super().__init__()
        self._place, self._tags = place, tags
        self._drag: QPointF | None = None
        """Where it was pressed; None: it is not."""
        self.setObjectName("tag")
        self.setFixedHeight(30)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        inside = row(self, gap=6)
        inside.setContentsMargins(8, 0, 2, 0)
        self._name = Elided(12, Weight.Medium)
        self.remove = button("", "x", kind="ghost", on_click=lambda: tags.removed.emit(place))
        self.remove.setText("")
        self.remove.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.remove.setFixedWidth(24)
        self.remove.setStyleSheet("padding: 0; min-height: 22px;")
        self.sample = _Sample()
        inside.addWidget(self.sample)
        inside.addWidget(self._name, 1)
        inside.addWidget(self.remove)

    def show_text(self, name: str, usable: bool) -> None:
        for each in (self, self._name):
            retone(each, "" if usable else "bad")
        self._name.show_text(name)
        self.remove.setAccessibleName(f"Remove {name}, number {self._place + 1}")
        self.setToolTip(tip(f"{name}. Drag to reorder, or click the cross to remove."))
        self.setAccessibleName(f"{name}, number {self._place + 1}")
        self.setAccessibleDescription("Delete removes it, Alt+arrow key moves it")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, alt = event.key(), event.modifiers() & Qt.KeyboardModifier.AltModifier
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -2,
            Qt.Key.Key_Down: 2,
        }
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._tags.removed.emit(self._place)
        elif alt and key in steps:
            self._tags.move_by(self._place, steps[Qt.Key(key)])
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag = event.position()
            self.setFocus()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged(event):
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._dragged(event):
            self._tags.drop(self._place, self.mapToParent(event.position().toPoint()))
        self._drag = None
        self.unsetCursor()

    def _dragged(self, event: QMouseEvent) -> bool:
        least = QApplication.startDragDistance()
        return self._drag is not None and (event.position() - self._drag).manhattanLength() >= least
