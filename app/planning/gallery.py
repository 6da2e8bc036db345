"""The card of presets: choose, save, rename or delete them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QFocusEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem

from app.bridge import Bridge
from app.dialogs import ask_text
from app.history import History, deletion
from app.plain import tip
from app.theme import Theme, Weight, current, font
from app.widgets import Inline, button, column, label, row
from workbench.formatting import number_of
from workbench.plan import library
from workbench.plan.library import Preset
from workbench.plan.model import Plan
from workbench.trash import Trashed

_BAR = 10
"""The width of a scroll bar."""
_TITLE_PX = 34
"""As high as that of the preview, with its buttons."""
_PRESET = Qt.ItemDataRole.UserRole


class Gallery(QFrame):
    """The presets."""

    taken = Signal(object)
    """A `Preset` to show in the form."""
    kept = Signal(object)
    """A `Preset` as which the plan in the form was saved."""
    import_requested = Signal()
    requests_wanted = Signal()
    """To make a plan of requests that the user has."""

    changed = Signal()
    """Presets were deleted, restored, or are as they were before."""

    def __init__(self, bridge: Bridge, history: History) -> None:
        super().__init__()
        self._history = history
        self.setObjectName("card")
        self._bridge = bridge
        inside = column(self, gap=10)
        # The list's scroll bar stands in the margin, so that its cards are as wide as the buttons.
        inside.setContentsMargins(12, 12, 12 - _BAR, 12)
        head = label("Presets", 14, Weight.DemiBold)
        head.setMinimumHeight(_TITLE_PX)
        inside.addWidget(head)
        self.error = Inline()
        inside.addWidget(self.error)
        self.list = PresetList()
        self.list.taken.connect(self._on_taken)
        inside.addWidget(self.list, 1)
        own = row()
        own.setContentsMargins(0, 0, _BAR, 0)
        self._rename = button("Rename…", "pencil", on_click=self.ask_new_name)
        self._delete = button("Delete", "trash-2", on_click=self.delete)
        own.addWidget(self._rename, 1)
        own.addWidget(self._delete, 1)
        inside.addLayout(own)
        self.last = button("Open a plan file…", "folder-open", on_click=self.import_requested.emit)
        bring = button("Bring requests…", "download", on_click=self.requests_wanted.emit)
        for each in (bring, self.last):
            below = row()
            below.setContentsMargins(0, 0, _BAR, 0)
            below.addWidget(each)
            inside.addLayout(below)
        self._fit()

    def show_presets(self, presets: Sequence[Preset]) -> None:
        self.list.show_presets(presets)
        self._fit()

    def mark(self, id: str) -> None:
        """Mark the preset that the plan was made from; empty: none."""
        self.list.mark(id)
        self._fit()

    @property
    def own(self) -> Preset | None:
        """Return the marked preset, if it is the user's."""
        marked = self.list.preset(self.list.marked)
        return marked if marked is not None and marked.own else None

    def ask_name(self, plan: Plan) -> None:
        """Ask for the name of a preset."""
        ask_text(
            self, "Save as", "Name of the plan:", plan.name, lambda name: self.save(plan, name)
        )

    def save(self, plan: Plan, name: str, over: str = "") -> None:
        self._write(partial(library.save, plan, name, over=over))

    def ask_new_name(self) -> None:
        if (own := self.own) is not None:

            def renamed(name: str) -> None:
                self._write(partial(library.rename, own.id, name))

            ask_text(self, "Rename", "New name:", own.name, renamed)

    def delete(self) -> None:
        """Move the marked preset to the trash."""
        own = self.own
        if own is None:
            return
        discard = partial(library.delete, own.id)

        def done(kept: Trashed) -> None:
            self._history.add(deletion(f"the plan {own.name}", kept, discard, self._read))
            self.mark("")
            self._read()

        self._bridge.do(discard, done, self.error.show_text)

    def _write(self, write: Callable[[], Preset]) -> None:
        """Write the file of a preset."""

        def done(preset: Preset) -> None:
            self.list.mark(preset.id)
            self.kept.emit(preset)
            self._read()

        self._bridge.do(write, done, self.error.show_text)

    def _read(self) -> None:
        self.error.show_text("")
        self._bridge.do(library.presets, self._on_read, self.error.show_text)

    def _on_read(self, presets: Sequence[Preset]) -> None:
        self.show_presets(presets)
        self.changed.emit()

    def _on_taken(self, preset: Preset) -> None:
        self.error.show_text(preset.problem)
        if preset.plan is not None:
            self.taken.emit(preset)

    def _fit(self) -> None:
        for each in (self._rename, self._delete):
            each.setVisible(self.own is not None)


