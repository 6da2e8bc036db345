"""One machine: its header, its cards and its actions."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.machines import work
from app.machines.cards import KnownCard
from app.machines.records import CHECKING, DAMAGED, Record
from app.machines.tuning import TuningCard
from app.machines.work import Known
from app.scrolling import Scrolled, lay
from app.theme import Weight
from app.widgets import (
    GAP,
    TOP,
    Chip,
    Elided,
    Inline,
    beside,
    button,
    column,
    fill,
    frame,
    give_reason,
    rename,
    row,
    stack,
)

_TWO_COLUMNS, _HEAD_PX = 720, 640
"""The least width for two columns, and for the address beside the buttons."""
_WIDEST = 2 * 700 + GAP
_CHECK = "Check this machine", "activity"


class Detail(QWidget):
    """The page connects its buttons."""

    def __init__(self) -> None:
        super().__init__()
        self.error = Inline("Open file")
        self._top = stack(self._make_head(), self.error, gap=GAP)
        self.card, self.tuning = KnownCard(), TuningCard()
        self._shown = ""
        """The name of the machine."""
        body = QWidget()
        body.setMaximumWidth(_WIDEST)
        self._columns = row(body, gap=GAP)
        for card in (self.card, self.tuning):
            # Both get the same width, whatever they contain.
            card.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            fill(self._columns, (card, 1, TOP))
        self._scroll = Scrolled(body)
        column(self, self._top, (self._scroll, 1), gap=GAP)

    def display(self, known: Known, record: Record, *, running: str, busy: bool) -> None:
        """`running`: the current action on this machine, or empty. `busy`: no action can be
        started.
        """
        if known.name != self._shown:
            self._shown = known.name
            self._scroll.verticalScrollBar().setValue(0)
        profile = known.profile
        here = work.is_here(known)
        self.name.show_text(work.title(known))
        self.where.show_text(where(known))
        state = CHECKING if running else record.state if profile else DAMAGED
        self.chip.show_text(state.word, state.tone or "muted")
        self.about.show_text(profile.description if profile and not here else "")
        self.about.setVisible(bool(self.about.whole))
        self.error.show_text(known.problem)
        for card in (self.card, self.tuning):
            card.setVisible(profile is not None)
        if profile is not None:
            checking = running == "check"
            self.card.display(profile, record, running=checking, busy=busy or bool(running))
            self.tuning.display(profile, record)
        rename(self.check, *(("Cancel check", "x") if running == "check" else _CHECK))
        possible = profile is not None and not busy and running != "clean"
        self.check.setEnabled(possible or running == "check")
        give_reason(self.check, "A run is in progress. Check when it is over." * busy, "Ctrl+R")
        self.edit.setEnabled(profile is not None and not running)
        why = "" if profile is not None else "The form shows valid profiles only. Open the file."
        give_reason(self.edit, why)
        self.copy.setVisible(profile is not None and not here)
        self.remove.setVisible(known.own)
        self.remove.setEnabled(not running)
        rename(self.remove, "Reset" if here else "Remove")

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._top.setContentsMargins(0, 0, max(0, self.width() - _WIDEST), 0)
        lay(self._columns, below=self.width() < _TWO_COLUMNS)
        lay(self._lower, below=self.width() < _HEAD_PX)

    def _make_head(self) -> QFrame:
        head = frame()
        self.name, self.where = Elided(18, Weight.DemiBold), Elided(13, tone="muted")
        self.chip = Chip()
        self.check = button(*_CHECK, kind="primary")
        upper = beside(self.name, self.chip, None, self.check, gap=12)
        self.edit = button("Edit", "pencil", kind="ghost")
        self.copy = button("Duplicate", "copy", kind="ghost")
        self.remove = button("Remove", "trash-2", kind="ghost")
        buttons = beside(self.edit, self.copy, self.remove, None, gap=2)
        self._lower = beside((self.where, 1), buttons, gap=2)
        self.about = Elided(13, tone="soft")
        column(head, upper, self._lower, self.about, margin=16, gap=6)
        return head


def where(known: Known) -> str:
    """Describe in one line how the machine is reached."""
    profile = known.profile
    if profile is None:
        return f"{known.name}.yaml"
    if profile.connector == "local":
        return "local, no SSH"
    return profile.reached
