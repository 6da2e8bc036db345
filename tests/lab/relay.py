"""Makes a host's cable long: frames are passed on after a while. Linux's own netem is not in every
kernel.

`relay.py CABLE TAP BRIDGE DELAY_MS`, the cable taken off the bridge before. It says "ready", and
ends with its stdin. `relay.py INTERFACE` makes that one send whole frames: checksums and segments
are left to no network card.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys
import time
from collections import deque

TUNSETIFF = 0x400454CA
TAP_WITHOUT_HEADERS = 0x1002
SIOCETHTOOL = 0x8946
OFFLOADS = (0x17, 0x19, 0x1F, 0x24, 0x2C)
"""Checksums, scatter-gather and the ways to send and receive several segments as one."""
OUTGOING = 4
LONGEST_FRAME = 1 << 16


def whole_frames(interface: str) -> None:
    """Every frame it sends from now on is complete."""
    with socket.socket() as any_socket:
        for command in OFFLOADS:
            order = array.array("B", struct.pack("II", command, 0))
            request = struct.pack("16sP", interface.encode(), order.buffer_info()[0])
            with contextlib.suppress(OSError):  # not every kind of interface has each
                fcntl.ioctl(any_socket, SIOCETHTOOL, request)


def relay(cable: str, tap_name: str, bridge: str, delay_s: float) -> None:
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", tap_name.encode(), TAP_WITHOUT_HEADERS))
    subprocess.run(["ip", "link", "set", tap_name, "master", bridge, "up"], check=True)
    whole_frames(cable)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.bind((cable, 0))
    wire.setblocking(False)
    print("ready", flush=True)
    waiting: deque[tuple[float, bool, bytes]] = deque()
    while True:
        left_s = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select([0, tap, wire], [], [], left_s)
        due = time.monotonic() + delay_s
        with contextlib.suppress(BlockingIOError):
            while tap in ready:
                waiting.append((due, True, os.read(tap, LONGEST_FRAME)))
        with contextlib.suppress(BlockingIOError):
            while wire in ready:
                frame, (_, _, kind, *_) = wire.recvfrom(LONGEST_FRAME)
                if kind != OUTGOING:
                    waiting.append((due, False, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, to_host, frame = waiting.popleft()
            with contextlib.suppress(OSError):  # a full queue drops, as any would
                wire.send(frame) if to_host else os.write(tap, frame)
        if 0 in ready:
            return


if __name__ == "__main__":
    if len(sys.argv) == 2:
        whole_frames(sys.argv[1])
    else:
        relay(*sys.argv[1:4], float(sys.argv[4]) / 1000)
