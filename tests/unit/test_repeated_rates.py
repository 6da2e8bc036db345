"""Which rates are run again, after all servers have run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from sweeping import answer, plan

from workbench.analysis.knee import undecided
from workbench.documents import PointStop, Verdict
from workbench.plan.model import GiveUp, WarmUp
from workbench.plan.schedule import PointPlan, repeat_sweep, sweep

OK: Verdict = "ok"
GONE: Verdict = "server-limited"
UNSURE: Verdict = "inconclusive"


def run_with_looks(
    judge: Callable[[PointPlan], PointStop],
    looks: int = 3,
    ceiling_per_s: float = 0.0,
    **changes: Any,
) -> list[list[PointPlan]]:
    """One server's turns in the order of a run: its sweep, then repeats while it is undecided."""
    settings, turns, stops = plan(**changes), list[list[PointPlan]](), list[PointStop]()
    sweeping = sweep(settings, "a")
    while True:
        turns.append([])
        with contextlib.suppress(StopIteration):
            point = next(sweeping)
            while True:
                turns[-1].append(point)
                stops.append(judge(point))
                point = sweeping.send(stops[-1])
        if len(turns) == looks or undecided(stops, ceiling_per_s) is None:
            return turns
        sweeping = repeat_sweep(settings, "a", list(stops), ceiling_per_s=ceiling_per_s)


def climb_to(*at_3000: Verdict, above: Verdict = "ok") -> Callable[[PointPlan], PointStop]:
    verdicts = iter(at_3000)

    def judge(point: PointPlan) -> PointStop:
        at, higher = point.x == 3000, point.x > 3000
        return answer(point, verdict=next(verdicts) if at else above if higher else OK)

    return judge


@pytest.mark.parametrize(
    ("case", "at_3000", "attempts"),
    [
        ("sustained at once", [OK], 1),
        ("lost twice is lost", [GONE, GONE], 2),
        ("a hiccup is outvoted", [GONE, OK, OK], 3),
        ("a lucky attempt is outvoted", [GONE, OK, GONE], 3),
        ("an inconclusive rate is repeated", [UNSURE, OK], 2),
        ("an always inconclusive rate costs no more than the plan allows", [UNSURE] * 3, 3),
    ],
)
def test_the_deciding_rate_is_repeated(case: str, at_3000: list[Verdict], attempts: int) -> None:
    turns = run_with_looks(climb_to(*at_3000))
    at = [[point for point in turn if point.x == 3000] for turn in turns]
    assert [[point.attempt for point in turn] for turn in at] == [
        [n + 1] for n in range(attempts)
    ], case
    assert len({turn[0].seed for turn in at}) == attempts
    assert [len(turn) for turn in turns] == [5] + [1] * (attempts - 1)


def test_a_slow_spell_that_failed_all_higher_rates_is_corrected_by_one_more_turn() -> None:
    spell = iter([GONE, GONE, GONE])
    turns = run_with_looks(
        lambda point: answer(point, verdict=next(spell, OK) if point.x >= 3000 else OK)
    )
    assert [point.x for point in turns[1]] == [3000, 4000, 5000]
    assert [point.attempt for point in turns[1]] == [2, 2, 2]


def test_rates_a_sweep_had_not_reached_are_offered_when_the_doubtful_one_is_sustained() -> None:
    rule = GiveUp(after_points=1, success_below_pct=50)
    first = iter([0.1])

    def judge(point: PointPlan) -> PointStop:
        share = next(first, 1.0) if point.x == 3000 else 1.0
        return answer(point, share, verdict=OK if share == 1 else GONE)

    turns = run_with_looks(judge, give_up=rule)
    assert [point.x for point in turns[0]] == [1000, 2000, 3000]
    assert [(point.x, point.attempt) for point in turns[1]] == [(3000, 2), (4000, 1), (5000, 1)]


def test_nothing_above_the_lost_rate_is_repeated() -> None:
    turns = run_with_looks(climb_to(GONE, GONE, above=GONE))
    assert [[point.x for point in turn] for turn in turns] == [
        [1000, 2000, 3000, 4000, 5000],
        [3000],
    ]


def test_a_rate_the_clients_cannot_reach_is_not_repeated() -> None:
    def beyond(point: PointPlan) -> PointStop:
        return msgspec.structs.replace(
            answer(point, verdict="client-limited"),
            offered_per_s=point.x,
            evidence={"ceiling_per_s": 500.0},
        )

    assert len(run_with_looks(beyond)) == 1
    assert len(run_with_looks(beyond, ceiling_per_s=900.0)) == 1


def test_points_judged_by_too_low_a_client_limit_are_repeated() -> None:
    def beyond(point: PointPlan) -> PointStop:
        if point.attempt > 1 or point.x < 3000:
            return answer(point)
        return msgspec.structs.replace(
            answer(point, verdict="client-limited"),
            offered_per_s=point.x,
            evidence={"ceiling_per_s": 2500.0},
        )

    turns = run_with_looks(beyond, ceiling_per_s=5000.0)
    assert [point.x for point in turns[1]] == [3000, 4000, 5000]


def test_an_attempt_that_lost_a_client_does_not_count() -> None:
    lost = iter([False, True, False])

    def judge(point: PointPlan) -> PointStop:
        if point.x < 3000:
            return answer(point)
        stop = answer(point, verdict=GONE)
        return msgspec.structs.replace(stop, complete=not next(lost, False))

    turns = run_with_looks(judge, rates=[1000, 2000, 3000])
    assert [[p.attempt for p in turn if p.x == 3000] for turn in turns] == [[1], [2], [3]]


def test_a_rate_that_lost_a_client_does_not_hide_the_doubtful_one_above_it() -> None:
    lost = iter([True])

    def judge(point: PointPlan) -> PointStop:
        stop = answer(point, verdict=GONE if point.x >= 3000 else OK)
        hurt = point.x == 2000 and next(lost, False)
        return msgspec.structs.replace(stop, complete=not hurt)

    turns = run_with_looks(judge)
    assert [(p.x, p.attempt) for p in turns[1]] == [(2000, 2), (3000, 2)]
    assert len(turns) == 2


def test_a_repeat_warms_up_first() -> None:
    turns = run_with_looks(climb_to(GONE, GONE), warm_up=WarmUp(rate_per_s=100, seconds=1))
    assert [point.purpose for point in turns[1]] == ["warm_up", "sweep"]
