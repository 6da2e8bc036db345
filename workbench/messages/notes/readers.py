"""Messages that are not recorded: what a reader finds in the documents."""

from __future__ import annotations

import msgspec

from workbench.messages.base import Message, Record, read
from workbench.messages.notes.notice import Notice, Point, Severity
from workbench.messages.reasons import REASONS


class WindowsMissing(Notice, frozen=True, kw_only=True):
    """Clients could not deliver them."""

    level = Severity.ALERT

    seconds: float

    def text(self) -> str:
        return (
            f"{self.seconds:.1f} s of this point's windows never arrived from the clients. Its "
            "totals are complete; only its course has a gap."
        )


class Faulty(Point, frozen=True, kw_only=True):
    """A server's first point at which it answers wrongly."""

    level = Severity.WARNING

    name: str
    cause: str
    """What it answers, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.name} is faulty at {self.at()}. {self.cause}"


class NotJudged(Point, frozen=True, kw_only=True):
    """A server's first point that is not to be trusted, or the first after a good one."""

    level = Severity.WARNING

    name: str
    first: bool = False
    """Of the run, at a server's lowest rate: what that server sustains stays unknown."""
    cause: str
    """Its reason, as a sentence of its own."""
    finding: Record = msgspec.field(default_factory=dict)
    """The reason as it is recorded; see `messages.reasons`."""

    def severity(self) -> Severity:
        return Severity.ALERT if self.first else Severity.WARNING

    def reason(self) -> Message:
        return read(REASONS, self.finding.get("code"), self.finding, self.cause)

    def text(self) -> str:
        return f"{self.name} at {self.at()} cannot be judged. {self.cause}"
