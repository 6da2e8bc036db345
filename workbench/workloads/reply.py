"""The replies of a server to the test client, parsed as the load agent parses them."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.remote.agent.parser import LONGEST_HEAD, Data, ProtocolError, ReplyParser

KEPT_BODY = 1 << 20
"""Bytes of a body that are compared and kept."""
KEPT_RAW = LONGEST_HEAD + 4_096
"""Bytes of a reply, from its beginning, that can be shown."""


class Fault(Exception):
    """An error of the server; `str()` is a sentence that begins with "It"."""

    silent = False
    """Whether it closed without a byte of an answer."""


class _Silent(Fault):
    silent = True


@dataclass(frozen=True)
class Reply:
    """One parsed reply."""

    raw: bytes
    """As much of it as can be shown."""
    size: int
    """Bytes of the whole reply."""
    status: int
    header_bytes: int
    """Status line and headers, including the empty line."""
    body: bytes
    """As much of it as can be compared."""
    body_bytes: int
    keep_alive: bool = True
    """Whether another call may follow on the connection."""
    took_s: float = 0.0
    """Time since the request; on connections with several calls only."""
    content_type: str = ""
    """In lower case, without parameters."""


class Parser:
    """Parses one reply incrementally. All methods raise `Fault`."""

    def __init__(self) -> None:
        self._parser = ReplyParser(KEPT_BODY)
        self._raw = bytearray()
        self.rest = b""
        """The data after the reply."""

    @property
    def received(self) -> int:
        """Bytes of the reply so far."""
        return self._parser.received

    def take(self, data: Data) -> bool:
        """Add data. Returns whether the reply is complete."""
        try:
            end = self._parser.feed(data)
        except ProtocolError as error:
            raise Fault(self._explained(data, error)) from None
        if len(self._raw) < KEPT_RAW:
            self._raw += data[: min(end, KEPT_RAW - len(self._raw))]
        self.rest = bytes(data[end:])
        return self._parser.complete

    def end(self) -> None:
        """Handle the end of the connection, which completes some replies."""
        if not self.received:
            raise _Silent("It closed the connection without an answer.")
        try:
            self._parser.end()
        except ProtocolError as error:
            raise Fault(f"It {error}.") from None

    def reset(self) -> None:
        """Handle a reset: what came before it is not whole, even if its length is not known."""
        if not self.received:
            raise _Silent("It reset the connection without an answer.")
        if not self._parser.complete:
            raise Fault(f"It reset the connection after {self.received} bytes of its reply.")

    def reply(self) -> Reply:
        """Return the complete reply."""
        found = self._parser.response()
        return Reply(
            bytes(self._raw),
            self._parser.received,
            found.status,
            self._parser.head_bytes,
            found.body,
            found.length,
            found.keep_alive,
            content_type=found.content_type.decode("latin-1"),
        )

    def silent(self, within_s: float) -> str:
        if not self.received:
            return f"It did not answer within {within_s:g} s."
        return f"It fell silent for {within_s:g} s after {self.received} bytes of its reply."

    def _explained(self, data: Data, error: ProtocolError) -> str:
        begun = (bytes(self._raw) or bytes(data[:20]))[:20]
        if not begun.startswith(b"HTTP/"):
            return f"Its reply is no HTTP, it begins with {begun.decode('latin-1')!r}."
        return f"Its reply is no HTTP ({error})."
