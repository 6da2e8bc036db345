"""HTTP/1.0 and 1.1: one or several calls per connection, sequential or pipelined."""

from __future__ import annotations

import select
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from os import read, write
from time import monotonic_ns
from typing import Any

from workbench.remote.agent.driver import (
    AT_ONCE,
    CLOSED,
    CLOSED_WELL,
    LARGE,
    READING,
    RECEIVE,
    RECEIVE_SMALL,
    WRITING,
    Driver,
    error_name,
)
from workbench.remote.agent.parser import Data, ProtocolError, ReplyParser, Response, reason
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.request import Call, Mix, http_request
from workbench.remote.agent.schedule import think_times
from workbench.remote.agent.tally import Tally


@dataclass(slots=True, eq=False)
class Connection:
    """Times are in ns of the monotonic clock."""

    sock: Any
    fd: int
    due: int
    """When the current call was scheduled; 0: it was not, it begins when it is sent."""
    sent: int
    """When the current call was begun; the first call begins with connecting."""
    left: int
    """Calls not answered yet."""
    asked: int
    """Requests sent and not answered yet."""
    calls: list[Call]
    """Of several requests, those sent and not answered yet."""
    parser: ReplyParser | None = None
    """Of a reply that has come in part."""
    unsent: bytes = b""
    """Of the requests, what the kernel has not taken yet."""
    connecting: bool = False
    answered: int = 0
    """When the reply before a think time came."""


_PATIENCE_NS = 1_000_000_000
"""A server may close a connection that was idle for this long."""
_SMALL = 4_096
"""Bytes that always fit into an empty send buffer."""
_DATA = select.EPOLLIN
_EDGE = READING | select.EPOLLET
"""The kernel looks again at a connection only when more arrives, and not after every reply; so all
that has come must be read at once, and the end after it."""


