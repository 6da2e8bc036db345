"""The card of the start page for choosing servers to compare."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QGridLayout, QSizePolicy, QWidget

from app.choices import Pick, Tick
from app.context import Desk
from app.plain import tip
from app.scrolling import Scrolled
from app.start.quick_start import QUESTIONS, Offer, Question
from app.theme import Theme, Weight
from app.widgets import Inline, button, column, label, row
from workbench.plan.budget import Budget
from workbench.plan.model import Plan

_COST_AFTER_MS = 150
_BUSY = "A run is in progress. The next one can start when it is over."
_MOST_ACROSS = 4
_MOVES: dict[int, int] = {
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Down: 2,
    Qt.Key.Key_Up: -2,
}
_GAP = 6
"""The gap between rows of check boxes."""
_LEAST_PX, _STACKED_PX = 72, 160
"""The least heights of the list of servers: in any window, and in a page that scrolls."""


class CompareCard(QFrame):
    """Remembers which servers were ticked, and shows what a run of them would cost."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.setObjectName("card")
        self._desk = desk
        self._theme = desk.theme
        self._across = 2
        self._request = 0
        self._question = QUESTIONS[0]
        self._others: dict[str, list[str]] = {}
        """The servers ticked for the other questions, by their presets."""
        self.offer: Offer | None = None
        self.boxes: dict[str, Tick] = {}
        inside = column(self, margin=18, gap=8)
        head = row()
        head.addWidget(label("Compare servers", 16, Weight.DemiBold), 1)
        self._all = button("Select all", kind="link", on_click=self._tick_all_or_none)
        head.addWidget(self._all)
        inside.addLayout(head)
        inside.addLayout(self._make_questions())
        self._rates = label(QUESTIONS[0].text, tone="soft", wrap=True)
        inside.addWidget(self._rates)
        inside.addWidget(self._make_ticks(), 1)
        self._cost = label("", 12, tone="muted", wrap=True)
        self.error = Inline()
        self._missing = Inline()
        self._broken, self._damaged = Inline("Show servers"), Inline("Show machines")
        self._broken.pressed.connect(lambda: desk.page_requested.emit("Servers"))
        self._damaged.pressed.connect(lambda: desk.page_requested.emit("Machines"))
        for part in (self._cost, self.error, self._missing, self._broken, self._damaged):
            inside.addWidget(part)
        self.run = button("Run the comparison", "play", on_click=self.ask_run)
        self.plan = button("Edit the plan", "list-checks", on_click=self.ask_plan)
        pair = row()
        pair.addWidget(self.run, 3)
        pair.addWidget(self.plan, 2)
        inside.addLayout(pair)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_COST_AFTER_MS)
        self._timer.timeout.connect(self._ask_cost)
        self.fit()

    def ticked(self) -> list[str]:
        """Return the ids of the servers to compare."""
        return [id_ for id_, box in self.boxes.items() if box.isChecked()]

    def chosen(self) -> Plan | None:
        """Return the plan for the ticked servers."""
        return self.offer.plan_for(self.ticked()) if self.offer else None

    def ask_run(self) -> None:
        if self.run.isEnabled():
            self._desk.run_requested.emit(self.chosen())

    def ask_plan(self) -> None:
        if self.plan.isEnabled():
            self._desk.plan_requested.emit(self.chosen())

    def set_offer(self, found: Offer) -> None:
        """Show the servers to choose from; those ticked before stay ticked."""
        found = found.answering(self._question.preset)
        before = self._ticked_before()
        self.offer = found
        able = [entry.id for entry in found.entries]
        ticked = [id_ for id_ in before if id_ in able] or found.plan.servers
        focused = next((id_ for id_, box in self.boxes.items() if box.hasFocus()), "")
        for box in self.boxes.values():
            box.hide()
            box.deleteLater()
        self.boxes = {}
        for entry in found.entries:
            box = self.boxes[entry.id] = ServerTick(entry.name)
            box.moved.connect(self._move)
            box.setToolTip(tip(f"{entry.name}. {entry.description}".strip()))
            box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            box.setChecked(entry.id in ticked)
            box.toggled.connect(self._on_toggled)
        if self.boxes:
            self._make_stop(self.boxes.get(focused) or next(iter(self.boxes.values())))
        self._arrange()
        if focused in self.boxes:
            self.boxes[focused].show()
            self.boxes[focused].setFocus(Qt.FocusReason.OtherFocusReason)
        self._rates.setText(f"{self._question.text} {found.rates()}")
        self._missing.show_text(found.missing(), "warn")
        self._broken.show_text(_unreadable(len(found.resources.catalogue.broken), "server"), "warn")
        self._damaged.show_text(_unreadable(len(found.resources.damaged), "machine"), "warn")
        self.fit()

    def chain_after(self, widget: QWidget) -> None:
        """Set the widget from which Tab leads to the questions and then to the servers: new widgets
        are last in the tab order.
        """
        for before, after in pairwise([widget, self.first, *self.boxes.values()]):
            QWidget.setTabOrder(before, after)
        QWidget.setTabOrder(self.plan, self._all)  # behind what most users need

    def set_stacked(self, stacked: bool) -> None:
        """Keep a useful height of the list: a page that scrolls has more room for it."""
        self._scroll.setMinimumHeight(_STACKED_PX if stacked else _LEAST_PX)

    def set_across(self, across: int) -> None:
        """Set how many names stand in a row."""
        if across != self._across:
            self._across = across
            self._arrange()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def fit(self) -> None:
        """Adjust the card to the ticked servers and to whether a run is in progress."""
        ticked, busy, known = self.ticked(), self._desk.busy, self.offer is not None
        refusal = self.offer.refusal if self.offer else ""
        self._all.setText("Select none" if ticked else "Select all")
        self._all.setAccessibleName(self._all.text())
        self.run.setEnabled(bool(ticked) and not busy and not refusal)
        self.plan.setEnabled(known)
        self._request += 1
        if busy or refusal:
            self._cost.setText(refusal or _BUSY)
        elif not ticked and known:
            self._cost.setText("Select at least one server.")
        else:
            self._timer.start()

    def _tick_all_or_none(self) -> None:
        on = not self.ticked()
        for box in self.boxes.values():
            box.setChecked(on)

    def _make_questions(self) -> QGridLayout:
        """One stop of Tab; the arrow keys choose."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        group = QButtonGroup(self)
        for place, question in enumerate(QUESTIONS):
            pick = Pick(question.label, question.text)
            pick.setToolTip(tip(question.text))
            pick.setChecked(question is self._question)
            pick.toggled.connect(lambda on, question=question: on and self._ask(question))
            group.addButton(pick)
            grid.addWidget(pick, place // 2, place % 2)
        self.first = group.buttons()[0]
        return grid

    def _ask(self, question: Question) -> None:
        """Answer another question: other servers can."""
        self._question = question
        self.error.show_text("")
        if self.offer is not None:
            self.set_offer(self.offer)

    def _ticked_before(self) -> list[str]:
        """Return the servers ticked for the question when it was asked last."""
        if self._question is QUESTIONS[0]:
            return self._desk.settings.servers
        return self._others.get(self._question.preset, [])

    def _move(self, by: int) -> None:
        """Give the focus to a neighbour; its row is scrolled into view."""
        boxes = list(self.boxes.values())
        at = next((place for place, box in enumerate(boxes) if box.hasFocus()), 0)
        across = self._across if abs(by) == 2 else 1
        target = boxes[min(max(at + (across if by > 0 else -across), 0), len(boxes) - 1)]
        self._make_stop(target)
        target.setFocus(Qt.FocusReason.OtherFocusReason)
        self._scroll.ensureWidgetVisible(target, 0, 0)

    def _make_stop(self, stop: Tick) -> None:
        """Make one of the servers the stop of Tab; the arrow keys lead to the others."""
        for box in self.boxes.values():
            kinds = Qt.FocusPolicy
            box.setFocusPolicy(kinds.StrongFocus if box is stop else kinds.ClickFocus)

    def _make_ticks(self) -> Scrolled:
        self._grid = QGridLayout(ticks := QWidget())
        self._grid.setContentsMargins(0, _GAP // 2, 0, _GAP // 2)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(_GAP)
        self._scroll = _WholeRows(ticks)
        return self._scroll

    def _arrange(self) -> None:
        for place, box in enumerate(self.boxes.values()):
            self._grid.addWidget(box, place // self._across, place % self._across)
        for place in range(_MOST_ACROSS):
            self._grid.setColumnStretch(place, int(place < self._across))
        self._grid.setRowStretch(len(self.boxes), 1)
        self._scroll.set_row(max((b.sizeHint().height() for b in self.boxes.values()), default=0))

    def _on_toggled(self) -> None:
        if self._question is QUESTIONS[0]:
            self._desk.settings.servers = self.ticked()
        else:
            self._others[self._question.preset] = self.ticked()
        self.fit()

    def _ask_cost(self) -> None:
        plan = self.chosen()
        if self.offer is None or plan is None or not plan.servers or not self.run.isEnabled():
            return
        self._request += 1
        request = self._request
        self._desk.bridge.submit(
            self.offer.cost(plan),
            lambda budget: self._on_cost(request, budget),
            lambda sentence: self.error.show_text(sentence) if request == self._request else None,
        )

    def _on_cost(self, request: int, budget: Budget) -> None:
        if request == self._request:
            self.error.show_text(" ".join(problem.text() for problem in budget.problems))
            warnings = [warning.text() for warning in budget.warnings]
            count = f"{len(self.ticked())} of {len(self.boxes)} servers."
            self._cost.setText(" ".join([count, budget.describe()[0], *warnings]))


class ServerTick(Tick):
    """One of many: the arrow keys go to its neighbours."""

    moved = Signal(int)
    """1 or -1: to the next or the previous; 2 or -2: in the row below or above."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        by = _MOVES.get(event.key())
        if by is None:
            super().keyPressEvent(event)
        else:
            self.moved.emit(by)


class _WholeRows(Scrolled):
    """A list that shows whole rows only and scrolls by whole rows."""

    def __init__(self, body: QWidget) -> None:
        super().__init__(body)
        self._pitch = 1

    def set_row(self, high: int) -> None:
        """Set the height of a row."""
        self._pitch = max(1, high + _GAP)
        self.verticalScrollBar().setSingleStep(self._pitch)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.setViewportMargins(0, 0, 0, self.height() % self._pitch)


def _unreadable(count: int, what: str) -> str:
    """Describe unavailable servers in one line; their own page gives the reasons."""
    if not count:
        return ""
    return f"{count} {what}s cannot be read." if count > 1 else f"One {what} cannot be read."
