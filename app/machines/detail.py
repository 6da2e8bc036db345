"""One machine: its header, its cards and its actions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.machines.cards import WIDEST, FactsCard, LeftoversCard, MeaningCard, StepsCard
from app.machines.keys import KeyCard
from app.machines.records import Record, State
from app.machines.tuning import TuningCard
from app.machines.work import Known
from app.plain import tip
from app.scrolling import Scrolled
from app.theme import Weight
from app.widgets import GAP, Chip, Elided, Inline, button, column, frame, row
from workbench.machines.hostkeys import HostKeyProblem

_TWO_COLUMNS = 720
"""The least width for two columns."""
_MARGIN = 16
CHECKING = State("checking…", "focus")
DAMAGED = State("invalid profile", "bad")


class Detail(QWidget):
    """The page connects its buttons."""

    def __init__(self) -> None:
        super().__init__()
        outer = column(self, gap=GAP)
        self._top = QVBoxLayout()
        self._top.setSpacing(GAP)
        self._top.addWidget(self._make_head())
        self.error = Inline("Open file")
        self._top.addWidget(self.error)
        outer.addLayout(self._top)
        self.key = KeyCard()
        self.facts, self.meaning = FactsCard(), MeaningCard()
        self.steps, self.tuning = StepsCard(), TuningCard()
        self.leftovers = LeftoversCard()
        self._shown = ""
        """The name of the machine."""
        self._sides: list[QVBoxLayout] = []
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(GAP)
        self._columns.setContentsMargins(0, 0, 0, 0)
        for cards in (
            (self.facts, self.tuning),
            (self.key, self.steps, self.meaning, self.leftovers),
        ):
            side = QWidget()
            # Both get the same width, whatever they contain.
            side.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            down = column(side, gap=GAP)
            for card in cards:
                down.addWidget(card)
            down.addStretch(1)
            self._sides.append(down)
            self._columns.addWidget(side, 1)
        self._body = body = QWidget()
        body.setLayout(self._columns)
        body.setMaximumWidth(WIDEST)
        self._scroll = Scrolled(body)
        self._key_unread = False
        """The head of the card for an untrusted key is kept in view; the focus is below it."""
        bar = self._scroll.verticalScrollBar()
        bar.actionTriggered.connect(self._on_scrolled)
        bar.valueChanged.connect(self._keep_key_in_view)
        outer.addWidget(self._scroll, 1)

    def display(
        self,
        known: Known,
        record: Record,
        *,
        running: str,
        busy: bool,
    ) -> None:
        """`running`: the current action on this machine, or empty. `busy`: no action can be
        started.
        """
        if known.name != self._shown:
            self._shown = known.name
            self._scroll.verticalScrollBar().setValue(0)
        profile = known.profile
        here = profile is not None and profile.connector == "local"
        self.name.show_text("This computer" if here else known.name)
        self.where.show_text(where(known))
        state = CHECKING if running else record.state if profile else DAMAGED
        self.chip.show_text(state.word, state.tone or "muted")
        self.about.show_text(profile.description if profile and not here else "")
        self.about.setVisible(bool(self.about.whole))
        if running == "check" and self.check.hasFocus():
            # The pressed button is disabled; otherwise the focus would go to the next widget.
            self.steps.show()
            self.steps.stop.show()
            self.steps.stop.setFocus(Qt.FocusReason.OtherFocusReason)
        self.check.setEnabled(profile is not None and not busy and not running)
        if not running and self.steps.stop.hasFocus():
            self.check.setFocus(Qt.FocusReason.OtherFocusReason)
        self.check.setText(" Check again" if record.at else " Check this machine")
        self.check.setAccessibleName(self.check.text().strip())
        why = "A run is in progress. Check when it is over." if busy else "Ctrl+R"
        self.check.setToolTip(tip(why))
        self.check.setAccessibleDescription(why if busy else "")
        self.edit.setEnabled(profile is not None and not running)
        why = "" if profile is not None else "The form shows valid profiles only. Open the file."
        self.edit.setToolTip(tip(why))
        self.edit.setAccessibleDescription(why)
        self.copy.setVisible(profile is not None and not here)
        self.remove.setVisible(known.own)
        self.remove.setEnabled(not running)
        self.remove.setText(" Reset" if here else " Remove")
        self.remove.setAccessibleName(self.remove.text().strip())
        self._fit_head()
        self.error.show_text(known.problem)
        for card in (self.facts, self.meaning, self.steps, self.tuning, self.leftovers):
            card.setVisible(profile is not None)
        if profile is None:
            return
        self.facts.display(record)
        self.meaning.display(profile, record)
        self.steps.display(record, running=running == "check", here=here)
        self.tuning.display(profile, record)
        self.leftovers.setVisible(not here)
        if not here:
            self.leftovers.display(known.name, record, busy=busy or bool(running))
        self._settle()

    def _settle(self) -> None:
        """Recalculate the layout after cards were rebuilt."""
        for each in (*self._sides, self._columns):
            each.invalidate()
            each.activate()
        self._body.updateGeometry()

    def show_key(self, problem: HostKeyProblem | None) -> None:
        """Show an untrusted key, and scroll to its head."""
        focused = self.key.isAncestorOf(QApplication.focusWidget() or self)
        self.key.show_problem(problem)
        self._key_unread = problem is not None
        if problem is not None:
            self._scroll.verticalScrollBar().setValue(0)
        elif focused:
            self.check.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_scrolled(self) -> None:
        self._key_unread = False

    def _keep_key_in_view(self) -> None:
        """Scroll back where the area has followed the focus to the answer of an unread key."""
        safe = self.key.safe
        self._key_unread = self._key_unread and safe is not None and safe.hasFocus()
        if self._key_unread:
            self._scroll.verticalScrollBar().setValue(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._top.setContentsMargins(0, 0, max(0, self.width() - WIDEST), 0)
        self._fit_head()
        across = self.width() >= _TWO_COLUMNS
        self._columns.setDirection(
            QBoxLayout.Direction.LeftToRight if across else QBoxLayout.Direction.BottomToTop
        )
        # In one column, the upper one is as high as its contents.
        self._columns.setStretch(1, int(across))

    def _make_head(self) -> QFrame:
        head = frame()
        inside = column(head, margin=_MARGIN, gap=6)
        self.name, self.where = Elided(18, Weight.DemiBold), Elided(13, tone="muted")
        self.chip = Chip()
        self.check = button("Check this machine", "activity", kind="primary")
        upper = row(gap=12)
        upper.addWidget(self.name)
        upper.addWidget(self.chip)
        upper.addStretch(1)
        upper.addWidget(self.check)
        self.edit = button("Edit", "pencil", kind="ghost")
        self.copy = button("Duplicate", "copy", kind="ghost")
        self.remove = button("Remove", "trash-2", kind="ghost")
        self._buttons = row(gap=2)
        for each in (self.edit, self.copy, self.remove):
            self._buttons.addWidget(each)
        self._buttons.addStretch(1)
        self._lower = row(gap=2)
        self._lower.addWidget(self.where, 1)
        self._lower.addLayout(self._buttons)
        inside.addLayout(upper)
        inside.addLayout(self._lower)
        self.about = Elided(13, tone="soft")
        inside.addWidget(self.about)
        return head

    def _fit_head(self) -> None:
        """Give the address a line of its own where the buttons leave too little room for it."""
        self._buttons.invalidate()
        needed = self.where.sizeHint().width() + self._buttons.sizeHint().width() + 2 * _MARGIN
        way = QBoxLayout.Direction
        self._lower.setDirection(way.LeftToRight if needed < self.width() else way.TopToBottom)


def where(known: Known) -> str:
    """Describe in one line how the machine is reached."""
    profile = known.profile
    if profile is None:
        return f"{known.name}.yaml"
    if profile.connector == "local":
        return "local, no SSH"
    return profile.reached
