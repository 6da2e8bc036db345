"""Searches: a known limit is found with few points, despite random failures."""

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import msgspec
import pytest

from tests.chosen import chosen
from tests.fakes.load import Script
from tests.fakes.run import Run, a_run
from workbench.analysis.summary import Summary, summarise
from workbench.control import Stopped
from workbench.documents import Counts, PointStart, PointStop, RunStart, ServerRecord, Verdict
from workbench.messages.outcomes import Peak
from workbench.messages.reasons import reason
from workbench.plan.budget import assess
from workbench.plan.model import Plan, Search, WarmUp
from workbench.plan.reading import plan_from_data, to_data
from workbench.plan.schedule import PointPlan
from workbench.plan.search import Belief, PeakSearch, example, meets_limits
from workbench.results import sustained
from workbench.results.render.data import of_session
from workbench.workloads.registry import workload as a_workload

GRID = [400.0 + 100 * k for k in range(87)]
"""The rates of the sweeps of 2009."""

PLAN = Plan(
    servers=["one"],
    search=Search(from_=500, to=5_000, step=250),
    seconds=1.0,
    warm_up=None,
    cool_down_s=0,
    calibrate=False,
    load_tool="fake",
    workload=a_workload(timeout_s=1.0),
)


pytestmark = pytest.mark.usefixtures("home")


def changed(**fields: Any) -> Plan:
    return msgspec.structs.replace(PLAN, **fields)


def searching(**fields: Any) -> Plan:
    assert PLAN.search is not None
    return changed(search=msgspec.structs.replace(PLAN.search, **fields))


# The method, by simulation: a limit that is known, and answers that chance decides in part.


def found(
    limit: float, rng: random.Random, *, lapses: float = 0.0, zone: float = 0.0, most: int = 30
) -> tuple[Belief, int]:
    """Search it; `lapses`: share of points that a hiccup spoils; `zone`: the share of the rate over
    which points fail more and more often, by a logistic curve."""
    belief, points = Belief(GRID), 0
    while points < most and (place := belief.next()) is not None:
        rate = GRID[place]
        kept = 1 / (1 + math.exp((rate - limit) / (zone * limit / 4))) if zone else rate <= limit
        belief.take(place, rng.random() < kept * (1 - lapses))
        points += 1
    return belief, points


def off(belief: Belief, limit: float) -> int:
    """How many steps the peak is off the true one."""
    true = max((n for n, rate in enumerate(GRID) if rate <= limit), default=-1)
    peak = belief.peak()
    return abs((-1 if peak is None else peak) - true)


def covered(belief: Belief, limit: float) -> bool:
    true = sum(rate <= limit for rate in GRID)
    first, last, _ = belief.interval()
    return first <= true <= last


def simulated(few: int, **chance: float) -> Iterator[tuple[Belief, float, int]]:
    for seed in chosen(range(2_000), few):
        rng = random.Random(seed)
        limit = rng.uniform(GRID[0], GRID[-1])
        belief, points = found(limit, rng, **chance)  # type: ignore[arg-type]
        yield belief, limit, points


@pytest.mark.parametrize("limit", [100.0, 400.0, 450.0, 3_333.0, 8_999.0, 9_000.0, 20_000.0])
def test_a_sharp_limit_is_found_to_the_step(limit: float) -> None:
    belief, points = found(limit, random.Random(1))
    assert off(belief, limit) == 0 and covered(belief, limit)
    assert points <= 18 and belief.next() is None


def test_single_bad_points_do_not_mislead() -> None:
    results = list(simulated(150, lapses=0.05))
    assert mean(off(belief, limit) <= 1 for belief, limit, _ in results) >= 0.98
    assert mean(covered(belief, limit) for belief, limit, _ in results) >= 0.95
    assert mean(points for *_, points in results) <= 0.2 * len(GRID)


