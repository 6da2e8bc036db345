"""The client of ZeroMQ servers, as a worker of the load agent in the place of its own one."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

import zmq

from workbench.remote.agent.protocol import Load

from .exchange import exchange, take
from .point import Point, Refused


class Worker:
    """Carries out the commands of `remote.agent.protocol`, one point at a time."""

    def __init__(self, number: int, commands: int, output: int) -> None:
        self.number, self.commands, self.output = number, commands, output
        self.received = b""
        self.waiting: list[dict[str, Any]] = []
        """Commands read and not carried out."""
        self.point: Point | None = None
        self.point_id: Any = None

    def serve(self) -> None:
        while True:
            self.read(None)
            while self.waiting:
                self.handle(self.waiting.pop(0))

    def read(self, wait_s: float | None) -> None:
        """Read commands, waiting for the first one at most this long."""
        if select.select([self.commands], [], [], wait_s)[0]:
            data = os.read(self.commands, 65536)
            if not data:
                os._exit(0)
            *lines, self.received = (self.received + data).split(b"\n")
            self.waiting += [json.loads(line) for line in lines]

    def handle(self, command: dict[str, Any]) -> None:
        op = command["op"]
        if op == "point":
            self.drop()
            self.point_id = command["id"]
            self.arm(Load.from_data(command["load"]))
        elif self.point and op in ("start", "stop"):
            if op == "stop":
                self.skip(self.point)
            else:
                self.point.run(command["at_us"] * 1000, offer_of(self.point))
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
        """Report a point that offers nothing."""
        point.limit = 0
        point.run(monotonic_ns(), nothing)
        self.drop()

    def stopped(self) -> bool:
        """Return whether the current point is to be ended."""
        self.read(0)
        stop = {"op": "stop", "id": self.point_id}
        found = stop in self.waiting
        if found:
            self.waiting.remove(stop)
        return found

    def drop(self) -> None:
        if self.point:
            self.point.close()
        self.point = None
        gc.enable()

    def emit(self, event: str, **data: Any) -> None:
        line = {"ev": event, "id": self.point_id, "worker": self.number, **data}
        text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        while text:
            text = text[os.write(self.output, text) :]


def offer_of(point: Point) -> Callable[[Point], int]:
    """Return what offers a point's load."""
    if point.idle:
        return nothing
    return exchange if point.kind in (zmq.REQ, zmq.PAIR) else take


def nothing(point: Point) -> int:
    """Offer no load."""
    return 0


def run(number: int, commands: int, output: int) -> None:
    """Serve until the supervisor closes `commands`; never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Worker(number, commands, output).serve()
