"""The card of the start page for choosing servers to compare."""

from __future__ import annotations

from concurrent.futures import Future

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QButtonGroup, QFrame, QGridLayout

from app.context import Desk
from app.fields import Pick, TickList
from app.plain import tip
from app.start.quick_start import QUESTIONS, Offer, Question
from app.theme import Weight
from app.widgets import Inline, beside, button, column, label, rename
from workbench.plan.budget import Budget
from workbench.plan.model import Plan

_COST_AFTER_MS = 150
_BUSY = "A run is in progress. The next one can start when it is over."
_LIST_PX = 160
"""The least height of the list of servers."""


class CompareCard(QFrame):
    """Remembers which servers were ticked, and shows what a run of them would cost."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(objectName="card")
        self._desk = desk
        self._asking: Future[Budget] | None = None
        self._question = QUESTIONS[0]
        self.offer: Offer | None = None
        self.all = button("Select all", kind="link", on_click=self._tick_all_or_none)
        self._rates = label(QUESTIONS[0].text, tone="soft", wrap=True)
        self.servers = TickList("Servers to compare", whole=False)
        self.servers.setMinimumHeight(_LIST_PX)
        self.servers.edited.connect(self._on_ticked)
        self._cost = label("", 12, tone="muted", wrap=True)
        self.error, self._missing = Inline(), Inline()
        self.run = button("Run the comparison", "play", on_click=self.ask_run)
        self.plan = button("Edit the plan", "list-checks")
        self.plan.clicked.connect(lambda: self._desk.plan_requested.emit(self.chosen()))
        head = beside((label("Compare servers", 16, Weight.DemiBold), 1), self.all)
        foot = beside((self.run, 3), (self.plan, 2))
        below = self._cost, self.error, self._missing, foot
        asked = self._make_questions(), self._rates, (self.servers, 1)
        column(self, head, *asked, *below, margin=14, gap=8)
        self._timer = QTimer(self, singleShot=True, interval=_COST_AFTER_MS)
        self._timer.timeout.connect(self._ask_cost)
        self.fit()

    def ticked(self) -> list[str]:
        chosen = self.servers.value()
        return [id_ for id_ in self.servers.ids() if id_ in chosen]

    def chosen(self) -> Plan | None:
        return self.offer.plan_for(self.ticked()) if self.offer else None

    def ask_run(self) -> None:
        if self.run.isEnabled():
            self._desk.run_requested.emit(self.chosen(), None)

    def set_offer(self, found: Offer) -> None:
        """Show the servers to choose from; those ticked before stay ticked."""
        self.offer = found = found.answering(self._question.preset)
        able = [(e.id, e.name, f"{e.name}. {e.description}".strip()) for e in found.entries]
        self.servers.offer(able)
        kept = [id_ for id_ in self._desk.settings.servers if id_ in self.servers.ids()]
        self.servers.set_value(kept or found.plan.servers)
        self._rates.setText(f"{self._question.text} {found.rates()}")
        self._missing.show_text(found.missing(), "warn")
        self.fit()

    def fit(self) -> None:
        """Adjust the card to the ticked servers and to whether a run is in progress."""
        ticked, busy, known = self.ticked(), self._desk.busy, self.offer is not None
        refusal = self.offer.refusal if self.offer else ""
        rename(self.all, "Select none" if ticked else "Select all")
        self.run.setEnabled(bool(ticked) and not busy and not refusal)
        self.plan.setEnabled(known)
        self._desk.bridge.drop(self._asking)
        if busy or refusal:
            self._cost.setText(refusal or _BUSY)
        elif not ticked and known:
            self._cost.setText("Select at least one server.")
        else:
            self._timer.start()

    def _tick_all_or_none(self) -> None:
        self.servers.set_value([] if self.ticked() else self.servers.ids())
        self._on_ticked()

    def _make_questions(self) -> QGridLayout:
        """One stop of Tab; the arrow keys choose."""
        grid = QGridLayout(horizontalSpacing=12, verticalSpacing=2)
        group = QButtonGroup(self)
        for place, question in enumerate(QUESTIONS):
            pick = Pick(question.label, question.text)
            pick.setToolTip(tip(question.text))
            pick.setChecked(question is self._question)
            pick.toggled.connect(lambda on, question=question: on and self._ask(question))
            group.addButton(pick)
            grid.addWidget(pick, place // 2, place % 2)
        return grid

    def _ask(self, question: Question) -> None:
        """Answer another question: other servers can."""
        self._question = question
        self.error.show_text("")
        if self.offer is not None:
            self.set_offer(self.offer)

    def _on_ticked(self) -> None:
        """Remember the ticks, and those for other questions."""
        others = [id_ for id_ in self._desk.settings.servers if id_ not in self.servers.ids()]
        self._desk.settings.servers = [*others, *self.ticked()]
        self.fit()

    def _ask_cost(self) -> None:
        plan = self.chosen()
        if self.offer is None or plan is None or not plan.servers or not self.run.isEnabled():
            return
        costs = self.offer.cost(plan)
        self._asking = self._desk.bridge.submit(costs, self._on_cost, self.error.show_text)

    def _on_cost(self, budget: Budget) -> None:
        self.error.show_text(" ".join(problem.text() for problem in budget.problems))
        warnings = [warning.text() for warning in budget.warnings]
        count = f"{len(self.ticked())} of {self.servers.count()} servers."
        self._cost.setText(" ".join([count, budget.describe()[0], *warnings]))
