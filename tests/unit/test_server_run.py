"""One server's run on fakes: deployed, loaded point after point, always stopped."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from fakes.load import Script
from fakes.run import Run, a_run, cancelled_at

from workbench.control import Stopped
from workbench.documents import PointStart
from workbench.errors import PongbenchError
from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.plan.model import GiveUp, Plan
from workbench.plan.schedule import sweep
from workbench.run.server_run import NotMeasurable
from workbench.workloads.registry import workload as a_workload

PLAN = Plan(
    servers=["one"],
    rates=[1_000.0, 2_000.0, 3_000.0],
    seconds=1.0,
    warm_up=None,
    cool_down_s=0,
    looks=1,
    load_tool="fake",
    workload=a_workload(timeout_s=1.0),
)


pytestmark = pytest.mark.usefixtures("home")


async def taken(run: Run, plan: Plan = PLAN) -> list[Stated] | None:
    return await run.scheduler.servers.run("one", sweep(plan, "one", seed=1))


async def test_a_server_is_started_loaded_and_stopped(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path) as run:
        assert await taken(run) == []
        (server,) = run.here.servers
        assert server.ended and list(server.command.argv)[-2] == "serve"
        run.assert_whole()
    assert [stop.rate_per_s for stop in run.stops] == PLAN.rates_per_s
    (backlog,) = run.notes("backlog")
    assert (backlog.data["backlog"], backlog.data["asked"]) == (512, 512)


async def test_a_server_that_gets_faster_while_it_runs_is_warmed_up(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path, warm_up_s=0.05) as run:
        await taken(run)
    (note,) = run.notes("warm-up")
    assert (note.data["name"], note.data["seconds"]) == ("One", 0.05) and note.data["calls"] >= 1
    before = run.documents[: run.documents.index(note)]
    assert not [document for document in before if isinstance(document, PointStart)]


async def test_a_server_that_dies_is_reported_with_how_and_when(tmp_path: Path) -> None:
    script = Script()
    async with a_run(PLAN, tmp_path, script) as run:

        def die(number: int, spec: object) -> None:
            if number == 2:
                run.here.servers[-1].ends(-11, "Segmentation fault")

        script.on_point = die
        assert await taken(run) is None
        run.assert_whole()
    assert [stop.rate_per_s for stop in run.stops] == [1_000.0, 2_000.0]
    (died,) = run.notes("died")
    assert died.server == "one"
    for reported in ("signal 11", "2,000/s", "Segmentation fault"):
        assert reported in died.text


async def test_a_server_that_cannot_be_started_is_left_out(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path) as run:
        run.here.cannot_start["serve"] = PongbenchError("There is no file 'serve'.")
        with pytest.raises(NotMeasurable, match="There is no file"):
            await taken(run)
        run.assert_whole()
    assert not run.stops


async def test_a_sweep_gives_up_when_nothing_succeeds_any_more(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(
        PLAN, rates=[float(1_000 * n) for n in range(1, 7)], give_up=GiveUp(after_points=2)
    )
    async with a_run(plan, tmp_path, Script(capacity=lambda x: 100)) as run:
        ended = await taken(run, plan)
        run.assert_whole()
    assert len(run.stops) == 2
    assert ended == [notice("gave-up", x=2000.0, success_below_pct=50.0, points=2, left_out=4)]


async def test_skipping_a_server_ends_its_current_point(tmp_path: Path) -> None:
    script = Script(held=2)
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: run.control.skip_server() if number == 2 else None
        assert await taken(run) is None
        run.assert_whole()
        assert [stop.complete for stop in run.stops] == [True, False]
        assert [note.server for note in run.notes("skipped")] == ["one"]
        # The next server is not skipped with it.
        assert await taken(run) == []


async def test_a_run_that_is_stopped_ends_in_mid_point_and_stops_the_server(tmp_path: Path) -> None:
    script = Script(held=2)
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: run.control.stop() if number == 2 else None
        with pytest.raises(Stopped):
            await taken(run)
        run.assert_whole()
    assert [stop.complete for stop in run.stops] == [True, False]


async def test_a_paused_run_waits_between_two_points(tmp_path: Path) -> None:
    script = Script()
    async with a_run(PLAN, tmp_path, script) as run:
        paused = asyncio.Event()

        def pause(number: int, spec: object) -> None:
            if number == 1:
                run.control.pause()
                paused.set()

        script.on_point = pause
        taking = asyncio.create_task(taken(run))
        await paused.wait()
        await run.until_told("paused")
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(run.stops) == 1 and not taking.done()
        run.control.resume()
        assert await taking == []
        run.assert_whole()
    (note,) = run.notes("paused")
    assert "1,000/s" in note.text and note.server == "one"
    assert len(run.notes("resumed")) == 1 and len(run.stops) == 3


async def test_a_paused_run_can_be_stopped(tmp_path: Path) -> None:
    script = Script()
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: run.control.pause()
        taking = asyncio.create_task(taken(run))
        await run.until_told("paused")
        run.control.stop()
        with pytest.raises(Stopped):
            await taking
        run.assert_whole()
    assert len(run.stops) == 1 and not run.notes("resumed")


async def test_a_client_that_is_lost_leaves_the_rest_to_the_others(tmp_path: Path) -> None:
    script = Script(lose={2: ["c2"]})
    async with a_run(PLAN, tmp_path, script, clients=("localhost", "c2")) as run:
        assert await taken(run) == []
        run.assert_whole()
        assert [stop.complete for stop in run.stops] == [True, False, True]
        (lost,) = run.notes("client-lost")
        assert lost.data["clients"] == ["c2"]
        assert await taken(run) == []
    (back,) = run.notes("client-back")
    assert back.data["clients"] == ["c2"]
    assert [len(stop.clients) for stop in run.stops] == [2, 1, 1, 2, 2, 2]


async def test_without_any_client_the_turn_ends_and_the_server_is_stopped(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path, Script(lose={2: ["localhost"]})) as run:
        with pytest.raises(PongbenchError, match="localhost is gone"):
            await taken(run)
        assert all(server.ended for server in run.here.servers)
    assert len(run.stops) == 1
    assert len([d for d in run.documents if isinstance(d, PointStart)]) == 2


async def test_an_abort_at_any_moment_leaves_no_server_and_no_load(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, rates=[1_000.0, 2_000.0])
    moments, left = 0, set()
    async with a_run(plan, tmp_path) as run:
        while await cancelled_at(taken(run, plan), moments + 1):
            moments += 1
            run.assert_whole()
            left.add(len(run.stops))
            run.documents.clear()
        run.assert_whole()
        assert len(run.stops) == 2
    # While it was started, in each of its points, between them, and while it was stopped.
    assert moments > 10 and left == {0, 1, 2}


async def test_a_target_that_is_lost_ends_the_point_and_the_run(tmp_path: Path) -> None:
    script = Script(held=2)
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: (
            run.here.is_lost("The machine is gone.") if number == 2 else None
        )
        with pytest.raises(PongbenchError, match="The machine is gone"):
            await taken(run)
        assert run.load.running == 0
    assert [stop.complete for stop in run.stops] == [True, False]
    assert run.stops[-1].findings[-1]["code"] == "target-lost"
