"""The list of machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QSizePolicy, QWidget

from app.machines.detail import where
from app.machines.records import State
from app.machines.work import Known
from app.plain import tip
from app.scrolling import Scrolled
from app.table import RIGHT
from app.theme import Weight
from app.widgets import Elided, column, empty, retone, row

_MARGIN, _BORDERS = 6, 4
_UNLIMITED = 16_777_215


class MachineRow(QPushButton):
    """A machine in two lines: its name and its state, where it is and its roles; one of an
    exclusive group, between which arrow keys move.
    """

    def __init__(self, name: str, where: str, roles: str) -> None:
        super().__init__()
        self._where, self._roles = where, roles
        self.setProperty("kind", "row")
        self.setAutoDefault(False)
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        inside = column(self, gap=5)
        inside.setContentsMargins(14, 10, 14, 10)
        upper, lower = row(gap=8), row(gap=12)
        self.name = Elided(13, Weight.DemiBold)
        self.name.show_text(name)
        self._state = Elided(12, Weight.Medium)
        self._state.setAlignment(RIGHT)
        upper.addWidget(self.name, 1)
        upper.addWidget(self._state)
        for text, share in ((where, 1), (roles, 0)):
            part = Elided(12, tone="muted")
            part.show_text(text)
            lower.addWidget(part, share)
        part.setAlignment(RIGHT)
        inside.addLayout(upper)
        inside.addLayout(lower)
        for each in self.findChildren(QWidget):
            each.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.show_state(State("", ""))

    def show_state(self, state: State) -> None:
        """Show its word after a dot in the colour of its tone, a ring where nothing is known."""
        self.state = state
        light = "●" if state.tone else "○"
        retone(self._state, state.tone or "muted")
        self._state.show_text(f"{light} {state.word}" if state.word else "")
        parts = [self.name.whole, state.word, self._roles, self._where]
        self.setAccessibleName(", ".join(word for word in parts if word))
        self.setToolTip(tip("\n".join(word for word in (self._where, state.word) if word)))

    def sizeHint(self) -> QSize:
        return self.layout().sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self.layout().minimumSize()


class Listing(QFrame):
    """Arrow keys and clicks choose a machine; Tab leaves the list."""

    chosen = Signal(str)
    """A machine's name."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self.rows: dict[str, MachineRow] = {}
        self._group: QButtonGroup | None = None
        outer = column(self, margin=1)
        body = QWidget()
        self._inside = column(body, margin=_MARGIN, gap=2)
        self._inside.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._scroll = Scrolled(body)
        outer.addWidget(self._scroll)

    def fill(self, machines: Sequence[Known]) -> None:
        focused = any(button.hasFocus() for button in self.rows.values())
        chosen = self.selected
        empty(self._inside)
        if self._group is not None:
            self._group.deleteLater()
        self._group = QButtonGroup(self)
        self.rows = {}
        for known in machines:
            here = known.profile is not None and known.profile.connector == "local"
            title = "This computer" if here else known.name
            button = MachineRow(title, where(known), _roles(known))
            self.rows[known.name] = button
            self._add(button, known.name)
        if chosen in self.rows:
            self.choose(chosen, focus=focused)

    def _add(self, button: MachineRow, name: str) -> None:
        assert self._group is not None
        button.toggled.connect(lambda on: self._on_toggled(name, on))
        self._group.addButton(button)
        self._inside.addWidget(button)

    def choose(self, name: str, *, focus: bool = False) -> None:
        button = self.rows.get(name)
        if button is None:
            return
        button.setChecked(True)
        self._scroll.ensureWidgetVisible(button)
        if focus:
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def selected(self) -> str:
        return next((name for name, button in self.rows.items() if button.isChecked()), "")

    def show_states(self, states: Mapping[str, State]) -> None:
        for name, button in self.rows.items():
            button.show_state(states[name])

    def shrink(self, *, shrunk: bool) -> None:
        """Be only as high as the rows, or as there is room."""
        rows = list(self.rows.values())
        gaps = self._inside.spacing() * (len(rows) - 1) + 2 * _MARGIN + _BORDERS
        high = sum(button.sizeHint().height() for button in rows) + gaps
        self.setMaximumHeight(high if shrunk else _UNLIMITED)

    def _on_toggled(self, name: str, on: bool) -> None:
        if on:
            # After the layout of all rows.
            QTimer.singleShot(0, self, self._show_chosen)
            self.chosen.emit(name)

    def _show_chosen(self) -> None:
        if (button := self.rows.get(self.selected)) is not None:
            self._scroll.ensureWidgetVisible(button)


def _roles(known: Known) -> str:
    return " and ".join(known.profile.roles) if known.profile else ""
