"""One point of a ZeroMQ client: connected, started at an instant, reported in windows and in all.

A server opens its sockets by requests on the port it is reached at; see `resources/apps/zeromq.py`.
For inproc that file is brought to the client, which opens them itself.
"""

from __future__ import annotations

import importlib.util
import struct
import time
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns, process_time_ns
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from workbench.remote.agent.protocol import WINDOW_NS, Load
from workbench.remote.agent.schedule import share_of
from workbench.remote.agent.tally import Tally

TOPIC = b"pong"
HEADER = struct.Struct("<4s?xxxQQQ")
"""Topic, whether the rest is given, number, and when it was scheduled and sent (ns of the sender's
monotonic clock)."""
GIVEN = 4
"""The byte that says so."""
WAIT_S = 4.0
"""The longest wait for an answer of the server."""
SLICE_MS = 20
"""The longest wait before windows are closed and commands are read."""


class Refused(Exception):
    """The server does not do what was asked; the text is a sentence."""


BACKLOG = 128
PEERS = {
    "req-rep": zmq.REQ,
    "req-two-reps": zmq.REQ,
    "queue": zmq.REQ,
    "pair": zmq.PAIR,
    "pub-sub": zmq.SUB,
    "forwarder": zmq.SUB,
    "push-pull": zmq.PULL,
    "streamer": zmq.PULL,
}


