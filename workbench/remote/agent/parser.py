"""An incremental HTTP/1 response parser, used by the load agent and by the wire gate.

It takes bytes as they come, in pieces of any size, and does the same work for each byte once: of a
body it keeps only what its user asked for. It accepts what other clients accept: lines that end
with a line feed alone (RFC 9112, 2.2), folded headers (5.2), and a Content-Length beside `chunked`,
which counts (6.3); such a connection is not used again. Other deviations that a careful sender
avoids are errors, and never repaired.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from .protocol import EXAMPLE

LONGEST_HEAD = 65_536

_BLANK_LINE = re.compile(rb"\n\r?\n")
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?\Z")
_HEADER = re.compile(
    rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*((?:[\x21-\x7e\x80-\xff]"
    rb"(?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*\Z"
)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\Z")
_DIGITS = re.compile(rb"[0-9]{1,18}\Z")

_HEAD, _LENGTH, _UNTIL_CLOSED, _CHUNK_HEAD, _CHUNK, _CHUNK_END, _TRAILERS = range(7)
"""What comes next."""
_ENDLESS = 1 << 62
"""More bytes than any body has."""
_SHORT_RUN = 8
"""Chunks compared at once after one like them; then four times as many."""

Data = bytes | bytearray


class ProtocolError(ValueError):
    """The bytes are not the expected response; the text says why, `kind` is its class."""

    def __init__(self, text: str, kind: str = "malformed", body: bytes = b"") -> None:
        super().__init__(text)
        self.kind = kind
        """ "malformed", "cut" (closed in the middle), "closed" (before all calls were answered),
        "body" (another than was wanted), or a status."""
        self.body = body
        """That is not wanted."""


def reason(error: ProtocolError) -> str:
    """Return why a reply is malformed; empty: its kind says all."""
    return str(error) if error.kind == "malformed" else ""


class Response(NamedTuple):
    """A complete final response."""

    status: int
    body: bytes
    """As much of it as was to be kept."""
    length: int
    """Bytes of the body."""
    keep_alive: bool
    """Whether the server accepts another request on this connection."""
    closes: bool = False
    """Whether the server is to close it."""
    content_type: bytes = b""
    """In lower case, without parameters."""
    found: bool = True
    """Whether the text that was looked for is in the body."""
    failed: str = ""
    """Which check of the plan it fails: "text", "type", "length", or its status; empty: none."""


@dataclass(slots=True, eq=False)
class ReplyParser:
    """One final response, and the interim (1xx) ones before it, which are skipped. All methods
    raise `ProtocolError`."""

    keep: int = 0
    """Bytes kept of the body."""
    seek: bytes = b""
    """A text to look for in the body."""
    bodiless: bool = field(default=False, kw_only=True)
    """It answers HEAD."""
    complete: bool = False
    received: int = 0
    """Bytes, of interim responses too."""
    first: bytes = b""
    """Of them the first."""
    head_bytes: int = 0
    """Status line and headers of the final response, including the empty line."""
    body: bytearray = field(default_factory=bytearray)
    length: int = 0
    """Bytes of the body so far."""
    found: bool = False
    _tail: bytes = b""
    """End of the body, in which the text may begin."""
    _state: int = _HEAD
    _head: _Head | None = None
    _pending: bytearray = field(default_factory=bytearray)
    """The beginning of a head, a line or the trailers of which the end has not come."""
    _left: int = 0
    """Bytes that are still to come of the body or chunk."""

    def __post_init__(self) -> None:
        self.found = not self.seek

    def feed(self, data: Data, at: int = 0, stop: int = -1) -> int:
        """Take `data[at:stop]`, as far as it belongs to the response. Returns where that ends."""
        stop = len(data) if stop < 0 else stop
        if len(self.first) < EXAMPLE:
            self.first += data[at : min(stop, at + EXAMPLE - len(self.first))]
        begun = at
        while at < stop and not self.complete:
            at = _STEPS[self._state](self, data, at, stop)
        self.received += at - begun
        return at

    def end(self) -> None:
        """Handle the end of the connection, which completes a body without a length."""
        if self.complete:
            return
        if self._state == _UNTIL_CLOSED:
            self.complete = True
        elif self._head is None:
            raise ProtocolError("closed before the headers ended", "cut")
        elif self._state == _LENGTH:
            whole = self.length + self._left
            raise ProtocolError(f"closed after {self.length} of {whole} body bytes", "cut")
        else:
            raise ProtocolError(f"closed within the chunks, after {self.length} body bytes", "cut")

    def response(self) -> Response:
        """Return the response; only once it is complete."""
        head = self._head
        assert head is not None and self.complete
        closes = head.closes or self._state == _UNTIL_CLOSED
        return Response(
            head.status,
            bytes(self.body),
            self.length,
            not (closes or head.unsure),
            closes,
            head.headers.get(b"content-type", [b""])[0].partition(b";")[0].strip().lower(),
            self.found,
        )

    def _take_head(self, data: Data, at: int, stop: int) -> int:
        before = len(self._pending)
        if before:
            self._pending += data[at : min(stop, at + LONGEST_HEAD)]
            found = _BLANK_LINE.search(self._pending, max(0, before - 2))
            text = self._pending
            taken = found.end() - before if found else stop - at
        else:
            found = _BLANK_LINE.search(data, at, stop)
            text = bytearray(data[at : found.end() if found else min(stop, at + LONGEST_HEAD + 1)])
            taken = len(text) if found else stop - at
        if found is None:
            begun = text[:7]
            if begun != b"HTTP/1."[: len(begun)]:
                raise ProtocolError("does not begin with HTTP/1.")
        size = before + taken
        if size - 4 > LONGEST_HEAD:
            raise ProtocolError(f"headers longer than {LONGEST_HEAD} bytes")
        if found is None:
            self._pending = text
            return stop
        self._pending = bytearray()
        self._begin(_parse_head(bytes(text[: found.end() if before else len(text)])), size)
        return at + taken

    def _begin(self, head: _Head, size: int) -> None:
        if head.status < 200:
            if head.status == 101:
                raise ProtocolError("switched protocols without being asked")
            return
        self._head = head
        self.head_bytes = size
        length = _content_length(head.headers)
        chunked = _is_chunked(head)
        if self.bodiless or head.status in (204, 304):
            self.complete = True
        elif chunked:
            self._state = _CHUNK_HEAD
        elif length is None:
            self._state, self._left = _UNTIL_CLOSED, _ENDLESS
        else:
            self._state, self._left = _LENGTH, length
            self.complete = not length

    def _take_body(self, data: Data, at: int, stop: int) -> int:
        stop = min(stop, at + self._left)
        self._left -= stop - at
        self._add(data, at, stop)
        if not self._left:
            self.complete = self._state == _LENGTH
            self._state = _CHUNK_END
        return stop

    def _take_chunk_end(self, data: Data, at: int, stop: int) -> int:
        size = min(stop - at, 2 - len(self._pending))
        self._pending += data[at : at + size]
        if self._pending != b"\r\n"[: len(self._pending)]:
            raise ProtocolError("a chunk longer than its header says")
        if len(self._pending) == 2:
            self._pending = bytearray()
            self._state = _CHUNK_HEAD
        return at + size

    def _take_chunks(self, data: Data, at: int, stop: int) -> int:
        """Take a chunk header, and whole chunks as far as they have come."""
        while at < stop:
            if self._pending:
                head, start = self._line(data, at, stop)
            else:
                end = data.find(b"\r\n", at, stop)
                head, start = (data[at:end], end + 2) if end >= 0 else self._line(data, at, stop)
            if head is None:
                return start
            if not (found := _CHUNK_SIZE.match(head)):
                raise ProtocolError(f"chunk header {bytes(head[:40])!r} is not one")
            if not (size := int(found[1], 16)):
                self._state = _TRAILERS
                return start
            after = start + size + 2
            if after > stop:
                self._state, self._left = _CHUNK, size
                return start
            if data[after - 2 : after] != b"\r\n":
                raise ProtocolError("a chunk longer than its header says")
            self._add(data, start, after - 2)
            at = after
            if self.found and len(self.body) >= self.keep:
                at = self._take_run(data, at, stop, bytes(head) + b"\r\n", size)
        return at

    def _take_run(self, data: Data, at: int, stop: int, head: bytes, size: int) -> int:
        """Take chunks like the one before: servers send long runs of them. Compares each byte of
        all their headers and ends at once, which takes a hundredth of reading them one by one."""
        if data[at : at + len(head)] != head:
            return at
        period = len(head) + size + 2
        framing = [*enumerate(head), (period - 2, 0x0D), (period - 1, 0x0A)]
        count = _SHORT_RUN
        while count := min(count, (stop - at) // period):
            end = at + count * period
            for offset, byte in framing:
                if data[at + offset : end : period] != bytes((byte,)) * count:
                    return at
            self.length += count * size
            at = end
            count *= 4
        return at

    def _take_trailers(self, data: Data, at: int, stop: int) -> int:
        while at < stop:
            line, at = self._line(data, at, stop)
            if line is None:
                return at
            if not line:
                self.complete = True
                return at
            if _HEADER.match(line) is None:
                raise ProtocolError(f"trailer line {bytes(line[:40])!r} is not one")
            self._left += len(line)  # Of the trailers so far: no chunk is under way.
            if self._left > LONGEST_HEAD:
                raise ProtocolError(f"trailers longer than {LONGEST_HEAD} bytes")
        return at

    def _line(self, data: Data, at: int, stop: int) -> tuple[Data | None, int]:
        """Return a line without its end, and where the next begins; None: its end is to come."""
        before = len(self._pending)
        self._pending += data[at : min(stop, at + LONGEST_HEAD + 3)]
        end = self._pending.find(b"\r\n", max(0, before - 1))
        if end < 0:
            if len(self._pending) > LONGEST_HEAD:
                raise ProtocolError(f"a line of the chunks longer than {LONGEST_HEAD} bytes")
            return None, stop
        line, self._pending = self._pending[:end], bytearray()
        return line, at + end + 2 - before

    def _add(self, data: Data, at: int, stop: int) -> None:
        self.length += stop - at
        room = self.keep - len(self.body)
        if room > 0:
            self.body += data[at : min(stop, at + room)]
        if not self.found:
            text = self._tail + data[at:stop]
            self.found = self.seek in text
            self._tail = text[max(0, len(text) - len(self.seek) + 1) :]


_STEPS: tuple[Callable[[ReplyParser, Data, int, int], int], ...] = (
    ReplyParser._take_head,
    ReplyParser._take_body,
    ReplyParser._take_body,
    ReplyParser._take_chunks,
    ReplyParser._take_body,
    ReplyParser._take_chunk_end,
    ReplyParser._take_trailers,
)
"""By state. Functions, because bound methods would make cycles, and nothing collects these while
load is offered."""


class _Head(NamedTuple):
    version: int
    status: int
    headers: dict[bytes, list[bytes]]
    """By lower-case name."""
    closes: bool
    """Whether the server is to close the connection."""
    unsure: bool
    """Clients disagree where such a reply ends, so no other may follow it."""


def _parse_head(data: bytes) -> _Head:
    """Parse status line and headers, which end with the empty line."""
    first, *lines = [line.removesuffix(b"\r") for line in data.split(b"\n")[:-2]]
    match = _STATUS_LINE.match(first)
    if match is None:
        raise ProtocolError(f"status line {first[:40]!r} is not one")
    headers: dict[bytes, list[bytes]] = {}
    for line in _unfolded(lines):
        header = _HEADER.match(line)
        if header is None:
            raise ProtocolError(f"header line {line[:40]!r} is not one")
        headers.setdefault(header[1].lower(), []).append(header[2])
    version, options = int(match[1]), _tokens(headers.get(b"connection", []))
    closes = b"close" in options or (version == 0 and b"keep-alive" not in options)
    unsure = b"content-length" in headers and b"transfer-encoding" in headers
    return _Head(version, int(match[2]), headers, closes, unsure)


def _unfolded(lines: list[bytes]) -> list[bytes]:
    """Join the lines of folded headers with a space each."""
    if not any(line[:1] in (b" ", b"\t") for line in lines):
        return lines
    whole = [lines[0]]
    for line in lines[1:]:
        if line[:1] in (b" ", b"\t"):
            whole[-1] = b"%b %b" % (whole[-1].rstrip(b" \t"), line.strip(b" \t"))
        else:
            whole.append(line)
    return whole


def _tokens(values: list[bytes]) -> list[bytes]:
    return [
        token.strip().lower() for value in values for token in value.split(b",") if token.strip()
    ]


def _content_length(headers: dict[bytes, list[bytes]]) -> int | None:
    values = headers.get(b"content-length")
    if values is None:
        return None
    lengths = {value.strip() for joined in values for value in joined.split(b",")}
    if len(lengths) != 1 or not _DIGITS.match(length := lengths.pop()):
        raise ProtocolError(f"Content-Length {b', '.join(values)[:40]!r} is not a length")
    return int(length)


def _is_chunked(head: _Head) -> bool:
    codings = head.headers.get(b"transfer-encoding")
    if codings is None:
        return False
    if _tokens(codings) != [b"chunked"]:
        raise ProtocolError("a transfer coding other than chunked")
    if head.version == 0:
        raise ProtocolError("chunked in an HTTP/1.0 response")
    return True
