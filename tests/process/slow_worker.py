"""A worker of the load agent that takes 5 ms to read: `--worker tests.process.slow_worker`."""

from __future__ import annotations

import time
from typing import Any

from workbench.remote.agent.protocol import Load
from workbench.remote.agent.tally import Tally
from workbench.remote.agent.worker import run
from workbench.remote.drivers import http

__all__ = ["run"]

DELAY_S = 0.005


class Slow(http.WorkloadDriver):
    def __init__(self, loop: Any, load: Load, tally: Tally) -> None:
        super().__init__(loop, load, tally)
        handle = self.on_events

        def on_events() -> bool:
            time.sleep(DELAY_S)
            return handle()

        self.on_events = on_events


http.WorkloadDriver = Slow  # type: ignore[misc]
