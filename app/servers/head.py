"""The bar above the Servers page: the machine for tests, and the ticked servers."""

from __future__ import annotations

from app.context import Desk
from app.plain import tip
from app.servers.target import Target
from app.servers.trial import Trial
from app.widgets import TopBar, button


class Head(TopBar):
    """The page connects its buttons."""

    def __init__(self, desk: Desk, machine: str) -> None:
        """`machine`: a profile's name; empty: this computer."""
        super().__init__("Servers")
        self.say("Servers", "Catalogue, code and tests")
        self.chip.say("Target: this computer", "soft")
        self._narrow = False
        self._doing = ""
        self.target = Target(desk, machine)
        self.all = button("Test all shown", "flask-conical")
        # In narrow windows, where the column with the other one has no room.
        self.new = button("New server", "plus")
        self.new.hide()
        self.compare = button("Compare in a plan", "arrow-right", kind="primary")
        for each in (self.target, self.all, self.new, self.compare):
            self.actions.addWidget(each)
        self.target.appeared.connect(self._tell_target)

    def set_narrow(self, narrow: bool) -> None:
        self._narrow = narrow
        self._tell_target()

    def tell_ticked(self, number: int) -> None:
        word = f"Compare {number} in a plan" if number else "Compare in a plan"
        self.compare.setText(f" {word}")
        self.compare.setAccessibleName(word)
        self.compare.setEnabled(number > 0)
        self.compare.setToolTip(tip("" if number else "Select the servers to compare"))

    def tell_trial(self, trial: Trial, *, possible: bool) -> None:
        """`possible`: servers are listed, and nothing prevents a test."""
        word = "Stop tests" if trial.under_way else "Test all shown"
        self.all.setText(f" {word}")
        self.all.setAccessibleName(word)
        self.all.setEnabled(possible)
        self.target.hold(trial.under_way)
        self._doing = trial.progress
        self._tell_target()

    def _tell_target(self) -> None:
        """Show the machine; a narrow window shows only the choice."""
        self.new.setVisible(self._narrow and not self._doing)
        chosen = self._narrow and self.target.isVisibleTo(self)
        self.chip.say(self._doing or ("" if chosen else self.target.word), "soft")
