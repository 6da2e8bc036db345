"""Ping-pong: connect, send a request, read until the server closes."""

from __future__ import annotations

import errno
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from workbench.remote.agent.driver import (
    AT_ONCE,
    CLOSED,
    CLOSED_WELL,
    READING,
    RECEIVE,
    RECEIVE_SMALL,
    STREAM,
    WRITING,
    Driver,
    error_name,
)
from workbench.remote.agent.parser import ProtocolError, ReplyParser, reason
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.request import http_request
from workbench.remote.agent.tally import Tally


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
        self.partial: dict[int, bytes | ReplyParser] = {}
        """By descriptor, what came without the end; bytes as long as it is one piece."""
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

    def _on_events(self) -> Callable[[], bool]:
        poll, connections = self.epoll.poll, self.open
        partial, replies = self.partial, self.replies
        tally = self.tally
        add_latency, add_whole = tally.latency.append, tally.whole_at_once.append
        add_alike = tally.alike.append
        size, timeout_ns = RECEIVE_SMALL, self.timeout_ns

        def on_events() -> bool:
            nonlocal size
            found = poll(0, AT_ONCE)
            more = len(found) == AT_ONCE
            for fd, events in found:
                sock, due, begun = connections[fd]
                if events & WRITING:
                    self.connected(fd)
                    continue
                try:
                    data = sock.recv(size)
                except BlockingIOError:
                    continue
                except OSError as error:
                    self.closed(fd, error_name(error))
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
                if len(data) == size:
                    size, more = RECEIVE, True
                if fd not in partial:
                    if data:
                        tally.first_byte.append(service_ns)
                    partial[fd] = data
                elif data and not self.add(fd, data):
                    continue
                # Nothing comes after a short read but the end that epoll reports with it, if that
                # is no reset.
                if not data or (whole and events & CLOSED == CLOSED_WELL):
                    self.closed(fd, "")
            return more

        return on_events

    def connected(self, fd: int) -> None:
        """Continue when a connection that was not writable at first has become so."""
        sock, _, begun = self.open[fd]
        try:
            sock.send(self.request)
        except (BrokenPipeError, ConnectionResetError) as error:
            # It may have answered before it closed.
            try:
                while data := sock.recv(RECEIVE):
                    if fd not in self.partial:
                        self.partial[fd] = data
                    elif not self.add(fd, data):
                        return
            except OSError:
                pass
            self.closed(fd, error_name(error))
            return
        except OSError as error:
            self.lose(fd, error_name(error))
            return
        self.tally.connect.append(monotonic_ns() - begun)
        self.epoll.modify(fd, READING)

    def add(self, fd: int, data: bytes) -> bool:
        """Take another piece of a reply. Returns False if that ended the connection."""
        came = self.partial[fd]
        pieces = (came, data) if isinstance(came, bytes) else (data,)
        parser = self.wanted.parser() if isinstance(came, bytes) else came
        self.partial[fd] = parser
        try:
            for piece in pieces:
                parser.feed(piece)
        except ProtocolError as error:
            self.lose(
                fd, f"protocol-{error.kind}", parser.first, received=len(data), why=reason(error)
            )
            return False
        return True

    def closed(self, fd: int, reset: str) -> None:
        """Handle the end of a connection. `reset`: the error that ended it."""
        now = monotonic_ns()
        _, due, begun = self.open[fd]
        if now - begun > self.timeout_ns:
            self.lose(fd, "client-timo")
            return
        came = self.partial.get(fd, b"")
        try:
            self.judge(came, reset)
        except ProtocolError as error:
            example = came if isinstance(came, bytes) else came.first
            if not example:
                self.lose(fd, reset or "protocol-closed")
            elif reset and error.kind == "cut":
                self.lose(fd, reset, example)
            else:
                self.lose(fd, f"protocol-{error.kind}", error.body or example, why=reason(error))
            return
        self.tally.latency.append(now - due)
        self.tally.service.append(now - begun)
        self.end(fd)

    def judge(self, came: bytes | ReplyParser, reset: str) -> None:
        """Raises ProtocolError if what came is not the wanted reply."""
        if isinstance(came, bytes):
            if came in self.replies:
                return
            parser = self.wanted.parser()
            parser.feed(came)
        else:
            parser = came
        if reset and not parser.complete:
            raise ProtocolError("reset before the end", "cut")
        parser.end()
        self.wanted.judge(parser)
        if isinstance(came, bytes):
            # Data after the body are part of the cached reply.
            self.wanted.remember(came)

    def lose(
        self, fd: int, error: str, data: bytes = b"", *, received: int = 0, why: str = ""
    ) -> None:
        self.tally.lose(error, 1, data, received=received, why=why)
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

    def drop(self) -> None:
        for sock, _, _ in self.open.values():
            sock.close()
