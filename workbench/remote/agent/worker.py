"""A worker: one process on one core, which runs points on command."""

from __future__ import annotations

import gc
import json
import os
from dataclasses import replace
from typing import Any

from gevent import get_hub

from .point import Point
from .protocol import Load

_LONGEST_BACKLOG = 8 << 20
"""Of output that the pipe does not accept: it never blocks the load. Beyond that, whole lines are
dropped and counted."""


class Worker:
    """Carries out the commands of `protocol.py`, one point at a time."""

    def __init__(self, number: int, commands: int, output: int) -> None:
        hub = get_hub()
        self.number = number
        self.loop = hub.loop
        self.output, self.waiting, self.dropped = output, bytearray(), 0
        os.set_blocking(output, False)
        self.writable = self.loop.io(output, 2)
        self.point: Point | None = None
        self.point_id: Any = None
        self.commands = commands
        self.received = b""
        os.set_blocking(commands, False)
        self.watcher = self.loop.io(commands, 1)
        self.watcher.start(self.on_commands)

    def on_commands(self) -> None:
        try:
            data = os.read(self.commands, 65536)
        except BlockingIOError:
            return
        if not data:
            os._exit(0)
        *lines, self.received = (self.received + data).split(b"\n")
        for line in lines:
            try:
                self.handle(json.loads(line))
            except (ValueError, KeyError, TypeError, OSError, ImportError) as error:
                self.emit("error", text=f"{type(error).__name__}: {error}")

    def handle(self, command: dict[str, Any]) -> None:
        op = command["op"]
        if op == "point":
            if self.point is not None:
                self.point.stop()
            self.point_id, load = command["id"], Load(**command["load"])
            self.arm(replace(load, share=load.share + self.number))
        elif op == "start" and self.point and command["id"] == self.point_id:
            self.point.start(command["at_us"] * 1000)
        elif op == "stop" and self.point and command["id"] == self.point_id:
            self.point.stop()

    def arm(self, load: Load) -> None:
        self.point = Point(self.loop, load, self.on_window, self.on_finished)
        # A point creates no cyclic garbage, and a collection during it would delay connections.
        gc.collect()
        gc.disable()
        self.emit("armed")

    def on_window(self, window: dict[str, Any]) -> None:
        self.emit("window", **window)

    def on_finished(self, report: dict[str, Any]) -> None:
        self.emit("done", **report)
        self.point = None
        gc.enable()

    def emit(self, event: str, **data: Any) -> None:
        if len(self.waiting) > _LONGEST_BACKLOG:
            self.dropped += 1
            return
        line = {"ev": event, "id": self.point_id, "worker": self.number, **data}
        if self.dropped:
            line["dropped"], self.dropped = self.dropped, 0
        self.waiting += json.dumps(line, separators=(",", ":")).encode() + b"\n"
        self.flush()

    def flush(self) -> None:
        try:
            while self.waiting:
                del self.waiting[: os.write(self.output, self.waiting)]
        except BlockingIOError:
            if not self.writable.active:
                self.writable.start(self.flush)
            return
        except OSError:
            os._exit(0)
        self.writable.stop()


def run(number: int, commands: int, output: int) -> None:
    """Serve until the supervisor closes `commands`."""
    worker = Worker(number, commands, output)
    get_hub().join()
    worker.emit("error", text="the event loop ended")
