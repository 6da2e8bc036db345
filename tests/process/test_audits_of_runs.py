"""A real run records enough for its audits, whatever the load."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from chosen import chosen

from workbench.analysis.audits import audits_of
from workbench.documents import AnyDocument, PointStop, Window
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.catalogue import Catalogue
from workbench.workloads.registry import workload

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.alone]

PLAN = Plan(
    servers=["asyncio-protocol"],
    rates=[200.0, 1_000.0],
    seconds=1.4,
    warm_up=None,
    cool_down_s=0.1,
    looks=1,
    calibrate=False,
    workload=workload(timeout_s=2.0),
)
KEEP_ALIVE: dict[str, Any] = {
    "servers": ["null-http"],
    "workload": workload(
        protocol="http/1.1", calls_per_connection=5, think_time_s=0.02, timeout_s=2.0
    ),
}
CLOSED: dict[str, Any] = {
    "rates": [],
    "concurrency": [1, 20],
    "workload": workload(mode="closed", timeout_s=2.0),
}


@pytest.mark.parametrize("changes", chosen([{}, {"workers": 2}, KEEP_ALIVE, CLOSED], 2))
async def test_calls_in_flight_are_rate_times_service_time(changes: dict[str, Any]) -> None:
    plan = msgspec.structs.replace(PLAN, **changes)
    catalogue = Catalogue.load(extra_dirs=[])
    documents: list[AnyDocument] = []
    engine = Engine(plan, [catalogue[id_] for id_ in plan.servers], documents.append)
    assert (await engine.run()).status == "done"
    found = {audit.code: audit for audit in audits_of(documents)}
    wanted = ["conservation", "littles-law", "backlog", "processes", "descriptors", "versions"]
    data = {code: (found[code].state, found[code].message.text()) for code in wanted}
    assert {code: state for code, (state, _) in data.items()} == dict.fromkeys(wanted, "passed"), (
        data
    )
    # The audit would see a count that is wrong.
    points = [d for d in documents if isinstance(d, PointStop) and d.judged]
    assert len(points) == 2
    for number, document in enumerate(documents):
        if isinstance(document, Window) and document.pending is not None:
            wrong = 3 * document.pending + 20
            documents[number] = msgspec.structs.replace(document, pending=wrong)
    assert {audit.code: audit for audit in audits_of(documents)}["littles-law"].failed
