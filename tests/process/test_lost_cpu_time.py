"""Servers whose children's CPU time is lost: it is unknown, not small."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from workbench.analysis.cost import CPU_PER_CALL
from workbench.documents import AnyDocument, Note, PointStop
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.alone]

SERVER = Path(__file__).with_name("servers") / "forks"


def entry(how: str) -> ServerEntry:
    found = load_entry(SERVER)
    return msgspec.structs.replace(found, id=how, command=[*found.command[:-1], how])


async def test_cpu_time_that_the_kernel_drops_is_unknown() -> None:
    documents: list[AnyDocument] = []
    plan = Plan(
        servers=["waits", "forgets"],
        rates=[200],
        seconds=1.5,
        warm_up=None,
        calibrate=False,
        looks=1,
    )
    entries = [entry("waits"), entry("forgets")]
    assert (await Engine(plan, entries, documents.append).run()).status == "done"
    stops = {each.server: each for each in documents if isinstance(each, PointStop)}
    known = {
        server: (
            stop.server_cpu_pct > 0,
            stop.values.get(CPU_PER_CALL) is not None,
            "server_cpu_pct" in stop.evidence,
        )
        for server, stop in stops.items()
    }
    assert known == {"waits": (True, True, True), "forgets": (False, False, False)}
    noted = [each for each in documents if isinstance(each, Note) and "SIGCHLD" in each.text]
    assert [each.server for each in noted] == ["forgets"]
