"""Several clients as one load generator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.load import fleet
from workbench.load.base import Client, PointSpec
from workbench.load.fleet import AgentFleet
from workbench.machines.local import open_local

SPEC = PointSpec(
    host="127.0.0.1",
    port=9,
    workload="pong",
    rate_per_s=100.0,
    connections=3_000,
    seconds=30.0,
    timeout_s=1.0,
)


@pytest.fixture
async def two_clients(tmp_path: Path) -> AsyncIterator[AgentFleet]:
    machines = [await open_local(cache_dir=tmp_path / name, name=name) for name in ("c1", "c2")]
    fleet = await AgentFleet.start([Client(machine) for machine in machines])
    yield fleet
    await fleet.close()
    for machine in machines:
        await machine.close()


async def test_a_point_that_is_stopped_while_its_clients_get_ready_offers_nothing(
    two_clients: AgentFleet,
) -> None:
    running = asyncio.create_task(
        two_clients.run(SPEC, started=lambda at_us: None, on_window=lambda window: None)
    )
    await asyncio.sleep(0)  # their clocks are being measured
    await two_clients.stop_point()
    report = await running
    assert (report.counts.scheduled, report.counts.sent) == (0, 0)
    assert [part.machine for part in report.clients] == ["c1", "c2"]


async def test_a_point_that_takes_too_long_is_stopped_and_reported(
    two_clients: AgentFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "GRACE_S", 4.0 - SPEC.longest_s)
    report = await two_clients.run(SPEC, started=lambda at_us: None, on_window=lambda window: None)
    assert [each.code for each in report.complaints] == ["point-overdue"] * 2
    assert 0 < report.counts.scheduled < SPEC.connections
    assert report.conserved
    assert [part.machine for part in report.clients] == ["c1", "c2"]
    monkeypatch.undo()
    again = await two_clients.run(
        replace(SPEC, connections=10, seconds=0.1),
        started=lambda at_us: None,
        on_window=lambda window: None,
    )
    assert again.counts.scheduled == 10, "the agents take further points"
