"""The state of one connection."""

from __future__ import annotations

from typing import Any

from workbench.remote.agent.mix import Call
from workbench.remote.agent.parser import ReplyParser


class Connection:
    """Times are in ns of the monotonic clock."""

    __slots__ = (
        "asked",
        "calls",
        "connecting",
        "due",
        "fd",
        "left",
        "parser",
        "sent",
        "sock",
        "unsent",
    )

    def __init__(self, sock: Any, due: int, sent: int, calls: int, asked: int) -> None:
        self.sock = sock
        self.fd: int = sock.fileno()
        self.due = due
        """When the current call was scheduled; 0: it was not, it begins when it is sent."""
        self.sent = sent
        """When the current call was begun; the first call begins with connecting."""
        self.left = calls
        """Calls not answered yet."""
        self.asked = asked
        """Requests sent and not answered yet."""
        self.parser: ReplyParser | None = None
        """Of a reply that has come in part."""
        self.unsent = b""
        """Of the requests, what the kernel has not taken yet."""
        self.connecting = False
        self.calls: list[Call] = []
        """Of several requests, those sent and not answered yet."""
