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
        self.show_text("Servers", "Catalogue, code and tests")
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
        self.target.appeared.connect(self._show_target)
        self._show_target()

    def set_narrow(self, narrow: bool) -> None:
        self._narrow = narrow
        self._show_target()

    def show_ticked(self, number: int) -> None:
        text = f"Compare {number} in a plan" if number else "Compare in a plan"
        self.compare.setText(f" {text}")
        self.compare.setAccessibleName(text)
        self.compare.setEnabled(number > 0)
        self.compare.setToolTip(tip("" if number else "Select the servers to compare"))

    def show_trial_state(self, trial: Trial, *, possible: bool) -> None:
        """`possible`: servers are listed, and nothing prevents a test."""
        text = "Stop tests" if trial.under_way else "Test all shown"
        self.all.setText(f" {text}")
        self.all.setAccessibleName(text)
        self.all.setEnabled(possible)
        self.target.lock(trial.under_way)
        self._doing = trial.progress
        self._show_target()

    def _show_target(self) -> None:
        """Show the machine; a narrow window shows only the choice."""
        self.new.setVisible(self._narrow and not self._doing)
        self.target.set_narrow(self._narrow)
        chosen = self._narrow and self.target.isVisibleTo(self)
        self.chip.show_text(self._doing or ("" if chosen else self.target.caption), "soft")
