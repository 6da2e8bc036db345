"""Why a run ended, for whoever watched it."""

from __future__ import annotations

from workbench.messages.base import Message


class Aborted(Message, frozen=True, kw_only=True):
    """A person aborted the run, or the program ended."""

    def text(self) -> str:
        return "The run was aborted. Every point measured before that is in the session."


class Suspended(Message, frozen=True, kw_only=True):
    """The program itself was suspended for longer than its runners keep going without it."""

    seconds: float
    asleep: bool = False
    """With this computer, by its clocks."""

    def text(self) -> str:
        who = "This computer slept" if self.asleep else "Pongbench itself was suspended"
        return (
            f"{who} for {self.seconds:.0f} s. Servers and clients stop by "
            "themselves without contact for that long, so the run ended. Every point measured "
            "before is in the session."
        )


class NoResult(Message, frozen=True, kw_only=True):
    """Every point of a server failed, or of a load tool at that server."""

    name: str
    """ "Tornado", or of one of several load tools, "Tornado, wrk"."""
    said: str
    """Why the first of them did, as a sentence."""

    def text(self) -> str:
        return f"No point of {self.name} has a result. {self.said}".rstrip()
