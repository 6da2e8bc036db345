"""The same over TLS: a connection begins with both handshakes, which count as connecting."""

from __future__ import annotations

from typing import Any

from workbench.remote.agent.driver import READING, error_name
from workbench.remote.agent.tls import TlsClient, TlsStream

from . import websocket
from .http_tls import TlsDriver
from .websocket import Connection


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


class WorkloadDriver(TlsDriver, websocket.WorkloadDriver):
    """`Connection.sock` is such a stream."""

    stream = Sealed

    def flush(self, connection: Connection) -> None:
        try:
            super().flush(connection)
        except OSError as error:
            connection.error = connection.error or error_name(error)
            self.epoll.modify(connection.fd, READING)
