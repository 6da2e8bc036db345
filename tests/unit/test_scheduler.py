"""The order of a run on fakes: calibration, passes, repeats of doubtful rates, its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.load import ALL, Script, fake_tool
from fakes.run import Run, a_plan, a_run, a_session, cancelled_at

from workbench.control import Stopped
from workbench.documents import (
    VERSION,
    AnyDocument,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.errors import PongbenchError
from workbench.load import registry
from workbench.plan import budget
from workbench.plan.model import GiveUp, Plan, Range, WarmUp
from workbench.run.environment import HERE
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import workload as a_workload

PLAN = a_plan()


pytestmark = pytest.mark.usefixtures("home")


def changed(**fields: object) -> Plan:
    return msgspec.structs.replace(PLAN, **fields)


def measured(run: Run) -> list[tuple[str, int, float, int]]:
    """(server, pass, rate, which measurement of it) of all points, in the order of the run."""
    return [(s.server, s.pass_number, s.rate_per_s, s.look) for s in run.stops]


async def test_servers_are_swept_one_after_another(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path) as run:
        await run.scheduler.run()
        run.assert_whole()
    assert measured(run) == [
        ("one", 1, 1_000.0, 1),
        ("one", 1, 2_000.0, 1),
        ("two", 1, 1_000.0, 1),
        ("two", 1, 2_000.0, 1),
    ]
    assert len(run.here.servers) == 2 and not run.scheduler.left_out


async def test_interleaved_passes_give_every_server_one_turn_each(tmp_path: Path) -> None:
    plan = changed(order="interleaved", repeats=3, rates=[1_000.0])
    async with a_run(plan, tmp_path) as run:
        await run.scheduler.run()
    assert [{s for s, p, _, _ in measured(run) if p == number} for number in (1, 2, 3)] == [
        {"one", "two"}
    ] * 3
    assert [p for _, p, _, _ in measured(run)] == [1, 1, 2, 2, 3, 3]


async def test_the_warm_up_comes_first_and_gets_no_verdict(tmp_path: Path) -> None:
    plan = changed(servers=["one"], warm_up=WarmUp(rate_per_s=100, seconds=1))
    async with a_run(plan, tmp_path) as run:
        await run.scheduler.run()
    purposes = [d.purpose for d in run.documents if isinstance(d, PointStop)]
    assert purposes == ["warm_up", "sweep", "sweep"]


async def test_a_hiccup_is_measured_again_after_all_servers_had_their_turn(tmp_path: Path) -> None:
    async with a_run(changed(looks=3), tmp_path, Script(stalls={2})) as run:
        await run.scheduler.run()
        run.assert_whole()
    # Lost once, sustained twice: an even count needs the third.
    assert measured(run)[2:] == [
        ("two", 1, 1_000.0, 1),
        ("two", 1, 2_000.0, 1),
        ("one", 1, 2_000.0, 2),
        ("one", 1, 2_000.0, 3),
    ]
    assert [note.data["look"] for note in run.notes("again")] == [1, 2]
    assert [note.server for note in run.notes("again")] == ["one", "one"]


async def test_a_rate_lost_twice_is_lost(tmp_path: Path) -> None:
    plan = changed(servers=["one"], looks=3)
    async with a_run(plan, tmp_path, Script(capacity=lambda x: min(x, 1_500))) as run:
        await run.scheduler.run()
    assert measured(run) == [("one", 1, 1_000.0, 1), ("one", 1, 2_000.0, 1), ("one", 1, 2_000.0, 2)]


async def test_a_server_that_was_given_up_is_reported_and_the_next_one_runs(tmp_path: Path) -> None:
    plan = changed(rates=[1_000.0, 2_000.0, 3_000.0, 4_000.0], give_up=GiveUp(after_points=2))
    async with a_run(plan, tmp_path, Script(stalls={2, 3})) as run:
        await run.scheduler.run()
    assert [note.server for note in run.notes("gave-up")] == ["one"]
    assert [r for s, _, r, _ in measured(run) if s == "one"] == [1_000.0, 2_000.0, 3_000.0]
    assert len([s for s, *_ in measured(run) if s == "two"]) == 4


async def test_calibration_comes_first_and_judges_the_rates_beyond_the_client_limit(
    tmp_path: Path,
) -> None:
    plan = changed(servers=["one"], calibrate=True)
    async with a_run(plan, tmp_path, Script(capacity=lambda x: min(x, 1_200))) as run:
        await run.scheduler.run()
        run.assert_whole()
    (ceiling,) = run.notes("ceiling")
    assert 1_100 < ceiling.data["ceiling_per_s"] <= 1_200
    assert not ceiling.data.get("reached_all")
    purposes = [d.purpose for d in run.documents if isinstance(d, PointStop)]
    assert purposes == sorted(purposes, key=lambda purpose: purpose != "ceiling")
    assert [stop.verdict for stop in run.stops] == ["ok", "client-limited"]


async def test_rates_to_the_ceiling_end_at_the_client_limit_that_calibration_found(
    tmp_path: Path,
) -> None:
    plan = changed(rates=Range(from_=500, to="ceiling", points=4), calibrate=True)
    async with a_run(plan, tmp_path, Script(capacity=lambda x: min(x, 25_200))) as run:
        await run.scheduler.run()
        run.assert_whole()
    tried = [d.x for d in run.documents if isinstance(d, PointStop) and d.purpose == "ceiling"]
    # A typical limit first, then twice as much; then what lies between.
    assert tried[:2] == [20_000, 40_000] and max(tried[2:]) < 40_000
    limit = run.notes("ceiling")[0].data["ceiling_per_s"]
    assert 0.95 * 25_200 <= limit <= 25_200
    (rates,) = run.notes("rates")
    values = rates.data["values"]
    assert values[0] == 500 and len(values) == 4 and limit - 100 < values[-1] <= limit
    assert [stop.x for stop in run.stops] == values * 2
    assert all(stop.verdict == "ok" for stop in run.stops)


@pytest.mark.parametrize(
    ("reached", "why"),
    [(0.0, "could not be measured"), (400.0, "begin at 30,000/s, but the clients reach only")],
)
async def test_rates_to_a_ceiling_below_them_are_refused_with_a_reason(
    tmp_path: Path, reached: float, why: str
) -> None:
    rates = Range(from_=30_000, to="ceiling", points=4)
    plan = changed(rates=rates, calibrate=True, connections=5_000, seconds=None)
    script = Script(capacity=lambda x: x if reached and x <= 20_000 else 0.0)
    async with a_run(plan, tmp_path, script) as run:
        with pytest.raises(PongbenchError, match=why):
            await run.scheduler.run()


async def test_a_sustained_rate_raises_the_client_limit(tmp_path: Path) -> None:
    plan = changed(servers=["one"], calibrate=True)
    # Calibration stalls at first: the clients seem to reach nothing.
    async with a_run(plan, tmp_path, Script(stalls=set(range(1, 7)))) as run:
        await run.scheduler.run()
    assert [note.data["ceiling_per_s"] for note in run.notes("ceiling")] == [0, 1_000, 2_000]


async def test_a_closed_loop_is_not_calibrated(tmp_path: Path) -> None:
    plan = changed(
        servers=["one"],
        rates=[],
        concurrency=[1, 10],
        calibrate=True,
        workload=a_workload(mode="closed"),
    )
    async with a_run(plan, tmp_path, Script(capacity=lambda x: 300 * x)) as run:
        await run.scheduler.run()
    assert [(s.purpose, s.concurrency, s.replies_per_s) for s in run.stops] == [
        ("sweep", 1, 300.0),
        ("sweep", 10, 3_000.0),
    ]
    assert not run.notes("ceiling")


async def test_a_field_of_the_workload_is_varied_at_one_rate(tmp_path: Path) -> None:
    http = a_workload(protocol="http/1.1", calls_per_connection=8)
    plan = changed(servers=["one"], workload=http, rates=[800.0], vary={"pipeline": [1, 4, 8]})
    async with a_run(plan, tmp_path, protocols=["http/1.1"]) as run:
        await run.scheduler.run()
    assert not run.notes("ceiling") and not run.notes("again")
    assert [(d.x, d.offered_per_s, d.rate_per_s) for d in run.stops] == [
        (1.0, 800.0, 0.0),
        (4.0, 800.0, 0.0),
        (8.0, 800.0, 0.0),
    ]
    swept = [spec for spec in run.load.specs if spec.rate_per_s == 100.0]
    assert [spec.options["pipeline"] for spec in swept] == [1, 4, 8]


async def test_a_server_that_dies_or_is_skipped_is_not_measured_again(tmp_path: Path) -> None:
    script = Script(stalls={1, 3})
    async with a_run(changed(looks=3), tmp_path, script) as run:

        def meddle(number: int, spec: object) -> None:
            if number == 2:
                run.here.servers[-1].ends(1)
            if number == 4:
                run.control.skip_server()

        script.on_point = meddle
        await run.scheduler.run()
        run.assert_whole()
    assert [s for s, *_ in measured(run)] == ["one", "one", "two", "two"]
    assert not run.notes("again")
    assert [note.server for note in run.notes("died")] == ["one"]
    assert [note.server for note in run.notes("skipped")] == ["two"]


@pytest.mark.parametrize(
    ("moment", "points"),
    [
        (lambda d: isinstance(d, Note) and d.topic == "backlog", []),
        (lambda d: isinstance(d, PointStop), ["one"]),
    ],
    ids=["while it starts", "between two points"],
)
async def test_a_server_that_is_skipped_gets_no_further_point(
    tmp_path: Path, moment: Callable[[AnyDocument], bool], points: list[str]
) -> None:
    def skip(document: AnyDocument) -> None:
        if getattr(document, "server", "") == "one" and moment(document):
            run.control.skip_server()

    async with a_run(PLAN, tmp_path, then=skip) as run:
        await run.scheduler.run()
        run.assert_whole()
    assert [s for s, *_ in measured(run)] == [*points, "two", "two"]
    assert [note.server for note in run.notes("skipped")] == ["one"]


async def test_a_pause_asked_for_in_a_servers_last_point_comes_before_the_next_server(
    tmp_path: Path,
) -> None:
    def pause(document: AnyDocument) -> None:
        if isinstance(document, PointStart) and (document.server, document.x) == ("one", 2_000):
            run.control.pause()
        if isinstance(document, Note) and document.topic == "paused":
            # Of the server that is over, not of the one to come.
            asyncio.get_running_loop().call_soon(run.control.skip_server)

    async with a_run(PLAN, tmp_path, then=pause) as run:
        await run.scheduler.run()
        run.assert_whole()
    assert [s for s, *_ in measured(run)] == ["one", "one", "two", "two"]
    (paused,) = run.notes("paused")
    assert paused.data["x"] == 2_000 and not run.notes("skipped")
    before = run.documents[: run.documents.index(paused)]
    assert {d.server for d in before if isinstance(d, PointStart)} == {"one"}


async def test_a_calibration_that_is_skipped_or_cannot_be_made_leaves_the_limit_unknown(
    tmp_path: Path,
) -> None:
    script = Script(held=1)
    async with a_run(changed(calibrate=True), tmp_path, script) as run:
        script.on_point = lambda number, spec: run.control.skip_server() if number == 1 else None
        await run.scheduler.run()
    assert not run.notes("ceiling") and len(run.stops) == 4
    async with a_run(changed(calibrate=True), tmp_path) as run:
        start = run.here.start

        async def once(command: Any) -> Any:
            if "serve" in command.argv:
                run.here.start = start  # type: ignore[method-assign]
                raise PongbenchError("Once is enough.")
            return await start(command)

        run.here.start = once  # type: ignore[method-assign]
        await run.scheduler.run()
    assert len(run.notes("client-limit-unknown")) == 1 and len(run.stops) == 4
    assert [note.data["said"] for note in run.notes("deploy")] == ["Once is enough."]


async def test_files_are_read_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a server, and earlier sessions; both may be large."""
    threads: dict[str, set[int]] = {"files": set(), "earlier": set()}

    def watched(name: str, read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*words: Any, **keys: Any) -> Any:
            threads[name].add(threading.get_ident())
            return read(*words, **keys)

        return reading

    monkeypatch.setattr(ServerEntry, "files", watched("files", ServerEntry.files))
    monkeypatch.setattr(budget, "earlier", watched("earlier", budget.earlier))
    await a_session(changed(servers=["one"]), tmp_path)
    assert threads["files"] and threads["earlier"]
    assert threading.get_ident() not in threads["files"] | threads["earlier"]


