"""A client of HTTP/1 that shares nothing with the load agent: level-triggered epoll, a parser of
its own. Standard library only.

It reads whenever the kernel says that there is something, whatever else it says with that, and
judges a reply by RFC 9112 alone: whole, or why not.
"""

from __future__ import annotations

import select
import socket
import ssl
import time
import zlib
from collections import Counter, deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")
Steps = Generator[None, None, T]
LOST = ("reset", "cut", "closed", "malformed", "timeout")
"""Why a call has no reply: a reset; a FIN within it; a FIN before it; not HTTP; nothing in time."""


@dataclass
class Told:
    """What a client saw of its calls."""

    whole: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    """See `LOST`; a call inherits what ended its connection."""
    bodies: set[tuple[int, int, int]] = field(default_factory=set)
    """(status, bytes, CRC-32) of the whole replies."""
    times_s: list[float] = field(default_factory=list)
    """From the begin of a call to its whole reply; of a connection's first, with connecting."""
    cpu_s: float = 0.0
    held: bool = False
    """Whether it ended only when a call would have timed out, although none did."""

    def answered(self, reply: Reply, took_s: float) -> None:
        self.whole += 1
        self.bodies.add((reply.status, reply.length, reply.crc))
        self.times_s.append(took_s)


@dataclass(frozen=True)
class Calls:
    """What to call, and how."""

    port: int
    request: bytes
    connections: int
    calls: int = 1
    """Of a connection."""
    pipeline: int = 1
    rate_per_s: float = 0.0
    """Connections begun; 0: a closed loop."""
    concurrency: int = 0
    reconnect: bool = False
    """Whether the calls that are left are made on another connection."""
    timeout_s: float = 15.0
    tls: ssl.SSLContext | None = None


class Malformed(ValueError):
    pass


class Reply:
    """One reply, as it comes."""

    def __init__(self) -> None:
        self.status = 0
        self.length = 0
        self.crc = 0
        self.reusable = True
        self.until_close = False
        """The end of the connection is the end of the body."""
        self.begun = False

    def add(self, data: memoryview) -> None:
        self.length += len(data)
        self.crc = zlib.crc32(data, self.crc)


