"""The list of machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QWidget

from app.machines.detail import where
from app.machines.records import State
from app.machines.row import MachineRow
from app.machines.work import Known
from app.scrolling import Scrolled
from app.theme import Theme
from app.widgets import column, dress, empty

_MARGIN, _BORDERS = 6, 4
_UNLIMITED = 16_777_215


class Listing(QFrame):
    """Arrow keys and clicks choose a machine, or all of them; Tab leaves the list."""

    chosen = Signal(str)
    """A machine's name; empty: all of them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self.rows: dict[str, MachineRow] = {}
        self.all = MachineRow("Fleet", "", "")
        self._group: QButtonGroup | None = None
        outer = column(self, margin=1)
        body = QWidget()
        self._inside = column(body, margin=_MARGIN, gap=2)
        self._inside.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._scroll = Scrolled(body)
        outer.addWidget(self._scroll)

    def fill(self, machines: Sequence[Known]) -> None:
        focused = any(row.hasFocus() for row in self.rows.values())
        chosen = self.selected
        empty(self._inside)
        self.all = MachineRow("Fleet", "Links, clocks, client limit", "")
        if self._group is not None:
            self._group.deleteLater()
        self._group = QButtonGroup(self)
        self.rows = {}
        self._add(self.all, "")
        for known in machines:
            row = MachineRow(known.name, where(known), _roles(known))
            if known.profile is not None and known.profile.connector == "local":
                row.setText("This computer")
            self.rows[known.name] = row
            self._add(row, known.name)
        dress(self, self._theme)
        if chosen in self.rows:
            self.choose(chosen, focus=focused)

    def _add(self, row: MachineRow, name: str) -> None:
        assert self._group is not None
        row.toggled.connect(lambda on: self._on_toggled(name, on))
        self._group.addButton(row)
        self._inside.addWidget(row)

    def choose(self, name: str, *, focus: bool = False) -> None:
        """`name`: empty chooses all of them."""
        row = self.rows.get(name) if name else self.all
        if row is None:
            return
        row.setChecked(True)
        self._scroll.ensureWidgetVisible(row)
        if focus:
            row.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def selected(self) -> str:
        return next((name for name, row in self.rows.items() if row.isChecked()), "")

    def show_states(self, states: Mapping[str, State]) -> None:
        for name, row in self.rows.items():
            row.show_state(states[name])
        ready = sum(state.tone == "ok" for state in states.values())
        word = f"{ready} of {len(states)} ready" if len(states) > 1 else ""
        self.all.show_state(State(word, "ok" if ready == len(states) else ""))

    def shrink(self, *, shrunk: bool) -> None:
        """Be only as high as the rows, or as there is room."""
        rows = [self.all, *self.rows.values()]
        gaps = self._inside.spacing() * (len(rows) - 1) + 2 * _MARGIN + _BORDERS
        high = sum(row.sizeHint().height() for row in rows) + gaps
        self.setMaximumHeight(high if shrunk else _UNLIMITED)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def _on_toggled(self, name: str, on: bool) -> None:
        if on:
            # After the layout of all rows.
            QTimer.singleShot(0, self, self._show_chosen)
            self.chosen.emit(name)

    def _show_chosen(self) -> None:
        self._scroll.ensureWidgetVisible(self.rows.get(self.selected, self.all))


def _roles(known: Known) -> str:
    return " and ".join(known.profile.roles) if known.profile else ""
