"""The bar above the page of machines: how many there are, and whether they are ready."""

from __future__ import annotations

from collections.abc import Sequence

from app.machines.records import State
from app.widgets import TopBar, button


class Head(TopBar):
    """Its buttons are the page's to connect."""

    def __init__(self) -> None:
        super().__init__("Machines")
        self.all = button("Check all", "activity")
        self.hosts = button("From ~/.ssh/config…", "download")
        self.add = button("Add a machine", "plus")
        for each in (self.all, self.hosts, self.add):
            self.actions.addWidget(each)

    def tell(self, states: Sequence[State], *, possible: bool) -> None:
        """Of all machines, this computer among them; `possible`: a check can be begun."""
        others = len(states) - 1
        number = {0: "only this computer", 1: "this computer and 1 other"}
        self.say("Machines", number.get(others, f"this computer and {others} others"))
        self.add.setVisible(others > 0)
        self.all.setVisible(others > 0)
        self.all.setEnabled(possible)
        bad = sum(state.tone == "bad" for state in states)
        ready = sum(state.tone == "ok" for state in states)
        if bad:
            self.chip.say(f"{bad} cannot be used", "bad")
        elif others > 0 and ready:
            self.chip.say(f"{ready} of {len(states)} ready", "ok")
        else:
            self.chip.say("")
