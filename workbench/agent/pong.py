"""The source's ping-pong: connect, ask, read until the server closes."""

from __future__ import annotations

import _socket
import errno
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from .driver import (
    AT_ONCE,
    CLOSED,
    READING,
    RECEIVE,
    RECEIVE_SMALL,
    STREAM,
    WRITING,
    Connection,
    Driver,
    error_name,
)
from .parser import ProtocolError
from .protocol import Load
from .tally import Tally


class PongDriver(Driver):
    """A 2xx status and the whole body make a success.

    What comes after the body is accepted here, and only here: the source's servers send
    `Pong!` CR LF after `Content-Length: 5`. A reset after a complete reply is a success, too:
    servers that close without having read the request cause it.
    """

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        self.begin = self._begin()
        self.on_events = self._on_events()

    def _begin(self) -> Callable[[int, int], bool]:
        new_socket, family, address, request = (
            _socket.socket,
            self.family,
            self.address,
            self.request,
        )
        connections, register, not_begun = self.open, self.epoll.register, self.not_begun
        add_connect, idle, in_progress = self.tally.connect.append, self.idle, errno.EINPROGRESS

        def begin(due: int, now: int) -> bool:
            sock = None
            events = READING
            try:
                sock = new_socket(family, STREAM)
                code = sock.connect_ex(address)
                if code != in_progress and code:
                    raise OSError(code, "connect")
                sock.send(request)
                add_connect(monotonic_ns() - now)
            except BlockingIOError:
                events = WRITING
            except OSError as error:
                return not_begun(sock, error)
            connection = idle.pop() if idle else Connection()
            connection.sock = sock
            assert sock is not None
            connection.fd = fd = sock.fileno()
            connection.due = due
            connection.sent = now
            connections[fd] = connection
            register(fd, events)
            return True

        return begin

    def _on_events(self) -> Callable[[], None]:
        poll, connections, replies, tally = self.epoll.poll, self.open, self.replies, self.tally
        add_latency, add_whole = tally.latency.append, tally.whole_at_once.append
        add_alike, idle = tally.alike.append, self.idle
        size = RECEIVE_SMALL

        def on_events() -> None:
            nonlocal size
            replace = self.replace
            for fd, events in poll(0, AT_ONCE):
                connection = connections[fd]
                sock = connection.sock
                if events & WRITING:
                    self.connected(connection, self.request)
                    continue
                try:
                    data = sock.recv(size)
                except OSError as error:
                    self.closed(connection, error)
                    continue
                now = monotonic_ns()
                whole = events & CLOSED and len(data) < size
                if whole and data in replies and not connection.data:
                    del connections[fd]
                    sock.close()
                    idle.append(connection)
                    if replace:
                        add_alike(now - connection.sent)
                        replace(now)
                    else:
                        add_latency(now - connection.due)
                        add_whole(now - connection.sent)
                    continue
                if data and not connection.data:
                    self.tally.first_byte.append(now - connection.sent)
                connection.data += data
                if whole:
                    self.closed(connection, None)
                elif len(data) == size:
                    size = RECEIVE

        return on_events

    def closed(self, connection: Connection, reset: OSError | None) -> None:
        """Nothing more comes, and what came is not a reply known already."""
        try:
            response = self.understand(connection.data, closed=True)
            assert response is not None
        except ProtocolError:
            self.lose(connection, error_name(reset) if reset else "protocol")
            return
        if not 200 <= response.status < 300:
            self.replies.pop(connection.data, None)
            self.lose(connection, f"protocol-{response.status}")
            return
        # Whatever came after the body is part of what is remembered.
        self.replies[connection.data] = response
        now = monotonic_ns()
        self.tally.latency.append(now - connection.due)
        self.tally.service.append(now - connection.sent)
        self.end(connection)
