"""Explains the use of a second machine where there is only this computer."""

from __future__ import annotations

from collections.abc import Callable

from app.machines.cards import Card
from app.widgets import button, label

_TEXTS = (
    "On one machine, clients and server compete for CPU, so measured rates are too low, and no "
    "packet crosses a network.",
    "On its own machine a server has all cores to itself, and several clients can offer more "
    "load than one.",
    "It needs SSH and Python 3.10 or later. Nothing is installed; each run cleans up, except for "
    "one cache directory.",
)


class SecondMachine(Card):
    """Leads to the first profile."""

    def __init__(self, add: Callable[[], object], examples: Callable[[], object]) -> None:
        super().__init__("A second machine")
        for text in _TEXTS:
            self.body.addWidget(label(text, tone="soft", wrap=True))
        self.body.setSpacing(10)
        self.foot.addWidget(button("Add machine", "plus", on_click=add))
        self.foot.addWidget(button("Examples", "copy", on_click=examples))
        self.foot.addStretch(1)
