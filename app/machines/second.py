"""Explains the use of a second machine where there is only this computer."""

from __future__ import annotations

from collections.abc import Callable

from app.machines.cards import Card
from app.plain import tip
from app.widgets import button, label

_TEXT = (
    "On its own machine a server has all cores to itself, and several clients can offer more "
    "load than one."
)
_NEEDS = "It needs SSH and Python 3.10 or later. Nothing is installed there."


class SecondMachine(Card):
    """Leads to the first profile."""

    def __init__(self, add: Callable[[], object], examples: Callable[[], object]) -> None:
        super().__init__("A second machine")
        self.body.addWidget(label(_TEXT, tone="soft", wrap=True))
        new = button("Add machine", "plus", on_click=add)
        new.setToolTip(tip(_NEEDS))
        self.foot.addWidget(new)
        self.foot.addWidget(button("Examples", "eye", on_click=examples))
        self.foot.addStretch(1)
