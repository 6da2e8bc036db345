"""A task of a user."""

from __future__ import annotations

from typing import Any


class Visit:
    """A task of a user, from its arrival to its end."""

    __slots__ = ("began", "calls", "due", "error", "started", "user", "waited")

    def __init__(self, due: int, now: int) -> None:
        self.due, self.began, self.started = due, now, now
        self.user: Any = None
        self.calls = 0
        """Requests that were made."""
        self.waited = 0
        """Their response times together, in ns."""
        self.error = ""
