"""The ZeroMQ client and the catalogue's servers, against each other."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from chosen import chosen
from oracle import eventually

from workbench import paths
from workbench.load.base import Client, LoadGenerator, LoadReport, PointSpec
from workbench.load.events import LoadWindow
from workbench.load.fleet import ZEROMQ as TOOL
from workbench.machines.local import open_local
from workbench.workloads.zeromq.declaration import DECLARATION, ZeromqWorkload

PATTERNS = (
    "req-rep",
    "pair",
    "req-two-reps",
    "queue",
    "push-pull",
    "streamer",
    "pub-sub",
    "forwarder",
)
LOSING = ("pub-sub", "forwarder")


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[LoadGenerator]:
    async for load in clients(tmp_path, 1):
        yield load


@pytest.fixture
async def three_clients(tmp_path: Path) -> AsyncIterator[LoadGenerator]:
    async for load in clients(tmp_path, 3):
        yield load


async def clients(folder: Path, workers: int) -> AsyncIterator[LoadGenerator]:
    brought = DECLARATION.brought(ZeromqWorkload(transport="inproc"))
    machine = await open_local(cache_dir=folder)
    load = await TOOL.start([Client(machine, workers=workers, brought=brought)])
    yield load
    await load.close()
    await machine.close()


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[int]:
    """Start the pattern's server. Returns its port."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    argv = [sys.executable, paths.RESOURCES / "apps" / "zeromq.py", request.param]
    with subprocess.Popen([*argv, "127.0.0.1", str(port), "128"]) as process:
        try:
            assert eventually(lambda: listens(port))
            yield port
        finally:
            process.kill()


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


async def run(load: LoadGenerator, port: int, **more: Any) -> tuple[LoadReport, list[LoadWindow]]:
    options = {"message_size": 1024, "transport": "tcp", "high_water_mark": 1000}
    options |= {key: more.pop(key) for key in list(more) if key in options}
    spec = PointSpec(host="127.0.0.1", port=port, workload="zeromq", options=options, **more)
    windows: list[LoadWindow] = []
    report = await load.run(spec, started=lambda at_us: None, on_window=windows.append)
    counts = report.counts
    errors = sum(counts.errors.values())
    assert report.conserved
    assert counts.scheduled == counts.unsent + counts.succeeded + errors + counts.in_flight
    assert sum(window.replies for window in windows) == counts.succeeded
    assert 0 < sum(report.histograms.latency[1::2]) <= counts.succeeded or not counts.succeeded
    return report, windows


@pytest.mark.parametrize("server", chosen(PATTERNS, 3), indirect=True)
async def test_every_message_is_answered_taken_or_counted_as_lost(
    client: LoadGenerator, server: int, request: pytest.FixtureRequest
) -> None:
    pattern = request.node.callspec.params["server"]
    closed: dict[str, Any] = {"mode": "closed", "concurrency": 1, "seconds": 0.3}
    for more in (
        {"transport": "ipc"},
        {"transport": "inproc"},
        {"message_size": 1 << 17, "high_water_mark": 50},
    ):
        report, _ = await run(client, server, **closed, **more)
        assert report.counts.succeeded > 0
        assert set(report.counts.errors) <= ({"protocol-lost"} if pattern in LOSING else set())
    # At a rate that all of them keep up with, nothing is lost, not even to a slow joiner.
    report, _ = await run(client, server, rate_per_s=200.0, connections=60, seconds=0.3)
    assert report.counts.succeeded == report.counts.scheduled == 60
    assert sum(report.histograms.latency[1::2]) == 60


@pytest.mark.parametrize("server", chosen(("req-rep", *PATTERNS[2:]), 3), indirect=True)
async def test_several_clients_share_the_messages(
    three_clients: LoadGenerator, server: int, request: pytest.FixtureRequest
) -> None:
    pattern = request.node.callspec.params["server"]
    closed: dict[str, Any] = {"mode": "closed", "seconds": 0.3}
    for concurrency in (3, 2):
        report, _ = await run(three_clients, server, **closed, concurrency=concurrency)
        assert report.counts.succeeded > 0
        assert set(report.counts.errors) <= ({"protocol-lost"} if pattern in LOSING else set())
    report, _ = await run(three_clients, server, rate_per_s=200.0, connections=60, seconds=0.3)
    assert report.counts.succeeded == report.counts.scheduled == 60
    assert sum(report.histograms.latency[1::2]) == 60


@pytest.mark.parametrize("server", ["pair"], indirect=True)
async def test_pair_has_one_client(three_clients: LoadGenerator, server: int) -> None:
    report, _ = await run(three_clients, server, mode="closed", seconds=0.3, concurrency=2)
    assert report.counts.scheduled == 0
    assert all("PAIR has one client" in each.text() for each in report.complaints)


async def test_a_client_without_its_server_says_so(client: LoadGenerator) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        report, _ = await run(client, deaf.getsockname()[1], rate_per_s=100.0, connections=10)
    assert report.counts.scheduled == 0
    (complaint,) = report.complaints
    assert "The server did not answer 'open' in 4 s." in complaint.text()
