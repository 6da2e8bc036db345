"""Notices that are not recorded, but derived from the documents."""

from __future__ import annotations

import msgspec

from workbench.messages.base import Message, Record, read
from workbench.messages.notes.notice import Notice, Point, Severity
from workbench.messages.reasons import REASONS


class WindowsMissing(Notice, frozen=True, kw_only=True):
    """Clients did not deliver some windows."""

    level = Severity.ALERT

    seconds: float

    def text(self) -> str:
        return (
            f"{self.seconds:.1f} s of samples from the clients are missing at this point. Its "
            "totals are complete; its time series has a gap."
        )


class Faulty(Point, frozen=True, kw_only=True):
    """The first point at which a server is faulty."""

    level = Severity.WARNING

    name: str
    cause: str
    """What it answers, as a complete sentence."""

    def text(self) -> str:
        return f"{self.name} is faulty at {self.at()}. {self.cause}"


class NotJudged(Point, frozen=True, kw_only=True):
    """A server's first point that cannot be trusted, or the first after a trusted one."""

    level = Severity.WARNING

    name: str
    first: bool = False
    """The first of the run, and at a server's lowest rate: what this server sustains stays
    unknown."""
    cause: str
    """The reason, as a complete sentence."""
    finding: Record = msgspec.field(default_factory=dict)
    """The reason as recorded; see `messages.reasons`."""

    def severity(self) -> Severity:
        return Severity.ALERT if self.first else Severity.WARNING

    def reason(self) -> Message:
        return read(REASONS, self.finding.get("code"), self.finding, self.cause)

    def text(self) -> str:
        return f"{self.name} at {self.at()} cannot be judged. {self.cause}"
