"""Which points calibrate the clients, and which limit they show."""

from __future__ import annotations

import msgspec
import pytest
from sweeping import answer, drive, plan

from workbench.documents import PointStop
from workbench.messages.reasons import BackgroundLoad, FellBehind, OfferedLess, Reason
from workbench.plan.calibration import Ceiling, calibration
from workbench.plan.model import Range
from workbench.plan.schedule import PointPlan


@pytest.mark.parametrize(
    ("holds_to", "ceiling", "tested"), [(9000, 5000.0, 1), (4000, 3750.0, 6), (0, 0.0, 6)]
)
def test_calibration_finds_the_client_limit(holds_to: float, ceiling: float, tested: int) -> None:
    run, found = drive(calibration(plan()), holds_to)
    assert (found.per_s, len(run)) == (ceiling, tested)
    assert {p.purpose for p in run} == {"ceiling"}
    assert all(p.seconds >= 1 for p in run)


@pytest.mark.parametrize(
    ("holds_to", "ceiling", "tested"),
    [(25_000, 25_000.0, 7), (1_500, 1_406.25, 9), (1, 0.0, 14)],
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
        ([(4000, 10.0)], 6, Ceiling(3750.0, 10.0)),
        ([(1000, 180.0), (9000, 0.0)], 7, Ceiling(5000.0)),
        ([(1000, 180.0), (4000, 10.0)], 12, Ceiling(3750.0, 10.0)),
        ([(4000, 180.0), (2000, 10.0)], 12, Ceiling(3750.0, 180.0)),
        ([(1000, 180.0), (4000, 90.0), (2000, 60.0)], 18, Ceiling(3750.0, 90.0)),
    ],
    ids=["quiet", "all at the second", "more at the second", "less at the second", "never quiet"],
)
def test_a_disturbed_calibration_is_repeated_and_the_highest_limit_counts(
    tries: list[tuple[float, float]], points: int, found: Ceiling
) -> None:
    run, ceiling = calibrated(tries)
    assert (ceiling, len(run)) == (found, points)


def disturbed(stop: PointStop, *others: Reason) -> PointStop:
    """Judged while other programs ran."""
    found = (BackgroundLoad(cpu_pct=90.0), *others)
    findings = [reason.record() for reason in found]
    return msgspec.structs.replace(stop, verdict="inconclusive", findings=findings)


@pytest.mark.parametrize(
    ("succeeded", "others", "per_s"),
    [
        (1.0, (), 5000.0),
        (0.97, (), 0.0),
        (1.0, (FellBehind(replied=60, calls=100, waiting=30),), 0.0),
        (1.0, (OfferedLess(offered_per_s=142, planned_per_s=200),), 0.0),
    ],
    ids=["all was answered", "not all was", "it was answered later", "less was offered"],
)
def test_rates_answered_by_the_null_server_are_reached_whatever_else_ran(
    succeeded: float, others: tuple[Reason, ...], per_s: float
) -> None:
    generator = calibration(plan())
    point = next(generator)
    with pytest.raises(StopIteration) as end:
        while True:
            point = generator.send(disturbed(answer(point, succeeded), *others))
    assert end.value.value.per_s == per_s
