"""Ping-pong: connect, send a request, read until the server closes."""

from __future__ import annotations

import errno
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from workbench.agent.driver import (
    AT_ONCE,
    CLOSED,
    READING,
    RECEIVE,
    RECEIVE_SMALL,
    STREAM,
    WRITING,
    Driver,
    error_name,
)
from workbench.agent.parser import ProtocolError
from workbench.agent.protocol import Load
from workbench.agent.request import http_request
from workbench.agent.tally import Tally


class WorkloadDriver(Driver):
    """The wanted status and the whole body make a success.

    What comes after the body is accepted here, and only here: the source's servers send
    `Pong!` CR LF after `Content-Length: 5`. A reset after a complete reply is a success, too:
    servers that close without having read the request cause it.
    """

    open: dict[int, tuple[Any, int, int]]
    """(socket, due, begun) by descriptor."""

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        self.request = http_request(load)
        self.partial: dict[int, bytes] = {}
        """By descriptor, what came of replies that did not come at once."""
        self.pending = self.open.__len__
        self.begin = self._begin()
        self.on_events = self._on_events()

    def _begin(self) -> Callable[[int, int], bool]:
        new_socket, family, address = self.new_socket, self.family, self.address
        request, connections, register = self.request, self.open, self.epoll.register
        add_connect, in_progress = self.tally.connect.append, errno.EINPROGRESS

        def begin(due: int, now: int) -> bool:
            try:
                sock = new_socket(family, STREAM)
            except OSError as error:
                return self.not_begun(None, error)
            fd = sock.fileno()
            try:
                code = sock.connect_ex(address)
                if code != in_progress and code:
                    raise OSError(code, "connect")
                sock.send(request)
                add_connect(monotonic_ns() - now)
                register(fd, READING)
            except BlockingIOError:
                register(fd, WRITING)
            except OSError as error:
                return self.not_begun(sock, error)
            connections[fd] = (sock, due, now)
            return True

        return begin

    def _on_events(self) -> Callable[[], None]:
        poll, connections, partial, replies = (
            self.epoll.poll,
            self.open,
            self.partial,
            self.replies,
        )
        tally = self.tally
        add_latency, add_whole = tally.latency.append, tally.whole_at_once.append
        add_alike = tally.alike.append
        size, timeout_ns = RECEIVE_SMALL, self.timeout_ns

        def on_events() -> None:
            nonlocal size
            for fd, events in poll(0, AT_ONCE):
                sock, due, begun = connections[fd]
                if events & WRITING:
                    self.connected(fd)
                    continue
                try:
                    data = sock.recv(size)
                except OSError as error:
                    self.closed(fd, error)
                    continue
                now = monotonic_ns()
                service_ns = now - begun
                whole = events & CLOSED and len(data) < size
                in_time = service_ns <= timeout_ns
                if whole and in_time and data in replies and fd not in partial:
                    del connections[fd]
                    sock.close()
                    self.to_replace += 1
                    if due == begun:
                        add_alike(service_ns)
                    else:
                        add_latency(now - due)
                        add_whole(service_ns)
                    continue
                if data and fd not in partial:
                    tally.first_byte.append(service_ns)
                partial[fd] = partial.get(fd, b"") + data
                if whole:
                    self.closed(fd, None)
                elif len(data) == size:
                    size = RECEIVE

        return on_events

    def connected(self, fd: int) -> None:
        """Continue when a connection that was not writable at first has become so."""
        sock, _, begun = self.open[fd]
        try:
            sock.send(self.request)
        except OSError as error:
            self.lose(fd, error_name(error))
            return
        self.tally.connect.append(monotonic_ns() - begun)
        self.epoll.modify(fd, READING)

    def closed(self, fd: int, reset: OSError | None) -> None:
        """Handle the end of a connection whose reply is not cached."""
        now = monotonic_ns()
        _, due, begun = self.open[fd]
        if now - begun > self.timeout_ns:
            self.lose(fd, "client-timo")
            return
        data = self.partial.get(fd, b"")
        try:
            self.understand(data, closed=True)
        except ProtocolError as error:
            if reset and (not data or error.kind == "cut"):
                self.lose(fd, error_name(reset), data)
            else:
                self.lose(
                    fd, f"protocol-{error.kind}" if data else "protocol-closed", error.body or data
                )
            return
        # Data after the body are part of the cached reply.
        self.wanted.remember(data)
        self.tally.latency.append(now - due)
        self.tally.service.append(now - begun)
        self.end(fd)

    def lose(self, fd: int, error: str, data: bytes = b"") -> None:
        self.tally.lose(error, 1, data)
        self.end(fd)

    def end(self, fd: int) -> None:
        sock, _, _ = self.open.pop(fd)
        self.partial.pop(fd, None)
        sock.close()
        self.to_replace += 1

    def expire(self, now: int) -> int:
        limit = now - self.timeout_ns
        overdue = []
        for fd, (_, _, begun) in self.open.items():
            if begun > limit:
                break
            overdue.append(fd)
        for fd in overdue:
            self.lose(fd, "client-timo")
        return now

    def calls_in_flight(self) -> int:
        return len(self.open)

    def drop(self) -> None:
        for sock, _, _ in self.open.values():
            sock.close()
