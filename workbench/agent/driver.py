"""The hot path: connections as callbacks of the event loop, no greenlet per connection.

Nine tenths of what a connection costs are the kernel's, so this saves system calls before it
saves Python: the request is sent without waiting for the connection to be reported writable
(over loopback and on a short wire it is established by then; elsewhere one refused send is
the price), sockets are registered once, and the object and the watcher of a finished
connection serve the next one.
"""

from __future__ import annotations

import _socket
import errno
import socket
from collections import deque
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from .parser import ProtocolError, Response, parse
from .protocol import LATE_NS, Load
from .tally import Tally

READ, WRITE = 1, 2
_STREAM = socket.SOCK_STREAM | getattr(socket, "SOCK_NONBLOCK", 0)
_RECEIVE = 65_536
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


def error_name(number: int) -> str:
    """httperf's class of an errno; what it has no class for is `other-` and its name."""
    return _CLASSES.get(number) or "other-" + errno.errorcode.get(number, str(number))


class Connection:
    """One connection; when it is over, the object waits in `Driver.idle` for the next."""

    __slots__ = ("asked", "data", "due", "left", "sent", "sock", "watcher")

    sock: Any
    due: int
    sent: int
    """When the current call was begun, in ns; the first call begins with connecting."""
    left: int
    """Calls not answered yet."""
    asked: int
    """Requests sent and not answered yet."""
    data: bytes

    def __init__(self) -> None:
        self.watcher: Any = None


class Driver:
    """Begins connections, follows each to its end, and tells the tally what happened."""

    def __init__(self, loop: Any, load: Load, tally: Tally, vacated: Callable[[], None]) -> None:
        self.loop = loop
        self.tally = tally
        self.vacated = vacated
        """Called when a connection has ended."""
        self.open: dict[Connection, None] = {}
        """In the order in which they were begun."""
        self.thinking: deque[tuple[int, Connection]] = deque()
        """(due, connection) between a reply and the next call, by due."""
        self.idle: list[Connection] = []
        self.calls = load.calls_per_connection
        self.pipeline = min(load.pipeline, self.calls)
        self.request = load.request()
        self.think_ns = round(load.think_time_s * 1e9)
        self.timeout_ns = round(load.timeout_s * 1e9)
        self.family = socket.AF_INET6 if ":" in load.host else socket.AF_INET
        self.address = (load.host, load.port)
        self.replies: dict[bytes, Response] = {}

    def begin(self, due: int) -> bool:
        """Start the connection that was due at `due` (ns); False if it failed at once."""
        tally = self.tally
        now = monotonic_ns()
        tally.sent += self.calls
        tally.lateness.append(now - due)
        if now - due > LATE_NS:
            tally.late += self.calls
        try:
            sock = _socket.socket(self.family, _STREAM)
        except OSError as error:
            tally.errors[error_name(error.errno or 0)] += self.calls
            return False
        connection = self.idle.pop() if self.idle else Connection()
        connection.sock = sock
        connection.due = due
        connection.sent = now
        connection.left = self.calls
        connection.asked = self.pipeline
        connection.data = b""
        code = sock.connect_ex(self.address)
        try:
            if code and code != errno.EINPROGRESS:
                raise OSError(code, "connect")
            sock.send(self.request * self.pipeline if self.pipeline > 1 else self.request)
        except BlockingIOError:
            self.watch(connection, WRITE, self.on_writable)
        except OSError as error:
            tally.errors[error_name(error.errno or 0)] += self.calls
            sock.close()
            self.idle.append(connection)
            return False
        else:
            tally.established += 1
            tally.connect.append(monotonic_ns() - now)
            self.watch(connection, READ, self.on_readable)
        self.open[connection] = None
        return True

    def watch(
        self, connection: Connection, events: int, callback: Callable[[Connection], None]
    ) -> None:
        watcher = connection.watcher
        if watcher is None:
            watcher = connection.watcher = self.loop.io(connection.sock.fileno(), events)
        else:
            # Setting fd makes libev register it anew, although the number may be the same.
            watcher.fd = connection.sock.fileno()
            watcher.events = events
        watcher.start(callback, connection)

    def on_writable(self, connection: Connection) -> None:
        try:
            connection.sock.send(self.request * self.pipeline)
        except BlockingIOError:
            return
        except OSError as error:
            self.lose(connection, error_name(error.errno or 0))
            return
        self.tally.established += 1
        self.tally.connect.append(monotonic_ns() - connection.sent)
        connection.watcher.stop()
        self.watch(connection, READ, self.on_readable)

    def on_readable(self, connection: Connection) -> None:
        raise NotImplementedError

    def understand(self, data: bytes, closed: bool) -> Response | None:
        """`parse`, remembering complete replies: servers say the same thing over and over."""
        response = self.replies.get(data)
        if response is None:
            response = parse(data, closed)
            if response is not None and response.end == len(data):
                if len(self.replies) >= _REMEMBERED:
                    self.replies.clear()
                self.replies[data] = response
        return response

    def lose(self, connection: Connection, error: str) -> None:
        """All calls left on the connection inherit its error."""
        self.tally.errors[error] += connection.left
        self.end(connection)

    def end(self, connection: Connection) -> None:
        connection.watcher.stop()
        connection.sock.close()
        del self.open[connection]
        self.idle.append(connection)
        self.vacated()

    def expire(self, now: int) -> None:
        """End the calls begun longer than the timeout ago."""
        limit = now - self.timeout_ns
        overdue = []
        for connection in self.open:
            if connection.sent <= limit:
                overdue.append(connection)
            elif self.calls == 1:
                break
        for connection in overdue:
            if connection.left:
                self.lose(connection, "client-timo")
            else:
                self.end(connection)

    def close(self) -> int:
        """Drop what is open; how many calls were in flight."""
        in_flight = sum(connection.left for connection in self.open)
        for connection in self.open:
            connection.watcher.stop()
            connection.sock.close()
        for connection in [*self.open, *self.idle]:
            if connection.watcher is not None:
                connection.watcher.close()
        self.open.clear()
        self.idle.clear()
        self.thinking.clear()
        return in_flight


