"""Locust's users, as a worker of the load agent in the place of its own one."""

from __future__ import annotations

import importlib
import os

from .blocked import Watchdog


def run(number: int, commands: int, output: int) -> None:
    """Serve until the supervisor closes `commands`; never returns."""
    detach()
    watchdog = Watchdog(number, output)
    importlib.import_module(f"{__name__}.worker").run(number, commands, output, watchdog)


def detach() -> None:
    """Keep foreign code from the supervisor's input and output, which carry the protocol."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)
