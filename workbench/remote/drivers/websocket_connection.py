"""A connection of the WebSocket driver, and what its server has yet to answer."""

from __future__ import annotations

from typing import Any

CONNECTING, SHAKING, OPEN, CLOSING, LOST = range(5)
"""States of a connection: waits for TCP, for the server's handshake, is held, waits for the
server's close, is no more."""


class Awaited:
    """Something that the server has to answer in time."""

    __slots__ = ("begun", "connection", "due", "expected", "kind", "sent")

    def __init__(self, connection: Connection, kind: int, due: int, begun: int) -> None:
        self.connection: Connection | None = connection
        """None: answered or lost."""
        self.kind = kind
        """CONTINUATION: the handshake; TEXT: an echo; PONG; CLOSE."""
        self.due = due
        self.begun = begun
        self.sent = 0
        """Of a message; 0: it waits for its connection."""
        self.expected = b""
        """The whole frame, as servers usually send it; of a handshake its Sec-WebSocket-Accept."""


class Connection:
    """One connection. There may be a hundred thousand, so this is small."""

    __slots__ = ("awaited", "counted", "data", "error", "fd", "sock", "state")

    def __init__(self) -> None:
        self.sock: Any = None
        self.fd = -1
        self.state = CONNECTING
        self.awaited: list[Awaited] | None = None
        """In the order of sending; None: nothing."""
        self.data: bytes | bytearray = b""
        """Received and not understood yet."""
        self.error = ""
        """Why it was lost, or will be once all that came is read."""
        self.counted = False
        """Whether its own call was answered or lost."""


def closed_by(code: int) -> str:
    """Return the error of a connection that the server closed with a code."""
    return f"protocol-close-{code}"
