"""Measures the link between two machines for about two seconds.

A single file for the standard library of Python 3.10 or later.

    linkprobe.py serve HOST TOKEN           prints {"port": N}, serves clients with the token
                                            until its stdin ends, at most LONGEST_S
    linkprobe.py ask HOST PORT TOKEN        prints {"trips_us": [...], "bytes": N, "seconds": S,
                                            "put_bytes": N, "put_seconds": S, "segments": N,
                                            "resent": N} (of the exchanges), or
                                            {"unconnected": REASON}

A connection begins with the token. Small exchanges are echoed; to "R" the server
answers with its number of retransmitted segments, which measures loss; after "G" it sends as fast
as the link allows until the other end closes, or for slightly longer than STREAM_S; after "P" it
receives for as long.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
import time

EXCHANGES = 50
MOST_EXCHANGES = 400
MORE_FOR_S = 0.3
"""Seconds of exchanges beyond `EXCHANGES`: on fast links more of them estimate the loss better."""
FEW_AFTER_S = 3.0
"""Seconds after which `FEW` exchanges suffice, as with much loss."""
FEW = 10
RESENT_AT = 100
"""Offset of `tcpi_total_retrans` (four bytes) in the kernel's `struct tcp_info`."""
ACKNOWLEDGED_AT = 120
"""Offset of `tcpi_bytes_acked` (eight bytes) there."""
SIZE = 64
STREAM_S = 0.5
LONGEST_S = 20.0
PATIENCE_S = 3.0
CHUNK = b"\0" * (1 << 16)


def serve(host: str, token: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
        until = time.monotonic() + LONGEST_S
        while (left_s := until - time.monotonic()) > 0:
            ready, _, _ = select.select([0, listener.fileno()], [], [], left_s)
            if 0 in ready and not os.read(0, 1):
                return
            if listener.fileno() in ready:
                connection = listener.accept()[0]
                with connection, contextlib.suppress(OSError):
                    answer(connection, token.encode())


def answer(connection: socket.socket, token: bytes) -> None:
    prepare(connection)
    with connection.makefile("rb") as stream:
        if stream.read(len(token)) != token:
            return
        while len(asked := stream.read(SIZE)) == SIZE and asked[:1] not in b"GP":
            if asked.startswith(b"R"):
                asked = str(resent(connection)).encode().ljust(SIZE)
            connection.sendall(asked)
    until = time.monotonic() + 2 * STREAM_S
    while asked.startswith(b"G") and time.monotonic() < until:
        connection.sendall(CHUNK)
    while asked.startswith(b"P") and time.monotonic() < until and connection.recv(1 << 18):
        pass


def ask(host: str, port: int, token: str) -> None:
    try:
        connection = socket.create_connection((host, port), PATIENCE_S)
    except OSError as error:
        print(json.dumps({"unconnected": reason(error)}))
        return
    with connection, connection.makefile("rb") as stream:
        prepare(connection)
        connection.sendall(token.encode())
        trips: list[int] = []
        first = time.monotonic()
        while goes_on(len(trips), time.monotonic() - first):
            began = time.perf_counter_ns()
            connection.sendall(b"E" * SIZE)
            if len(stream.read(SIZE)) < SIZE:
                raise OSError("the other end closed the connection")
            trips.append((time.perf_counter_ns() - began) // 1000)
        again = resent(connection)
        connection.sendall(b"R" * SIZE)
        again += int(stream.read(SIZE) or 0)
        connection.sendall(b"G" * SIZE)
        got, began = 0, time.perf_counter_ns()
        while (now := time.perf_counter_ns()) - began < STREAM_S * 1e9:
            try:
                more = len(connection.recv(1 << 18))
            except TimeoutError:
                break
            if not more:
                break
            got += more
    seconds = max(now - began, 1) / 1e9
    figures = {"trips_us": trips, "bytes": got, "seconds": seconds, **put(host, port, token)}
    print(json.dumps({**figures, "segments": 2 * len(trips), "resent": again}))


def put(host: str, port: int, token: str) -> dict[str, float]:
    """Send as fast as the link allows: bytes acknowledged. Empty: they are not counted."""
    with socket.create_connection((host, port), PATIENCE_S) as connection:
        prepare(connection)
        # Closing discards what was not sent yet.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(token.encode() + b"P" * SIZE)
        began = time.perf_counter_ns()
        with contextlib.suppress(TimeoutError):
            while time.perf_counter_ns() - began < STREAM_S * 1e9:
                connection.sendall(CHUNK)
        took = time.perf_counter_ns() - began
        known = info(connection, ACKNOWLEDGED_AT, "Q")
    return {"put_bytes": known, "put_seconds": took / 1e9} if known else {}


def goes_on(trips: int, for_s: float) -> bool:
    """Return whether another exchange is wanted."""
    if trips < EXCHANGES:
        return trips < FEW or for_s < FEW_AFTER_S
    return trips < MOST_EXCHANGES and for_s < MORE_FOR_S


def resent(connection: socket.socket) -> int:
    """Return the segments that this end had to retransmit."""
    return info(connection, RESENT_AT, "I")


def info(connection: socket.socket, at: int, kind: str) -> int:
    """Return a field of the kernel's `struct tcp_info`; 0: unknown."""
    try:
        size = at + struct.calcsize(kind)
        known = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, size)
        return int(struct.unpack_from(kind, known, at)[0])
    except (OSError, AttributeError, struct.error):
        return 0


def prepare(connection: socket.socket) -> None:
    connection.settimeout(PATIENCE_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def main() -> None:
    try:
        if sys.argv[1] == "serve":
            serve(*sys.argv[2:])
        else:
            _, _, host, port, token = sys.argv
            ask(host, int(port), token)
    except OSError as error:
        print(json.dumps({"error": reason(error)}), flush=True)


if __name__ == "__main__":
    main()
