"""The same over TLS: a connection begins with both handshakes, which count as connecting."""

from __future__ import annotations

from typing import Any

from workbench.remote.agent.driver import READING, WRITING, error_name
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.tally import Tally
from workbench.remote.agent.tls import TlsClient, TlsStream

from . import websocket
from .websocket import Connection


class Sealed(TlsStream):
    """A stream with the methods of a socket; what is sent before its handshake is done waits for
    that."""

    __slots__ = ("connect_ex", "getsockopt", "waiting")

    def __init__(self, sock: Any, client: TlsClient) -> None:
        super().__init__(sock, client)
        self.connect_ex, self.getsockopt = sock.connect_ex, sock.getsockopt
        self.waiting = b""

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


class WorkloadDriver(websocket.WorkloadDriver):
    """`Connection.sock` is such a stream."""

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        self.tls, plain = TlsClient(load.tls), self.new_socket
        self.new_socket = lambda family, kind: Sealed(plain(family, kind), self.tls)

    def report(self) -> dict[str, Any]:
        return {**super().report(), "tls": self.tls.report}

    def send(self, connection: Connection, data: bytes) -> None:
        try:
            connection.sock.send(data)
        except OSError as error:
            connection.error = connection.error or error_name(error)
            return
        if connection.sock.rest:
            self.epoll.modify(connection.fd, READING | WRITING)

    def flush(self, connection: Connection) -> None:
        try:
            whole = connection.sock.flush()
        except OSError as error:
            connection.error = connection.error or error_name(error)
            whole = True
        if whole:
            self.epoll.modify(connection.fd, READING)