async def test_a_server_that_cannot_start_is_reported_and_the_others_run(tmp_path: Path) -> None:
    async with a_run(PLAN, tmp_path) as run:
        start = run.here.start

        async def first_fails(command: object) -> object:
            if "serve" in command.argv and not run.here.servers:  # type: ignore[attr-defined]
                run.here.start = start  # type: ignore[method-assign]
                raise PongbenchError("It has no memory left.")
            return await start(command)  # type: ignore[arg-type]

        run.here.start = first_fails  # type: ignore[method-assign,assignment]
        await run.scheduler.run()
    assert run.scheduler.left_out == ["It has no memory left."]
    assert [note.server for note in run.notes("deploy")] == ["one"]
    assert [s for s, *_ in measured(run)] == ["two", "two"]


@pytest.mark.parametrize(
    ("number_fails", "status", "reason"),
    [
        (
            lambda number: True,
            "failed",
            "No point of One has a result. fake on localhost gave no result. "
            "No point of Two has a result. fake on localhost gave no result.",
        ),
        (
            lambda number: number <= 2,
            "failed",
            "No point of One has a result. fake on localhost gave no result.",
        ),
        (lambda number: number in (1, 3), "done", ""),
    ],
    ids=["every point", "every point of a server", "some points"],
)
async def test_a_run_has_failed_where_every_point_of_a_server_did(
    tmp_path: Path, number_fails: Callable[[int], bool], status: str, reason: str
) -> None:
    *_, stop = await a_session(PLAN, tmp_path, Script(fails=number_fails))
    assert isinstance(stop, RunStop)
    assert (stop.status, stop.reason) == (status, reason)


