"""A server that is the limit is reported with the resource it lacked: a sample of
tests/verify/test_planted_causes.py that needs no privileges."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from workbench.documents import AnyDocument, PointStop
from workbench.messages.causes import CAUSES
from workbench.messages.reasons import reasons_of
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload as a_workload

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.alone]

SERVER = Path(__file__).with_name("servers") / "lacks"
PLAN = Plan(
    servers=[],
    rates=[800.0],
    seconds=1.4,
    warm_up=None,
    calibrate=False,
    cool_down_s=0.1,
    looks=1,
    nofile=1000,
    workload=a_workload(protocol="pong", timeout_s=1.0),
)
LACKS = {"kernel": "cores-full", "accepting": "not-accepted"}


def entry(mode: str) -> ServerEntry:
    found = load_entry(SERVER)
    command = [found.command[0], "server.py", mode, *found.command[3:]]
    return msgspec.structs.replace(found, id=mode, name=mode, command=command)


async def test_the_resource_a_server_lacked_is_named() -> None:
    documents: list[AnyDocument] = []
    plan = msgspec.structs.replace(PLAN, servers=list(LACKS))
    engine = Engine(plan, [entry(mode) for mode in LACKS], documents.append)
    assert (await engine.run()).status == "done"
    points = [d for d in documents if isinstance(d, PointStop)]
    assert [point.server for point in points if point.verdict in ("ok", "faulty")] == []
    for point in points:
        if point.evidence["others_cpu_pct"] > 10:
            continue  # nobody can be blamed, and nothing is
        assert point.verdict == "server-limited", point
        (cause,) = (each for each in reasons_of(point) if each.code in CAUSES)
        assert cause.code == LACKS[point.server], point
        if cause.code == "cores-full":
            assert ((cause.data().get("kernel_pct") or 0) > 50) is (point.server == "kernel"), point
