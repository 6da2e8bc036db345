"""What all protocols share: beginning connections, and what becomes of them.

gevent runs the worker; to its event loop all connections together are one readable descriptor,
an epoll set, without a greenlet or a watcher for each. Nine tenths of what a connection costs
are the kernel's, so this saves system calls before it saves Python: the request is sent without
waiting for the connection to be reported writable (over loopback and on a short wire it is
established by then; elsewhere one refused send is the price), a socket is registered once, and
since epoll tells with the data that the server has closed, nothing is read a second time only
to learn that. What is left of Python is mostly looking up attributes, which is why the hot paths
are closures.
"""

from __future__ import annotations

import errno
import select
import socket
from collections import deque
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from .parser import Response, parse
from .protocol import Load
from .tally import Tally

STREAM = socket.SOCK_STREAM | socket.SOCK_NONBLOCK
READING = select.EPOLLIN | select.EPOLLRDHUP
WRITING = select.EPOLLOUT
CLOSED = select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR
AT_ONCE = 128
"""Events taken at a time; then what is due is started before more is looked at."""
RECEIVE = 16_384
RECEIVE_SMALL = 448
"""Of which Python makes the bytes object without asking malloc; enough for most small replies."""
_REMEMBERED = 64
"""Distinct replies whose parsing is remembered; a Date header makes a new one each second."""

_CLASSES = {
    errno.ECONNREFUSED: "connrefused",
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
    """httperf's class of an error; what it has no class for is `other-` and its name."""
    number = error.errno or 0
    return _CLASSES.get(number) or "other-" + errno.errorcode.get(number, str(number))


class Connection:
    """One connection. Times are in ns of the monotonic clock."""

    __slots__ = ("asked", "data", "due", "fast", "fd", "left", "sent", "sock")

    sock: Any
    fd: int
    due: int
    sent: int
    """When the current call was begun; the first call begins with connecting."""
    left: int
    """Calls not answered yet."""
    asked: int
    """Requests sent and not answered yet."""
    data: bytes
    """Received and not understood yet."""
    fast: int
    """See `http.HttpDriver`."""

    def __init__(self) -> None:
        self.left = 1
        self.fast = 0
        self.data = b""


class Driver:
    """Begins connections, follows each to its end, and tells the tally what happened."""

    begin: Callable[[int, int], bool]
    """Start, now, the connection that was due at a time: (due, now) in ns. False if it failed at
    once."""
    on_events: Callable[[], None]
    """Some connections can be read, or written for the first time."""

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        self.load = load
        self.tally = tally
        self.replace: Callable[[int], None] | None = None
        """Closed loop: called (with the time) when a connection has ended."""
        self.open: dict[int, Connection] = {}
        """By descriptor, in the order in which they were begun."""
        self.idle: list[Connection] = []
        """Objects of connections that have ended, to be used again."""
        self.thinking: deque[tuple[int, Connection]] = deque()
        """(due, connection) between a reply and the next call, by due."""
        self.calls = load.calls_per_connection
        self.request = load.request()
        self.timeout_ns = round(load.timeout_s * 1e9)
        self.family = socket.AF_INET6 if ":" in load.host else socket.AF_INET
        self.address = (load.host, load.port)
        self.replies: dict[bytes, Response] = {}
        """Whole replies understood before."""
        self.epoll = select.epoll()
        self.watcher = loop.io(self.epoll.fileno(), 1)

    def start(self) -> None:
        self.watcher.start(self.on_events)

    def not_begun(self, sock: Any, error: OSError) -> bool:
        """It failed before anything was sent."""
        self.tally.errors[error_name(error)] += self.calls
        if sock is not None:
            sock.close()
        return False

    def connected(self, connection: Connection, request: bytes) -> None:
        """It could not be written to at once, and now it can."""
        try:
            connection.sock.send(request)
        except OSError as error:
            self.lose(connection, error_name(error))
            return
        self.tally.connect.append(monotonic_ns() - connection.sent)
        self.epoll.modify(connection.fd, READING)

    def understand(self, data: bytes, closed: bool) -> Response | None:
        """`parse`, remembering whole replies: servers say the same thing over and over."""
        response = parse(data, closed)
        if response is not None and response.end == len(data):
            if len(self.replies) >= _REMEMBERED:
                self.replies.clear()
            self.replies[data] = response
        return response

    def lose(self, connection: Connection, error: str) -> None:
        """All calls left on the connection inherit its error."""
        self.tally.errors[error] += calls_left(connection)
        self.end(connection)

    def end(self, connection: Connection) -> None:
        del self.open[connection.fd]
        connection.sock.close()
        connection.data = b""
        self.idle.append(connection)
        if self.replace:
            self.replace(monotonic_ns())

    def expire(self, now: int) -> None:
        """End the calls begun longer than the timeout ago."""
        limit = now - self.timeout_ns
        overdue = []
        for connection in self.open.values():
            if connection.sent <= limit:
                overdue.append(connection)
            elif self.calls == 1:
                break
        for connection in overdue:
            if connection.left:
                self.lose(connection, "client-timo")
            else:
                self.end(connection)

    def calls_in_flight(self) -> int:
        return sum(map(calls_left, self.open.values()))

    def close(self) -> int:
        """Drop what is open; how many calls were in flight."""
        in_flight = self.calls_in_flight()
        for connection in self.open.values():
            connection.sock.close()
        self.open.clear()
        self.thinking.clear()
        self.watcher.stop()
        self.watcher.close()
        self.epoll.close()
        return in_flight


def calls_left(connection: Connection) -> int:
    """Calls of the connection that were not answered yet."""
    return connection.fast + 1 if connection.fast else connection.left
