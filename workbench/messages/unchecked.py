"""What verdicts could not check, because the load tool does not report it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from workbench import formatting
from workbench.messages.base import Message

Unchecked: TypeAlias = Literal[
    "schedule", "queue", "client-cpu", "background-load", "conservation", "replies"
]

_WHAT: dict[Unchecked, str] = {
    "schedule": "the schedule (calls started late)",
    "queue": "a growing queue",
    "client-cpu": "how busy the clients were",
    "background-load": "background load",
    "conservation": "that every call is accounted for",
    "replies": "replies against the expected one",
}


def listed(codes: Sequence[Unchecked]) -> str:
    """ "the schedule (calls started late), background load and ..."."""
    return formatting.listed([_WHAT[each] for each in codes])


class NotChecked(Message, frozen=True, kw_only=True):
    """What the verdicts of a series could not check."""

    tool: str
    what: list[Unchecked]

    def text(self) -> str:
        return f"Could not be checked with {self.tool}: {listed(self.what)}."
