"""Measures the way from one machine to another, for a second.

A single file for the standard library of Python 3.10 or later.

    linkprobe.py serve HOST TOKEN           prints {"port": N}, serves whoever knows the token,
                                            until its stdin ends or after LONGEST_S
    linkprobe.py ask HOST PORT TOKEN        prints {"trips_us": [...], "bytes": N, "seconds": S}

A connection begins with the token. Small exchanges come back as they were sent; after "G" the
server sends as fast as the link takes it until the other end closes, or for STREAM_S and a little.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import sys
import time

EXCHANGES = 50
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
    if exactly(connection, len(token)) != token:
        return
    while (asked := exactly(connection, SIZE)) and not asked.startswith(b"G"):
        connection.sendall(asked)
    until = time.monotonic() + 2 * STREAM_S
    while asked and time.monotonic() < until:
        connection.sendall(CHUNK)


def ask(host: str, port: int, token: str) -> None:
    with socket.create_connection((host, port), PATIENCE_S) as connection:
        prepare(connection)
        connection.sendall(token.encode())
        trips = []
        for _ in range(EXCHANGES):
            began = time.perf_counter_ns()
            connection.sendall(b"E" * SIZE)
            if not exactly(connection, SIZE):
                raise OSError("the other end closed the connection")
            trips.append((time.perf_counter_ns() - began) // 1000)
        connection.sendall(b"G" * SIZE)
        got, began = 0, time.perf_counter_ns()
        while (now := time.perf_counter_ns()) - began < STREAM_S * 1e9:
            more = len(connection.recv(1 << 18))
            if not more:
                break
            got += more
    seconds = max(now - began, 1) / 1e9
    print(json.dumps({"trips_us": trips, "bytes": got, "seconds": seconds}))


def prepare(connection: socket.socket) -> None:
    connection.settimeout(PATIENCE_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes; none: the other end closed."""
    got = b""
    while len(got) < count:
        more = connection.recv(count - len(got))
        if not more:
            return b""
        got += more
    return got


def main() -> None:
    try:
        if sys.argv[1] == "serve":
            serve(*sys.argv[2:])
        else:
            _, _, host, port, token = sys.argv
            ask(host, int(port), token)
    except OSError as error:
        print(json.dumps({"error": (error.strerror or str(error)).lower()}), flush=True)


if __name__ == "__main__":
    main()
