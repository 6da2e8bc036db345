"""One point of a ZeroMQ client: connected, started at an instant, reported in windows and in all.

A server opens its sockets by requests on the port it is reached at; see `resources/apps/zeromq.py`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from workbench.agent.protocol import WINDOW_NS, Load
from workbench.agent.tally import Tally

from .message import SLICE_MS, TOPIC, Refused

WAIT_S = 4.0
PEERS = {
    "req-rep": zmq.REQ,
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
        self.limit = load.connections or 1 << 32
        self.tally = Tally()
        self.context = zmq.Context()
        self.started_ns = self.next_window = self.until_ns = 0
        self.interval_ns = 0.0 if self.closed else 1e9 / load.rate_per_s
        self.number = self.counted = self.due = self.index = 0
        """Messages sent or given up; those in windows; those that were due; windows."""
        self.began_ns = self.cpu_us = 0
        self.end: dict[str, int] = {}
        """What there was at the end of the schedule."""

    def connect(self) -> None:
        """Open the server's sockets and connect to them. Raises Refused."""
        load, options = self.load, self.load.options
        self.control = self.context.socket(zmq.REQ)
        self.control.linger, self.control.rcvtimeo = 0, round(WAIT_S * 1000)
        self.control.connect(f"tcp://{_bracketed(load.host)}:{load.port}")
        opened = self.ask(
            op="open",
            transport=options["transport"],
            size=self.size,
            high_water_mark=options["high_water_mark"],
            rate=0 if self.closed else load.rate_per_s,
            messages=load.connections,
        )
        if opened.get("pattern") not in PEERS:
            raise Refused(f"The server's pattern {opened.get('pattern')!r} is unknown.")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        self.same_clock = boot == opened["boot"]
        if options["transport"] == "ipc" and not self.same_clock:
            raise Refused("ipc reaches only processes of one machine; choose the transport tcp.")
        self.kind, self.endpoint = PEERS[opened["pattern"]], opened["endpoint"]
        self.sock = self.peer(awaited=True)
        if not self.ask(op="ready")["ready"]:
            raise Refused("The server did not learn of the subscription.")

    def ask(self, **order: Any) -> dict[str, Any]:
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
        sock = self.context.socket(self.kind)
        sock.linger = 0
        sock.sndhwm = sock.rcvhwm = self.load.options["high_water_mark"]
        sock.rcvtimeo = SLICE_MS
        if self.kind == zmq.SUB:
            sock.subscribe(TOPIC)
        if not awaited:
            sock.connect(self.endpoint)
            return sock
        monitor = sock.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        begun = monotonic_ns()
        sock.connect(self.endpoint)
        if not monitor.poll(round(WAIT_S * 1000)):
            raise Refused(f"The server did not accept a connection at {self.endpoint}.")
        recv_monitor_message(monitor)
        self.tally.connect.append(monotonic_ns() - begun)
        sock.disable_monitor()
        monitor.close()
        return sock

    def run(self, at_ns: int, offer: Callable[[Point], int]) -> None:
        """Offer the load from `at_ns` of the monotonic clock on, and report it. `offer` returns how
        many messages are out at its end."""
        load = self.load
        seconds = load.seconds or (0 if self.closed else load.connections / load.rate_per_s)
        self.started_ns, self.next_window = at_ns, at_ns + WINDOW_NS
        self.until_ns = at_ns + round(seconds * 1e9) if seconds else 1 << 62
        if (wait_ns := at_ns - monotonic_ns()) > 0:
            time.sleep(wait_ns / 1e9)
        self.began_ns, self.cpu_us = monotonic_ns(), _cpu_us()
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
            due = int((until_ns - self.started_ns - 1) / self.interval_ns) + 1
            due = max(min(due, self.limit), self.number)
            tally.due, self.due = due - self.due, due
            tally.sent = new - tally.unsent - len(tally.lateness)
        self.emit("window", **tally.window(), i=self.index, in_flight=in_flight)
        self.index += 1
        self.next_window += WINDOW_NS

    def note_end(self, now: int) -> None:
        """Note how far it is at the end of the schedule."""
        if not self.end:
            self.end = {
                "cpu_us": _cpu_us() - self.cpu_us,
                "wall_us": max(1, (now - self.started_ns) // 1000),
                "replies": self.tally.replies(),
            }

    def finish(self, in_flight: int) -> None:
        now = monotonic_ns()
        self.note_end(now)
        self.close_windows(now, in_flight)
        if not self.closed:  # What was due and has not been sent, if the point was ended.
            due = min(int((now - self.started_ns) / self.interval_ns) + 1, self.limit)
            self.tally.unsent += max(0, due - self.number)
            self.number = max(due, self.number)
        self.close_window(now, in_flight)
        self.emit(
            "done",
            **self.tally.report(self.started_ns),
            in_flight=in_flight,
            at_schedule_end=self.end,
            cpu_us=_cpu_us() - self.cpu_us,
            began_late_us=max(0, self.began_ns - self.started_ns) // 1000,
        )

    def close(self) -> None:
        self.context.destroy(linger=0)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _cpu_us() -> int:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e6)
