"""What a second machine is good for, told where there is only this computer."""

from __future__ import annotations

from collections.abc import Callable

from app.machines.cards import Card
from app.widgets import button, label

_TEXTS = (
    "On one machine, clients and server take time from each other: rates come out lower than they"
    " are, and no packet ever leaves it.",
    "With a machine of its own a server has its cores to itself, and several clients together offer"
    " what one cannot.",
    "It needs SSH and a Python 3.10 or later. Nothing is installed there, and every run takes away"
    " what it brought but for one directory.",
)


class SecondMachine(Card):
    """Leads to the first profile."""

    def __init__(self, add: Callable[[], object]) -> None:
        super().__init__("A second machine")
        for text in _TEXTS:
            self.body.addWidget(label(text, tone="soft", wrap=True))
        self.body.setSpacing(10)
        self.foot.addWidget(button("Add a machine", "plus", on_click=add))
        self.foot.addStretch(1)
