"""The server is the limit, or faulty."""

from __future__ import annotations

from workbench.messages.base import most, share
from workbench.messages.errors import listed_errors, unexpected
from workbench.messages.reasons.reason import Reason, how_often, percent

LONGEST_EXAMPLE = 80
"""Longest quoted part of a reply, in characters."""


class ServerEnded(Reason, frozen=True, kw_only=True):
    """The server's process ended by itself."""

    apart = ("status",)

    status: int
    """Exit status; negative: the signal."""

    def text(self) -> str:
        how = f"by signal {-self.status}" if self.status < 0 else f"with status {self.status}"
        return f"The server ended {how} during the point."


class CallsFailed(Reason, frozen=True, kw_only=True):
    """Calls failed because of the server."""

    failed: int
    calls: int
    """Calls that reached the server, or could have."""
    errors: dict[str, int]
    """By class, and "in flight"; see `errors.ERROR_LABELS`."""

    def text(self) -> str:
        return (
            f"{self.failed:,} of {self.calls:,} calls failed "
            f"({percent(share(self.failed, self.calls))}): {listed_errors(self.errors)}."
        )


class UnexpectedReplies(Reason, frozen=True, kw_only=True):
    """Unexpected responses of one kind from a faulty server."""

    same = ("example", "why")

    error: str
    """See `documents.ERROR_CLASSES`."""
    failed: int
    """Number of calls."""
    calls: int
    """Calls that reached the server, or could have."""
    agreed: int = 1
    """Calls per connection."""
    first_s: float | None = None
    """When the first one came, from the point's start. None: the load tool reports no details."""
    answered: int = 0
    """Calls answered on its connection before it."""
    received: int = 0
    """Bytes received of it."""
    example: str = ""
    """The first of these bytes in Python's notation; for a wrong body, the body."""
    why: str = ""
    """The parser's reason, of a malformed reply; empty: not known."""

    def what(self) -> str:
        """ "answers 500", "ends connections after 3 of 10 calls"."""
        within = self.error == "connreset" and most(self.received)
        error = "protocol-cut" if within else self.error
        return unexpected(error, self.answered, self.agreed)

    def text(self) -> str:
        what, first = self.what(), ""
        why = f" ({self.why})" if self.why else ""
        if self.first_s is not None:
            first = f", first after {self.first_s:.2f} s"
        quoted = f' The first: "{_shortened(self.example)}".' if self.example else ""
        return (
            f"The server {what}{why}: {self.failed:,} of {self.calls:,} calls failed "
            f"({percent(share(self.failed, self.calls))}){first}.{quoted}"
        )


class FellBehind(Reason, frozen=True, kw_only=True):
    """A queue grows at the server: unanswered calls have not failed yet."""

    replied: int
    calls: int
    """Scheduled calls."""
    waiting: int
    """Waiting connections at the end of the schedule."""

    def text(self) -> str:
        return (
            f"The server fell behind: {self.replied:,} of {self.calls:,} calls were answered while "
            f"they came in, and {self.waiting:,} connections were waiting at the end."
        )


class AcceptQueueOverflowed(Reason, frozen=True, kw_only=True):
    """The accept queue overflowed, in addition to other signs."""

    times: int

    def text(self) -> str:
        return f"The server's accept queue overflowed {how_often(self.times)}."


def _shortened(example: str) -> str:
    return example if len(example) <= LONGEST_EXAMPLE else f"{example[:LONGEST_EXAMPLE]}..."
