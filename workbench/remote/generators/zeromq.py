"""The client of ZeroMQ servers, as a worker of the load agent in the place of its own one.

A server opens its sockets by requests on the port it is reached at; see `resources/apps/zeromq.py`.
For inproc that file is brought to the client, which opens them itself.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import select
import struct
import time
from collections.abc import Callable
from dataclasses import replace
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


class Refused(Exception):
    """The server does not do what was asked; the text is a sentence."""


class Worker:
    """Carries out the commands of `remote.agent.protocol`, one point at a time."""

    def __init__(self, number: int, commands: int, output: int) -> None:
        self.number, self.output = number, output
        # Unbuffered, so that `select` knows of every command.
        self.commands = open(commands, "rb", buffering=0)  # noqa: SIM115
        self.point: Point | None = None
        self.point_id: Any = None

    def serve(self) -> None:
        for line in self.commands:
            self.handle(json.loads(line))

    def handle(self, command: dict[str, Any]) -> None:
        op = command["op"]
        if op == "point":
            self.drop()
            self.point_id = command["id"]
            load = Load(**command["load"])
            self.arm(replace(load, share=load.share + self.number))
        elif self.point and op == "stop":
            self.skip(self.point)
        elif self.point and op == "start":
            self.point.run(command["at_us"] * 1000)
            self.drop()

    def arm(self, load: Load) -> None:
        point = self.point = Point(load, self.emit, self.stopped)
        try:
            if not point.idle:
                point.connect(self.point_id)
        except (Refused, zmq.ZMQError) as error:
            self.emit("error", text=f"{error}")
            self.skip(point)
            return
        gc.collect()
        gc.disable()
        self.emit("armed")

    def skip(self, point: Point) -> None:
        point.limit = 0
        point.run(monotonic_ns())
        self.drop()

    def stopped(self) -> bool:
        """Return whether the point is to end: no other command comes while it runs."""
        return bool(select.select([self.commands], [], [], 0)[0] and self.commands.readline())

    def drop(self) -> None:
        if self.point:
            self.point.close()
        self.point = None
        gc.enable()

    def emit(self, event: str, **data: Any) -> None:
        line = {"ev": event, "id": self.point_id, "worker": self.number, **data}
        os.write(self.output, json.dumps(line, separators=(",", ":")).encode() + b"\n")


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
        host = f"[{load.host}]" if ":" in load.host else load.host
        self.control.connect(f"tcp://{host}:{load.port}")
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
            self.open_here(pattern, order)
            opened = {"endpoint": self.inproc.session.endpoint}
        self.endpoint = opened["endpoint"]
        self.sock = self.peer(awaited=transport != "inproc")
        until = monotonic_ns() + round(WAIT_S * 1e9)
        while not self.ask(op="ready")["ready"]:
            if monotonic_ns() > until:
                raise Refused("The server did not learn of the subscriptions.")

    def open_here(self, pattern: str, order: dict[str, Any]) -> None:
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
        """Return how many of `count` messages this client gets. PULL sockets take turns."""
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

    def run(self, at_ns: int) -> None:
        """Offer the load from `at_ns` of the monotonic clock on, and report it."""
        load = self.load
        seconds = load.seconds or (0 if self.closed else load.connections / load.rate_per_s)
        self.started_ns, self.next_window = at_ns, at_ns + WINDOW_NS
        self.until_ns = at_ns + round(seconds * 1e9) if seconds else 1 << 62
        if (wait_ns := at_ns - monotonic_ns()) > 0:
            time.sleep(wait_ns / 1e9)
        self.began_ns, self.cpu_ns = monotonic_ns(), process_time_ns()
        if self.idle or not self.limit:
            self.finish(0)
        else:
            self.finish(exchange(self) if self.kind in (zmq.REQ, zmq.PAIR) else take(self))

    def over(self, now: int, in_flight: int = 0, *, ends: bool) -> bool:
        """Report past windows. Returns whether to end the point; `ends`: with its schedule."""
        stopped = False
        if now >= self.next_window:
            while now >= self.next_window:
                self.close_window(self.next_window, in_flight)
            stopped = self.stopped()
        if now < self.until_ns:
            return stopped
        self.note_end(now)
        return stopped or ends

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
        while now >= self.next_window:
            self.close_window(self.next_window, in_flight)
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


def exchange(point: Point) -> int:
    """Send a message, wait until it comes back, send the next. Returns how many are out."""
    tally, closed = point.tally, point.closed
    timeout_ns = round(point.load.timeout_s * 1e9)
    message = bytearray(point.size)
    while point.number < point.limit:
        now = monotonic_ns()
        due = now
        if not closed:
            before = point.load.share + point.number * point.clients
            due = point.started_ns + round(before * point.interval_ns)
        if point.over(now, ends=closed):
            return 0
        if due > now:
            time.sleep(min(due - now, SLICE_MS * 1_000_000) / 1e9)
            continue
        point.number += 1
        if now - due > timeout_ns:
            tally.unsent += 1
            continue
        HEADER.pack_into(message, 0, TOPIC, True, point.number, due, now)
        sent = bytes(message)
        point.sock.send(sent)
        if not closed:
            tally.lateness.append(now - due)
        reply, ended = _reply(point, now + timeout_ns)
        if reply is None and ended < now + timeout_ns:
            return 1
        if reply is None or ended > now + timeout_ns:
            tally.lose("client-timo", 1)
            point.sock.close()  # A REQ socket cannot send before it has a reply.
            point.sock = point.peer()
        elif reply != sent:
            tally.lose("protocol-body", 1, reply)
        elif closed:
            tally.alike.append(ended - now)
        else:
            tally.latency.append(ended - due)
            tally.whole_at_once.append(ended - now)
    return 0


def _reply(point: Point, until_ns: int) -> tuple[bytes | None, int]:
    """Return the next message and when it came; None: not by then, or the point was ended."""
    receive = point.sock.recv
    while True:
        try:
            reply = receive()
        except zmq.Again:
            now = monotonic_ns()
            if point.over(now, 1, ends=False) or now >= until_ns:
                return None, now
        else:
            return reply, monotonic_ns()


QUIET_NS = 500_000_000
"""Without a message for this long, the rest of a source's messages are lost."""


