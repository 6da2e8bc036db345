"""The server of every planted point: `server.py MODE[:ARG] HOST PORT BACKLOG`.

Speaks HTTP/1.0 and HTTP/1.1, with connections that are kept where the client asks. Modes:
    good              answers at once
    takes:S           answers each call after S seconds, all at the same time
    scatters:S        answers each call after 0 to S seconds, evenly distributed
    few:S             as takes, and gives itself no more than `DESCRIPTORS`
    rises:S           takes S seconds more for a call for each second since the first one
    pool:S            as takes, but no more than `POOL` calls at the same time
    serial:S          serves one call at a time and sleeps S seconds over each
    spins:S           uses S seconds of the processor for each call
    paced:R           answers R calls a second at most, by the clock, one after another
    varies:R          as paced, but each second at a rate within 5 % of R, by chance
    stalls:R          as paced, but stalls for 0.3 s every 20 s or so, randomly
and those that are faulty, after the first `GOOD` calls:
    500  busy (503 for every third)  garbage  short  empty  reset  half-reset  early
    cut-early
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import random
import resource
import socket
import struct
import sys
import time
from collections.abc import Callable

GOOD = 60
"""Calls that are answered well: what is tried before a run is not enough to show the fault."""
POOL = 100
"""Calls; the others wait."""
DESCRIPTORS = 40
GOLDEN = (5**0.5 - 1) / 2
"""Its multiples are distributed more evenly than by chance."""
BODY = b"Content-Type: text/plain\r\nContent-Length: 5\r\n\r\nPong!"
EARLY = 3
"""Calls on a connection, of those agreed, after which it is closed."""


class Serving(asyncio.Protocol):
    """One connection."""

    calls = 0
    """Of all connections."""
    began = 0.0
    """When the first call came; 0: none did."""
    free = 0.0
    """When all calls so far are answered, at a pace."""
    ends = [0.0] * POOL
    """When each of a pool is free, the first one first."""

    def __init__(self, mode: str, argument: float) -> None:
        self.mode, self.argument = mode, argument
        self.pace = PACES.get(mode)
        self.here = 0
        self.old = False
        self.rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self.rest = (self.rest + data).split(b"\r\n\r\n")
        for request in requests:
            Serving.calls += 1
            self.here += 1
            if self.transport.is_closing():
                return
            self.old = b" HTTP/1.0" in request
            asked = request.lower()
            self.answer(
                b"connection: keep-alive" not in asked
                if self.old
                else b"connection: close" in asked
            )

    def answer(self, last: bool) -> None:
        turn = FAULTS.get(self.mode)
        if turn and Serving.calls > GOOD:
            turn(self, last)
        elif self.pace:
            loop = asyncio.get_running_loop()
            Serving.free = max(loop.time(), Serving.free) + self.pace(loop.time(), self.argument)
            loop.call_at(Serving.free, self.well, last)
        elif self.mode == "pool":
            loop = asyncio.get_running_loop()
            end = max(loop.time(), Serving.ends[0]) + self.argument
            heapq.heapreplace(Serving.ends, end)
            loop.call_at(end, self.well, last)
        elif self.mode in DELAYS:
            loop = asyncio.get_running_loop()
            Serving.began = Serving.began or loop.time()
            delay = DELAYS[self.mode](self.argument, loop.time() - Serving.began)
            loop.call_later(delay, self.well, last)
        else:
            if self.mode == "serial":
                time.sleep(self.argument)
            elif self.mode == "spins":
                until = time.thread_time() + self.argument
                while time.thread_time() < until:
                    pass
            self.well(last)

    def well(self, last: bool, status: bytes = b"200 OK") -> None:
        if not self.transport.is_closing():
            kept = b"Connection: keep-alive\r\n" if self.old and not last else b""
            version = b"HTTP/1.0 " if self.old or last else b"HTTP/1.1 "
            self.transport.write(version + status + b"\r\n" + kept + BODY)
            if last:
                self.transport.close()

    def internal_error(self, last: bool) -> None:
        self.well(last, b"500 Internal Server Error")

    def busy(self, last: bool) -> None:
        self.well(last, b"503 Service Unavailable" if Serving.calls % 3 == 0 else b"200 OK")

    def garbage(self, last: bool) -> None:
        self.transport.write(b"220 mail.example ESMTP\r\n\r\n")
        self.transport.close()

    def short(self, last: bool) -> None:
        self.transport.write(b"HTTP/1.1 200 OK\r\n" + BODY[:-3])
        self.transport.close()

    def empty(self, last: bool) -> None:
        self.transport.close()

    def reset(self, last: bool) -> None:
        its_socket = self.transport.get_extra_info("socket")
        its_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def half_reset(self, last: bool) -> None:
        self.transport.write(b"HTTP/1.1 200 OK\r\n" + BODY[:-3])
        self.reset(last)

    def early(self, last: bool) -> None:
        self.well(last or self.here >= EARLY)

    def cut_early(self, last: bool) -> None:
        if self.here >= EARLY:
            self.reset(last)
        else:
            self.well(last)


FAULTS: dict[str, Callable[[Serving, bool], None]] = {
    "500": Serving.internal_error,
    "busy": Serving.busy,
    "garbage": Serving.garbage,
    "short": Serving.short,
    "empty": Serving.empty,
    "reset": Serving.reset,
    "half-reset": Serving.half_reset,
    "early": Serving.early,
    "cut-early": Serving.cut_early,
}


def paced(now: float, per_s: float) -> float:
    return 1 / per_s


def varies(now: float, per_s: float) -> float:
    return 1 / (per_s * random.Random(int(now)).uniform(0.95, 1.05))


def stalls(now: float, per_s: float) -> float:
    return 1 / per_s + 0.3 * (random.random() < 1 / (20 * per_s))


PACES: dict[str, Callable[[float, float], float]] = {
    "paced": paced,
    "varies": varies,
    "stalls": stalls,
}
"""Seconds until the next call is answered, by the time and the calls a second."""


DELAYS: dict[str, Callable[[float, float], float]] = {
    "takes": lambda seconds, since: seconds,
    "few": lambda seconds, since: seconds,
    "scatters": lambda longest, since: longest * (Serving.calls * GOLDEN % 1),
    "rises": lambda more, since: more * since,
}
"""Seconds that a call takes, by the argument and the seconds since the first call."""


async def main(mode: str, host: str, port: str, backlog: str) -> None:
    name, _, argument = mode.partition(":")
    if name == "few":
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    server = await asyncio.get_running_loop().create_server(
        lambda: Serving(name, float(argument or 0)), host, int(port), backlog=int(backlog)
    )
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(*sys.argv[1:]))