@pytest.mark.parametrize("zone", [0.02, 0.06])
def test_a_gradual_limit_has_a_wider_interval(zone: float) -> None:
    results = list(simulated(100, lapses=0.03, zone=zone))
    assert mean(off(belief, limit) <= 1 for belief, limit, _ in results) >= 0.95
    # Wider than one step where neighbouring steps cannot be distinguished.
    assert mean(covered(belief, limit) for belief, limit, _ in results) >= 0.80
    widths = [last - first + 1 for first, last, _ in (b.interval() for b, *_ in results)]
    assert mean(widths) > 1.2


def test_the_first_point_is_the_lowest_rate_and_none_is_far_beyond_a_rate_within_the_limits() -> (
    None
):
    belief, kept, rates = Belief(GRID), GRID[0] / 2, []
    while (place := belief.next()) is not None:
        rates.append(GRID[place])
        assert GRID[place] <= 2 * kept
        belief.take(place, GRID[place] <= 8_500)
        if GRID[place] <= 8_500:
            kept = max(kept, GRID[place])
    assert rates[:4] == [400, 800, 1_600, 3_200]


# What a point shows.


def a_stop(
    *, verdict: Verdict = "ok", lost: int = 0, complete: bool = True, findings: Any = ()
) -> PointStop:
    return PointStop(
        t_us=0,
        point=1,
        server="one",
        purpose="search",
        complete=complete,
        seconds=1.0,
        counts=Counts(
            scheduled=1_000,
            unsent=0,
            sent=1_000,
            late=0,
            established=1_000,
            succeeded=1_000 - lost,
            errors={"client-timo": lost},
        ),
        errors_pct=lost / 10,
        verdict=verdict,
        findings=[finding.record() for finding in findings],
    )


FAILED = reason("calls-failed", failed=30, calls=1_000, errors={"client-timo": 30})
BEHIND = reason("fell-behind", replied=900, calls=1_000, waiting=90)


@pytest.mark.parametrize(
    ("stop", "allowed_pct", "kept"),
    [
        (a_stop(), 1, True),
        (a_stop(lost=5), 0.1, False),
        (a_stop(lost=30, verdict="server-limited", findings=[FAILED]), 1, False),
        (a_stop(lost=30, verdict="server-limited", findings=[FAILED]), 5, True),
        (a_stop(verdict="server-limited", findings=[BEHIND]), 5, False),
        (a_stop(verdict="faulty"), 5, False),
        (a_stop(verdict="client-limited"), 1, None),
        (a_stop(verdict="inconclusive"), 1, None),
        (a_stop(complete=False), 1, None),
    ],
)
def test_a_point_keeps_the_limits_breaks_them_or_is_inconclusive(
    stop: PointStop, allowed_pct: float, kept: bool | None
) -> None:
    assert meets_limits(stop, Search(from_=1, to=2, step=1, errors_pct=allowed_pct)) is kept


def drive(
    search: PeakSearch, answers: Callable[[PointPlan, int], PointStop]
) -> tuple[list[float], Peak]:
    """The rates it measured, and what it found."""
    points, rates = search.run(), []
    point = next(points)
    while True:
        rates.append(point.x)
        try:
            point = points.send(answers(point, len(rates)))
        except StopIteration:
            return rates, search.answer()


def answered(point: PointPlan, number: int, stop: PointStop) -> PointStop:
    return msgspec.structs.replace(stop, point=number, x=point.x, look=point.attempt)


def test_an_inconclusive_point_is_repeated_and_not_counted() -> None:
    def answers(point: PointPlan, number: int) -> PointStop:
        disturbed = a_stop(verdict="inconclusive")
        reached = a_stop() if point.x <= 3_000 else a_stop(lost=500, verdict="server-limited")
        return answered(point, number, disturbed if number in (3, 4) else reached)

    rates, peak = drive(PeakSearch(PLAN, "one"), answers)
    assert rates[2] == rates[3] == rates[4]
    assert (peak.peak_per_s, peak.low_per_s, peak.high_per_s) == (3_000, 3_000, 3_250)
    assert peak.sure and peak.unjudged == [3, 4]
    assert set(peak.met) | set(peak.missed) == set(range(1, len(rates) + 1)) - {3, 4}