class Point:
    """One point: connected, started at an instant, reported in windows and as a whole."""

    def __init__(self, load: Load, emit: Callable[..., None], stopped: Callable[[], bool]) -> None:
        self.load, self.emit, self.stopped = load, emit, stopped
        self.size, self.closed = load.options["message_size"], load.mode == "closed"
        self.clients = min(load.shares, load.concurrency) if self.closed else load.shares
        """Workers with a connection."""
        self.idle = load.share >= self.clients
        self.kind, self.limit = 0, 1 << 32
        """Of the client's socket; the most messages of this client."""
        self.inproc: Any = None
        self.sock: Any = None
        self.tally = Tally()
        self.context = zmq.Context()
        if ":" in load.host:
            self.context.setsockopt(zmq.IPV6, 1)
        self.started_ns = self.next_window = self.until_ns = 0
        self.interval_ns = 0.0 if self.closed else 1e9 / load.rate_per_s
        """Between messages of all clients."""
        self.number = self.counted = self.due = self.index = 0
        """Messages sent or given up; those in windows; those that were due; windows."""
        self.began_ns = self.cpu_ns = 0
        self.end: dict[str, int] = {}
        """What there was at the end of the schedule."""

    def connect(self, number: int) -> None:
        """Open the server's sockets and connect to them. `number`: of the point. Raises Refused."""
        load, options = self.load, self.load.options
        transport = options["transport"]
        self.control = self.context.socket(zmq.REQ)
        self.control.linger, self.control.rcvtimeo = 0, round(WAIT_S * 1000)
        self.control.connect(f"tcp://{_bracketed(load.host)}:{load.port}")
        order = {
            "transport": transport,
            "size": self.size,
            "high_water_mark": options["high_water_mark"],
            "rate": 0 if self.closed else load.rate_per_s,
            "messages": load.connections,
            "clients": self.clients,
            "client": load.share,
            "point": number,
        }
        opened = self.ask(op="open", **order)
        pattern = opened.get("pattern")
        if pattern not in PEERS:
            raise Refused(f"The server's pattern {pattern!r} is unknown.")
        self.kind = PEERS[pattern]
        if load.connections:
            self.limit = self.share(load.connections)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        self.same_clock = boot == opened["boot"]
        if transport == "ipc" and not self.same_clock:
            raise Refused("ipc reaches only processes of one machine; choose the transport tcp.")
        if transport == "inproc":
            if self.clients > 1:
                raise Refused("inproc connects threads of one process; use one client and worker.")
            self.open_here(pattern, order)
            opened = {"endpoint": self.inproc.session.endpoint}
        self.endpoint = opened["endpoint"]
        self.sock = self.peer(awaited=transport != "inproc")
        until = monotonic_ns() + round(WAIT_S * 1e9)
        while not self.ask(op="ready")["ready"]:
            if monotonic_ns() > until:
                raise Refused("The server did not learn of the subscriptions.")

    def open_here(self, pattern: str, order: dict[str, Any]) -> None:
        """Open the server's sockets in this process."""
        spec = importlib.util.spec_from_file_location("zeromq", "zeromq.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        server = module.Server(pattern, "", BACKLOG)
        server.session = module.Session(pattern, "", BACKLOG, order)
        self.inproc, self.same_clock = server, True

    def ask(self, **order: Any) -> dict[str, Any]:
        if self.inproc:
            return dict(self.inproc.answer(order))
        try:
            self.control.send_json(order)
            answer = self.control.recv_json()
        except zmq.Again:
            raise Refused(f"The server did not answer {order['op']!r} in {WAIT_S:g} s.") from None
        if not isinstance(answer, dict) or "error" in answer:
            raise Refused(f"The server refused {order['op']!r}: {str(answer)[:200]}.")
        return answer

    def peer(self, *, awaited: bool = False) -> Any:
        """Return the client's socket; `awaited`: once it is connected, otherwise Refused."""
        context = self.inproc.session.context if self.inproc else self.context
        sock = context.socket(self.kind)
        sock.linger = 0
        sock.sndhwm = sock.rcvhwm = self.load.options["high_water_mark"]
        sock.rcvtimeo = SLICE_MS
        if self.kind == zmq.SUB:
            sock.subscribe(TOPIC)
        endpoints = self.endpoint.split()
        if not awaited:
            for endpoint in endpoints:
                sock.connect(endpoint)
            return sock
        monitor = sock.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        for endpoint in endpoints:
            begun = monotonic_ns()
            sock.connect(endpoint)
            if not monitor.poll(round(WAIT_S * 1000)):
                raise Refused(f"The server did not accept a connection at {endpoint}.")
            recv_monitor_message(monitor)
            self.tally.connect.append(monotonic_ns() - begun)
        sock.disable_monitor()
        monitor.close()
        return sock

    def share(self, count: int) -> int:
        """Return how many of `count` messages this client gets. PULL sockets take turns, so
        theirs are known only at the end."""
        if self.kind == zmq.SUB:
            return -(-count // self.clients)
        return share_of(count, self.load.share, self.clients) if self.numbered else count

    def due_by(self, now: int) -> int:
        """Return how many of this client's messages are scheduled before a time."""
        if not self.numbered:
            return self.number
        due = self.share(int((now - self.started_ns) / self.interval_ns) + 1)
        return max(min(due, self.limit), self.number)

    @property
    def numbered(self) -> bool:
        """Whether the numbers of this client's messages are known beforehand."""
        return self.kind != zmq.PULL or self.clients == 1

    def due_at(self, number: int) -> int:
        """Return when a message is scheduled that this client sends."""
        before = self.load.share + number * self.clients
        return self.started_ns + round(before * self.interval_ns)

    def run(self, at_ns: int, offer: Callable[[Point], int]) -> None:
        """Offer the load from `at_ns` of the monotonic clock on, and report it. `offer` returns how
        many messages are out at its end."""
        load = self.load
        seconds = load.seconds or (0 if self.closed else load.connections / load.rate_per_s)
        self.started_ns, self.next_window = at_ns, at_ns + WINDOW_NS
        self.until_ns = at_ns + round(seconds * 1e9) if seconds else 1 << 62
        if (wait_ns := at_ns - monotonic_ns()) > 0:
            time.sleep(wait_ns / 1e9)
        self.began_ns, self.cpu_ns = monotonic_ns(), process_time_ns()
        self.finish(offer(self))

    def over(self, now: int, in_flight: int = 0, *, ends: bool) -> bool:
        """Report the windows that are over. Returns whether the point is to be ended; `ends`: at
        the end of the schedule at the latest."""
        stopped = False
        if now >= self.next_window:
            self.close_windows(now, in_flight)
            stopped = self.stopped()
        if now < self.until_ns:
            return stopped
        self.note_end(now)
        return stopped or ends

    def close_windows(self, now: int, in_flight: int) -> None:
        while now >= self.next_window:
            self.close_window(self.next_window, in_flight)

    def close_window(self, until_ns: int, in_flight: int) -> None:
        tally, new = self.tally, self.number - self.counted
        self.counted = self.number
        if self.closed:
            tally.replaced = new
        else:
            due = self.due_by(until_ns - 1)
            tally.due, self.due = due - self.due, due
            tally.sent = new - tally.unsent - len(tally.lateness)
        *_, results = tally.window()
        self.emit("window", **results, i=self.index, in_flight=in_flight)
        self.index += 1
        self.next_window += WINDOW_NS

    def note_end(self, now: int) -> None:
        """Note how far it is at the end of the schedule."""
        if not self.end:
            self.end = {
                "cpu_us": 0 if self.idle else self._used_us(),
                "wall_us": max(1, (now - self.started_ns) // 1000),
                "replies": self.tally.replies(),
            }

    def finish(self, in_flight: int) -> None:
        now = monotonic_ns()
        self.note_end(now)
        self.close_windows(now, in_flight)
        if not self.closed:  # What was due and has not been sent, if the point was ended.
            due = self.due_by(now)
            self.tally.unsent += due - self.number
            self.number = due
        self.close_window(now, in_flight)
        self.emit(
            "done",
            **self.tally.report(self.started_ns),
            in_flight=in_flight,
            at_schedule_end=self.end,
            cpu_us=self._used_us(),
            began_late_us=max(0, self.began_ns - self.started_ns) // 1000,
        )

    def _used_us(self) -> int:
        return (process_time_ns() - self.cpu_ns) // 1000

    def close(self) -> None:
        if self.inproc:
            if self.sock:
                self.sock.close()
            self.inproc.session.close()
        self.context.destroy(linger=0)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
