"""WebSocket: connections that are made in a ramp and held, messages by a schedule, a last ping.

A connection is one call, which begins with its handshake and is answered by the pong to its last
ping; so every connection that is refused, closed or silent is one lost call with its own error. A
message is one call, answered by its echo. Message after message goes to the next connection, also
to one that is lost: it is lost with the error of that connection.
"""

from __future__ import annotations

import _socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

from workbench.remote.agent import websocket as wire
from workbench.remote.agent.driver import AT_ONCE, READING, RECEIVE, WRITING, Driver, error_name
from workbench.remote.agent.parser import ProtocolError
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.schedule import share_of
from workbench.remote.agent.tally import Tally

_PING = b"pongbench"
_GOODBYE = wire.NORMAL.to_bytes(2, "big")
_LATE_NS = 1_000_000
_AGAIN_AT_ONCE = 32
"""The most reconnections and pings begun before the event loop reads replies again."""

CONNECTING, SHAKING, OPEN, CLOSING, LOST = range(5)
"""A connection waits for TCP, for the handshake, is held, waits for the close, is no more."""


@dataclass(slots=True, eq=False)
class Awaited:
    """Something that the server has to answer in time."""

    connection: Connection | None
    """None: answered or lost."""
    kind: int
    """CONTINUATION: the handshake; TEXT: an echo; PONG; CLOSE."""
    due: int
    begun: int
    sent: int = 0
    """Of a message; 0: it waits for its connection."""
    expected: bytes = b""
    """The whole frame, as servers usually send it; of a handshake its Sec-WebSocket-Accept."""


@dataclass(slots=True, eq=False)
class Connection:
    """One connection. There may be a hundred thousand, so this is small."""

    sock: Any = None
    fd: int = -1
    state: int = CONNECTING
    awaited: list[Awaited] | None = None
    """In the order of sending; None: nothing."""
    data: bytes | bytearray = b""
    """Received and not understood yet."""
    unsent: bytes = b""
    """What the socket's buffer has no room for."""
    error: str = ""
    """Why it was lost, or will be once all that came is read."""
    counted: bool = False
    """Whether its own call was answered or lost."""


def closed_by(code: int) -> str:
    """Return the error of a connection that the server closed with a code."""
    return f"protocol-close-{code}"


