"""How connections of the WebSocket driver begin, are written to, and are lost."""

from __future__ import annotations

import _socket
import errno
from collections import deque
from time import monotonic_ns
from typing import Any

from workbench.remote.agent.driver import READING, STREAM, WRITING, Driver, error_name
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.tally import Tally
from workbench.remote.agent.websocket import CONTINUATION, TEXT, accept_of, handshake, new_key

CONNECTING, SHAKING, OPEN, CLOSING, LOST = range(5)
"""States of a connection: waits for TCP, for the server's handshake, is held, waits for the
server's close, is no more."""


class Awaited:
    """Something that the server has to answer in time."""

    __slots__ = ("begun", "connection", "due", "expected", "kind", "sent")

    def __init__(self, connection: Connection, kind: int, due: int, begun: int) -> None:
        self.connection: Connection | None = connection
        """None: answered or lost."""
        self.kind = kind
        """CONTINUATION: the handshake; TEXT: an echo; PONG; CLOSE."""
        self.due = due
        self.begun = begun
        self.sent = 0
        """Of a message; 0: it waits for its connection."""
        self.expected = b""
        """The whole frame, as servers usually send it; of a handshake its Sec-WebSocket-Accept."""


class Connection:
    """One connection. There may be a hundred thousand, so this is small."""

    __slots__ = ("awaited", "counted", "data", "error", "fd", "sock", "state")

    def __init__(self) -> None:
        self.sock: Any = None
        self.fd = -1
        self.state = CONNECTING
        self.awaited: list[Awaited] | None = None
        """In the order of sending; None: nothing."""
        self.data: bytes | bytearray = b""
        """Received and not understood yet."""
        self.error = ""
        """Why it was lost, or will be once all that came is read."""
        self.counted = False
        """Whether its own call was answered or lost."""


def closed_by(code: int) -> str:
    """Return the error of a connection that the server closed with a code."""
    return f"protocol-close-{code}"


class Connections(Driver):
    """All connections of a worker."""

    open: dict[int, Connection]

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        self.before_key, self.after_key = handshake(
            load.host,
            load.port,
            load.options.get("path", "/"),
            load.options.get("authority", ""),
        )
        self.again_ns = round(load.options.get("reconnect_s", 0) * 1e9)
        self.asked = 0
        """Messages sent and not answered yet."""
        self.fragments: dict[int, tuple[int, bytearray]] = {}
        """By descriptor, the opcode and the payload of a message that came in part."""
        self.unsent: dict[int, bytes] = {}
        """By descriptor, what the socket's buffer has no room for."""
        self.leaving: set[Connection] = set()
        """Their last pong has come, but not all echoes."""
        self.deadlines: deque[Awaited] = deque()
        """By `begun`."""
        self.lost: deque[tuple[int, Connection]] = deque()
        """(when to reconnect, connection)."""
        self.pings_from = 0
        """When the ping round begins."""

    def connect(self, connection: Connection, now: int) -> bool:
        """Begin a handshake. Returns False if that failed at once."""
        sock = None
        try:
            sock = connection.sock = self.new_socket(self.family, STREAM)
            code = sock.connect_ex(self.address)
            if code not in (0, errno.EINPROGRESS):
                raise OSError(code, "connect")
        except OSError as error:
            connection.awaited = None
            if sock is not None:
                sock.close()
            self.count(connection, error_name(error))
            self.lose_later(connection)
            return False
        connection.fd = sock.fileno()
        connection.state = CONNECTING
        connection.data, connection.error = b"", ""
        self.open[connection.fd] = connection
        self.await_(connection, CONTINUATION, now, now)
        self.epoll.register(connection.fd, WRITING)
        return True

    def connected(self, connection: Connection) -> None:
        """Send the handshake when TCP has connected."""
        code = connection.sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR)
        if code:
            self.lose(connection, error_name(OSError(code, "connect")))
            return
        key = new_key()
        assert connection.awaited
        connection.awaited[0].expected = accept_of(key)
        connection.state = SHAKING
        self.epoll.modify(connection.fd, READING)
        self.send(connection, self.before_key + key + self.after_key)

    def await_(self, connection: Connection, kind: int, due: int, now: int) -> Awaited:
        awaited = Awaited(connection, kind, due, now)
        if connection.awaited is None:
            connection.awaited = [awaited]
        else:
            connection.awaited.append(awaited)
        self.deadlines.append(awaited)
        return awaited

    def settle(self, connection: Connection, awaited: Awaited) -> None:
        assert connection.awaited
        awaited.connection = None
        connection.awaited.remove(awaited)
        if not connection.awaited:
            connection.awaited = None

    def send(self, connection: Connection, data: bytes) -> None:
        """Send. Where that fails, the connection's end is about to be read."""
        unsent = self.unsent
        if unsent and connection.fd in unsent:
            unsent[connection.fd] += data
            return
        try:
            sent = connection.sock.send(data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            # What came before the end is read first, and then the end.
            connection.error = connection.error or error_name(error)
            return
        if sent < len(data):
            unsent[connection.fd] = data[sent:]
            self.epoll.modify(connection.fd, READING | WRITING)

    def flush(self, connection: Connection) -> None:
        """Send what the socket's buffer had no room for."""
        data = self.unsent.pop(connection.fd, b"")
        self.epoll.modify(connection.fd, READING)
        self.send(connection, data)

    def ended(self, connection: Connection, error: str) -> None:
        """The server has closed or reset."""
        if connection.state == CLOSING:
            error = connection.error
        self.lose(connection, error)

    def lose(self, connection: Connection, error: str, data: bytes = b"") -> None:
        """Count what a connection has left with its error, and end it."""
        if connection.state == LOST:
            return
        calls = 0
        for awaited in connection.awaited or ():
            awaited.connection = None
            if awaited.kind == TEXT:
                calls += 1
                self.asked -= awaited.sent > 0
        connection.awaited = None
        self.count(connection, error, calls, data)
        del self.open[connection.fd]
        self.fragments.pop(connection.fd, None)
        self.unsent.pop(connection.fd, None)
        self.leaving.discard(connection)
        connection.sock.close()
        self.lose_later(connection)

    def count(
        self, connection: Connection, error: str, messages: int = 0, data: bytes = b""
    ) -> None:
        """Count lost calls: messages, and the connection itself unless that was done before."""
        connection.error = error
        calls = messages + (not connection.counted)
        connection.counted = True
        if calls:
            self.tally.lose(error, calls, data)

    def lose_later(self, connection: Connection) -> None:
        """Forget what a lost connection held, and reconnect it later."""
        was_leaving = connection.state == CLOSING
        connection.state = LOST
        connection.sock = None
        connection.data = b""
        now = monotonic_ns()
        if self.again_ns and not was_leaving and now + self.again_ns < self.pings_from:
            self.lost.append((now + self.again_ns, connection))