def test_a_peak_beyond_what_the_clients_reach_is_a_lower_bound() -> None:
    beyond = reason("beyond-client-limit", offered_per_s=3_000, limit_per_s=2_600)
    limited = msgspec.structs.replace(
        a_stop(verdict="client-limited", findings=[beyond]),
        offered_per_s=3_000.0,
        evidence={"ceiling_per_s": 2_600.0},
    )

    def answers(point: PointPlan, number: int) -> PointStop:
        return answered(point, number, a_stop() if point.x <= 2_600 else limited)

    rates, peak = drive(PeakSearch(PLAN, "one"), answers)
    beyond_rates = [rate for rate in rates if rate > 2_600]
    assert len(set(beyond_rates)) == len(beyond_rates), "none is tried in vain more than once"
    assert (peak.peak_per_s, peak.high_per_s, peak.blocked_by) == (2_500, None, "client-limited")
    assert (peak.sure, peak.peak_per_s, peak.high_per_s) == (False, 2_500, None)
    assert "the clients are the limit" in peak.text()


def test_a_rate_that_cannot_be_judged_is_tried_as_often_as_the_plan_looks() -> None:
    def answers(point: PointPlan, number: int) -> PointStop:
        return answered(
            point, number, a_stop(verdict="inconclusive") if point.x > 3_000 else a_stop()
        )

    rates, peak = drive(PeakSearch(PLAN, "one"), answers)
    assert {rates.count(rate) for rate in rates if rate > 3_000} == {PLAN.looks}
    assert not peak.sure


def test_an_inconclusive_search_ends_and_says_so() -> None:
    rng = random.Random(3)

    def answers(point: PointPlan, number: int) -> PointStop:
        kept = rng.random() < 0.5
        stop = a_stop() if kept else a_stop(lost=500, verdict="server-limited")
        return answered(point, number, stop)

    rates, peak = drive(PeakSearch(searching(points=12), "one"), answers)
    tested = [*peak.met, *peak.missed, *peak.unjudged]
    assert len(rates) == len(tested) == 12 and not peak.sure
    assert "before the peak was certain" in peak.text()


def test_every_attempt_at_a_rate_has_another_schedule() -> None:
    points = PeakSearch(PLAN, "one", seed=7).run()
    point, seeds = next(points), []
    with pytest.raises(StopIteration):
        while True:
            seeds.append((point.x, point.attempt, point.seed))
            point = points.send(answered(point, len(seeds), a_stop()))
    assert len(set(seeds)) == len(seeds)
    assert [attempt for x, attempt, _ in seeds if x == 5_000] == [1, 2]


# A run.


def result(run: Run, plan: Plan) -> Summary:
    start = RunStart(
        session="s",
        started_utc="2026-01-01T00:00:00Z",
        pongbench="0",
        plan=to_data(plan),
        machines=[],
        servers=[ServerRecord(id=id_, name=id_.title(), family="socket") for id_ in plan.servers],
        order=[],
        seed=1,
        axis=plan.axis,
    )
    return summarise([start, *run.documents])


async def test_a_run_finds_the_peak_of_every_server_and_records_it(tmp_path: Path) -> None:
    plan = changed(servers=["one", "two"], warm_up=WarmUp(rate_per_s=100, seconds=1))
    async with a_run(plan, tmp_path, Script(capacity=lambda x: min(x, 2_100))) as run:
        await run.scheduler.run()
        run.assert_whole()
    peaks = run.notes("peak")
    assert [note.server for note in peaks] == ["one", "two"]
    assert peaks[0].text.startswith(
        "One: peak 2,000/s with at most 1 % errors (95 % interval 2,000 to"
    )
    begun = [d for d in run.documents if isinstance(d, PointStart)]
    assert {point.purpose for point in begun} == {"warm_up", "search"}
    summary = result(run, plan)
    data = of_session(summary)
    one = data["servers"]["one"]
    assert (one["peak_per_s"], one["peak_interval_per_s"]) == (2_000, [2_000, 2_250])
    assert (one["knee"], one["knee_per_s"]) == (None, None), "nobody swept"
    assert data["slo"] == {"errors_pct": 1.0, "p99_ms": None}
    assert sustained.column(summary.servers["one"]) == "2,000/s"
    assert len(one["points"]) == len(peaks[0].data["met"]) + len(peaks[0].data["missed"])
    assert all(point["counts"] for point in one["points"])