class WorkloadDriver(Driver):
    """Options: `message_size` in bytes, `reconnect_s` (0: never), `path`."""

    open: dict[int, Connection]

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        self.before_key, self.after_key = wire.handshake(
            load.host, load.port, load.options.get("path", "/"), load.options.get("authority", "")
        )
        self.again_ns = round(load.options.get("reconnect_s", 0) * 1e9)
        self.asked = 0
        """Messages sent and not answered yet."""
        self.fragments: dict[int, tuple[int, bytearray]] = {}
        """By descriptor, the opcode and the payload of a message that came in part."""
        self.leaving: set[Connection] = set()
        """Their last pong has come, but not all echoes."""
        self.deadlines: deque[Awaited] = deque()
        """By `begun`."""
        self.lost: deque[tuple[int, Connection]] = deque()
        """(when to reconnect, connection)."""
        self.size: int = load.options["message_size"]
        self.filler = bytes(97 + n % 26 for n in range(self.size))
        self.longest = max(self.size, len(_PING), 125)
        self.all: list[Connection] = []
        """In the order of the ramp, the lost ones included."""
        self.turn = 0
        """Messages so far."""
        self.messages = share_of(load.connections, load.share, load.shares)
        """In the schedule."""
        self.pinged = 0
        """Connections whose turn in the ping round has come."""
        self.held_from = self.at_ns = 0
        self.pings_from = 0
        """When the ping round begins."""
        self.ping_gap_ns = 1e9 / load.held_per_s * load.shares
        self.pong = wire.server_frame(wire.PONG, _PING)
        self.pending = lambda: self.asked
        self.begin = self._begin
        self.on_events = self._on_events

    def start(self, at_ns: int, on_events: Callable[[], None]) -> None:
        load = self.load
        self.at_ns = at_ns
        self.held_from = at_ns + round(load.ramp_s * 1e9)
        self.pings_from = self.held_from + round(load.connections / load.rate_per_s * 1e9)
        super().start(at_ns, on_events)

    def _begin(self, due: int, now: int) -> bool:
        if due < self.held_from:
            connection = Connection()
            self.all.append(connection)
            return self.connect(connection, now)
        if not self.all:
            self.tally.unsent += 1
            return True
        connection = self.all[self.turn % len(self.all)]
        self.turn += 1
        if connection.state >= CLOSING:
            self.tally.errors[connection.error] += 1
            return True
        message = self.await_(connection, wire.TEXT, due, now)
        if connection.state == OPEN:
            self.say(connection, message)
        return True

    def say(self, connection: Connection, message: Awaited) -> None:
        """Send a message: text that no other of the point has, if it is long enough for that."""
        text = (b"%016x" % monotonic_ns())[-self.size :] + self.filler[16:]
        message.expected = wire.server_frame(wire.TEXT, text)
        message.sent = monotonic_ns()
        self.asked += 1
        self.send(connection, wire.client_frame(wire.TEXT, text))

    def _on_events(self) -> bool:
        found = self.epoll.poll(0, AT_ONCE)
        more = len(found) == AT_ONCE
        for fd, events in found:
            connection = self.open.get(fd)
            if connection is None:  # Lost by an event before this one.
                continue
            if events & WRITING:
                if connection.state == CONNECTING:
                    self.connected(connection)
                    continue
                self.flush(connection)
                if connection.state == LOST or not events & ~WRITING:
                    continue
            try:
                data = connection.sock.recv(RECEIVE)
            except BlockingIOError:
                continue
            except OSError as error:
                self.lose(connection, error_name(error))
                continue
            more |= len(data) == RECEIVE
            awaited = connection.awaited
            if not data:
                shaking = connection.state == SHAKING
                closed = "protocol-closed" if shaking else closed_by(wire.ABNORMAL)
                self.lose(connection, connection.error or closed)
            elif awaited and data == awaited[0].expected and not connection.data:
                self.answered(connection, awaited[0])
            else:
                self.received(connection, data)
        return more

    def received(self, connection: Connection, data: bytes) -> None:
        """Understand everything that has come of a connection."""
        if connection.data:
            connection.data += data
        else:
            connection.data = bytearray(data)
        try:
            if connection.state == SHAKING:
                assert connection.awaited
                end = wire.accepted(connection.data, connection.awaited[0].expected)
                if end is None:
                    return
                connection.data = connection.data[end:] or b""
                self.shaken(connection, connection.awaited[0])
            while connection.state in (OPEN, CLOSING):
                frame = wire.parse_frame(connection.data, self.longest)
                if frame is None:
                    return
                connection.data = connection.data[frame.end :] or b""
                if frame.opcode >= wire.CLOSE:
                    self.controlled(connection, frame.opcode, frame.payload)
                else:
                    self.fragment(connection, frame.opcode, frame.payload, frame.final)
        except ProtocolError as error:
            self.lose(connection, f"protocol-{error.kind}", error.body or data)

    def shaken(self, connection: Connection, shake: Awaited) -> None:
        now = monotonic_ns()
        if now - shake.begun > self.timeout_ns:
            self.lose(connection, "client-timo")
            return
        tally = self.tally
        tally.connect.append(now - shake.begun)
        self.settle(connection, shake)
        connection.state = OPEN
        if connection.counted:
            tally.figures["reconnects"] += 1
        else:
            tally.figures["connected"] += 1
            tally.figures["connected_us"] = (now - self.at_ns) // 1000
        for message in connection.awaited or ():
            self.say(connection, message)

    def controlled(self, connection: Connection, opcode: int, payload: bytes) -> None:
        if opcode == wire.PING:
            self.send(connection, wire.client_frame(wire.PONG, payload))
        elif opcode == wire.PONG:  # One that nobody asked for is allowed.
            if payload == _PING and (found := self.first(connection, wire.PONG)):
                self.answered(connection, found)
        elif connection.state == CLOSING:
            wire.close_code(payload)
        else:
            code = wire.close_code(payload)
            self.send(connection, wire.client_frame(wire.CLOSE, payload[:2]))
            self.lose(connection, closed_by(code))

    def fragment(self, connection: Connection, opcode: int, payload: bytes, final: bool) -> None:
        """Take a message or a part of one."""
        begun = self.fragments.get(connection.fd)
        if (opcode == wire.CONTINUATION) != (begun is not None):
            raise ProtocolError("a continuation of nothing, or a message within another")
        if begun is None and not final:
            begun = self.fragments[connection.fd] = (opcode, bytearray())
        if begun is not None:
            opcode, whole = begun
            whole += payload
            if len(whole) > self.longest:
                raise ProtocolError("more than was sent", "body", bytes(whole))
            if not final:
                return
            payload = bytes(whole)
            del self.fragments[connection.fd]
        echo = self.first(connection, wire.TEXT)
        if connection.state == CLOSING and echo is None:
            return
        if echo is None:
            raise ProtocolError("an unsolicited message", "surplus", payload)
        if wire.server_frame(opcode, payload) != echo.expected:
            raise ProtocolError("another message than was sent", "body", payload)
        self.answered(connection, echo)

    def first(self, connection: Connection, kind: int) -> Awaited | None:
        return next((each for each in connection.awaited or () if each.kind == kind), None)

    def answered(self, connection: Connection, awaited: Awaited) -> None:
        """Count an echo or a pong."""
        now = monotonic_ns()
        if now - awaited.begun > self.timeout_ns:
            self.lose(connection, "client-timo")
            return
        self.settle(connection, awaited)
        if awaited.kind == wire.TEXT:
            self.asked -= 1
            self.tally.latency.append(now - awaited.due)
            self.tally.whole_at_once.append(now - awaited.sent)
        else:
            if not connection.counted:
                connection.counted = True
                self.tally.untimed += 1
                self.tally.figures["survivors"] += 1
            self.leaving.add(connection)
        if self.leaving and connection in self.leaving and connection.awaited is None:
            # The server answers the goodbye and closes first (RFC 6455, 7.1.1), so that no port of
            # ours is left in TIME_WAIT.
            self.leaving.remove(connection)
            connection.state = CLOSING
            connection.error = closed_by(wire.NORMAL)
            self.await_(connection, wire.CLOSE, now, now)
            self.send(connection, wire.client_frame(wire.CLOSE, _GOODBYE))

    def think(self, now: int) -> int:
        """Reconnect, and ping each connection once after the schedule, at the pace of the ramp."""
        for _ in range(_AGAIN_AT_ONCE):
            if not self.lost or self.lost[0][0] > now:
                break
            self.connect(self.lost.popleft()[1], monotonic_ns())
        if now < self.pings_from:
            return self.lost[0][0] if self.lost else self.pings_from
        if self.turn < self.messages and now < self.pings_from + self.timeout_ns:
            return now + _LATE_NS  # The last messages are late: they come first.
        self.lost.clear()
        for _ in range(_AGAIN_AT_ONCE):
            if self.pinged == len(self.all):
                return 0
            due = self.pings_from + round(self.pinged * self.ping_gap_ns)
            if due > now:
                return due
            self.ping(self.all[self.pinged])
            self.pinged += 1
        return now

    def ping(self, connection: Connection) -> None:
        if connection.state in (CONNECTING, SHAKING):
            self.lose(connection, "client-timo")
        elif connection.state == OPEN:
            now = monotonic_ns()
            self.await_(connection, wire.PONG, now, now).expected = self.pong
            self.send(connection, wire.client_frame(wire.PING, _PING))

    def expire(self, now: int) -> int:
        deadlines, limit = self.deadlines, now - self.timeout_ns
        while deadlines:
            connection = deadlines[0].connection
            if connection is not None:
                if deadlines[0].begun > limit:
                    break
                self.lose(connection, "client-timo")
            deadlines.popleft()
        return now

    def calls_in_flight(self) -> int:
        messages = sum(
            each.kind == wire.TEXT for one in self.open.values() for each in one.awaited or ()
        )
        return messages + sum(not one.counted for one in self.all)

    def connect(self, connection: Connection, now: int) -> bool:
        """Begin a handshake. Returns False if that failed at once."""
        try:
            sock = connection.sock = self.connecting()
        except OSError as error:
            connection.fd, connection.state = -1, CONNECTING
            self.lose(connection, error_name(error))
            return False
        connection.fd = sock.fileno()
        connection.state = CONNECTING
        connection.data, connection.error = b"", ""
        self.open[connection.fd] = connection
        self.await_(connection, wire.CONTINUATION, now, now)
        self.epoll.register(connection.fd, WRITING)
        return True

    def connected(self, connection: Connection) -> None:
        """Send the handshake when TCP has connected."""
        code = connection.sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR)
        if code:
            self.lose(connection, error_name(OSError(code, "connect")))
            return
        key = wire.new_key()
        assert connection.awaited
        connection.awaited[0].expected = wire.accept_of(key)
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
        """Send. Where that fails, what came before the end is read first, and then the end."""
        try:
            self.put(connection, data)
        except OSError as error:
            connection.error = connection.error or error_name(error)

    def flush(self, connection: Connection) -> None:
        """Send what the socket's buffer had no room for."""
        data, connection.unsent = connection.unsent, b""
        self.epoll.modify(connection.fd, READING)
        self.send(connection, data)

    def lose(self, connection: Connection, error: str, data: bytes = b"") -> None:
        """Count what a connection has left with its error, end it, and reconnect it later."""
        if connection.state == LOST:
            return
        if connection.state == CLOSING:  # Its end was expected.
            error = connection.error
        # The connection itself, unless that was done before, and its messages.
        calls = int(not connection.counted)
        for awaited in connection.awaited or ():
            awaited.connection = None
            if awaited.kind == wire.TEXT:
                calls += 1
                self.asked -= awaited.sent > 0
        connection.error, connection.counted = error, True
        if calls:
            self.tally.lose(error, calls, data)
        self.open.pop(connection.fd, None)
        self.fragments.pop(connection.fd, None)
        self.leaving.discard(connection)
        if connection.sock is not None:
            connection.sock.close()
        again_at = monotonic_ns() + self.again_ns
        if self.again_ns and connection.state != CLOSING and again_at < self.pings_from:
            self.lost.append((again_at, connection))
        connection.state = LOST
        connection.sock = connection.awaited = None
        connection.data = connection.unsent = b""