async def test_a_run_has_failed_where_every_point_of_one_of_its_tools_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, _ = fake_tool(Script(fails=lambda number: True), ALL, name="broken")
    monkeypatch.setitem(registry.TOOLS, "broken", broken)
    *_, stop = await a_session(changed(servers=["one"], with_=["broken"]), tmp_path)
    assert isinstance(stop, RunStop)
    assert (stop.status, stop.code) == ("failed", "no-result")
    assert stop.reason.startswith("No point of One, broken has a result. ")


async def test_a_skipped_server_is_no_failure(tmp_path: Path) -> None:
    script = Script(held=1)
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: run.control.skip_server() if number == 1 else None
        await run.scheduler.run()
    assert [stop.complete for stop in run.stops] == [False, True, True]
    assert not list(run.scheduler.without_result())


async def test_a_client_lost_in_mid_run_is_reconnected_before_the_next_server(
    tmp_path: Path,
) -> None:
    async with a_run(PLAN, tmp_path, Script(lose={1: ["c2"]}), clients=(HERE, "c2")) as run:
        await run.scheduler.run()
        run.assert_whole()
    assert [(s.server, s.complete, len(s.clients)) for s in run.stops] == [
        ("one", False, 1),
        ("one", True, 1),
        ("two", True, 2),
        ("two", True, 2),
    ]
    assert len(run.notes("client-lost")) == len(run.notes("client-back")) == 1