class PresetList(QListWidget):
    """A click or Enter takes a preset; its purpose is its tool tip, and a note of the plan."""

    taken = Signal(object)
    """A `Preset`."""

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self.setAccessibleName("Presets")
        self.setProperty("kind", "presets")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setFont(font(13, Weight.Medium))
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setWordWrap(True)
        self.itemClicked.connect(self._take)
        self.itemActivated.connect(self._take)

    def show_presets(self, presets: Sequence[Preset]) -> None:
        """Show other presets; whoever goes through them by keys stays where they are."""
        current = self.currentItem()
        at = current.data(_PRESET).id if current is not None else self._id
        self.clear()
        group = ""
        for preset in presets:
            if preset.group != group:
                group = preset.group
                self._add_head(group)
            item = QListWidgetItem(preset.name, self)
            about = _about(preset)
            item.setData(_PRESET, preset)
            item.setToolTip(tip(about))
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, about)
        self._dress()
        self._go_to(at)

    def _add_head(self, group: str) -> None:
        head = QListWidgetItem(group, self)
        head.setFlags(Qt.ItemFlag.NoItemFlags)
        head.setFont(font(12, Weight.Medium))
        head.setToolTip(tip(group))

    def _dress(self) -> None:
        """A plan that cannot be read is marked by its colour, and by its description."""
        theme = current()
        for n in range(self.count()):
            preset = self.item(n).data(_PRESET)
            tone = theme.muted if preset is None else theme.text if preset.plan else theme.bad
            self.item(n).setForeground(QBrush(QColor(tone)))

    def set_theme(self, theme: Theme) -> None:
        self._dress()

    def mark(self, id: str) -> None:
        """Mark the preset that the plan was made from."""
        self._id = id
        self._go_to(id)

    def _go_to(self, id: str) -> None:
        for n in range(self.count()):
            preset = self.item(n).data(_PRESET)
            if preset is not None and preset.id == id:
                self.setCurrentRow(n)
                # The buttons that appear with it change the visible area.
                QTimer.singleShot(0, self, self._show_marked)
                return
        self.setCurrentRow(-1)

    def _show_marked(self) -> None:
        if (item := self.currentItem()) is not None:
            self.scrollToItem(item)

    @property
    def presets(self) -> list[Preset]:
        return [p for n in range(self.count()) if (p := self.item(n).data(_PRESET)) is not None]

    def preset(self, id: str) -> Preset | None:
        return next((preset for preset in self.presets if preset.id == id), None)

    @property
    def marked(self) -> str:
        return self._id

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.currentRow() < 0 and self.presets:  # so that it is seen where the focus is
            self._go_to(self.presets[0].id)

    def _take(self, item: QListWidgetItem) -> None:
        if (preset := item.data(_PRESET)) is not None:
            self.taken.emit(preset)


def _about(preset: Preset) -> str:
    """Return the purpose of a plan or, without a note, what it measures; or its file's problem."""
    if preset.plan is None:
        return preset.problem
    servers = number_of(len(preset.plan.servers), "servers")
    unit = "rates" if preset.plan.axis.per_second else "points"
    return preset.plan.description or f"{servers}, {number_of(len(preset.plan.values), unit)}"
