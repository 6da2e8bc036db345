"""A point with a scripted load tool and fake machines: every document it emits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from fakes.load import ALL, Script, fake_tool
from fakes.run import Run, a_run, cancelled_at

from workbench.documents import PointStart, PointStop, Window
from workbench.errors import BadInput, PongbenchError
from workbench.load import registry
from workbench.load.base import Capabilities, PointSpec
from workbench.machines.usage import Usage
from workbench.messages.problems import problem
from workbench.plan.model import Plan
from workbench.plan.schedule import PointPlan, points
from workbench.run.environment import HERE, Samplers
from workbench.run.point import Target
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import workload as a_workload

PLAN = Plan(
    servers=["one"],
    rates=[1_000.0],
    seconds=2.0,
    cool_down_s=0,
    load_tool="fake",
    workload=a_workload(protocol="http/1.1", path="/a", calls_per_connection=2, timeout_s=3.0),
    rate_of="connections",
)
ENTRY = ServerEntry(
    id="one", name="One", folder=Path(), family="socket", protocols=["http/1.1"], runtime="none"
)
DEPLOYMENT: Any = SimpleNamespace(
    entry=ENTRY, host="127.0.0.1", port=20_001, here=True, known=True, exit_status=lambda: None
)
ONE = Target(DEPLOYMENT)

COUNTS_ONLY = Capabilities(axes=("rate", "concurrency"), workloads=("pong", "http"))


pytestmark = pytest.mark.usefixtures("home")


def the_point(plan: Plan = PLAN) -> PointPlan:
    return next(iter(points(plan, "one", seed=7)))


async def measured(run: Run, plan: Plan = PLAN) -> PointStop:
    return await run.scheduler.servers.points.measure(the_point(plan), ONE)


async def test_a_point_begins_has_its_windows_and_ends(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path) as run:
        stop = await measured(run)
    start, *windows, last = run.documents
    assert isinstance(start, PointStart) and last is stop
    assert (start.point, start.server, start.rate_per_s) == (1, "one", 1_000.0)
    assert start.load_tool == "fake"
    assert [w.index for w in windows if isinstance(w, Window)] == list(range(10))
    assert {w.t_us - start.t_us for w in windows if isinstance(w, Window)} == {
        n * 200_000 for n in range(10)
    }
    assert sum(w.due for w in windows if isinstance(w, Window)) == stop.counts.scheduled == 4_000
    assert (stop.offered_per_s, stop.replies_per_s, stop.errors_pct) == (1_000.0, 1_000.0, 0.0)
    assert (stop.verdict, stop.complete, stop.conserved) == ("ok", True, True)
    assert stop.latency_us is not None and stop.latency_us.p99 == 200


async def test_a_tool_receives_everything_about_the_point(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path) as run:
        await measured(run)
    assert run.load.specs == [
        PointSpec(
            host="127.0.0.1",
            port=20_001,
            workload="http",
            options={"protocol": "http/1.1", "path": "/a", "pipeline": 1},
            rate_per_s=1_000.0,
            connections=2_000,
            seconds=2.0,
            seed=the_point().seed,
            calls_per_connection=2,
            timeout_s=3.0,
        )
    ]


async def test_a_server_beyond_its_capacity_is_the_limit(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path, Script(capacity=lambda x: min(x, 600))) as run:
        stop = await measured(run)
    assert (stop.verdict, stop.errors_pct) == ("server-limited", 40.0)
    assert stop.counts.errors == {"client-timo": 1_600}
    assert stop.evidence["open_at_end"] > stop.evidence["open_halfway"] > 0


async def test_a_late_client_makes_the_point_client_limited(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path, Script(lateness_us=9_000)) as run:
        stop = await measured(run)
    assert stop.verdict == "client-limited"


async def test_a_rate_that_a_tool_did_not_offer_is_not_sustained(tmp_path: Path) -> None:
    can = msgspec.structs.replace(COUNTS_ONLY, traits=frozenset(["own-pace"]))
    async with a_run(PLAN, tmp_path, Script(offered_in_s=3.0), can=can) as run:
        stop = await measured(run)
    assert (stop.offered_per_s, stop.verdict) == (666.667, "client-limited")
    assert stop.reasons == ["The load tool offered 667/s, not 1,000/s."]
    async with a_run(PLAN, tmp_path, Script(offered_in_s=2.1), can=can) as run:
        stop = await measured(run)
    assert (stop.offered_per_s, stop.verdict) == (952.381, "ok")


async def test_nor_has_a_tool_reached_it_in_the_calibration(tmp_path: Path) -> None:
    can = msgspec.structs.replace(COUNTS_ONLY, traits=frozenset(["own-pace"]))
    async with a_run(PLAN, tmp_path, Script(offered_in_s=3.0), can=can) as run:
        point = replace(the_point(PLAN), purpose="ceiling")
        stop = await run.scheduler.servers.points.measure(point, ONE)
    assert (stop.verdict, [each["code"] for each in stop.findings]) == (
        "client-limited",
        ["offered-less"],
    )


async def test_what_a_tool_does_not_report_is_unknown_and_no_verdict_uses_it(
    tmp_path: Path,
) -> None:
    """The same as above, reported by a tool that only counts."""
    script = Script(lateness_us=9_000, capacity=lambda x: min(x, 995))
    async with a_run(PLAN, tmp_path, script, can=COUNTS_ONLY) as run:
        stop = await measured(run)
    assert not [d for d in run.documents if isinstance(d, Window)]
    assert (stop.counts.late, stop.counts.established) == (None, None)
    assert (stop.client_cpu_pct, stop.conserved) == (None, None)
    assert (stop.latency_us, stop.service_us, stop.lateness_us) == (None, None, None)
    unknown = {"late_share", "client_cpu_pct", "lateness_p99_us", "open_halfway", "open_at_end"}
    assert not unknown & set(stop.evidence)
    assert (stop.verdict, stop.errors_pct, stop.replies_per_s) == ("ok", 0.5, 995.0)
    written = msgspec.json.decode(msgspec.json.encode(stop))
    assert written["counts"]["late"] is written["client_cpu_pct"] is written["conserved"] is None


async def test_a_tool_that_counts_still_reports_who_lost_the_calls(tmp_path: Path) -> None:
    script = Script(capacity=lambda x: min(x, 600))
    async with a_run(PLAN, tmp_path, script, can=COUNTS_ONLY) as run:
        stop = await measured(run)
    assert stop.verdict == "server-limited"


async def test_latency_is_unknown_where_a_tool_reports_no_scheduled_times(tmp_path: Path) -> None:
    can = msgspec.structs.replace(ALL, reports=ALL.reports - {"latency"})
    script = Script(capacity=lambda x: min(x, 600))
    async with a_run(PLAN, tmp_path, script, can=can) as run:
        stop = await measured(run)
    assert stop.latency_us is None and stop.service_us is not None
    assert "open_at_end" not in stop.evidence


async def test_a_closed_loop_has_no_offered_rate(tmp_path: Path) -> None:
    plan = Plan(
        servers=["one"],
        concurrency=[50],
        seconds=2.0,
        load_tool="fake",
        workload=a_workload(mode="closed"),
    )
    async with a_run(plan, tmp_path, Script(capacity=lambda x: 40 * x)) as run:
        stop = await measured(run, plan)
    (spec,) = run.load.specs
    assert (spec.mode, spec.concurrency, spec.rate_per_s) == ("closed", 50, 0.0)
    assert (stop.concurrency, stop.replies_per_s, stop.verdict) == (50, 2_000.0, "ok")


async def test_a_closed_loop_is_measured_from_the_first_replies_on(tmp_path: Path) -> None:
    """Its load does not rise until the first connections end: all of them are there at once."""
    plan = Plan(
        servers=["one"],
        concurrency=[50],
        seconds=2.0,
        load_tool="fake",
        workload=a_workload(mode="closed", protocol="http/1.1", calls_per_connection=10),
    )
    async with a_run(plan, tmp_path, Script(service_us=150_000)) as run:
        stop = await measured(run, plan)
    assert stop.measured_s == [0.2, 2.0]


async def test_a_client_that_is_lost_leaves_the_point_incomplete(tmp_path: Path) -> None:
    script = Script(lose={1: ["c2"]})
    async with a_run(PLAN, tmp_path, script, clients=("localhost", "c2")) as run:
        stop = await measured(run)
    assert not stop.complete and stop.verdict == "inconclusive"
    assert any("c2" in reason for reason in stop.reasons)
    assert [part.machine for part in stop.clients] == ["localhost"]


async def test_a_point_without_a_client_raises(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path, Script(lose={1: ["localhost"]})) as run:
        with pytest.raises(PongbenchError, match="localhost is gone"):
            await measured(run)
        assert not run.stops
        with pytest.raises(PongbenchError, match="No client is left"):
            await measured(run)


@pytest.mark.parametrize("ask", ["stop", "skip_server"])
async def test_a_point_that_is_ended_early_is_reported_as_interrupted(
    tmp_path: Path, ask: str
) -> None:
    script = Script(held=1)
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: getattr(run.control, ask)()
        stop = await measured(run)
    assert (stop.complete, stop.verdict, stop.seconds) == (False, "inconclusive", 1.2)
    assert stop.counts.scheduled == 2_400
    assert run.load.running == 0


async def test_a_pause_waits_for_the_point(tmp_path: Path) -> None:
    script = Script()
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: run.control.pause()
        stop = await measured(run)
    assert stop.complete and run.control.paused


async def test_an_abort_at_any_moment_ends_the_load(tmp_path: Path) -> None:
    moments = 0
    async with a_run(PLAN, tmp_path) as run:
        before = asyncio.all_tasks()
        while await cancelled_at(measured(run), moments + 1):
            moments += 1
            assert run.load.running == 0
            assert asyncio.all_tasks() == before
        assert moments >= 1
        assert len(run.stops) == 1


async def test_cpu_of_other_programs_is_unknown_where_that_of_the_clients_is(
    tmp_path: Path,
) -> None:
    async with a_run(PLAN, tmp_path, can=COUNTS_ONLY) as run:
        stop = await measured(run)
    assert "others_cpu_pct" not in stop.evidence
    async with a_run(PLAN, tmp_path) as run:
        stop = await measured(run)
    assert stop.evidence["others_cpu_pct"] == 0


async def test_the_clients_own_cpu_time_is_no_background_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.3 s of this computer in a point of 2 s, of which the clients say that 0.2 s are theirs."""

    async def used(samplers: Samplers, *, now: bool) -> dict[str, Usage]:
        return {HERE: Usage(elsewhere_s=0.3, seconds=2.0)}

    monkeypatch.setattr(Samplers, "since_mark", used)
    async with a_run(PLAN, tmp_path) as run:
        stop = await measured(run)
    assert 0 < stop.evidence["others_cpu_pct"] <= 5


def test_a_tool_says_what_of_a_plan_it_cannot_offer() -> None:
    tool, _ = fake_tool(Script(), msgspec.structs.replace(COUNTS_ONLY, axes=("concurrency",)))
    (reported,) = registry.problems(tool, PLAN)
    assert reported == problem("tool-cannot-vary", tool=tool.label, axis="rate")
    closed = Plan(servers=["one"], concurrency=[5], seconds=2.0, workload=a_workload(mode="closed"))
    assert not list(registry.problems(tool, closed))
    with pytest.raises(BadInput, match="no load tool 'siege'"):
        registry.load_tool("siege")
