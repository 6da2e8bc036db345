"""Which points calibrate the clients, and which limit they show."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest
from sweeping import answer, drive, plan

from workbench.documents import PointStop
from workbench.messages.base import Said
from workbench.messages.reasons import reason
from workbench.plan.calibration import Ceiling, calibration
from workbench.plan.model import Range
from workbench.plan.schedule import PointPlan
from workbench.run.scheduler import recall, remember


@pytest.mark.parametrize(
    ("holds_to", "ceiling", "tested"), [(9000, 5000.0, 1), (4000, 3593.75, 6), (0, 0.0, 6)]
)
def test_calibration_finds_the_client_limit(holds_to: float, ceiling: float, tested: int) -> None:
    run, found = drive(calibration(plan()), holds_to)
    assert (found.per_s, len(run)) == (ceiling, tested)
    assert {p.purpose for p in run} == {"ceiling"}
    assert all(p.seconds >= 1 for p in run)


@pytest.mark.parametrize(
    ("holds_to", "ceiling", "tested"),
    [(25_000, 25_000.0, 6), (1_500, 1_484.375, 7), (1, 0.76294, 10)],
    ids=["above what is typical", "far below it", "below the first rate"],
)
def test_rates_to_the_client_limit_find_it_wherever_it_is(
    holds_to: float, ceiling: float, tested: int
) -> None:
    to_limit = plan(rates=Range(from_=50, to="ceiling", points=8))
    run, found = drive(calibration(to_limit), holds_to)
    assert (found.per_s, len(run)) == (ceiling, tested)


def calibrated(tries: list[tuple[float, float]]) -> tuple[list[PointPlan], Ceiling]:
    """Calibrate clients that reach a rate, beside programs that take percent of a core."""
    generator, run = calibration(plan()), list[PointPlan]()
    try:
        point = next(generator)
        while True:
            reaches, taken = tries[min(len(run) // 6, len(tries) - 1)]
            stop = answer(point, verdict="ok" if point.x <= reaches else "inconclusive")
            run.append(point)
            point = generator.send(
                msgspec.structs.replace(stop, evidence={"others_cpu_pct": taken})
            )
    except StopIteration as end:
        return run, end.value


@pytest.mark.parametrize(
    ("tries", "points", "found"),
    [
        ([(4000, 10.0)], 6, (3593.75, 10.0)),
        ([(1000, 180.0), (9000, 0.0)], 7, (5000.0, 0.0)),
        ([(1000, 180.0), (4000, 10.0)], 12, (3593.75, 10.0)),
        ([(4000, 180.0), (2000, 10.0)], 12, (3593.75, 180.0)),
        ([(1000, 180.0), (4000, 90.0), (2000, 60.0)], 18, (3593.75, 90.0)),
    ],
    ids=["quiet", "all at the second", "more at the second", "less at the second", "never quiet"],
)
def test_a_disturbed_calibration_is_repeated_and_the_highest_limit_counts(
    tries: list[tuple[float, float]], points: int, found: tuple[float, float]
) -> None:
    run, ceiling = calibrated(tries)
    assert (ceiling.per_s, ceiling.others_pct, len(run)) == (*found, points)


TO_LIMIT = plan(servers=["a"], rates=Range(from_=50, to="ceiling", points=6), seconds=1.0)


def timed(
    generator: Generator[PointPlan, PointStop, Ceiling], reaches: float, each_s: float
) -> tuple[list[float], Ceiling]:
    """Calibrate clients of which the rest of the calls beyond a rate stays unanswered."""
    rates: list[float] = []
    try:
        point = next(generator)
        while True:
            rates.append(point.x)
            at_us = round(1e6 * each_s * len(rates))
            answered = min(point.x, reaches)
            stop = answer(point, verdict="ok" if point.x <= reaches else "inconclusive")
            changed = msgspec.structs.replace(stop, t_us=at_us, replies_per_s=answered)
            point = generator.send(changed)
    except StopIteration as end:
        return rates, end.value


def test_a_short_plan_does_not_wait_for_a_finer_limit() -> None:
    rates, found = timed(calibration(TO_LIMIT), 10_000, 2.6)
    assert rates == [20_000, 9_500]  # next what was answered, nearly
    assert (found.per_s, found.missed_per_s) == (9_500, 20_000)
    thorough = msgspec.structs.replace(TO_LIMIT, repeats=50)
    rates, found = timed(calibration(thorough), 10_000, 2.6)
    assert found.per_s == 9_500 and (found.missed_per_s or 0) < 10_500 and len(rates) > 4


@pytest.mark.parametrize(
    ("known", "reaches", "rates", "confirmed"),
    [
        (Ceiling(9_500, missed_per_s=10_000), 9_900, [9_500], True),
        (Ceiling(9_500, missed_per_s=20_000), 12_000, [14_750, 9_500], False),
        (Ceiling(9_500, missed_per_s=20_000), 16_000, [14_750, 17_375], False),
        (Ceiling(9_500, missed_per_s=10_000), 6_000, [9_500, 5_700], False),
        (Ceiling(9_500, missed_per_s=None), 12_000, [9_500, 19_000], False),
    ],
    ids=["confirmed", "no finer", "finer", "less today", "it may be more"],
)
def test_an_earlier_limit_says_where_to_begin_and_is_measured_again(
    known: Ceiling, reaches: float, rates: list[float], confirmed: bool
) -> None:
    run, found = timed(calibration(TO_LIMIT, known=known), reaches, 1.2)
    assert run[: len(rates)] == rates
    assert found.confirmed is confirmed
    assert found.per_s in run and found.per_s <= reaches


def disturbed(stop: PointStop, *others: Said) -> PointStop:
    """Judged while other programs ran."""
    found = (reason("background-load", cpu_pct=90.0), *others)
    findings = [reason.record() for reason in found]
    return msgspec.structs.replace(stop, verdict="inconclusive", findings=findings)


@pytest.mark.parametrize(
    ("succeeded", "others", "per_s"),
    [
        (1.0, (), 5000.0),
        (0.97, (), 0.0),
        (1.0, (reason("fell-behind", replied=60, calls=100, waiting=30),), 0.0),
        (1.0, (reason("offered-less", offered_per_s=142, planned_per_s=200),), 0.0),
    ],
    ids=["all was answered", "not all was", "it was answered later", "less was offered"],
)
def test_rates_answered_by_the_null_server_are_reached_whatever_else_ran(
    succeeded: float, others: tuple[Said, ...], per_s: float
) -> None:
    generator = calibration(plan())
    point = next(generator)
    with pytest.raises(StopIteration) as end:
        while True:
            point = generator.send(disturbed(answer(point, succeeded), *others))
    assert end.value.value.per_s == per_s


def test_only_an_undisturbed_limit_of_the_last_day_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    remember("busy", Ceiling(9_000, 180.0, 10_000))
    remember("quiet", Ceiling(9_000, 10.0, 10_000))
    assert recall("busy") is None
    assert recall("quiet") == Ceiling(9_000, 10.0, 10_000)
    (kept,) = (tmp_path / "cache" / "limits").glob("*.json")
    two_days_ago = kept.stat().st_mtime - 2 * 86_400
    os.utime(kept, (two_days_ago, two_days_ago))
    assert recall("quiet") is None