async def test_the_limit_of_a_percentile_ends_a_search_before_errors_do(tmp_path: Path) -> None:
    script = Script()

    def slower(number: int, spec: Any) -> None:
        script.service_us = 2_000 if spec.rate_per_s <= 3_000 else 80_000

    script.on_point = slower
    plan = searching(from_=1_000, p99_ms=50)
    async with a_run(plan, tmp_path, script) as run:
        await run.scheduler.run()
    (peak,) = run.notes("peak")
    assert peak.data["peak_per_s"] == 3_000
    assert "at most 1 % errors and a p99 of at most 50 ms" in peak.text
    stops = [d for d in run.documents if isinstance(d, PointStop)]
    slow = next(stop for stop in stops if stop.x > 3_000)
    assert slow.verdict == "ok" and any("above the limit of 50 ms" in r for r in slow.reasons)
    assert slow.point in peak.data["missed"]


async def test_the_result_of_a_search_so_far_is_kept_when_the_run_is_stopped(
    tmp_path: Path,
) -> None:
    script = Script()
    async with a_run(PLAN, tmp_path, script) as run:

        def stop(number: int, spec: Any) -> None:
            if number == 4:
                run.control.stop()

        script.on_point = stop
        with pytest.raises(Stopped):
            await run.scheduler.run()
    (peak,) = run.notes("peak")
    assert not peak.data["sure"] and peak.data["peak_per_s"] == 2_000
    assert sustained.column(result(run, PLAN).servers["one"]) == "≥ 2,000/s"


async def test_several_passes_give_the_median_with_their_range(tmp_path: Path) -> None:
    script = Script()
    plan = changed(repeats=3)

    def capacity(x: float) -> float:
        return min(x, {0: 2_100, 1: 3_100, 2: 2_600}[len(run.notes("peak"))])

    script.capacity = capacity
    async with a_run(plan, tmp_path, script) as run:
        await run.scheduler.run()
    one = result(run, plan).servers["one"]
    assert one.knee == 2_500 and one.interval is not None
    assert (one.interval.low, one.interval.high, one.interval.passes) == (2_000, 3_250, 3)
    assert "pass 2" in run.notes("peak")[1].text


# The plan.


def test_a_plan_with_a_search_is_read_and_written_again() -> None:
    data = {"servers": ["a"], "seconds": 2, "search": {"from": 500, "to": 900, "step": 100}}
    plan = plan_from_data(data, name="p")
    assert plan.values == [500, 600, 700, 800, 900]
    assert (plan.axis.bounds, plan.axis.step, plan.axis.values) == ([500, 900], 100, [])
    assert plan.axis.has_limit and plan.axis.ends == [500, 900]
    written = to_data(plan)
    assert written["rates"] == []
    assert plan_from_data(written, name="p") == plan


def test_the_expected_points_and_time_are_shown() -> None:
    planned = example(PLAN)
    assert len(planned) <= 12 and planned[0].x == 500
    budget = assess(PLAN, [], {}, loopback=True)
    assert budget.points == (len(planned), 30)
    assert f"about {len(planned)} points for each server, at most 30" in budget.describe()[0]


def test_points_too_small_for_the_percentile_are_refused() -> None:
    budget = assess(searching(p99_ms=20), [], {}, loopback=True)
    assert [problem.text() for problem in budget.problems] == [
        "At 500/s a point has 500 calls: too few for a p99, which takes 1,000. Set seconds to 2 or "
        "more."
    ]


# What people read.
