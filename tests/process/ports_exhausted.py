"""Run in a network namespace of its own: 100 local ports against a server that holds connections.

Prints the error classes met.
"""

import fcntl
import socket
import struct
from pathlib import Path

from agents import agent, target

SIOCSIFFLAGS = 0x8914


def raise_loopback() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", 1))


if __name__ == "__main__":
    raise_loopback()
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40099")
    with target("hold") as server, agent() as load:
        outcome = load.run(
            server.port, protocol="pong", rate_per_s=500, connections=300, timeout_s=2.0
        )
    print(*sorted(outcome.errors))