@pytest.mark.parametrize("after", [1, 2, 3, 4])
async def test_a_run_can_be_stopped_in_any_point(tmp_path: Path, after: int) -> None:
    script = Script(held=after)
    async with a_run(PLAN, tmp_path, script) as run:
        script.on_point = lambda number, spec: run.control.stop() if number == after else None
        with pytest.raises(Stopped):
            await run.scheduler.run()
        run.assert_whole()
    assert [stop.complete for stop in run.stops] == [True] * (after - 1) + [False]


async def test_a_run_can_be_aborted_at_any_moment(tmp_path: Path) -> None:
    plan = changed(servers=["one"], rates=[1_000.0], calibrate=True, looks=3)
    moments, seen = 0, set()
    while True:
        async with a_run(plan, tmp_path, Script(stalls={1, 3})) as run:
            aborted = await cancelled_at(run.scheduler.run(), moments + 1)
            run.assert_whole()
            seen.add(len([d for d in run.documents if isinstance(d, PointStop)]))
        assert run.here.closed and run.load.closed
        if not aborted:
            break
        moments += 1
    # In calibration, between the servers, in the sweep and in its repeats.
    assert moments > 30 and seen == set(range(6))


async def test_a_session_is_whole_from_the_rehearsal_to_its_end(tmp_path: Path) -> None:
    documents = await a_session(changed(servers=["one"]), tmp_path)
    stop = documents[-1]
    assert isinstance(documents[0], RunStart) and isinstance(stop, RunStop)
    assert (documents[0].v, stop.status) == (VERSION, "done")
    packed = [
        each.service if isinstance(each, Window) else each.histograms.service
        for each in documents
        if isinstance(each, Window | PointStop)
    ]
    assert any(packed) and {type(each) for each in packed} == {str}
    assert documents[0].servers[0].gate["protocols"] == ["pong"]


async def test_a_run_without_a_client_fails_with_a_message(tmp_path: Path) -> None:
    documents = await a_session(changed(servers=["one"]), tmp_path, Script(lose={2: [HERE]}))
    stop = documents[-1]
    assert isinstance(stop, RunStop)
    assert (stop.status, stop.reason) == ("failed", "localhost is gone.")
    assert len([d for d in documents if isinstance(d, PointStop)]) == 1
