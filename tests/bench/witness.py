"""When calls were on the network: a second clock, in which no load tool has a part.

The kernel notes the time of each packet on the loopback interface. Of one port, those that begin a
connection, carry data, or end it on the server's side wait in the buffer of a socket and are read
once a point is over, so nothing is read or calculated while it is measured. IPv4 only; needs root.
"""

from __future__ import annotations

import ctypes
import socket
import struct
from dataclasses import dataclass
from typing import Self

ROOM = 512 << 20
"""Bytes of the buffer; a packet takes about 1 kB."""
HEADERS = 40
"""Bytes kept of a packet."""

ETH_P_IP, SOL_PACKET, PACKET_STATISTICS = 0x0800, 263, 6
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
FIN, SYN, PUSH = 1, 2, 8
LOAD_BYTE, LOAD_HALF, IF_EQUAL, IF_BITS, RETURN = 0x30, 0x28, 0x15, 0x45, 0x06
PROTOCOL, SOURCE, DESTINATION, FLAGS = 9, 20, 22, 33
"""Offsets in a packet with an IPv4 header of 20 bytes."""


@dataclass(frozen=True)
class Call:
    """A call, in seconds of the kernel's clock."""

    begun_s: float
    """The first packet of its connection; of a later call, that of its request."""
    sent_s: float
    answered_s: float
    """The last packet of its reply."""
    closed_s: float
    """The server's last packet; 0: it did not close the connection."""


class Witness:
    """Sees the calls to a port of this computer, from its beginning on."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._select()
        self._socket.bind(("lo", ETH_P_IP))
        self._socket.setblocking(False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def calls(self) -> list[Call]:
        """Return those that were answered, in the order of their ends."""
        open_: dict[bytes, list[float]] = {}
        done: list[Call] = []
        for at_s, packet in self._packets():
            flags = packet[FLAGS]
            (port,) = struct.unpack_from("!H", packet, SOURCE)
            if port == self._port:
                if call := open_.get(packet[16:20] + packet[22:24]):
                    if flags & PUSH:
                        call[2] = at_s
                    if flags & FIN:
                        call[3] = at_s
                continue
            client = packet[12:16] + packet[20:22]
            if flags & SYN:
                done += _ended(open_.pop(client, None))
                open_[client] = [at_s, 0.0, 0.0, 0.0]
            elif (call := open_.get(client)) and not call[1]:
                call[1] = at_s
            elif call and call[2]:  # The next one of its connection.
                done += _ended(call)
                open_[client] = [at_s, at_s, 0.0, 0.0]
        for call in open_.values():
            done += _ended(call)
        return sorted(done, key=lambda call: call.answered_s)

    def _packets(self) -> list[tuple[float, bytes]]:
        found: list[tuple[float, bytes]] = []
        while True:
            try:
                packet, ancillary, *_ = self._socket.recvmsg(HEADERS, socket.CMSG_SPACE(16))
            except BlockingIOError:
                break
            seconds, ns = struct.unpack("ll", ancillary[0][2][:16])
            found.append((seconds + ns / 1e9, packet))
        _, lost = struct.unpack("II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        if lost:
            raise OverflowError(f"{lost:,} packets had no room.")
        return found

    def _select(self) -> None:
        """Have the kernel keep only requests, replies, and connections' first and last packets."""
        drop, keep = 11, 10
        program = [
            (LOAD_BYTE, 0, 0, PROTOCOL),
            (IF_EQUAL, 0, drop - 2, socket.IPPROTO_TCP),
            (LOAD_HALF, 0, 0, SOURCE),
            (IF_EQUAL, 4, 0, self._port),
            (LOAD_HALF, 0, 0, DESTINATION),
            (IF_EQUAL, 0, drop - 6, self._port),
            (LOAD_BYTE, 0, 0, FLAGS),
            (IF_BITS, keep - 8, drop - 8, SYN | PUSH),
            (LOAD_BYTE, 0, 0, FLAGS),
            (IF_BITS, 0, drop - 10, PUSH | FIN),
            (RETURN, 0, 0, HEADERS),
            (RETURN, 0, 0, 0),
        ]
        code = b"".join(struct.pack("HBBI", *each) for each in program)
        buffer = ctypes.create_string_buffer(code, len(code))
        filter_ = struct.pack("HP", len(program), ctypes.addressof(buffer))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, filter_)


def _ended(call: list[float] | None) -> list[Call]:
    return [Call(*call)] if call and call[1] and call[2] else []
