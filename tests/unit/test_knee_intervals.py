"""How sure a sustained rate is."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from tests.comparisons import RATES, faster, passes, side
from tests.synthetic import contestants, session
from workbench.analysis.intervals import knee_interval, ranks
from workbench.results import sustained
from workbench.results.comparison import compare
from workbench.results.differences import interval_text


def test_rates_are_rounded_as_in_the_charts() -> None:
    steps = [103.4 * n for n in range(40, 70)]
    (gevent,) = side("A", session(1, rates=steps)).contenders
    assert gevent.result.knee == 103.4 * 50
    assert sustained.column(gevent.result) == "5,170/s"
    assert interval_text(gevent) == "5,170 to 5,273/s"


def test_one_pass_has_the_step_between_its_rates_and_no_confidence() -> None:
    (gevent,) = side("A", session(1, rates=RATES)).contenders
    assert gevent.result.interval is not None
    assert (gevent.result.interval.low, gevent.result.interval.high) == (5000, 6000)
    assert gevent.result.interval.coverage is None


def test_few_passes_give_their_range_and_its_low_confidence() -> None:
    found = knee_interval(passes((5000, 6000), (4000, 5000), (5000, 6000)))
    assert found is not None
    assert (found.low, found.high) == (4000, 6000)
    assert found.coverage == 0.75


@pytest.mark.parametrize(
    ("number", "left_out", "at_least"), [(1, 0, None), (5, 0, 0.93), (6, 0, 0.96), (9, 1, 0.96)]
)
def test_many_passes_give_an_interval_that_covers_the_median_by_arithmetic(
    number: int, left_out: int, at_least: float | None
) -> None:
    rank, coverage = ranks(number)
    assert rank == left_out
    assert (coverage is None) == (at_least is None)
    assert coverage is None or coverage >= (at_least or 0)


def test_a_server_without_a_seen_limit_sustains_at_least_its_highest_rate() -> None:
    (fast,) = side("A", session(faster(1, 9), rates=RATES)).contenders
    assert fast.result.interval is not None
    assert fast.result.interval.high == inf
    assert sustained.column(fast.result) == "≥ 9,000/s"
    assert interval_text(fast) == "above 9,000/s"


def test_a_rate_lost_by_the_clients_shows_no_limit_of_the_server() -> None:
    (fast,) = side("A", session(faster(1, 9), rates=RATES, untrusted_from=7000)).contenders
    assert fast.result.knee == 6000
    assert sustained.column(fast.result) == "≥ 6,000/s"


def test_servers_that_sustained_nothing_or_have_no_points_are_reported() -> None:
    dead, alive = side(
        "A",
        session([replace(contestants(1)[0], capacity_per_s=0), *contestants(2)[1:]], rates=RATES),
    ).contenders
    assert sustained.column(dead.result) == "no tested rate"
    assert dead.result.at_knee is None
    start = session(1)[0]
    (unmeasured,) = side("B", [start]).contenders
    assert sustained.column(unmeasured.result) == "not measured"
    assert [c.name for c in compare([side("A", session(2)), side("B", [start])]).ranked()][-1] == (
        unmeasured.name
    )
    assert alive.result.knee == 7000
