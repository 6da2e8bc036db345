"""Locustfiles of the kinds that people write, run unchanged by Locust's users on this computer."""

from __future__ import annotations

import asyncio
import contextlib
from bisect import bisect
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from chosen import chosen
from locust_clients import FILES, answering, with_locust

from workbench.errors import BadInput, PongbenchError
from workbench.load.base import Client, LoadReport, PointSpec
from workbench.load.events import LoadWindow
from workbench.load.locust import TOOL, LocustFleet
from workbench.workloads.locust.declaration import DECLARATION, LocustWorkload

ATTEMPTS = 5
"""Other programs of this machine may delay clients or server."""


@dataclass(frozen=True)
class Case:
    """A locustfile, the requests that are answered, and how tasks fail."""

    file: str
    answered: tuple[str, ...]
    failed: tuple[str, ...] = ()
    more: tuple[tuple[str, Any], ...] = ()


CASES = (
    Case("log_in.py", ("POST /login", "GET /account"), more=(("files", ["common"]),)),
    Case("catch_response.py", ("GET absent",), ("check-locustfile", "other-KeyError")),
    Case("sequential.py", ("GET 1 look", "POST 2 pay")),
    Case("http_user.py", ("GET /", "GET /item")),
    Case("fast_http.py", ("GET /json",)),
    Case("wait_times.py", ("GET paced", "GET steady", "GET own")),
    Case("custom_client.py", ("RAW ping",)),
    Case("events_used.py", ("GET page",)),
    Case("tags.py", ("GET read",), more=(("exclude_tags", ["slow"]),)),
    Case("weights.py", ("GET watch", "other requests")),
    Case("exits.py", ("GET page",), ("other-SystemExit",)),
)


@pytest.fixture
def arrived() -> list[float]:
    """When each request came to the server, in seconds."""
    return []


@pytest.fixture
async def port(arrived: list[float]) -> AsyncIterator[int]:
    async with answering(arrived) as found:
        yield found


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is copied to the machine, once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def client(cache: Path) -> AsyncIterator[Client]:
    async with with_locust(cache) as found:
        yield found


def with_file(client: Client, file: str, **more: Any) -> tuple[Client, dict[str, Any]]:
    """Return the client with a locustfile, and the options for it."""
    workload = LocustWorkload(locustfile=str(FILES / file), spawn_s=0.1, **more)
    brought = DECLARATION.brought(workload)
    return Client(client.machine, brought=brought), DECLARATION.driven(workload, {})


@pytest.mark.parametrize("case", chosen(CASES, 3), ids=lambda case: case.file)
async def test_an_unchanged_locustfile_runs_by_users_and_by_rate(
    client: Client, port: int, case: Case
) -> None:
    client, options = with_file(client, case.file, **dict(case.more))
    async with fleet(client) as load:
        users = await run(load, port, options, mode="closed", concurrency=4, seconds=1.0)
        paced = await run(load, port, options, rate_per_s=40.0, connections=40, seconds=1.0)
    assert paced.counts.scheduled == 40
    for report in (users, paced):
        assert set(report.counts.errors) <= set(case.failed)
        assert report.counts.established is None
    # Requests by their names, with their own times.
    for number, name in enumerate(options["requests"]):
        parts = [report.requests[number] for report in (users, paced)]
        assert any(part.replies for part in parts) == (name in case.answered), name
        assert all(sum(part.latency[1::2]) == part.replies for part in parts)


async def test_requests_that_go_to_another_server_are_counted_by_it(
    client: Client, port: int
) -> None:
    client, options = with_file(client, "absolute.py")
    async with fleet(client) as load:
        point = spec(port, options, rate_per_s=40.0, connections=40, seconds=1.0)
        report = await load.run(point, started=lambda at_us: None, on_window=lambda window: None)
    assert report.elsewhere == {"localhost:9": 40}
    assert report.figures["requests"] == 80


@contextlib.asynccontextmanager
async def fleet(client: Client) -> AsyncIterator[LocustFleet]:
    load = await LocustFleet.start([client], worker="locust")
    try:
        yield load
    finally:
        await load.close()


