"""The presets of the published benchmarks, in a menu of the start page."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.plain import tip
from app.widgets import button, column

if TYPE_CHECKING:
    from workbench.plan.library import Preset


class PublishedBenchmarks(QWidget):
    """A button with a menu: each source, from the oldest on, with its presets."""

    taken = Signal(object)
    """A preset."""

    def __init__(self) -> None:
        super().__init__()
        self.ask = button("Published benchmarks", "history", on_click=self._pop_up)
        self.menu = QMenu(self)
        self.menu.setToolTipsVisible(True)
        column(self).addWidget(self.ask)
        self.show_presets(())

    def show_presets(self, presets: Iterable[Preset]) -> None:
        """Offer those that have a source."""
        self.menu.clear()
        asked = [each for each in presets if each.plan and each.plan.source and not each.own]
        for group, members in groupby(asked, key=lambda each: each.group):
            inside = self.menu.addMenu(group)
            inside.setToolTipsVisible(True)
            for preset in members:
                action = inside.addAction(preset.name)
                assert preset.plan
                action.setToolTip(tip(preset.plan.description))
                action.triggered.connect(lambda _=False, preset=preset: self.taken.emit(preset))
        self.ask.setEnabled(bool(asked))

    def _pop_up(self) -> None:
        self.menu.popup(self.ask.mapToGlobal(self.ask.rect().bottomLeft()))
