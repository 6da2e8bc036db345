"""Sockets as the kernel lists them over netlink (sock_diag(7))."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST_DUMP = 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
NETLINK_SOCK_DIAG = 4
STATE_ESTABLISHED, STATE_LISTEN = 1 << 1, 1 << 10
BYTECODE, INFO, MEMORY = 1, 2, 7
"""Attributes of a request, and of an answer: `struct tcp_info`, and memory with the drops."""
DROPS = 8
"""Of the numbers in `MEMORY`: what the socket dropped; of a listening one, connections."""
JUMP, SOURCE_GE, SOURCE_LE, TARGET_GE, TARGET_LE = 1, 2, 3, 4, 5
INFO_LEAST = 160
"""Bytes of `struct tcp_info`, of Linux 4.6 and later."""
HEADER = 16
INODE, ATTRIBUTES = HEADER + 68, HEADER + 72
QUEUES = HEADER + 56
"""Offsets in struct inet_diag_msg of the receive queue (waiting) and the send queue (backlog)."""


_link: list[socket.socket] = []


class Listener(NamedTuple):
    waiting: int
    """Connections in the accept queue."""
    backlog: int
    drops: int | None
    """Connections that it could not take since it was opened; None: not known."""
    address: str
    inode: int


def listeners(port: int) -> list[Listener]:
    found: list[Listener] = []
    for family, message in dumped(STATE_LISTEN, MEMORY, port=port):
        if struct.unpack_from("!H", message, HEADER + 4)[0] == port:
            waiting, backlog = struct.unpack_from("=II", message, QUEUES)
            own = struct.unpack_from("=I", message, INODE)[0]
            where = end_of(family, message, HEADER + 8)
            found.append(Listener(waiting, backlog, dropped(message), where, own))
    return found


def listening(found: list[Listener]) -> list[int] | None:
    """Return the kernel's [accept queue, backlog]; for several sockets [sum, minimum]."""
    if not found:
        return None
    return [sum(each.waiting for each in found), min(each.backlog for each in found)]


def drops(found: list[Listener]) -> dict[str, int]:
    """Return what they dropped as a counter, see `machines.usage.OWN_DROPS`; empty: not known."""
    known = [each.drops for each in found if each.drops is not None]
    return {"OwnListenDrops": sum(known)} if known and len(known) == len(found) else {}


def dropped(message: bytes) -> int | None:
    for kind, at, length in attributes(message):
        if kind == MEMORY and length >= 4 * (DROPS + 1):
            return int(struct.unpack_from("=I", message, at + 4 * DROPS)[0])
    return None


def not_of(port: int) -> bytes:
    """Return the program by which the kernel leaves out sockets that have this port at an end; for
    its form see `struct inet_diag_bc_op` in linux/inet_diag.h."""
    end = 44  # past it: left out

    def condition(code: int, no: int, limit: int) -> bytes:
        """If it is met, what follows; else `no` bytes on."""
        return struct.pack("=BBHBBH", code, 8, no, 0, 0, limit)

    jump = struct.pack("=BBH", JUMP, 4, 12)
    more, less = min(port + 1, 65535), max(port - 1, 0)
    return (
        condition(SOURCE_GE, 12, more)
        + jump
        + condition(SOURCE_LE, end - 12, less)
        + condition(TARGET_GE, 12, more)
        + jump
        + condition(TARGET_LE, end - 32, less)
    )


class Connection(NamedTuple):
    port: int
    """Here."""
    peer: str
    """Address of the other end."""
    inode: int
    segments: int
    """With data, in both directions."""
    waits: bool
    """For an answer: sent since, or as lately as, something was received, to the kernel's tick of
    up to 10 ms, and nothing is there to be read."""


def sockets(port: int, state: int) -> list[Connection]:
    """Return all TCP sockets in this state except those of this port."""
    return [connection(*each) for each in dumped(state, INFO, program=not_of(port))]


def connection(family: int, message: bytes) -> Connection:
    source, target = struct.unpack_from("!HH", message, HEADER + 4)
    address = end_of(family, message, HEADER + 24)
    shown = f"[{address}]" if ":" in address else address
    queue, inode = (struct.unpack_from("=I", message, at)[0] for at in (QUEUES, INODE))
    waits, segments = False, 0
    for kind, at, length in attributes(message):
        if kind == INFO and length >= INFO_LEAST:
            sent_ms, _, received_ms = struct.unpack_from("=III", message, at + 44)
            segments_in, segments_out = struct.unpack_from("=II", message, at + 152)
            segments = segments_in + segments_out
            waits = segments_out > 0 and sent_ms <= received_ms and not queue
    return Connection(source, f"{shown}:{target}", inode, segments, waits)


def end_of(family: int, message: bytes, at: int) -> str:
    raw = message[at : at + (4 if family == socket.AF_INET else 16)]
    return socket.inet_ntop(family, raw).removeprefix("::ffff:")


def attributes(message: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (kind, offset, length) of the attributes of an answer."""
    at = ATTRIBUTES
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        yield kind, at + 4, length - 4
        at += max(4, (length + 3) & ~3)


def dumped(
    state: int, wanted: int, *, port: int = 0, program: bytes = b""
) -> Iterator[tuple[int, bytes]]:
    """Yield (family, answer) for TCP sockets in a state, of one port or as a program chooses."""
    with contextlib.suppress(OSError):
        if not _link:
            kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
            _link.append(socket.socket(socket.AF_NETLINK, kind, NETLINK_SOCK_DIAG))
        attribute = struct.pack("=HH", 4 + len(program), BYTECODE) + program if program else b""
        length = 72 + len(attribute)
        head = struct.pack("=IHHII", length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 1, 0)
        for family in (socket.AF_INET, socket.AF_INET6):
            body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 1 << wanted - 1, 0, state)
            _link[0].send(head + body + struct.pack("!H", port) + bytes(46) + attribute)
            for message in messages(_link[0]):
                yield family, message


def messages(link: socket.socket) -> Iterator[bytes]:
    while True:
        data = link.recv(1 << 16)
        at = 0
        while at < len(data):
            length, kind = struct.unpack_from("=IH", data, at)
            if kind in {NLMSG_DONE, NLMSG_ERROR}:
                return
            yield data[at : at + length]
            at += (length + 3) & ~3
