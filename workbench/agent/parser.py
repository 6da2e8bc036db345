"""A small, strict HTTP/1 response parser.

Strict: deviations that a careful sender avoids are errors, and never repaired.
Bare line feeds, folded headers, a Content-Length beside Transfer-Encoding, and transfer codings
other than `chunked` are refused.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LONGEST_HEAD = 65_536

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?\Z")
_HEADER = re.compile(
    rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*((?:[\x21-\x7e\x80-\xff]"
    rb"(?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*\Z"
)
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\Z")
_DIGITS = re.compile(rb"[0-9]{1,18}\Z")


class ProtocolError(ValueError):
    """The bytes are not the expected response; the text says why, `kind` is its class."""

    def __init__(self, text: str, kind: str = "malformed", body: bytes = b"") -> None:
        super().__init__(text)
        self.kind = kind
        """ "malformed", "cut" (closed in the middle), "closed" (before all calls were answered),
        "body" (another than was wanted), or a status."""
        self.body = body
        """That is not wanted."""


class Response(NamedTuple):
    """A complete final response at the start of the given bytes."""

    status: int
    body: bytes
    end: int
    """Offset of the next response."""
    keep_alive: bool
    """Whether the server accepts another request on this connection."""
    content_type: bytes = b""
    """In lower case, without parameters."""
    failed: str = ""
    """Which check of the plan it fails: "text", "type", "length", or its status; empty: none."""


def parse(data: bytes, closed: bool = False, *, bodiless: bool = False) -> Response | None:
    """Return the response at the start of `data`, or None while more bytes are needed.

    `closed`: the server has closed, so an unfinished response is an error. Interim (1xx) responses
    are skipped. `bodiless`: it answers HEAD. Raises `ProtocolError`.
    """
    start = 0
    while True:
        head_end = data.find(b"\r\n\r\n", start)
        if head_end < 0:
            _check_unfinished_head(data, start)
            return _incomplete(closed, "closed before the headers ended")
        if head_end - start > LONGEST_HEAD:
            raise ProtocolError(f"headers longer than {LONGEST_HEAD} bytes")
        head = _parse_head(data[start:head_end])
        start = head_end + 4
        if head.status >= 200:
            response = _body(data, start, head, closed, bodiless)
            return response and response._replace(content_type=_media_type(head))
        if head.status == 101:
            raise ProtocolError("switched protocols without being asked")


class _Head(NamedTuple):
    version: int
    status: int
    headers: dict[bytes, list[bytes]]
    """By lower-case name."""
    keep_alive: bool


def _body(data: bytes, start: int, head: _Head, closed: bool, bodiless: bool) -> Response | None:
    length = _content_length(head.headers)
    chunked = _is_chunked(head, length)
    if bodiless or head.status in (204, 304):
        return Response(head.status, b"", start, head.keep_alive)
    if chunked:
        return _chunked(data, start, head, closed)
    if length is None:
        if not closed:
            return None
        return Response(head.status, data[start:], len(data), False)
    if len(data) - start < length:
        return _incomplete(closed, f"closed after {len(data) - start} of {length} body bytes")
    end = start + length
    return Response(head.status, data[start:end], end, head.keep_alive)


def _incomplete(closed: bool, why: str) -> Response | None:
    """Return None to wait for more. Raises when no more will come."""
    if closed:
        raise ProtocolError(why, "cut")
    return None


def _check_unfinished_head(data: bytes, start: int) -> None:
    """Raise early for data that cannot be the head of a response."""
    begun = data[start : start + 7]
    if begun != b"HTTP/1."[: len(begun)]:
        raise ProtocolError("does not begin with HTTP/1.")
    if len(data) - start > LONGEST_HEAD:
        raise ProtocolError(f"headers longer than {LONGEST_HEAD} bytes")


def _parse_head(data: bytes) -> _Head:
    first, *lines = data.split(b"\r\n")
    match = _STATUS_LINE.match(first)
    if match is None:
        raise ProtocolError(f"status line {first[:40]!r} is not one")
    headers: dict[bytes, list[bytes]] = {}
    for line in lines:
        header = _HEADER.match(line)
        if header is None:
            raise ProtocolError(f"header line {line[:40]!r} is not one")
        headers.setdefault(header[1].lower(), []).append(header[2])
    version = int(match[1])
    return _Head(version, int(match[2]), headers, _keeps_alive(version, headers))


def _media_type(head: _Head) -> bytes:
    return head.headers.get(b"content-type", [b""])[0].partition(b";")[0].strip().lower()


def _tokens(values: list[bytes]) -> list[bytes]:
    return [
        token.strip().lower() for value in values for token in value.split(b",") if token.strip()
    ]


def _keeps_alive(version: int, headers: dict[bytes, list[bytes]]) -> bool:
    options = _tokens(headers.get(b"connection", []))
    if b"close" in options:
        return False
    return version == 1 or b"keep-alive" in options


def _content_length(headers: dict[bytes, list[bytes]]) -> int | None:
    values = headers.get(b"content-length")
    if values is None:
        return None
    lengths = {value.strip() for joined in values for value in joined.split(b",")}
    if len(lengths) != 1 or not _DIGITS.match(length := lengths.pop()):
        raise ProtocolError(f"Content-Length {b', '.join(values)[:40]!r} is not a length")
    return int(length)


def _is_chunked(head: _Head, length: int | None) -> bool:
    codings = head.headers.get(b"transfer-encoding")
    if codings is None:
        return False
    if _tokens(codings) != [b"chunked"]:
        raise ProtocolError("a transfer coding other than chunked")
    if length is not None:
        raise ProtocolError("both Content-Length and Transfer-Encoding")
    if head.version == 0:
        raise ProtocolError("chunked in an HTTP/1.0 response")
    return True


def _chunked(data: bytes, start: int, head: _Head, closed: bool) -> Response | None:
    body = []
    while True:
        line_end = data.find(b"\r\n", start)
        if line_end < 0:
            if len(data) - start > LONGEST_HEAD:
                raise ProtocolError("a chunk header without end")
            return _incomplete(closed, "closed before the last chunk")
        match = _CHUNK_SIZE.match(data[start:line_end])
        if match is None:
            raise ProtocolError(f"chunk header {data[start:line_end][:40]!r} is not one")
        size = int(match[1], 16)
        start = line_end + 2
        if size == 0:
            break
        if len(data) < start + size + 2:
            return _incomplete(closed, "closed inside a chunk")
        if data[start + size : start + size + 2] != b"\r\n":
            raise ProtocolError("a chunk longer than its header says")
        body.append(data[start : start + size])
        start += size + 2
    response = Response(head.status, b"".join(body), 0, head.keep_alive)
    return _trailers(data, start, response, closed)


def _trailers(data: bytes, start: int, response: Response, closed: bool) -> Response | None:
    begun = start
    while True:
        line_end = data.find(b"\r\n", start)
        if line_end < 0 or line_end - begun > LONGEST_HEAD:
            if len(data) - begun > LONGEST_HEAD:
                raise ProtocolError(f"trailers longer than {LONGEST_HEAD} bytes")
            return _incomplete(closed, "closed inside the trailers")
        line = data[start:line_end]
        start = line_end + 2
        if not line:
            return response._replace(end=start)
        if _HEADER.match(line) is None:
            raise ProtocolError(f"trailer line {line[:40]!r} is not one")
