"""The card of presets: choose, save, rename or delete them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.bridge import Bridge
from app.planning import resources
from app.planning.preset_list import PresetList
from app.question import ask, ask_text
from app.theme import Weight
from app.widgets import Inline, button, column, label, row

if TYPE_CHECKING:
    from workbench.plan.library import Preset
    from workbench.plan.model import Plan


class Gallery(QFrame):
    """The presets."""

    taken = Signal(object)
    """A `Preset` to show in the form."""
    kept = Signal(object)
    """A `Preset` as which the plan in the form was saved."""
    import_requested = Signal()

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self.setObjectName("card")
        self._bridge = bridge
        inside = column(self, gap=10)
        inside.setContentsMargins(12, 12, 12, 12)
        inside.addWidget(label("Presets", 14, Weight.DemiBold))
        self.error = Inline()
        inside.addWidget(self.error)
        self.list = PresetList()
        self.list.taken.connect(self._on_taken)
        inside.addWidget(self.list, 1)
        own = row()
        self._rename = button("Rename…", "pencil", on_click=self.ask_new_name)
        self._delete = button("Delete…", "trash-2", on_click=self.ask_delete)
        own.addWidget(self._rename, 1)
        own.addWidget(self._delete, 1)
        inside.addLayout(own)
        self.last = button("Open a plan file…", "folder-open", on_click=self.import_requested.emit)
        inside.addWidget(self.last)
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
        self._bridge.submit(resources.save(plan, name, over), self._on_kept, self.error.show_text)

    def ask_new_name(self) -> None:
        if (own := self.own) is not None:
            ask_text(self, "Rename", "New name:", own.name, lambda name: self._renamed(own, name))

    def ask_delete(self) -> None:
        own = self.own
        if own is None:
            return
        ask(
            self,
            f"Delete the plan {own.name}?",
            "Its file is removed. Sessions made with it stay as they are.",
            go="Delete",
            do=lambda: self._deleted(own),
        )

    def _renamed(self, own: Preset, name: str) -> None:
        self._bridge.submit(resources.rename(own.id, name), self._on_kept, self.error.show_text)

    def _deleted(self, own: Preset) -> None:
        self._bridge.submit(
            resources.delete(own.id), lambda _: self._on_deleted(), self.error.show_text
        )

    def _on_deleted(self) -> None:
        self.mark("")
        self._on_kept(None)

    def _on_kept(self, preset: Preset | None) -> None:
        self.error.show_text("")
        if preset is not None:
            self.list.mark(preset.id)
            self.kept.emit(preset)
        self._bridge.submit(resources.presets(), self.show_presets, self.error.show_text)

    def _on_taken(self, preset: Preset) -> None:
        self.error.show_text(preset.problem)
        if preset.plan is not None:
            self.taken.emit(preset)

    def _fit(self) -> None:
        for each in (self._rename, self._delete):
            each.setVisible(self.own is not None)