class Parser:
    """Takes bytes, gives whole replies; `reply` is the one that is coming."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0
        """What is before it is understood."""
        self._next()

    def _next(self) -> None:
        self.reply = Reply()
        self._steps = self._understand(self.reply)

    def take(self, data: bytes) -> Iterator[Reply]:
        del self._data[: self._at]
        self._at = 0
        self._data += data
        while self.surplus:
            self.reply.begun = True
            if next(self._steps, self) is not self:
                return
            done = self.reply
            self._next()
            yield done

    @property
    def surplus(self) -> bool:
        """Whether there is more than was understood."""
        return self._at < len(self._data)

    def _understand(self, reply: Reply) -> Steps[None]:
        """Pauses while more is needed, and ends with the reply."""
        fields: dict[bytes, bytes] = {}
        while reply.status < 200:
            fields = _fields(reply, (yield from self._head()))
        if reply.status in (204, 304):
            return
        if coding := fields.get(b"transfer-encoding"):
            if coding.lower() != b"chunked":
                raise Malformed(coding)
            if b"content-length" in fields:
                reply.reusable = False
            yield from self._chunks(reply)
        elif length := fields.get(b"content-length"):
            yield from self._content(reply, int(length))
        else:
            reply.reusable, reply.until_close = False, True
            yield from self._content(reply, 1 << 62)

    def _head(self) -> Steps[list[bytes]]:
        lines: list[bytes] = []
        while line := (yield from self._line()):
            if line[:1] in (b" ", b"\t"):
                lines[-1] += b" " + line.strip()
            else:
                lines.append(line)
        return lines

    def _chunks(self, reply: Reply) -> Steps[None]:
        while size := int((yield from self._line()).partition(b";")[0], 16):
            yield from self._content(reply, size)
            if (yield from self._line()):
                raise Malformed("a chunk is longer than its size")
        while (yield from self._line()):
            pass

    def _line(self) -> Steps[bytes]:
        while (end := self._data.find(b"\n", self._at)) < 0:
            yield
        line = bytes(self._data[self._at : end])
        self._at = end + 1
        return line.removesuffix(b"\r")

    def _content(self, reply: Reply, length: int) -> Steps[None]:
        while length:
            upto = min(len(self._data), self._at + length)
            with memoryview(self._data) as view, view[self._at : upto] as part:
                reply.add(part)
            length -= upto - self._at
            self._at = upto
            if length:
                yield


def _fields(reply: Reply, lines: list[bytes]) -> dict[bytes, bytes]:
    """Of a head, by lower-case name; sets what they say of the reply."""
    version, status = lines[0].split(b" ", 2)[:2]
    if version not in (b"HTTP/1.1", b"HTTP/1.0") or not status.isdigit():
        raise Malformed(lines[0])
    fields = {}
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if not colon:
            raise Malformed(line)
        fields[name.lower()] = value.strip()
    reply.status = int(status)
    said = fields.get(b"connection", b"").lower()
    reply.reusable = said != b"close" and (version == b"HTTP/1.1" or said == b"keep-alive")
    return fields


class Sealed:
    """TLS over a socket. Python's own sockets take a reset for an end."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self._sock = sock
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname="pongbench")
        self._unsent = b""
        self.fileno, self.close = sock.fileno, sock.close

    def do_handshake(self) -> None:
        """Raises BlockingIOError until it is complete."""
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._in.write(self._sock.recv(1 << 16))
            else:
                self._flush()
                return

    def send(self, data: memoryview) -> int:
        """Raises BlockingIOError where the kernel takes nothing now."""
        if not self._unsent:
            sent = self._tls.write(data[: 1 << 18])
            self._flush()
            return sent
        self._flush()
        if self._unsent:
            raise BlockingIOError
        return 0

    def _flush(self) -> None:
        self._unsent += self._out.read()
        while self._unsent:
            try:
                self._unsent = self._unsent[self._sock.send(self._unsent) :]
            except BlockingIOError:
                return

    @property
    def unsent(self) -> bool:
        return bool(self._unsent)

    def recv(self, size: int) -> bytes:
        raw = self._sock.recv(size)
        if not raw:
            return b""
        self._in.write(raw)
        pieces = []
        try:
            while piece := self._tls.read(1 << 16):
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        # A note that the server closes, or nothing of HTTP: the end comes as one.
        return b"".join(pieces) or self.recv(size)


class Connection:
    def __init__(
        self, sock: socket.socket, tls: ssl.SSLContext | None, left: int, now: float
    ) -> None:
        self.sock = Sealed(sock, tls) if tls else sock
        self.fd = sock.fileno()
        self.parser = Parser()
        self.unsent = memoryview(b"")
        self.left = left
        self.asked: deque[float] = deque()
        """When the calls were begun that are not answered."""
        self.began = now
        self.connected = False
        self.reset = False
        """Sending failed; what has come can still be read."""

    @property
    def waits(self) -> bool:
        """Whether there is something to send."""
        sealed = isinstance(self.sock, Sealed) and self.sock.unsent
        return bool(self.unsent or sealed) and not self.reset


