"""The client's side of WebSocket (RFC 6455): handshake and frames. Pure functions, and strict:
what a server must not send is an error, and never repaired."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from typing import NamedTuple

from .parser import LONGEST_HEAD, Data, ProtocolError

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_KNOWN = (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG)
_FIN, _RESERVED, _MASKED = 0x80, 0x70, 0x80
LONGEST_CONTROL = 125
LONGEST_MESSAGE = 1 << 20
"""Bytes that every server must take: the smallest default limit of those in the catalogue."""
NORMAL = 1000
NO_STATUS = 1005
"""The close frame had no code (never sent)."""
ABNORMAL = 1006
"""The connection ended without a close frame (never sent)."""

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-9][0-9][0-9])(?: [^\r\n]*)?\Z")


class Frame(NamedTuple):
    """One frame at the start of the given bytes."""

    final: bool
    opcode: int
    payload: bytes
    end: int
    """Offset of the next frame."""


def accept_of(key: bytes) -> bytes:
    return base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())


def new_key() -> bytes:
    """Return a Sec-WebSocket-Key. It only has to differ between connections, so it comes from a
    generator that needs no system call."""
    return base64.b64encode(random.getrandbits(128).to_bytes(16, "big"))


def handshake(host: str, port: int, path: str, authority: str = "") -> tuple[bytes, bytes]:
    """Return what goes before the key, and what after it. `authority`: Host in place of both."""
    name = authority or (f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    before = (
        f"GET {path} HTTP/1.1\r\nHost: {name}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    )
    return before.encode("ascii"), b"\r\n\r\n"


def accepted(data: Data, accept: bytes) -> int | None:
    """Return the end of the server's handshake at the start of `data`; None: it is not complete.

    Raises ProtocolError: the kind is the status where that is not 101.
    """
    end = data.find(b"\r\n\r\n")
    if end < 0:
        if len(data) > LONGEST_HEAD or not b"HTTP/1.1 "[: len(data)] == data[:9]:
            raise ProtocolError("no handshake of WebSocket")
        return None
    first, *lines = bytes(data[:end]).split(b"\r\n")
    line = _STATUS_LINE.match(first)
    if line is None:
        raise ProtocolError("no status line of HTTP/1.1")
    if line[1] != b"101":
        raise ProtocolError(f"status {int(line[1])}", line[1].decode())
    headers: dict[bytes, bytes] = {}
    for each in lines:
        name, colon, value = each.partition(b":")
        if not colon or name.strip() != name:
            raise ProtocolError("a header without a name")
        headers[name.lower()] = value.strip()
    if headers.get(b"upgrade", b"").lower() != b"websocket":
        raise ProtocolError("Upgrade is not websocket", "upgrade")
    tokens = [token.strip() for token in headers.get(b"connection", b"").lower().split(b",")]
    if b"upgrade" not in tokens:
        raise ProtocolError("Connection is not Upgrade", "upgrade")
    if headers.get(b"sec-websocket-accept") != accept:
        raise ProtocolError("another Sec-WebSocket-Accept than the key's", "accept")
    if b"sec-websocket-extensions" in headers or b"sec-websocket-protocol" in headers:
        raise ProtocolError("an extension or subprotocol that was not offered", "extension")
    return end + 4


def client_frame(opcode: int, payload: bytes) -> bytes:
    """Return a masked frame, with a new mask as the RFC requires."""
    mask = random.getrandbits(32).to_bytes(4, "big")
    size = len(payload)
    pattern = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")
    return _head(opcode, size, _MASKED) + mask + masked.to_bytes(size, "big")


def server_frame(opcode: int, payload: bytes) -> bytes:
    """Return the frame in which a server sends a payload if it sends it in one."""
    return _head(opcode, len(payload), 0) + payload


def parse_frame(data: Data, longest: int) -> Frame | None:
    """Return a server's frame at the start of `data`; None: more bytes are needed.

    `longest`: bytes that a payload may have. Raises ProtocolError.
    """
    if len(data) < 2:
        return None
    first, second = data[0], data[1]
    opcode, size, at = first & 0x0F, second & 0x7F, 2
    if first & _RESERVED or opcode not in _KNOWN:
        raise ProtocolError("reserved bits or opcode")
    if second & _MASKED:
        raise ProtocolError("a server must not mask")
    if opcode >= CLOSE and (size > LONGEST_CONTROL or not first & _FIN):
        raise ProtocolError("a control frame that is long or fragmented")
    if size > LONGEST_CONTROL:
        at = 4 if size == 126 else 10
        if len(data) < at:
            return None
        size = int.from_bytes(data[2:at], "big")
        if size < (126 if at == 4 else 65_536):
            raise ProtocolError("a length that is not the shortest form")
    if size > longest:
        raise ProtocolError("more than was sent", "body")
    if len(data) < at + size:
        return None
    return Frame(bool(first & _FIN), opcode, bytes(data[at : at + size]), at + size)


def close_code(payload: bytes) -> int:
    """Return the code of a close frame. Raises ProtocolError for one that must not be sent."""
    if not payload:
        return NO_STATUS
    code = int.from_bytes(payload[:2], "big")
    if len(payload) == 1 or not (1000 <= code <= 1014 or 3000 <= code <= 4999):
        raise ProtocolError("no code of a close frame")
    if code in (1004, NO_STATUS, ABNORMAL):
        raise ProtocolError("a code that must not be sent")
    return code


def _head(opcode: int, size: int, masked: int) -> bytes:
    if size <= LONGEST_CONTROL:
        return bytes((_FIN | opcode, masked | size))
    if size < 65_536:
        return bytes((_FIN | opcode, masked | 126)) + size.to_bytes(2, "big")
    return bytes((_FIN | opcode, masked | 127)) + size.to_bytes(8, "big")
