"""What entries of the catalogue declare, compared with their running servers: backlog, processes,
threads, keep-alive and connections to a database."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from chosen import chosen
from gate_checks import patient, patient_gate, skipped_out_of_reach

from workbench.machines.local import LocalMachine
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry

BACKLOG = 512
CALLS = 64
"""Concurrent calls, more than any server here has workers."""
SOMAXCONN = int(Path("/proc/sys/net/core/somaxconn").read_text())
CATALOGUE = Catalogue.load(extra_dirs=[])
SHIPPED = [entry for entry in CATALOGUE.contestants() if entry.seen and not entry.unavailable]
"""All but those whose source the user has to supply, of which nothing was recorded."""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("entry", chosen(SHIPPED, 3, seed=4), ids=lambda entry: entry.id)
async def test_a_running_server_is_what_its_entry_declares(
    kept_machine: LocalMachine, entry: ServerEntry
) -> None:
    seen = entry.seen
    assert seen
    async with running(kept_machine, entry) as deployment:
        result = await patient_gate(deployment)
        assert result.passed, result.sentences
        assert has_the_backlog(deployment)
        assert result.processes >= entry.processes
        assert result.processes == seen.processes
        # A JVM adds threads as it compiles, and as calls come at once.
        some = 0.5 if "java" in entry.programs else 0.2
        assert result.threads == pytest.approx(seen.threads, rel=some, abs=3)
        assert (result.keep_alive, result.pipelining) == (seen.keep_alive, seen.pipelining)
        # A check program of an entry's own does not say who closes.
        assert entry.check or result.closes_first == entry.closes_first
        assert set(entry.protocols) <= set(result.protocols)
        if "/agents" in entry.also:
            connections = await database_connections(deployment)
            stated = " ".join(entry.unequal)
            pooled = re.search(r"pool of up to (\d+) PostgreSQL connections", stated)
            if pooled:
                assert 0 < connections <= int(pooled[1]) * entry.processes
            else:
                assert connections == 0


def test_an_entry_says_how_many_processes_and_threads_make_it_unequal() -> None:
    """Servers of ZeroMQ are compared only with one another, and all have libzmq's threads."""
    for entry in SHIPPED:
        said = " ".join(entry.differences)
        assert entry.processes == 1 or f"{entry.processes} processes" in said, entry.id
        seen = entry.seen
        if seen and seen.threads > seen.processes + 3 and entry.family != "message":
            assert re.search(r"\bthreads?\b", said), entry.id


SEVERAL = [entry.id for entry in SHIPPED if entry.workers]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("id", chosen(SEVERAL, 1, seed=9))
async def test_a_server_has_as_many_more_processes_as_it_was_asked_for(
    kept_machine: LocalMachine, id: str
) -> None:
    counted = []
    for workers in (2, 4):
        async with running(kept_machine, CATALOGUE[f"{id}-{workers}w"]) as deployment:
            result = await patient_gate(deployment)
            assert result.passed, result.sentences
            assert has_the_backlog(deployment)
            assert result.processes >= workers
            counted.append(result.processes)
    assert counted[1] - counted[0] == 2


@asynccontextmanager
async def running(machine: LocalMachine, entry: ServerEntry) -> AsyncIterator[Deployment]:
    """Skips the test where what it needs cannot be fetched."""
    with skipped_out_of_reach():
        deployment = await deploy(machine, patient(entry), backlog=BACKLOG, install=True)
    try:
        yield deployment
    finally:
        await deployment.stop()


def has_the_backlog(deployment: Deployment) -> bool:
    """The plan's, or the one that the entry states."""
    stated = " ".join(deployment.entry.unequal)
    return (
        deployment.backlog == BACKLOG
        or f"{deployment.backlog}" in stated
        or (deployment.backlog == SOMAXCONN and "somaxconn" in stated)
    )


async def database_connections(deployment: Deployment) -> int:
    """Connections to PostgreSQL that stay open after many concurrent calls."""

    async def call() -> None:
        reader, writer = await asyncio.open_connection(*deployment.near)
        writer.write(b"GET /agents HTTP/1.0\r\nHost: pongbench\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.")
        writer.close()

    await asyncio.gather(*(call() for _ in range(CALLS)))
    left = backends(deployment)
    async with asyncio.timeout(60):
        while "pool" not in " ".join(deployment.entry.unequal) and left:
            await asyncio.sleep(0.02)  # PostgreSQL notices the end of a connection a moment later
            left = backends(deployment)
    return left


def backends(deployment: Deployment) -> int:
    here = Path(deployment.machine.run_dir).name
    found = 0
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                title = (process / "cmdline").read_bytes()
                inside = here in str((process / "cwd").readlink())
            except OSError:
                continue
            found += inside and title.startswith(b"postgres: pong pong")
    return found
