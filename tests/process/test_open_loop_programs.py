"""httperf and Tsung against a real server, fetched as a run does where they are not installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from agents import reported, target
from chosen import chosen
from gate_checks import skipped_out_of_reach

from workbench.analysis import histogram
from workbench.load import registry
from workbench.load.base import Client, LoadGenerator, LoadReport, PointSpec
from workbench.machines.local import LocalMachine
from workbench.servers.programs import PROGRAMS


def packaged(name: str) -> bool:
    """Whether the distribution has it."""
    program = PROGRAMS[name]
    argv = ["apt-cache", "show", *(program.lone or program.packages)]
    if not shutil.which(argv[0]):
        return False
    found = subprocess.run(argv, capture_output=True, check=False)
    return found.returncode == 0


@pytest.fixture
def port() -> Iterator[int]:
    """A server that keeps connections."""
    with target("http", "1000000") as server:
        yield server.port


async def a_point(load: LoadGenerator, port: int, *, stop: bool = False, **more: Any) -> LoadReport:
    fields: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": port,
        "workload": "http",
        "options": {"protocol": "http/1.1", "path": "/a?b=c", "headers": [("X-A", 'b\\"<c')]},
        "rate_per_s": 50.0,
        "connections": 50,
        "seconds": 1.0,
        "arrivals": "poisson",
        "timeout_s": 10.0,
    }
    return await reported(load, PointSpec(**fields | more), stop=stop)


@pytest.mark.parametrize("name", chosen(["httperf", "tsung"], 1))
async def test_an_open_loop_measures_a_server_through_the_seam(
    kept_machine: LocalMachine, port: int, name: str
) -> None:
    if not shutil.which(name) and not packaged(name):
        pytest.skip(f"{name} is neither installed nor a package of this distribution")
    tool, clients = registry.load_tool(name), [Client(kept_machine, workers=2, nofile=1024)]
    with skipped_out_of_reach():
        (client,) = await registry.equipped(tool, clients, install=True)
    assert client.programs.versions[name]
    load = await tool.start([client])
    report = await a_point(load, port)
    counts, times = report.counts, histogram.percentiles(report.histograms.service)
    assert (counts.errors, counts.in_flight, report.complaints) == ({}, 0, [])
    assert counts.scheduled == counts.succeeded == 50
    if name == "httperf":  # Two of them, each with its share.
        assert report.client_cpu_pct is None
    if name == "httperf":  # Tsung may end before it has written all calls.
        assert times is not None and times.count == counts.succeeded
    assert times is None or 0 < times.p50 <= times.max
    assert report.command.partition(" ")[0] in (name, "HOME=.")
    # Several calls, each after a think time.
    calls: dict[str, Any] = {"calls_per_connection": 3, "think_time_s": 0.01}
    several = await a_point(load, port, arrivals="poisson", **calls)
    assert several.counts.succeeded == several.counts.scheduled == 3 * 50
    # One that is stopped ends long before its schedule, with or without a result.
    stopped = await a_point(load, port, stop=True, connections=30_000, seconds=600.0)
    assert stopped.counts.succeeded <= stopped.counts.scheduled
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        refused = await a_point(load, closed.getsockname()[1])
    assert refused.counts.errors == {"connrefused": refused.counts.scheduled}
    await load.close()