class Client:
    """Makes the calls, and tells of them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._told = Told()
        self._open: dict[int, Connection] = {}
        self._epoll = select.epoll()

    def run(self) -> Told:
        calls, begun = self._calls, 0
        at, cpu = time.monotonic(), time.thread_time()
        while begun < calls.connections or self._open:
            now = time.monotonic()
            while begun < calls.connections and (
                now >= at + begun / calls.rate_per_s
                if calls.rate_per_s
                else len(self._open) < calls.concurrency
            ):
                self._begin(calls.calls)
                begun += 1
            for fd, events in self._epoll.poll(0.002):
                self._happened(self._open[fd], events)
            late = now - calls.timeout_s
            for connection in [it for it in self._open.values() if it.began < late]:
                self._lost(connection, "timeout")
        self._told.cpu_s = time.thread_time() - cpu
        self._epoll.close()
        return self._told

    def _begin(self, left: int) -> None:
        now = time.monotonic()
        sock = socket.create_connection(("127.0.0.1", self._calls.port))
        sock.setblocking(False)
        connection = Connection(sock, self._calls.tls, left, now)
        self._open[connection.fd] = connection
        self._epoll.register(connection.fd, select.EPOLLOUT)

    def _happened(self, connection: Connection, events: int) -> None:
        if not connection.connected and not self._connect(connection):
            return
        if connection.waits:
            self._send(connection)
        if events & ~select.EPOLLOUT or connection.reset:
            self._receive(connection)
        if self._open.get(connection.fd) is connection:
            waits = select.EPOLLOUT if connection.waits else 0
            self._epoll.modify(connection.fd, select.EPOLLIN | waits)

    def _connect(self, connection: Connection) -> bool:
        try:
            if isinstance(connection.sock, Sealed):
                connection.sock.do_handshake()
        except BlockingIOError:
            self._epoll.modify(connection.fd, select.EPOLLIN)
            return False
        except OSError:
            self._lost(connection, "reset")
            return False
        connection.connected = True
        self._ask(connection, connection.began)
        return True

    def _ask(self, connection: Connection, now: float) -> None:
        connection.began = now
        count = min(self._calls.pipeline, connection.left)
        connection.asked.extend([now] * count)
        rest = bytes(connection.unsent)
        connection.unsent = memoryview(rest + self._calls.request * count)
        self._send(connection)

    def _send(self, connection: Connection) -> None:
        try:
            while connection.waits:
                sent = connection.sock.send(connection.unsent)
                connection.unsent = connection.unsent[sent:]
        except BlockingIOError:
            pass
        except OSError:
            connection.reset = True

    def _receive(self, connection: Connection) -> None:
        """Read until nothing more is there: of TLS, the kernel does not know what waits."""
        while self._open.get(connection.fd) is connection:
            try:
                data = connection.sock.recv(1 << 18)
            except BlockingIOError:
                if connection.reset:
                    self._lost(connection, "reset")
                return
            except OSError:
                self._lost(connection, "reset")
                return
            if not data:
                self._ended(connection)
                return
            try:
                self._understand(connection, data)
            except ValueError:
                self._lost(connection, "malformed")

    def _understand(self, connection: Connection, data: bytes) -> None:
        """Raises ValueError for what is not HTTP, as for what follows a reply unasked."""
        now, parser, asked = time.monotonic(), connection.parser, connection.asked
        for reply in parser.take(data):
            if len(asked) == 1 and parser.surplus:
                raise Malformed("more than a reply")
            self._answered(connection, reply, now)
            if not connection.left:
                self._close(connection)
            elif not reply.reusable:
                self._over(connection)
            elif not asked:
                self._ask(connection, now)
            else:
                continue
            return

    def _answered(self, connection: Connection, reply: Reply, now: float) -> None:
        self._told.answered(reply, now - connection.asked.popleft())
        connection.left -= 1

    def _ended(self, connection: Connection) -> None:
        reply = connection.parser.reply
        if connection.reset:
            self._lost(connection, "reset")
        elif reply.until_close:
            self._answered(connection, reply, time.monotonic())
            self._over(connection)
        else:
            self._lost(connection, "cut" if reply.begun else "closed")

    def _over(self, connection: Connection) -> None:
        """After a whole reply the connection cannot be used again."""
        if not self._calls.reconnect or not connection.left:
            self._lost(connection, "closed")
            return
        self._close(connection)
        self._begin(connection.left)

    def _lost(self, connection: Connection, why: str) -> None:
        goes_on = self._calls.reconnect and connection.left > 1 and why != "timeout"
        if connection.left:
            self._told.lost[why] += 1 if goes_on else connection.left
        self._close(connection)
        if goes_on:
            self._begin(connection.left - 1)

    def _close(self, connection: Connection) -> None:
        del self._open[connection.fd]
        connection.sock.close()
