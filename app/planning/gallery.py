"""The card of presets: choose, save, rename or delete them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.bridge import Bridge
from app.history import History, deletion, rewriting
from app.planning import resources
from app.planning.preset_list import PresetList
from app.question import ask_text
from app.theme import Weight
from app.widgets import Inline, button, column, label, row
from workbench import stores
from workbench.stores import Change
from workbench.trash import Trashed

if TYPE_CHECKING:
    from workbench.plan.library import Preset
    from workbench.plan.model import Plan


_BAR = 10
"""The width of a scroll bar."""
_HEAD = 34
"""As high as that of the preview, with its buttons."""


class Gallery(QFrame):
    """The presets."""

    taken = Signal(object)
    """A `Preset` to show in the form."""
    kept = Signal(object)
    """A `Preset` as which the plan in the form was saved."""
    import_requested = Signal()

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
        head.setMinimumHeight(_HEAD)
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
        below = row()
        below.setContentsMargins(0, 0, _BAR, 0)
        below.addWidget(self.last)
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
        from workbench.plan import library  # noqa: PLC0415 - not before the first paint

        self._write(f"Saving of {name}", lambda: library.save(plan, name, over=over))

    def ask_new_name(self) -> None:
        if (own := self.own) is not None:
            ask_text(self, "Rename", "New name:", own.name, lambda name: self._renamed(own, name))

    def delete(self) -> None:
        """Move the marked preset to the trash."""
        from workbench.plan import library  # noqa: PLC0415 - not before the first paint

        own = self.own
        if own is None:
            return

        def discard() -> Trashed:
            return library.delete(own.id)

        def done(kept: Trashed) -> None:
            self._history.add(deletion(f"the plan {own.name}", kept, discard, self._read))
            self.mark("")
            self._read()

        self._bridge.do(discard, done, self.error.show_text)

    def _renamed(self, own: Preset, name: str) -> None:
        from workbench.plan import library  # noqa: PLC0415 - not before the first paint

        self._write(f"Renaming of {own.name}", lambda: library.rename(own.id, name))

    def _write(self, text: str, write: Callable[[], Preset]) -> None:
        """Write the files of a preset, so that this can be undone."""
        from workbench.plan.library import own_folder  # noqa: PLC0415 - not before the first paint

        def work() -> tuple[Preset, list[Change]]:
            with stores.recorded() as changes:
                return write(), changes

        def done(result: tuple[Preset, list[Change]]) -> None:
            preset, changes = result
            self._history.add(rewriting(text, changes, own_folder(), self._read))
            self.list.mark(preset.id)
            self.kept.emit(preset)
            self._read()

        self._bridge.do(work, done, self.error.show_text)

    def _read(self) -> None:
        self.error.show_text("")
        self._bridge.submit(resources.presets(), self._on_read, self.error.show_text)

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
