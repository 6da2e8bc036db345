"""Held connections of WebSocket, against a server that keeps them all and one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench import paths
from workbench.documents import AnyDocument, PointStart, PointStop, RunStart, Window
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload as a_workload

HERE = Path(__file__).parent
PLAN = Plan(
    servers=["null-websocket", "moody-websocket"],
    vary={"connections": [100.0]},
    rates=[200.0],
    seconds=2.0,
    warm_up=None,
    cool_down_s=0.1,
    looks=1,
    workload=a_workload(
        protocol="websocket", timeout_s=3.0, p99_ms=10_000.0, reconnect_s=0.2, connect_per_s=200.0
    ),
)


pytestmark = pytest.mark.usefixtures("home")


async def test_connections_are_made_held_and_pinged_and_each_is_accounted_for() -> None:
    documents: list[AnyDocument] = []
    entries = [
        load_entry(paths.RESOURCES / "servers/null-websocket", shipped=True),
        load_entry(HERE / "servers/moody-websocket"),
    ]
    assert (await Engine(PLAN, entries, documents.append).run()).status == "done"
    start = documents[0]
    assert isinstance(start, RunStart) and start.axis
    assert (start.axis.key, start.axis.limit) == ("connections", "highest")
    (begun, _) = [d for d in documents if isinstance(d, PointStart)]
    assert begun.seconds == 4.0, "two seconds of ramp"

    good, bad = [d for d in documents if isinstance(d, PointStop)]
    assert all(stop.complete and stop.conserved for stop in (good, bad))
    assert good.counts.scheduled == bad.counts.scheduled == 100 + 400
    assert (good.counts.succeeded, good.counts.errors) == (500, {})
    assert good.latency_us and good.latency_us.count == 400, "of echoes alone"
    assert good.offered_per_s == pytest.approx(200, rel=0.05)
    assert (good.values["survivors_pct"], good.values["reconnects"]) == (100, 0)
    seconds = good.values["connect_all_s"]
    assert seconds is not None and seconds >= 0.49

    windows = [d for d in documents if isinstance(d, Window) and d.point == good.point]
    assert [w.phase for w in windows][:10] == ["ramp"] * 10
    assert {w.in_flight for w in windows if w.phase == "measure"} == {100}
    assert not sum(w.replies for w in windows if w.phase == "ramp")
    assert [w.phase for w in windows].count("measure") == 10 and windows[-1].phase == "drain"

    # Each tenth connection is closed with 1011, without a word, is silent, or echoes wrongly.
    errors = bad.counts.errors
    assert set(errors) - {"connreset"} == {
        "protocol-close-1011",
        "protocol-close-1006",
        "client-timo",
        "protocol-body",
    }
    survivors = bad.values["survivors_pct"]
    assert survivors is not None and 50 < survivors < 90
    assert sum(errors.values()) >= 100 - survivors
    assert bad.values["reconnects"], "what was lost came back"
    assert bad.verdict in ("faulty", "server-limited")
