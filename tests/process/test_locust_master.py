"""Locust's own master and workers: of ours, and such as join by themselves, of every kind."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias
from urllib.request import urlopen

import pytest
from chosen import chosen
from locust_clients import FILES, answering, with_locust

from workbench.errors import BadInput
from workbench.load.base import Client, LoadReport, PointSpec
from workbench.load.events import LoadWindow
from workbench.load.locust import MASTER, LocustMaster
from workbench.machines.bundle import agent_place
from workbench.messages.reasons import reason
from workbench.workloads.locust.declaration import DECLARATION, LocustWorkload

WORKER = "import sys; sys.path[:0] = [sys.argv.pop(1)]; {first}from locust.main import main; main()"
WITHIN_S = 30.0
OLD = "import locust.runners; locust.runners.__version__ = '2.30.1'; "


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def client(cache: Path) -> AsyncIterator[Client]:
    async with with_locust(cache) as found:
        yield found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])


def with_master(client: Client, file: str, **more: Any) -> tuple[Client, dict[str, Any]]:
    workload = LocustWorkload(
        locustfile=str(FILES / file), mode="closed", engine="locust", spawn_s=0.1, **more
    )
    brought = DECLARATION.brought(workload)
    return Client(client.machine, brought=brought), DECLARATION.driven(workload, {})


async def joined(
    client: Client, port: int, folder: Path, file: str = "-", first: str = "", **env: str
) -> asyncio.subprocess.Process:
    """A worker that nobody of ours started."""
    folder.mkdir()  # noqa: ASYNC240  it is at once
    place = await agent_place(client.machine, "locust", client.brought)
    return await asyncio.create_subprocess_exec(
        *(*client.machine.python, "-c", WORKER.format(first=first), place, "--worker"),
        *("--master-host", "127.0.0.1", "--master-port", str(port), "-f", file),
        env={"TMPDIR": str(folder), "PATH": "/usr/bin:/bin", **env},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )


async def measured(
    load: LocustMaster, port: int, options: dict[str, Any], seconds: float, act: Any = None
) -> tuple[LoadReport, list[LoadWindow]]:
    windows: list[LoadWindow] = []

    def take(window: LoadWindow) -> None:
        windows.append(window)
        if act is not None and window.index == 0:
            act()

    point = PointSpec(
        host="127.0.0.1",
        port=port,
        workload="locust",
        options=options,
        mode="closed",
        concurrency=9,
        seconds=seconds,
    )
    return await load.run(point, started=lambda at: None, on_window=take), windows


async def every_kind(client: Client, port: int, folder: Path) -> None:
    """Of another version, with a locustfile that fails there, without the plug-in."""
    bind, file = free_port(), str(FILES / "one_worker.py")
    client, options = with_master(
        client, "one_worker.py", expect_workers=2, master=f"127.0.0.1:{bind}"
    )
    starting = asyncio.create_task(MASTER.start([client]))
    others = [
        await joined(client, bind, folder / "fine"),
        await joined(client, bind, folder / "bare", file),
        await joined(client, bind, folder / "old", file, OLD),
        await joined(client, bind, folder / "fails", FAILS="yes"),
    ]
    load = await starting
    assert isinstance(load, LocustMaster)
    for each in others[2:]:
        await asyncio.wait_for(each.wait(), WITHIN_S)
    assert load.workers == 3
    report, windows = await measured(load, port, options, 1.5)
    await load.close()
    for each in others:  # The master's end is theirs.
        await asyncio.wait_for(each.wait(), WITHIN_S)
    counts = report.counts
    assert report.complaints == []
    of_no_use = " ".join(
        each.data()["said"] for each in report.remarks if each.code == "worker-of-no-use"
    )
    assert "runs Locust 2.30.1 and was sent away" in of_no_use
    assert "failed: one_worker.py, line 8: ModuleNotFoundError" in of_no_use
    assert len(report.remarks) == 2
    assert counts.succeeded and counts.errors["protocol-404"] and counts.errors["connrefused"]
    assert counts.scheduled == counts.succeeded + sum(counts.errors.values())
    assert sum(window.replies for window in windows) == counts.succeeded
    page, missing, elsewhere = report.requests
    assert page.replies == counts.succeeded and missing.failed and elsewhere.failed
    assert 0 < report.elsewhere["localhost:9"] < report.figures["requests"]
    assert report.figures["uncounted"] == 1
    assert report.client_cpu_pct is None
    assert {part.machine for part in report.clients} == {"localhost", socket.gethostname()}


async def lost_in_the_middle(client: Client, port: int, folder: Path) -> None:
    bind = free_port()
    client, options = with_master(
        client, "one_worker.py", expect_workers=1, master=f"127.0.0.1:{bind}"
    )
    starting = asyncio.create_task(MASTER.start([client]))
    other = await joined(client, bind, folder / "lost")
    load = await starting
    assert isinstance(load, LocustMaster)
    report, _ = await measured(load, port, options, 8.0, other.kill)
    (lost,) = report.complaints
    assert lost.code == "agent-problem" and "was lost" in lost.text()
    report, _ = await measured(load, port, options, 1.5)
    await load.close()
    await other.wait()
    assert report.complaints == []
    assert report.remarks == [reason("other-workers", workers=1, expected=2)]
    assert sum(report.histograms.service[1::2]) == report.counts.succeeded
    assert report.client_cpu_pct and report.client_cpu_s


async def shape(client: Client, port: int, folder: Path) -> None:
    web = free_port()
    client, options = with_master(client, "shape.py", web_port=web)
    load = await MASTER.start([client])
    assert isinstance(load, LocustMaster)
    with await asyncio.to_thread(urlopen, f"http://127.0.0.1:{web}/") as page:
        assert page.status == 200
    report, _ = await measured(load, port, options, 30.0)
    await load.close()
    assert report.complaints == []
    assert report.remarks == [reason("shape-decided", users=10, planned=9)]
    assert report.counts.succeeded and report.schedule_s < 15


Case: TypeAlias = Callable[[Client, int, Path], Awaitable[None]]


@pytest.mark.parametrize(
    "case", chosen([every_kind, lost_in_the_middle, shape], 1), ids=lambda case: case.__name__
)
async def test_a_point_is_a_test_of_locust(client: Client, tmp_path: Path, case: Case) -> None:
    async with answering([]) as port:
        await case(client, port, tmp_path)


async def test_a_taken_port_is_one_sentence(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        busy, _ = with_master(client, "fast_http.py", web_port=port)
        said = rf"^Locust cannot listen at 127\.0\.0\.1, port {port}: address already in use\.$"
        with pytest.raises(BadInput, match=said):
            await MASTER.start([busy])
