"""The list of machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from app.machines.detail import where
from app.machines.records import State
from app.machines.work import Known
from app.plain import tip
from app.theme import current, icon
from app.widgets import TONE_ICONS
from workbench.untrusted import one_line

_ROW_PX, _ICON_PX = 48, 18


class Listing(QListWidget):
    """A machine in two lines: its name, and its state with where it is."""

    chosen = Signal(str)
    """A machine's name."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Machines")
        self.setProperty("kind", "framed")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setIconSize(QSize(_ICON_PX, _ICON_PX))
        self.machines: Sequence[Known] = ()
        self.states: Mapping[str, State] = {}
        self.currentRowChanged.connect(self._on_row)

    def fill(self, machines: Sequence[Known]) -> None:
        self.machines = machines
        self.blockSignals(True)
        self.clear()
        for _ in machines:
            made = QListWidgetItem(self)
            made.setSizeHint(QSize(0, _ROW_PX))
        self.blockSignals(False)

    @property
    def names(self) -> list[str]:
        return [known.name for known in self.machines]

    @property
    def selected(self) -> str:
        return self.names[self.currentRow()] if self.currentRow() >= 0 else ""

    def choose(self, name: str) -> None:
        if name in self.names:
            self.setCurrentRow(self.names.index(name))

    def show_states(self, states: Mapping[str, State]) -> None:
        """Show each state by its icon and its word."""
        self.states = states
        for place, known in enumerate(self.machines):
            state, item, profile = states[known.name], self.item(place), known.profile
            here = profile is not None and profile.connector == "local"
            title = "This computer" if here else known.name
            about = one_line(where(known))
            item.setText(f"{title}\n{state.word} · {about}")
            roles = " and ".join(profile.roles) if profile else ""
            item.setToolTip(tip("\n".join(filter(None, (title, about, roles, state.word)))))
            sign = TONE_ICONS.get(state.tone, "circle-question-mark")
            colour = getattr(current(), state.tone or "muted")
            item.setIcon(icon(sign, colour, _ICON_PX))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and self.states:
            self.show_states(self.states)

    def _on_row(self, place: int) -> None:
        if place >= 0:
            self.chosen.emit(self.names[place])