class WorkloadDriver(Driver):
    """Every reply must be as wanted and whole; the server decides whether the connection stays.

    By far the most frequent event of a kept connection is one whole reply that was seen before.
    Of calls that are due when they are sent (`Connection.due` is 0), such replies are taken with a
    comparison in place of parsing, and counted once for latency, service time and first byte,
    which are the same then. So is the last reply of a connection, where its end comes with it.
    Anything else takes the long way.
    """

    open: dict[int, Connection]

    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        self.request = http_request(load)
        self.buffer = bytearray(LARGE)
        self.view = memoryview(self.buffer)
        self.more = False
        """Whether the events of this time left something that can be read."""
        self.thinking: list[tuple[int, int, Connection]] = []
        """A heap of (due, descriptor, connection) between a reply and the next call."""
        self.leaving: set[int] = set()
        """Descriptors of connections whose calls are answered and that the server is to close."""
        self.reconnect = load.options.get("on_close") == "reconnect"
        self.replaced: set[int] = set()
        """Descriptors of connections whose calls go on on another one."""
        if self.reconnect:
            tally.figures["reconnects"] = 0
        self.pipeline = min(load.options.get("pipeline", 1), self.calls)
        self.first_request = self.request * self.pipeline
        self.mix = Mix.of(load, tally)
        tally.private = load.options.get("private", False)
        self.think_ns = round(load.think_time_s * 1e9)
        self.next_think = think_times(load)
        one_alike = self.pipeline == 1 and self.mix is None and len(self.request) <= _SMALL
        self.may_be_fast = one_alike and not self.think_ns
        if self.pipeline == 1:  # service times of pipelined calls overlap
            self.pending = lambda: len(self.open) - len(self.thinking) - len(self.leaving)
        self.begin = lambda due, now: self._open(due, now, self.calls)
        self.on_events = self._on_events()

    def _open(self, due: int, now: int, calls: int) -> bool:
        """Begin a connection for this number of calls; returns False if it failed at once."""
        sock = None
        drawn = self.mix.draw(self.pipeline) if self.mix else []
        request = b"".join(call.request for call in drawn) if drawn else self.first_request
        sent, failure = -1, ""
        try:
            sock = self.connecting()
            sent = sock.send(request)
            self.tally.connect.append(monotonic_ns() - now)
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError) as error:
            failure = error_name(error)
        except OSError as error:
            return self.not_begun(sock, error, calls)
        assert sock is not None
        connection = Connection(sock, sock.fileno(), due, now, calls, self.pipeline, drawn)
        self.open[connection.fd] = connection
        if failure:  # It may have answered before it closed.
            self.epoll.register(connection.fd, _EDGE)
            self.read_on(connection, failure)
            return True
        if sent == len(request):
            self.epoll.register(connection.fd, _EDGE)
            return True
        connection.connecting = sent < 0
        connection.unsent = request[max(sent, 0) :]
        self.epoll.register(connection.fd, WRITING if sent < 0 else READING | WRITING)
        return True

    def _on_events(self) -> Callable[[], bool]:
        poll, connections, replies = self.epoll.poll, self.open, self.replies
        request, alike, timeout_ns = self.request, self.tally.alike, self.timeout_ns
        add_latency, add_whole = self.tally.latency.append, self.tally.whole_at_once.append
        last_replies = {} if self.mix else self.wanted.last_replies
        usual, size = b"", RECEIVE_SMALL

        def on_events() -> bool:
            nonlocal usual, size
            self.more = len(found := poll(0, AT_ONCE)) == AT_ONCE
            for fd, events in found:
                connection = connections[fd]
                alone = events == _DATA  # Neither space to write nor an end.
                if (not alone or connection.parser) and not self.usual(connection, events):
                    continue
                try:
                    data = read(fd, size)
                    left = connection.left
                    if (
                        alone
                        and left > 1
                        and not connection.due
                        and (data == usual or (len(data) < size and data in replies))
                    ):
                        now = monotonic_ns()
                        service_ns = now - connection.sent
                        if service_ns <= timeout_ns:
                            alike.append(service_ns)
                            connection.left = left - 1
                            connection.sent = now
                            usual = data
                            write(fd, request)
                            continue
                except BlockingIOError:
                    continue
                except OSError as error:
                    self.read_on(connection, error_name(error))
                    continue
                # Nothing comes after what is read before the end that epoll reports with it.
                ended = events & CLOSED == CLOSED_WELL and len(data) < size
                if ended and data in last_replies and left == 1:
                    now = monotonic_ns()
                    service_ns = now - connection.sent
                    whole = connection.asked and connection.parser is None
                    if whole and service_ns <= timeout_ns:
                        if connection.due in (0, connection.sent):
                            alike.append(service_ns)
                        else:
                            add_latency(now - connection.due)
                            add_whole(service_ns)
                        self.end(connection)
                        continue
                full, to_end = len(data) == size, bool(events & CLOSED)
                if full:
                    size = RECEIVE
                self.received(connection, data, len(data), closed=ended or not data)
                # A short read has emptied the queue, unless an end came that is yet to be read.
                if full or to_end:
                    self.read_on(connection, to_end=to_end)
            return self.more

        return on_events

    def usual(self, connection: Connection, events: int) -> bool:
        """Handle what is no beginning of a reply. Returns whether one is still to be read."""
        if events & WRITING and not self.writable(connection, events):
            return False
        if connection.parser is None:
            return True
        self.read_on(connection, to_end=bool(events & CLOSED))
        return False

    def read_on(self, connection: Connection, error: str = "", *, to_end: bool = True) -> None:
        """Read all that has come, as the kernel does not tell of it again. `to_end`: the end, too,
        which has come; `error`: how sending failed; it ends the connection after what came before
        it."""
        fd, buffer = connection.fd, self.buffer
        if self.open.get(fd) is not connection:
            return
        size, error, closed = self.fill(connection.sock, error, to_end=to_end)
        full = size == LARGE
        if size or closed:
            self.received(connection, buffer, size, closed=closed)
        if self.open.get(fd) is not connection:
            return
        if full:
            # Others wait: the kernel reports it again after them.
            self.more = True
            self.epoll.modify(fd, READING | WRITING if connection.unsent else _EDGE)
        elif error:
            self.lose(connection, error)

    def fill(self, sock: Any, error: str, *, to_end: bool) -> tuple[int, str, bool]:
        """Read into the buffer as much as has come and fits. Understanding all that at once takes
        half the time of doing it piece by piece. Returns its bytes, how the connection failed, and
        whether the server has closed it; see `read_on`."""
        size = 0
        while size < LARGE:
            try:
                came = sock.recv_into(self.view[size:])
            except BlockingIOError:
                break
            except OSError as failure:
                return size, error or error_name(failure), False
            if not came:
                return size, error, not error
            size += came
            if size < LARGE and not to_end:  # A short read has emptied the queue.
                break
        return size, error, False

    def writable(self, connection: Connection, events: int) -> bool:
        """Send on: the connection is established, or its send buffer has space again. Returns
        whether there is something to read."""
        try:
            sent = connection.sock.send(connection.unsent)
        except BlockingIOError:
            return bool(events & ~WRITING)
        except OSError as error:
            if connection.connecting:
                self.lose(connection, error_name(error))
            else:
                # It may have answered before it closed.
                self.read_on(connection, error_name(error))
            return False
        if connection.connecting:
            connection.connecting = False
            self.tally.connect.append(monotonic_ns() - connection.sent)
        connection.unsent = connection.unsent[sent:]
        self.epoll.modify(connection.fd, READING | WRITING if connection.unsent else _EDGE)
        return bool(events & ~WRITING)

    def received(self, connection: Connection, data: Data, size: int, *, closed: bool) -> None:
        """Understand `data[:size]`. `closed`: the server has closed, so nothing more will come."""
        if not connection.left:
            # All calls are answered and the server announced that it closes.
            if closed:
                self.end(connection)
            return
        service_ns = monotonic_ns() - connection.sent
        if service_ns > self.timeout_ns:
            self.lose(connection, "client-timo")
            return
        connection.due = connection.due or connection.sent
        if size and connection.parser is None:
            self.tally.first_byte.append(service_ns)
        try:
            self.digest(connection, data, size, closed)
        except ProtocolError as error:
            if size or connection.parser is not None:
                last = bytes(data[:size])
                self.lose(connection, f"protocol-{error.kind}", error.body, last, why=reason(error))
            elif connection.asked:
                self.lose(connection, "protocol-closed")
            else:  # During think time, which a server may do after an idle timeout.
                idle = monotonic_ns() - connection.answered > _PATIENCE_NS
                self.lose(connection, "protocol-idle" if idle else "protocol-closed")

    def digest(self, connection: Connection, data: Data, size: int, closed: bool) -> None:
        """Take all complete replies from `data`, then do what the last one allows."""
        at = 0
        while found := self.next_reply(connection, data, at, size, closed):
            response, at = found
            if at < size and connection.asked == 1:
                raise ProtocolError("bytes after the last reply")
            self.answered(connection, response)
            if not connection.asked:
                break
            if not response.keep_alive:
                raise ProtocolError("closed before all calls were answered", "closed")
        else:
            return
        if connection.left and response.keep_alive and not closed:
            self.next_call(connection)
        elif connection.left:
            self.go_on(connection, closed=closed or not response.closes)
        elif closed or not response.closes:
            self.end(connection)
        else:
            # The server announced a close: wait for it, so that the connection's TIME_WAIT is where
            # the protocol puts it, and not on one of our ports.
            self.leaving.add(connection.fd)

    def next_reply(
        self, connection: Connection, data: Data, at: int, stop: int, closed: bool
    ) -> tuple[Response, int] | None:
        """Return the reply that ends in `data[at:stop]`, and where. Raises ProtocolError."""
        wanted = connection.calls[0].wanted if connection.calls else self.wanted
        parser, whole = connection.parser, b""
        if parser is None:
            if (usual := wanted.usual) and data.startswith(usual[0], at, stop):
                return usual[1], at + len(usual[0])
            if at == stop:
                if closed:
                    raise ProtocolError("closed without a reply", "closed")
                return None
            if stop - at < RECEIVE:
                whole = bytes(data[at:stop])
                if found := wanted.known(whole, closed=closed):
                    return found, stop
            parser = connection.parser = wanted.parser()
        begun, at = at, parser.feed(data, at, stop)
        if closed:
            parser.end()
        if not parser.complete:
            return None
        connection.parser = None
        try:
            return wanted.judge(parser, whole[: at - begun], closed=closed and at == stop), at
        except ProtocolError:
            connection.parser = parser  # Of which an example is shown.
            raise

    def go_on(self, connection: Connection, *, closed: bool) -> None:
        """Make the calls left on a new connection. `closed`: the server has closed this one;
        otherwise it announced that, and is waited for. Raises ProtocolError if the plan does not
        reconnect."""
        if not self.reconnect:
            raise ProtocolError("closed before all calls were answered", "closed")
        calls, connection.left = connection.left, 0
        self.replaced.add(connection.fd)
        if closed:
            self.end(connection)
        else:
            self.leaving.add(connection.fd)
        self.tally.figures["reconnects"] += 1
        now = monotonic_ns()
        if not self._open(now, now, calls):
            self.to_replace += 1

    def answered(self, connection: Connection, response: Response) -> None:
        """Count a call. If its reply fails a check of the plan, the connection goes on."""
        now = monotonic_ns()
        call = connection.calls.pop(0) if connection.calls else None
        if response.failed:
            before = self.calls - connection.left
            self.tally.lose(f"check-{response.failed}", 1, response.body, before)
            if call:
                call.tally.failed += 1
        else:
            if call:
                call.tally.latency.append(now - connection.due)
            self.tally.latency.append(now - connection.due)
            self.tally.service.append(now - connection.sent)
        connection.left -= 1
        connection.asked -= 1

    def next_call(self, connection: Connection) -> None:
        """Send the next call, at once or after the think time."""
        due = connection.answered = monotonic_ns()
        if self.think_ns:
            due += self.next_think()
        connection.due = due
        # No timeout in the meantime: no call is pending.
        connection.sent = due
        if self.think_ns:
            heappush(self.thinking, (due, connection.fd, connection))
        else:
            self.ask(connection, due)

    def ask(self, connection: Connection, now: int) -> None:
        """Send the next call, or as many as are pipelined."""
        connection.sent = now
        connection.asked = asked = min(self.pipeline, connection.left)
        if self.may_be_fast:
            connection.due = 0
        request = self.request
        if self.mix:
            connection.calls = self.mix.draw(asked)
            request = b"".join(call.request for call in connection.calls)
        elif asked > 1:
            request *= asked
        try:
            self.put(connection, request)
        except OSError as error:
            self.read_on(connection, error_name(error))

    def think(self, now: int) -> int:
        while self.thinking and self.thinking[0][0] <= now:
            _, _, connection = heappop(self.thinking)
            # It may have ended, and its descriptor may have been reused.
            if self.open.get(connection.fd) is connection:
                self.ask(connection, monotonic_ns())
        return self.thinking[0][0] if self.thinking else 0

    def lose(
        self,
        connection: Connection,
        error: str,
        body: bytes = b"",
        data: bytes = b"",
        *,
        why: str = "",
    ) -> None:
        """Count all calls left on the connection with its error; of one that the server closed and
        that is made again, the current call; where each call counts by itself, those sent.

        `body`: that of an unexpected reply; `data`: what came last; `why`: it is malformed.
        """
        left, parser = connection.left, connection.parser
        if not left:
            self.end(connection)
            return
        example = body or (parser.first if parser else data)
        known: Any = {
            "received": max(len(data), len(body), parser.received if parser else 0),
            "why": why,
        }
        # Made again after a timeout, each call would take one more port, until none were left.
        if self.reconnect and left > 1 and error != "client-timo":
            self.tally.lose(error, 1, example, self.calls - left, **known)
            connection.left = left - 1
            self.go_on(connection, closed=True)
            return
        lost = max(1, connection.asked) if self.load.by_call else left
        self.tally.lose(error, lost, example, self.calls - left, **known)
        for call in connection.calls:
            call.tally.failed += 1
        self.end(connection)

    def end(self, connection: Connection) -> None:
        del self.open[connection.fd]
        self.leaving.discard(connection.fd)
        connection.sock.close()
        if connection.fd in self.replaced:
            self.replaced.discard(connection.fd)
        else:
            self.to_replace += 1

    def expire(self, now: int) -> int:
        limit = now - self.timeout_ns
        overdue = [connection for connection in self.open.values() if connection.sent <= limit]
        found = monotonic_ns()
        for connection in overdue:
            self.lose(connection, "client-timo")
        return found

    def last_calls(self) -> None:
        for connection in list(self.open.values()):
            thinks = connection.left and not connection.asked
            connection.left = connection.asked
            if thinks:
                self.end(connection)

    def calls_in_flight(self) -> int:
        if self.load.by_call:
            return sum(connection.asked for connection in self.open.values())
        return sum(connection.left for connection in self.open.values())
