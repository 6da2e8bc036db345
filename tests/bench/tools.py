"""Every load tool at the same server, in turns: replies, response times, and CPU time per call.

nginx answers from memory on one core; a tool has another one. The open loops (the agent, httperf,
Tsung, Locust) offer the same rates, with one call per connection; the closed loops (the agent, ab,
wrk) the same concurrency. What Locust's client takes itself is measured with the users of
visitor_clients.py. All run through `workbench.load`, as in a run. ROUNDS and RATES are from
the environment. A tool that is missing is fetched into a folder that is then removed. As root, what
is measured comes before all other programs.

CPU time is that of the whole program, its start included: of the agent, which is always there, only
while the schedule runs. httperf polls the clock, so its CPU time is that of a core.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from peers import nginx
from planted.ground import Ground, NoGround

from workbench.analysis.histogram import percentiles
from workbench.errors import PongbenchError
from workbench.load import registry
from workbench.load.base import Client, LoadGenerator, LoadReport, PointSpec
from workbench.machines.local import open_local
from workbench.workloads.locust.declaration import LocustWorkload
from workbench.workloads.registry import declaration

ROUNDS = int(os.environ.get("ROUNDS", "3"))
RATES = [float(rate) for rate in os.environ.get("RATES", "500,1500,3000").split(",")]
SECONDS = 3.0
CONCURRENCY = 50
OPEN = {
    "agent": "uniform",
    "agent, random": "poisson",
    "httperf": "uniform",
    "tsung": "poisson",
    "locust": "uniform",
}
"""Tools with the arrivals that each can make."""
ONCE, KEPT = {"protocol": "http/1.0"}, {"protocol": "http/1.1"}
VISITOR, CLIENTS = (
    LocustWorkload(locustfile=str(Path(__file__).with_name(name)))
    for name in ("visitor.py", "visitor_clients.py")
)
"""With the same request on a connection of its own."""
CLIENTS_OF_LOCUST, CLIENTS_RATE = "clients of locust", 100.0


def target(port: int, options: dict[str, Any], **more: Any) -> PointSpec:
    """Return a point at the server."""
    full = {"pipeline": 1, "path": "/", "method": "GET", "headers": [], **options}
    where: dict[str, Any] = {"host": "127.0.0.1", "port": port, "workload": "http"}
    return PointSpec(**where, options=full, seconds=SECONDS, **more)


def specs(port: int) -> dict[str, dict[str, PointSpec]]:
    """Points by what they show and by tool."""

    def closed(options: dict[str, Any], calls: int) -> PointSpec:
        more = {"concurrency": CONCURRENCY, "calls_per_connection": calls}
        return target(port, options, mode="closed", **more)

    points = {
        f"{rate:,.0f} connections/s": {
            tool: as_tasks(
                tool,
                target(
                    port,
                    KEPT,
                    rate_per_s=rate,
                    connections=round(rate * SECONDS),
                    arrivals=how,
                    seed=1,
                ),
            )
            for tool, how in OPEN.items()
        }
        for rate in RATES
    }
    once = f"{CONCURRENCY} at once, one call per connection"
    points[once] = {tool: closed(ONCE, 1) for tool in ("agent", "ab")}
    points[f"{CONCURRENCY} at once, kept"] = {
        tool: closed(KEPT, 1_000) for tool in ("agent", "wrk")
    }
    return points


def as_tasks(tool: str, spec: PointSpec) -> PointSpec:
    """Return a point as a tool offers it: Locust by tasks of a locustfile."""
    return by_locust(spec, VISITOR) if tool == "locust" else spec


def by_locust(spec: PointSpec, workload: LocustWorkload) -> PointSpec:
    options = declaration("locust").driven(workload, {})
    return replace(spec, workload="locust", options=options)


async def main() -> None:
    server_core, client_core = sorted(os.sched_getaffinity(0))[:2]
    names = ("agent", "httperf", "tsung", "locust", CLIENTS_OF_LOCUST, "ab", "wrk")
    with nginx(server_core) as port:
        async with ready(names, client_core) as loads:
            for title, tools in specs(port).items():
                found: defaultdict[str, list[LoadReport]] = defaultdict(list)
                for _ in range(ROUNDS):
                    for name, spec in tools.items():
                        if load := loads.get(name.partition(",")[0]):
                            found[name].append(await measured(load, spec))
                table(title, found)
            if load := loads.get(CLIENTS_OF_LOCUST):
                await clients_of_locust(load, port)


@contextlib.asynccontextmanager
async def ready(names: Sequence[str], core: int) -> AsyncIterator[dict[str, LoadGenerator]]:
    """Load tools that are ready on a core; those that are missing are fetched, or left out."""
    with tempfile.TemporaryDirectory() as home:
        machine = await open_local(cache_dir=Path(home))
        loads: dict[str, LoadGenerator] = {}
        try:
            for name in names:
                workload = {"locust": VISITOR, CLIENTS_OF_LOCUST: CLIENTS}.get(name)
                tool = registry.load_tool("locust" if workload else name)
                brought = declaration("locust").brought(workload) if workload else None
                client = Client(machine, cpus=[core], nofile=20_000, brought=brought)
                try:
                    clients = await registry.equipped(tool, [client], install=True)
                    loads[name] = await tool.start(clients)
                except PongbenchError as error:
                    print(error)
            yield loads
        finally:
            for load in loads.values():
                await load.close()
            await machine.close()


async def clients_of_locust(load: LoadGenerator, port: int) -> None:
    """Print how long the same request takes by each of its users."""
    spec = by_locust(target(port, KEPT), CLIENTS)
    rate = {"rate_per_s": CLIENTS_RATE, "connections": round(CLIENTS_RATE * SECONDS)}
    spec = replace(spec, **rate, seed=1)
    reports = [await measured(load, spec) for _ in range(ROUNDS)]
    print(f"\n{CLIENTS_OF_LOCUST}, {CLIENTS_RATE:g} tasks/s: p50 ms")
    for number, name in enumerate(spec.options["requests"]):
        times = [percentiles(report.requests[number].latency) for report in reports]
        p50 = statistics.median(each.p50 for each in times if each)
        print(f"{name:25}{p50 / 1000:8.2f}")


async def measured(load: LoadGenerator, spec: PointSpec) -> LoadReport:
    await asyncio.sleep(0.5)
    return await load.run(spec, started=lambda at_us: None, on_window=lambda window: None)


def table(title: str, found: dict[str, list[LoadReport]]) -> None:
    heads = ("offered/s", "replies/s", "lost", "p50 ms", "p99 ms", "late p99", "CPU us/call")
    print(f"\n{title}: medians of {ROUNDS} interleaved rounds")
    print(f"{'':15}" + "".join(f"{head:>13}" for head in heads))
    for name, reports in found.items():
        for complaint in (each for report in reports for each in report.complaints):
            print(complaint.text())
        rows = zip(*(figures(r) for r in reports if r.schedule_s), strict=True)
        cells = [
            f"{statistics.median(k):13,.2f}" if (k := known(row)) else f"{'?':>13}" for row in rows
        ]
        print(f"{name:15}" + "".join(cells), flush=True)


def known(row: tuple[float | None, ...]) -> list[float]:
    return [value for value in row if value is not None]


def figures(report: LoadReport) -> list[float | None]:
    counts = report.counts
    times, late = (percentiles(h) for h in (report.histograms.service, report.histograms.lateness))
    cpu_s = report.client_cpu_s
    return [
        counts.scheduled / (report.offered_in_s or SECONDS),
        report.replies_in_schedule / report.schedule_s,
        counts.scheduled - counts.succeeded,
        times and times.p50 / 1000,
        times and times.p99 / 1000,
        late and late.p99 / 1000,
        cpu_s * 1e6 / counts.sent if cpu_s is not None and counts.sent else None,
    ]


def first(work: Coroutine[Any, Any, None]) -> None:
    """Run it before all other programs of the machine, where that is possible."""
    try:
        ground = Ground()
    except NoGround as error:
        print(f"Other programs may disturb: {error}")
        asyncio.run(work)
    else:
        try:
            asyncio.run(work)
        finally:
            ground.close()


if __name__ == "__main__":
    first(main())
