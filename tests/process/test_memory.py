"""Memory of servers that allocate a known number of bytes for each connection, and keep them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.chosen import chosen
from workbench.analysis.audits import audits_of
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Note, PointStop
from workbench.messages.topics import read_note
from workbench.metrics import PER_CONNECTION
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload as a_workload

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.alone]

SERVERS = Path(__file__).with_name("servers")
SIZES = chosen((16_384, 65_536, 262_144), 1)
PLAN = Plan(
    servers=[],
    concurrency=chosen([5, 200, 400], 2),
    seconds=1.6,
    warm_up=None,
    calibrate=False,
    cool_down_s=0.1,
    workload=a_workload(
        protocol="http/1.1", mode="closed", calls_per_connection=4, think_time_s=0.2
    ),
)


def entry(size: int) -> ServerEntry:
    found = load_entry(SERVERS / "allocates")
    command = [*found.command[:2], str(size), found.command[3]]
    return msgspec.structs.replace(found, id=f"of-{size}", name=f"{size}", command=command)


async def test_the_memory_per_connection_is_measured() -> None:
    documents: list[AnyDocument] = []
    entries = [entry(size) for size in SIZES]
    plan = msgspec.structs.replace(PLAN, servers=[each.id for each in entries])
    assert (await Engine(plan, entries, documents.append).run()).status == "done"
    for size in SIZES:
        points = [d for d in documents if isinstance(d, PointStop) and d.server == f"of-{size}"]
        data = {point.x: point.values[PER_CONNECTION.record.key] for point in points}
        assert data[5] is None, "too few connections"
        # On a busy machine connections wait to be accepted, and that point has no figure.
        known = [value for x, value in data.items() if x > 5 and value is not None]
        assert known or any(point.evidence["others_cpu_pct"] > 10 for point in points), data
        assert known == pytest.approx([size / 1000] * len(known), rel=0.05), (size, data)


async def test_a_server_that_leaks_is_reported() -> None:
    """200 kB of each connection, at 30 a second."""
    documents: list[AnyDocument] = []
    plan = Plan(
        servers=["leaks"],
        rates=[30.0],
        seconds=11.0,
        warm_up=None,
        calibrate=False,
        workload=a_workload(timeout_s=60.0),
    )
    engine = Engine(plan, [load_entry(SERVERS / "leaks")], documents.append)
    assert (await engine.run()).status == "done"
    (reported,) = [read_note(d) for d in documents if isinstance(d, Note) and d.topic == "memory"]
    grown = reported.data()
    assert (reported.code, grown["name"], grown["shared_once"]) == ("memory", "leaks", True)
    assert 0 < 2 * grown["before_bytes"] < grown["after_bytes"]
    assert summarise(documents).servers["leaks"].notes == [reported.text()]
    (audit,) = [each for each in audits_of(documents) if each.code == "memory-growth"]
    assert (audit.state, audit.servers) == ("failed", ("leaks",))
    per_hour, low, high, found = audit.message.record()["growth"]["leaks"]
    assert found and low < per_hour < high
    assert per_hour == pytest.approx(30 * 200_000 * 3_600, rel=0.1)