class PongDriver(Driver):
    """Read until the server closes; a 2xx status and the whole body make a success.

    What comes after the body is accepted here, and only here: the source's servers send
    `Pong!` CR LF after `Content-Length: 5`. A reset after a complete reply is a success, too:
    servers that close without having read the request cause it.
    """

    def on_readable(self, connection: Connection) -> None:
        sock = connection.sock
        reset = 0
        try:
            data = sock.recv(_RECEIVE)
            if data:
                if not connection.data:
                    self.tally.first_byte.append(monotonic_ns() - connection.sent)
                    connection.data = data
                else:
                    connection.data += data
                while data := sock.recv(_RECEIVE):
                    connection.data += data
        except BlockingIOError:
            return
        except OSError as error:
            reset = error.errno or errno.ECONNRESET
        now = monotonic_ns()
        tally = self.tally
        try:
            response = self.replies.get(connection.data) or self.understand_all(connection.data)
        except ProtocolError:
            tally.errors[error_name(reset) if reset else "protocol"] += 1
        else:
            if 200 <= response.status < 300:
                tally.replies += 1
                tally.latency.append(now - connection.due)
                tally.service.append(now - connection.sent)
            else:
                tally.errors[f"protocol-{response.status}"] += 1
        self.end(connection)

    def understand_all(self, data: bytes) -> Response:
        response = parse(data, closed=True)
        if response is None:
            raise ProtocolError("incomplete")
        if len(self.replies) >= _REMEMBERED:
            self.replies.clear()
        self.replies[data] = response
        return response


class HttpDriver(Driver):
    """HTTP/1.0 and 1.1, one call or many on a connection, one at a time or pipelined."""

    def on_readable(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(_RECEIVE)
        except BlockingIOError:
            return
        except OSError as error:
            self.lose(connection, error_name(error.errno or 0))
            return
        if not connection.left:
            # All calls are answered and the server said that it closes.
            self.end(connection)
            return
        if data and not connection.data:
            self.tally.first_byte.append(monotonic_ns() - connection.sent)
        try:
            self.digest(connection, connection.data + data, closed=not data)
        except ProtocolError:
            self.lose(connection, "protocol")

    def digest(self, connection: Connection, data: bytes, closed: bool) -> None:
        """Take all whole replies from `data`, then go on with what the last one allows."""
        response = self.replies.get(data) or self.understand(data, closed)
        while response is not None:
            if not 200 <= response.status < 300:
                self.lose(connection, f"protocol-{response.status}")
                return
            self.answered(connection)
            data = data[response.end :]
            if not connection.asked:
                break
            if not response.keep_alive:
                raise ProtocolError("closed before all calls were answered")
            response = self.understand(data, closed)
        connection.data = data
        if response is None:
            return
        if data:
            raise ProtocolError("bytes after the last reply")
        if connection.left and response.keep_alive:
            self.ask_again(connection)
        elif connection.left:
            raise ProtocolError("closed before all calls were answered")
        elif response.keep_alive or closed:
            self.end(connection)
        # Otherwise the server said that it closes: wait for it, so that the connection's
        # TIME_WAIT is where the protocol puts it, and not on one of our ports.

    def answered(self, connection: Connection) -> None:
        tally = self.tally
        now = monotonic_ns()
        tally.replies += 1
        tally.latency.append(now - connection.due)
        tally.service.append(now - connection.sent)
        connection.left -= 1
        connection.asked -= 1

    def ask_again(self, connection: Connection) -> None:
        """The next call, at once or after the think time."""
        now = monotonic_ns()
        if self.think_ns:
            # Not to be timed out meanwhile: nothing is asked.
            connection.sent = now + self.think_ns
            self.thinking.append((now + self.think_ns, connection))
        else:
            self.ask(connection, now, now)

    def ask(self, connection: Connection, due: int, now: int) -> None:
        connection.due = due
        connection.sent = now
        connection.asked = asked = min(self.pipeline, connection.left)
        try:
            connection.sock.send(self.request * asked if asked > 1 else self.request)
        except OSError as error:
            # A full send buffer (BlockingIOError) cannot be: all earlier requests were answered.
            self.lose(connection, error_name(error.errno or 0))


def driver_for(load: Load) -> type[Driver]:
    return PongDriver if load.protocol == "pong" else HttpDriver