def take(point: Point) -> int:
    """Receive what the source sends until the schedule ends, and what is on its way then. Returns
    how many messages kept coming for longer than the timeout; other missing ones are lost."""
    point.ask(op="start")
    late_ns = 0 if point.closed else round(point.load.timeout_s * 1e9)
    until = point.until_ns + late_ns

    def ended(now: int, heard: int) -> bool:
        # With other clients, how many messages come here is unknown.
        silent = not point.numbered and now - heard > QUIET_NS
        return now >= until or (silent and bool(_say(point)["over"]))

    stopped = _receive(point, point.limit, ended)
    point.note_end(monotonic_ns())
    try:
        sent: int = point.ask(op="stop")["sent"]
    except Refused:  # It has ended, which is found out elsewhere.
        return 0
    received_by = monotonic_ns() + round(point.load.timeout_s * 1e9)

    def received(now: int, heard: int) -> bool:
        silent = now - heard > QUIET_NS if point.numbered else _of_all(point) == sent
        return silent or now >= received_by

    if not stopped:
        _receive(point, sent, received)
    still_coming = point.numbered and monotonic_ns() >= received_by
    missing: int = sent - (point.number if point.numbered else _of_all(point) or sent)
    if missing <= 0 or (point.load.share and not point.numbered):
        return 0  # The first client counts what none of them has.
    point.number += missing
    if still_coming:
        return missing
    point.tally.errors["protocol-lost"] += missing
    return 0


def _of_all(point: Point) -> int:
    """Return how many messages all clients have received; 0: not all have said."""
    return int(_say(point)["messages"] or 0)


def _say(point: Point) -> dict[str, Any]:
    """Say how many messages this client has, and return what is known of all."""
    try:
        return point.ask(op="received", client=point.load.share, messages=point.number)
    except Refused:  # The server has ended, which is found out elsewhere.
        return {"messages": None, "over": True}


def _receive(point: Point, most: int, over: Callable[[int, int], bool]) -> bool:
    """Receive up to message `most`, or until `over`(time, that of the last message), asked at the
    end of each window and while nothing comes. Returns whether the point was ended."""
    tally, size = point.tally, point.size
    receive, unpack = point.sock.recv, HEADER.unpack_from
    clock, record = monotonic_ns, _record(point)
    number, untimed, numbered = point.number, 0, point.numbered
    seen = number
    heard = clock()
    boundary = 0
    while number < most:
        try:
            data = receive()
        except zmq.Again:
            now = clock()
            if number != seen:  # Those without a time are heard, too.
                seen, heard = number, now
        else:
            number += 1
            if not data[GIVEN]:
                untimed += 1
                continue
            now = heard = clock()
            _, _, given, due, sent = unpack(data)
            if numbered and given >= number:
                tally.errors["protocol-lost"] += given + 1 - number
                number = given + 1
            if len(data) == size:
                record(now, due, sent)
            else:
                tally.lose("protocol-body", 1)
            if now < boundary:
                continue
        point.number = number
        tally.untimed += untimed
        untimed = 0
        if point.over(now, ends=False):
            return True
        if over(now, heard):
            return False
        boundary = point.next_window
        if now < point.until_ns:
            boundary = min(boundary, point.until_ns)
    point.number = number
    tally.untimed += untimed
    return False


def _record(point: Point) -> Callable[[int, int, int], None]:
    """Return what records the times of a message: received, scheduled, sent."""
    tally = point.tally
    if not point.same_clock:

        def untimed(now: int, due: int, sent: int) -> None:
            tally.untimed += 1

        return untimed
    if point.closed:
        add = tally.alike.append

        def alike(now: int, due: int, sent: int) -> None:
            add(now - sent)

        return alike

    def timed(now: int, due: int, sent: int) -> None:
        tally.latency.append(now - due)
        tally.whole_at_once.append(now - sent)
        tally.lateness.append(sent - due)

    return timed


def run(number: int, commands: int, output: int) -> None:
    Worker(number, commands, output).serve()