def spec(port: int, options: dict[str, Any], timeout_s: float = 60.0, **more: Any) -> PointSpec:
    return PointSpec(
        host="127.0.0.1", port=port, workload="locust", options=options, timeout_s=timeout_s, **more
    )


async def run(load: LocustFleet, port: int, options: dict[str, Any], **more: Any) -> LoadReport:
    windows: list[LoadWindow] = []
    point = spec(port, options, **more)
    report = await load.run(point, started=lambda at_us: None, on_window=windows.append)
    counts = report.counts
    assert report.complaints == []
    assert report.conserved
    assert counts.in_flight == counts.unsent == 0
    assert counts.succeeded == counts.scheduled - sum(counts.errors.values()) > 0
    assert sum(window.replies for window in windows) == counts.succeeded
    return report


@pytest.mark.alone
@pytest.mark.parametrize(("arrivals", "short"), chosen([("uniform", 0.0), ("poisson", 0.39)], 1))
async def test_tasks_come_to_the_server_when_the_plan_says(
    client: Client, port: int, arrived: list[float], arrivals: str, short: float
) -> None:
    """Locust by itself begins 100 users at once, and then none for a second. `short`: the share of
    gaps below half of their mean."""
    client, options = with_file(client, "fast_http.py")
    schedule: dict[str, Any] = {"rate_per_s": 100.0, "connections": 300, "seconds": 3.0}
    async with fleet(client) as load:
        for _ in range(ATTEMPTS):
            arrived.clear()
            await run(load, port, options, arrivals=arrivals, seed=1, **schedule)
            assert len(arrived) == 300
            found = unplanned(arrived, short)
            if not found:
                break
    assert not found


def unplanned(arrived: list[float], short: float) -> list[str]:
    """Return what is not as 100 tasks a second are, for 3 s."""
    gaps = [later - earlier for earlier, later in pairwise(arrived)]
    most = max(bisect(arrived, at + 0.1) - n for n, at in enumerate(arrived))
    share = sum(gap < 0.005 for gap in gaps) / len(gaps)
    took_s = arrived[-1] - arrived[0]
    checks = (
        (f"{most} came within 0.1 s", most < 40),
        (f"none came for {max(gaps):.2f} s", max(gaps) < 0.4),
        (f"{100 * share:.0f} % of gaps are short", share == pytest.approx(short, abs=0.15)),
        (f"all came within {took_s:.2f} s", took_s == pytest.approx(3, rel=0.1)),
    )
    return [fault for fault, fine in checks if not fine]


async def test_what_cannot_run_is_said_with_its_line_before_the_load(client: Client) -> None:
    for file, sentence in (
        ("broken.py", r"^broken\.py, line 3: ValueError: .*'three'\.$"),
        ("killed.py", r"^killed\.py ended Python \(status 3\) on localhost while it was loaded; "),
    ):
        broken, _ = with_file(client, file)
        with pytest.raises(BadInput, match=sentence):
            await TOOL.start([broken])


async def test_a_call_that_blocks_all_users_is_named_and_ends_the_worker(
    client: Client, port: int
) -> None:
    client, options = with_file(client, "blocks.py")
    point = spec(port, options, timeout_s=5.0, rate_per_s=20.0, connections=20, seconds=1.0)
    async with fleet(client) as load:
        with pytest.raises(
            PongbenchError, match=r": blocks\.py, line 13, in page, blocked all use"
        ):
            await load.run(point, started=lambda at: None, on_window=lambda window: None)
        assert load.lost == ["localhost"]


async def test_a_task_that_hangs_fails_by_its_timeout(client: Client) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client, options = with_file(client, "http_user.py")
    point = spec(port, options, timeout_s=0.5, rate_per_s=20.0, connections=10, seconds=0.5)
    async with server, fleet(client) as load:
        report = await load.run(point, started=lambda at: None, on_window=lambda window: None)
    assert report.conserved
    assert set(report.counts.errors) == {"client-timo"}
    assert report.counts.succeeded == 0
