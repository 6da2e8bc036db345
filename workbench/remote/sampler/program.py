"""Samples at every tick and whenever asked."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from typing import Any

from . import owner
from .host import cores_and_softirq, counters, gauges, memory_available, pressure
from .sockets import drops, listeners, listening
from .tree import TICK_S, pids_of, pss_is_due, tree


def sample(number: int, watched: dict[str, Any], asked: int = 0) -> dict[str, Any]:
    cores, softirq = cores_and_softirq()
    port, roots = watched.get("port"), watched.get("watch") or []
    if group := watched.get("group"):
        roots = pids_of(group)
    elif isinstance(roots, int):
        roots = [roots]
    with_pss = asked > 0 or pss_is_due(number)
    found = listeners(port) if port else []
    return {
        "t_us": time.monotonic_ns() // 1000,
        "asked": asked,
        **({"pressure": pressure()} if asked else {}),
        "cores": cores,
        "softirq": softirq,
        "memory": memory_available(),
        "counters": counters() | drops(found),
        "gauges": gauges(),
        "server": watched.get("server", ""),
        "tree": tree(roots, with_pss=with_pss, in_detail=asked > 0, tick=number, port=port or 0)
        if roots
        else None,
        "listening": listening(found),
        "own_us": time.process_time_ns() // 1000,
    }


def main() -> None:
    if sys.argv[1:2] == ["owner"]:
        print(json.dumps(owner.find(json.loads(sys.argv[2]))))
        return
    if len(sys.argv) > 1:
        print(json.dumps(listening(listeners(int(sys.argv[1])))))
        return
    watched: dict[str, Any] = {}
    rest = b""
    number = 0
    due = time.monotonic()

    def say(asked: int = 0) -> None:
        line = json.dumps(sample(number, watched, asked), separators=(",", ":"))
        os.write(1, line.encode() + b"\n")

    while True:
        say()
        number += 1
        due = max(due + TICK_S, time.monotonic())
        # Read stdin even when sampling is behind schedule.
        while select.select([0], [], [], max(0.0, due - time.monotonic()))[0]:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for command in map(json.loads, lines):
                if "asked" in command:
                    say(command["asked"])
                else:
                    watched = command
                    number = 0
