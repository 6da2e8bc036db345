"""The same over TLS: a new connection is a handshake, which counts as connecting."""

from __future__ import annotations

import errno
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from workbench.remote.agent.driver import AT_ONCE, READING, RECEIVE, WRITING, Driver, error_name
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.tally import Tally
from workbench.remote.agent.tls import TlsClient, TlsStream

from . import http, websocket
from .http import Connection


class TlsDriver(Driver):
    """Makes the sockets of a driver that it is mixed into streams of TLS."""

    stream = TlsStream

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        self.tls, plain = TlsClient(load.tls), self.new_socket
        self.new_socket = lambda family, kind: self.stream(plain(family, kind), self.tls)

    def report(self) -> dict[str, Any]:
        return {**super().report(), "tls": self.tls.report}

    def put(self, connection: Any, data: bytes) -> None:
        connection.sock.send(data)
        if connection.sock.rest:
            self.epoll.modify(connection.fd, READING | WRITING)

    def flush(self, connection: Any) -> None:
        """Send on. Raises OSError."""
        if connection.sock.flush():
            self.epoll.modify(connection.fd, READING)


class HttpDriver(TlsDriver, http.WorkloadDriver):
    """`Connection.unsent` waits for the handshake."""

    def _open(self, due: int, now: int, calls: int) -> bool:
        sock = None
        drawn = self.mix.draw(self.pipeline) if self.mix else []
        request = b"".join(call.request for call in drawn) if drawn else self.first_request
        try:
            sock = self.connecting()
            whole = sock.flush()
        except OSError as error:
            return self.not_begun(sock, error, calls)
        connection = Connection(sock, sock.fileno(), due, now, calls, self.pipeline, drawn)
        connection.connecting, connection.unsent = True, request
        self.open[connection.fd] = connection
        self.epoll.register(connection.fd, READING if whole else READING | WRITING)
        return True

    def _on_events(self) -> Callable[[], bool]:
        poll, connections, replies = self.epoll.poll, self.open, self.replies
        request, add_alike, timeout_ns = self.request, self.tally.alike.append, self.timeout_ns

        def on_events() -> bool:
            found = poll(0, AT_ONCE)
            more = len(found) == AT_ONCE
            for fd, events in found:
                connection = connections[fd]
                try:
                    if events & WRITING:
                        self.flush(connection)
                        if not events & ~WRITING:
                            continue
                    data = connection.sock.receive()
                    if connection.connecting and connection.sock.established:
                        self.tally.connect.append(monotonic_ns() - connection.sent)
                        connection.connecting = False
                        first_request, connection.unsent = connection.unsent, b""
                        self.put(connection, first_request)
                    if data is None:
                        continue
                    left = connection.left
                    if left > 1 and not connection.due and data in replies:
                        now = monotonic_ns()
                        service_ns = now - connection.sent
                        if service_ns <= timeout_ns:
                            add_alike(service_ns)
                            connection.left = left - 1
                            connection.sent = now
                            connection.sock.send(request)
                            continue
                except BlockingIOError:
                    continue
                except OSError as error:
                    if connection.connecting:
                        self.lose(connection, _error(connection, error))
                    else:
                        self.read_on(connection, _error(connection, error))
                    continue
                more |= len(data) >= RECEIVE
                ended = connection.sock.ended
                self.received(connection, data, len(data), closed=ended or not data)
            return more

        return on_events

    def read_on(self, connection: Connection, error: str = "", *, to_end: bool = True) -> None:
        while self.open.get(connection.fd) is connection:
            try:
                data = connection.sock.receive()
            except OSError:
                data = b""
            if data:
                ended = connection.sock.ended
                self.received(connection, data, len(data), closed=ended)
            elif data is not None:
                self.lose(connection, error)


def _error(connection: Connection, error: OSError) -> str:
    # A close with unread data is a reset: the same server may cut handshakes both ways.
    cut = connection.connecting and error.errno in (errno.ECONNRESET, errno.EPIPE)
    return "tls-closed" if cut else error_name(error)


class Sealed(TlsStream):
    """A stream with the methods of a socket; what is sent before its handshake waits for that."""

    def __init__(self, sock: Any, client: TlsClient) -> None:
        super().__init__(sock, client)
        self.getsockopt, self.waiting = sock.getsockopt, b""

    def send(self, data: bytes) -> int:
        if self.established:
            return super().send(data)
        self.waiting += data
        self.flush()
        return len(data)

    def recv(self, _: int) -> bytes:
        """Raises BlockingIOError where nothing but TLS's own has come."""
        data = self.receive()
        if self.established and self.waiting:
            waiting, self.waiting = self.waiting, b""
            super().send(waiting)
        if data is None:
            raise BlockingIOError
        return data


class WebSocketDriver(TlsDriver, websocket.WorkloadDriver):
    """`Connection.sock` is such a stream."""

    stream = Sealed

    def flush(self, connection: websocket.Connection) -> None:
        try:
            super().flush(connection)
        except OSError as error:
            connection.error = connection.error or error_name(error)
            self.epoll.modify(connection.fd, READING)


DRIVERS = {"http": HttpDriver, "websocket": WebSocketDriver}
"""By workload."""
