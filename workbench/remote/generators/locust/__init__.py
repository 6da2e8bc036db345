"""Locust's users, as a worker of the load agent in the place of its own one."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import re
from pathlib import Path


def run(number: int, commands: int, output: int) -> None:
    """Serve until the supervisor closes `commands`."""
    detach()
    watchdog = Watchdog(number, output)
    importlib.import_module(f"{__name__}.users").run(number, commands, output, watchdog)


def detach() -> None:
    """Keep foreign code from the supervisor's input and output, which carry the protocol."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


LEAST_S = 5.0
"""More than a lease, so that a machine that stood still is not mistaken for it."""
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<name>.*)$', re.MULTILINE)


class Watchdog:
    """Ends a worker that its locustfile blocks, and says where: while Python waits in a call that
    gevent cannot switch, no other user runs, and neither do the commands that would end the point.

    Started in a process without threads; a process of its own reports what it found.
    """

    def __init__(self, number: int, output: int) -> None:
        """`number`: of the worker; `output`: where its reports go."""
        found, self._dump = os.pipe()
        if os.fork():
            os.close(found)
            faulthandler.enable(self._dump, all_threads=False)
            return
        try:
            os.close(self._dump)
            with os.fdopen(found, encoding="utf-8", errors="replace") as dump:
                text = dump.read()  # Until the worker has ended.
            if text:
                event = {"ev": "error", "id": None, "worker": number, "text": sentence(text)}
                os.write(output, json.dumps(event).encode() + b"\n")
        finally:
            os._exit(0)

    def expect(self, within_s: float) -> None:
        """End the worker unless this or `rest` is called again within that time."""
        faulthandler.dump_traceback_later(within_s, exit=True, file=self._dump)

    def rest(self) -> None:
        faulthandler.cancel_dump_traceback_later()


def sentence(dump: str, folder: str = "") -> str:
    """Return what happened, without its full stop, from what `faulthandler` wrote. `folder`: that
    of the locustfile; empty: the working directory."""
    inside = f"{folder or Path.cwd()}/"
    main = dump.rpartition("hread 0x")[2]
    frames = [found for found in _FRAME.finditer(main) if found["file"].startswith(inside)]
    where = "a call"
    if frames:
        file = frames[0]["file"].removeprefix(inside)
        where = f"{file}, line {frames[0]['line']}, in {frames[0]['name']},"
    if fatal := re.match(r"Fatal Python error: (.*)", dump):
        return f"{where} ended the worker: {fatal[1]}"
    return f"{where} blocked all users of the worker, which was ended; use calls that yield"
