"""Whether load tools agree, and what their response times have beyond those of the network.

`python tests/bench/agreement.py [slow] [fast]`: both by default. The slow server answers each call
after 20 ms, all at the same time, so that a closed loop of 10 connections makes nearly 500 calls a
second: the open loops (the agent, httperf, Tsung, Locust) are offered what the agent's closed loop
had, and all tools make the same calls at the same rate, one for each connection. The fast server is
nginx, for the open loops only. Beside what a tool reports stands what the network saw of the same
calls (witness.py): connections begun per second, and response times from where those of the tool
begin to the last packet that it waits for, which for ab is the server's close. What a tool reports
beyond these is time within the tool. All in turns, in ROUNDS rounds; needs root.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from peers import nginx, wait_for
from tools import KEPT, ONCE, OPEN, RATES, ROUNDS, SECONDS, as_tasks, first, measured, ready, target
from witness import Call, Witness

from workbench.analysis.histogram import percentiles
from workbench.load.base import LoadGenerator, LoadReport, PointSpec
from workbench.load.registry import load_tool

SERVER = Path(__file__).parents[1] / "planted" / "server.py"
TAKES_S = 0.02
CONCURRENCIES = (5, 10, 20)
CLOSED = {"agent, closed": ONCE, "ab": ONCE, "wrk": KEPT}
"""Tools with the protocol that each speaks."""

Row = tuple[float, ...]


async def main(wanted: list[str]) -> None:
    cores = sorted(os.sched_getaffinity(0))[:2]
    async with ready(("agent", "httperf", "tsung", "locust", "ab", "wrk"), cores[1]) as loads:
        if "slow" in (wanted or ["slow"]):
            with slow(cores[0]) as port:
                for concurrency in CONCURRENCIES:
                    await at_concurrency(loads, port, concurrency)
        if "fast" in (wanted or ["fast"]):
            with nginx(cores[0]) as port:
                for rate in RATES:
                    found: defaultdict[str, list[Row]] = defaultdict(list)
                    for _ in range(ROUNDS):
                        await interleaved(loads, open_loops(port, rate), found)
                    table(f"nginx, {rate:,.0f}/s", found)


@contextlib.contextmanager
def slow(core: int) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    argv = ["taskset", "-c", str(core), sys.executable, str(SERVER), f"takes:{TAKES_S}"]
    with subprocess.Popen([*argv, "127.0.0.1", str(port), "4096"]) as server:
        try:
            wait_for(port)
            yield port
        finally:
            server.kill()


async def at_concurrency(loads: Mapping[str, LoadGenerator], port: int, concurrency: int) -> None:
    closed = {
        name: target(port, protocol, mode="closed", concurrency=concurrency, calls_per_connection=1)
        for name, protocol in CLOSED.items()
    }
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for _ in range(ROUNDS):
        await interleaved(loads, closed, found)
        rate = found["agent, closed"][-1][0]
        await interleaved(loads, open_loops(port, rate), found)
    table(f"{1000 * TAKES_S:g} ms, {concurrency} at once", found)


def open_loops(port: int, rate: float) -> dict[str, PointSpec]:
    """At that rate, as each can make it."""
    load = {"rate_per_s": rate, "connections": round(rate * SECONDS), "seed": 1}
    return {
        name: as_tasks(name, target(port, KEPT, arrivals=arrivals, **load))
        for name, arrivals in OPEN.items()
    }


async def interleaved(
    loads: Mapping[str, LoadGenerator],
    specs: Mapping[str, PointSpec],
    found: defaultdict[str, list[Row]],
) -> None:
    for name, spec in specs.items():
        tool = name.partition(",")[0]
        if load := loads.get(tool):
            with Witness(spec.port) as witness:
                report = await measured(load, spec)
                found[name].append(figures(tool, report, witness.calls()))
            for complaint in report.complaints:
                print(complaint.text())


def figures(tool: str, report: LoadReport, calls: list[Call]) -> Row:
    sends = "from-send" in load_tool(tool).capabilities.traits
    on_wire = 1000 * statistics.median(
        (call.closed_s if tool == "ab" else call.answered_s)
        - (call.sent_s if sends else call.begun_s)
        for call in calls
    )
    begun = sorted(call.begun_s for call in calls)
    times = percentiles(report.histograms.service)
    reported = times.p50 / 1000 if times else float("nan")
    return (
        report.replies_in_schedule / report.schedule_s,
        (len(begun) - 1) / (begun[-1] - begun[0]),
        reported,
        on_wire,
        reported - on_wire,
    )


def table(title: str, found: Mapping[str, list[Row]]) -> None:
    heads = ("replies/s", "begun/s", "p50 ms", "on wire", "beyond it")
    print(f"\n{title}: medians of {ROUNDS} interleaved rounds")
    print(f"{'':15}" + "".join(f"{head:>12}" for head in heads))
    for name, rows in found.items():
        cells = (statistics.median(row) for row in zip(*rows, strict=True))
        print(f"{name:15}" + "".join(f"{cell:12,.2f}" for cell in cells), flush=True)


if __name__ == "__main__":
    first(main(sys.argv[1:]))
