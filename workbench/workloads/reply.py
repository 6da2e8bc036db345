"""The replies of a server to the test client, parsed strictly."""

from __future__ import annotations

from dataclasses import dataclass

import h11

MOST_BYTES = 1 << 20
"""Longest reply, in bytes."""


class Fault(Exception):
    """An error of the server; `str()` is a sentence that begins with "It"."""


@dataclass(frozen=True)
class Reply:
    """One parsed reply."""

    raw: bytes
    status: int
    header_bytes: int
    """Status line and headers, including the empty line."""
    body: bytes
    took_s: float = 0.0
    """Time since the request; on connections with several calls only."""


class Parser:
    """Parses one reply incrementally."""

    def __init__(self) -> None:
        self._h11 = h11.Connection(h11.CLIENT)
        self._h11.send(h11.Request(method="GET", target="/", headers=[("Host", "pongbench")]))
        self._h11.send(h11.EndOfMessage())
        self._head: h11.Response | None = None
        self._body = b""
        self._whole = False
        self.raw = b""

    def take(self, data: bytes) -> bool:
        """Add data. Returns whether the reply is complete."""
        if data:
            self.raw += data
            self._h11.receive_data(data)
            self._parse()
        if len(self._body) > MOST_BYTES:
            raise Fault(f"It answered with more than {MOST_BYTES >> 20} MiB.")
        return self._whole

    def end(self) -> None:
        """Handle the end of the connection, which completes some replies."""
        if not self.raw:
            raise Fault("It closed the connection without an answer.")
        self._h11.receive_data(b"")
        self._parse()

    @property
    def rest(self) -> bytes:
        """The data after the reply."""
        return bytes(self._h11.trailing_data[0])

    def reply(self) -> Reply:
        assert self._head
        raw = self.raw[: len(self.raw) - len(self.rest)]
        header_bytes = len(raw) - len(raw.partition(b"\r\n\r\n")[2])
        return Reply(raw, self._head.status_code, header_bytes, self._body)

    def silent(self, within_s: float) -> str:
        if not self.raw:
            return f"It did not answer within {within_s:g} s."
        return f"It fell silent for {within_s:g} s after {len(self.raw)} bytes of its reply."

    def _parse(self) -> None:
        try:
            while not self._whole:
                event = self._h11.next_event()
                match event:
                    case h11.Response():
                        self._head = event
                    case h11.Data():
                        self._body += event.data
                    case h11.EndOfMessage():
                        self._whole = True
                    case h11.InformationalResponse():
                        pass
                    case _:
                        return
        except h11.RemoteProtocolError as error:
            raise Fault(self._explained(error)) from None

    def _explained(self, error: h11.RemoteProtocolError) -> str:
        if not self.raw.startswith(b"HTTP/"):
            return f"Its reply is no HTTP, it begins with {self.raw[:20].decode('latin-1')!r}."
        if "peer" not in str(error):
            return f"Its reply is no HTTP ({str(error).rstrip('.')})."
        if self._head is None:
            return "It closed the connection before the end of its headers."
        length = dict(self._head.headers).get(b"content-length")
        if length is None:
            return "It closed the connection before the whole body."
        whole = length.decode("ascii")
        return f"It closed before the whole body: {len(self._body)} of {whole} bytes came."
