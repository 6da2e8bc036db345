"""Carries out the commands of `agent.protocol` with users of a locustfile."""

from __future__ import annotations

import os
import signal
from typing import Any

import gevent
import locust  # noqa: F401  before the agent's modules: it makes sockets cooperative
from gevent import get_hub

from workbench.agent.point import Point
from workbench.agent.protocol import Load
from workbench.agent.worker import Worker

from . import users
from .locustfile import Refused


class LocustWorker(Worker):
    """Prepares a point in a greenlet, for hooks of a locustfile may wait."""

    def arm(self, point_id: Any, load: Load) -> None:
        if self.point is not None:
            self.point.stop()
        self.point_id = point_id
        gevent.spawn(self._arm, load)

    def _arm(self, load: Load) -> None:
        try:
            users.prepare(load, lambda text: self.emit("error", text=text))
            self.point = Point(self.loop, load, self.on_window, self.on_finished)
        except (Refused, OSError) as error:
            self.emit("error", text=str(error))
            os._exit(1)
        self.emit("armed")


def run(number: int, commands: int, output: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    LocustWorker(number, commands, output)
    get_hub().join()
    os._exit(1)
