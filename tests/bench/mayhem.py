"""Users who come, think and stay, as in `piel-2010-mayhem`: what they cost the load agent, and
whether its number of open connections agrees with the kernel's (`ss`).

Each second of `SECONDS` brings `USERS` to the null server, each with 13 requests on one connection
and 5 s of thought between them on average; they leave as they are done. Server and agent have two
processes each, because one may be limited to 20,000 descriptors.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "process"))
sys.path.insert(0, str(Path(__file__).parents[2] / "resources" / "servers" / "null-http"))

import numpy as np
from agents import agent
from server import serve

from workbench.analysis.histogram import percentiles
from workbench.documents import WINDOW_US
from workbench.remote.agent.__main__ import raise_descriptor_limit

USERS = float(os.environ.get("USERS", "500"))
SECONDS = float(os.environ.get("SECONDS", "60"))
EVERY_S = 2.0
FEW = 1_000
"""Fewer connections are not compared: about as many come between the two counts."""
PORT = 28_902
PROCESSES = 2


class Kernel(threading.Thread):
    """Counts the server's established connections."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.counts: list[tuple[float, int]] = []
        self.over = threading.Event()

    def run(self) -> None:
        argv = ["ss", "-Htn", "state", "established", "sport", "=", f":{PORT}"]
        while not self.over.wait(EVERY_S):
            begun = time.monotonic()
            listed = subprocess.run(argv, check=True, capture_output=True).stdout
            self.counts.append(((begun + time.monotonic()) / 2, listed.count(b"\n")))


def main() -> None:
    raise_descriptor_limit()
    fork = multiprocessing.get_context("fork")
    with socket.create_server(("127.0.0.1", PORT), backlog=4096) as listener:
        servers = [fork.Process(target=serve, args=(listener,)) for _ in range(PROCESSES)]
        for server in servers:
            server.start()
        try:
            with agent(workers=PROCESSES) as load:
                measure(load)
        finally:
            for server in servers:
                server.kill()


def measure(load: Any) -> None:
    open_by_window: defaultdict[int, list[int]] = defaultdict(list)
    ours: list[tuple[float, int]] = []
    kernel = Kernel()

    def window_ended(window: dict[str, Any]) -> None:
        counts = open_by_window[window["i"]]
        counts.append(window["in_flight"])
        if len(counts) == PROCESSES:
            end_s = load.started_s + (window["i"] + 1) * WINDOW_US / 1e6
            ours.append((end_s, sum(counts)))

    kernel.start()
    outcome = load.run(
        PORT,
        window_ended,
        protocol="http/1.1",
        rate_per_s=USERS,
        connections=int(USERS * SECONDS),
        seconds=SECONDS,
        calls_per_connection=13,
        think_time_s=5.0,
        think_times="exponential",
        arrivals="poisson",
        addresses=2,
    )
    kernel.over.set()
    kernel.join()
    assert outcome.conserved
    total = outcome.total
    print(f"users started {total('established'):,} of {int(USERS * SECONDS):,}")
    print(f"calls {total('replies'):,}, unsent {total('unsent'):,}, errors {outcome.errors}")
    print(f"connections open at once, at most {max(count for _, count in ours):,}")
    children = Path(f"/proc/{load.process.pid}/task/{load.process.pid}/children").read_text()
    for child, report in zip(children.split(), outcome.reports, strict=True):
        status = Path(f"/proc/{child}/status").read_text()
        memory_kb = int(status.partition("VmHWM:")[2].split()[0])
        end = report["at_schedule_end"]
        found = percentiles(report["histograms"]["service"])
        assert found
        print(
            f"a worker: at most {memory_kb / 1024:,.0f} MB,"
            f" {100 * end['cpu_us'] / end['wall_us']:.0f} % of a core,"
            f" service time p50 {found.p50 / 1000:.2f} ms, p99 {found.p99 / 1000:.2f} ms"
        )
    differences = []
    for at, count in kernel.counts:
        # Hundreds come between the ends of two windows.
        then = float(np.interp(at, *np.transpose(ours)))
        if then >= FEW:
            differences.append(100 * (count - then) / then)
    print(
        f"ss against ours, {len(differences)} times: {min(differences):+.2f} to"
        f" {max(differences):+.2f} %"
    )


if __name__ == "__main__":
    main()
