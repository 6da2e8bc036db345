"""Memory per open connection, of servers that allocate a known number of bytes for each."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.chosen import chosen
from workbench.documents import AnyDocument, PointStop
from workbench.metrics.memory import PerConnection
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload as a_workload

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.alone]

SERVER = Path(__file__).with_name("servers") / "allocates"
SIZES = chosen((16_384, 65_536, 262_144), 2)
PLAN = Plan(
    servers=[],
    concurrency=[5, 200, 400],
    seconds=1.6,
    warm_up=None,
    calibrate=False,
    cool_down_s=0.1,
    workload=a_workload(
        protocol="http/1.1", mode="closed", calls_per_connection=4, think_time_s=0.2
    ),
)


def entry(size: int) -> ServerEntry:
    found = load_entry(SERVER)
    command = [*found.command[:2], str(size), found.command[3]]
    return msgspec.structs.replace(found, id=f"of-{size}", name=f"{size}", command=command)


async def test_the_memory_per_connection_is_measured() -> None:
    documents: list[AnyDocument] = []
    entries = [entry(size) for size in SIZES]
    plan = msgspec.structs.replace(PLAN, servers=[each.id for each in entries])
    assert (await Engine(plan, entries, documents.append).run()).status == "done"
    for size in SIZES:
        points = [d for d in documents if isinstance(d, PointStop) and d.server == f"of-{size}"]
        data = {point.x: point.values[PerConnection.record.key] for point in points}
        assert data[5] is None, "too few connections"
        # On a busy machine connections wait to be accepted, and that point has no figure.
        known = [value for x in (200, 400) if (value := data[x]) is not None]
        assert known or any(point.evidence["others_cpu_pct"] > 10 for point in points), data
        assert known == pytest.approx([size / 1000] * len(known), rel=0.05), (size, data)
