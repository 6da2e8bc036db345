"""Why a run ended, for whoever watched it."""

from __future__ import annotations

from workbench.messages.base import Message


class Aborted(Message, frozen=True, kw_only=True):
    """By a person, or by the end of the program."""

    def text(self) -> str:
        return "The run was aborted. Every point measured before that is in the session."


class Suspended(Message, frozen=True, kw_only=True):
    """The program itself, for longer than what it started goes on without it."""

    seconds: float

    def text(self) -> str:
        return (
            f"Pongbench itself was suspended for {self.seconds:.0f} s. Servers and clients stop by "
            "themselves when they hear nothing for so long, so the run ended. Every point measured "
            "before is in the session."
        )
