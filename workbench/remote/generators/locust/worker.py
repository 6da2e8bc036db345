"""Carries out the commands of `remote.agent.protocol` with users of a locustfile."""

from __future__ import annotations

import os
import signal
from typing import Any

import gevent
import locust  # noqa: F401  before the agent's modules: it makes sockets cooperative
from gevent import get_hub

from workbench.remote.agent.point import Point
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.worker import Worker

from . import LEAST_S, Watchdog, users
from .locustfile import Refused


class LocustWorker(Worker):
    """Prepares a point in a greenlet, for hooks of a locustfile may wait."""

    def __init__(self, number: int, commands: int, output: int, watchdog: Watchdog) -> None:
        super().__init__(number, commands, output)
        self.watchdog = watchdog

    def arm(self, point_id: Any, load: Load) -> None:
        if self.point is not None:
            self.point.stop()
        self.point_id = point_id
        gevent.spawn(self._arm, load)

    def _arm(self, load: Load) -> None:
        try:
            users.prepare(load, lambda text: self.emit("error", text=text))
            self.point = Point(self.loop, load, self.on_window, self.on_finished, users.UserDriver)
        except (Refused, OSError) as error:
            self.emit("error", text=str(error).rstrip("."))
            os._exit(1)
        self.emit("armed")

    def handle(self, command: dict[str, Any]) -> None:
        super().handle(command)
        if command["op"] == "start":
            self._watch()

    def on_window(self, window: dict[str, Any]) -> None:
        super().on_window(window)
        self._watch()

    def on_finished(self, report: dict[str, Any]) -> None:
        super().on_finished(report)
        self.watchdog.rest()

    def _watch(self) -> None:
        if self.point is not None:
            self.watchdog.expect(max(LEAST_S, self.point.load.timeout_s))


def run(number: int, commands: int, output: int, watchdog: Watchdog) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hub = get_hub()
    hub.SYSTEM_ERROR = ()  # A user that calls sys.exit() ends itself, not the worker.
    LocustWorker(number, commands, output, watchdog)
    hub.join()
    os._exit(1)
