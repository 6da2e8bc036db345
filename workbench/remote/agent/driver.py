"""What all workloads share: starting connections and following them to their end.

gevent runs the worker; to its event loop all connections together are one readable descriptor,
an epoll set, without a greenlet or a watcher for each: system calls are what costs (see
docs/decisions.md). The request is sent without waiting for the connection to be reported writable:
over loopback and on a short wire it is established by then; elsewhere one refused send is the
price. What is left of Python is mostly looking up attributes, so the hot paths are closures.
"""

from __future__ import annotations

import errno
import select
import socket
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from .addresses import destination, sockets
from .protocol import Load
from .request import Wanted
from .tally import Tally

STREAM = socket.SOCK_STREAM | socket.SOCK_NONBLOCK
READING = select.EPOLLIN | select.EPOLLRDHUP
WRITING = select.EPOLLOUT
CLOSED = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR
CLOSED_WELL = select.EPOLLRDHUP
"""Alone of `CLOSED`: without a reset."""
AT_ONCE = 64
"""The most events processed before connections that have become due are started."""
BURST = 32
"""The most connections started before the event loop reads replies again."""
RECEIVE = 16_384
LARGE = 262_144
"""Bytes read at once of what is longer, into one buffer; then others have their turn."""
RECEIVE_SMALL = 448
"""Small enough for Python to allocate the bytes object without malloc; enough for most replies."""

_CLASSES = {
    errno.ECONNREFUSED: "connrefused",
    errno.ENOTCONN: "connrefused",  # by a Unix socket whose accept queue is full
    errno.ECONNRESET: "connreset",
    errno.EPIPE: "connreset",
    errno.ECONNABORTED: "connreset",
    errno.ETIMEDOUT: "socket-timo",
    errno.EADDRNOTAVAIL: "addrunavail",
    errno.EADDRINUSE: "addrunavail",
    errno.EMFILE: "fd-unavail",
    errno.ENFILE: "ftab-full",
}


def error_name(error: OSError) -> str:
    """Return httperf's class of an error; others are `other-` and the name, or `tls-` and why."""
    if why := getattr(error, "kind", ""):  # `tls.TlsFailure`, which is imported for TLS only.
        return f"tls-{why}"
    number = error.errno or 0
    return _CLASSES.get(number) or "other-" + errno.errorcode.get(number, str(number))


class Driver:
    """Starts connections, follows each to its end, and reports the outcome to the tally."""

    begin: Callable[[int, int], bool]
    """Start a connection now: (scheduled, now) in ns. Returns False if it failed at once."""
    on_events: Callable[[], bool] = staticmethod(lambda: False)
    """Handle connections that became readable, or writable for the first time, at most `AT_ONCE`.
    Returns whether it left something that can be read."""
    pending: Callable[[], int] | None = None
    """Count calls sent and not answered yet, each for as long as its service time; called after all
    events. None: they are not counted."""
    to_replace = 0
    """Closed loop: connections that have ended and are not replaced yet; see `refill`."""
    open: dict[int, Any]
    """The workload's state of each connection, by descriptor, in the order of starting."""

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        self.load = load
        self.tally = tally
        self.replace: Callable[[int], None] | None = None
        """Closed loop: begins a connection (at the time now) in the place of one that has ended."""
        self.open = {}
        self.calls = load.calls_per_connection
        self.timeout_ns = round(load.timeout_s * 1e9)
        self.family, self.address = destination(load.host, load.port)
        self.new_socket = sockets(load.host, load.addresses)
        self.wanted = Wanted(load.reply, load.options.get("method", "GET"))
        self.replies = self.wanted.replies
        """Whole replies understood before, and as wanted; see `Wanted.replies`."""
        self.epoll = select.epoll()
        self.watcher = loop.io(self.epoll.fileno(), 1)

    def start(self, at_ns: int, on_events: Callable[[], None]) -> None:
        """Begin; the point's clock is 0 at `at_ns`. `on_events`: what calls the one above."""
        self.watcher.start(on_events)

    def expire(self, now: int) -> int:
        """End calls that exceeded the timeout. Returns when (ns) all were found, none ended yet."""
        raise NotImplementedError

    def think(self, now: int) -> int:
        """Send the next call where a think time is over. Returns when (ns) the next is; 0: none."""
        return 0

    def refill(self) -> None:
        """Closed loop: begin connections in the place of those that have ended, one burst.

        Only after all replies are read: connecting takes longer than reading, so the replies would
        wait. And doing the same several times in a row takes the kernel a fifth less time.
        """
        burst = min(self.to_replace, BURST)
        self.to_replace -= burst
        if self.replace:
            for _ in range(burst):
                self.replace(monotonic_ns())

    def last_calls(self) -> None:
        """Closed loop by seconds, at their end: end each connection after the calls it has sent."""

    def calls_in_flight(self) -> int:
        return len(self.open)

    def drop(self) -> None:
        """Drop what is open, without counting it."""
        for connection in self.open.values():
            connection.sock.close()

    def connecting(self) -> Any:
        """Return a socket that has begun to connect. Raises OSError."""
        sock = self.new_socket(self.family, STREAM)
        code = sock.connect_ex(self.address)
        if code and code != errno.EINPROGRESS:
            sock.close()
            raise OSError(code, "connect")
        return sock

    def put(self, connection: Any, data: bytes) -> None:
        """Send, now or when there is space. Raises OSError."""
        sent = 0
        if not connection.unsent:
            try:
                sent = connection.sock.send(data)
            except BlockingIOError:
                sent = 0
        if sent < len(data):
            connection.unsent += data[sent:]
            self.epoll.modify(connection.fd, READING | WRITING)

    def not_begun(self, sock: Any, error: OSError, calls: int = 0) -> bool:
        """Count a connection that failed before anything was sent. `calls`: its own; 0: as all."""
        lost = 1 if self.load.by_call else calls or self.calls
        self.tally.lose(error_name(error), lost)
        if sock is not None:
            sock.close()
        return False

    def report(self) -> dict[str, Any]:
        return {}

    def close(self) -> int:
        """Drop what is open. Returns how many calls were in flight."""
        in_flight = self.calls_in_flight()
        self.drop()
        self.open.clear()
        self.watcher.stop()
        self.watcher.close()
        self.epoll.close()
        return in_flight
