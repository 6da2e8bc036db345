"""Response times by when calls began: what scatters is told from what grows."""

import pytest
from response_times import (
    Server,
    few_slow,
    in_batches,
    last_first,
    one_at_a_time,
    pool,
    rising,
    scattered,
    warmed_up,
    windows,
)

from workbench.analysis.evidence import Queue, queue_of
from workbench.analysis.starts import Started, rise_s


def queue(rate: float, seconds: float, server: Server, seed: int = 1) -> Queue:
    found = queue_of(windows(rate, seconds, server, seed), seconds)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("rate", "seconds", "server"),
    [
        (150, 5.0, scattered(4.0)),
        (600, 5.0, scattered(4.0)),
        (600, 5.0, scattered(6.0)),
        (600, 5.0, few_slow),
        (600, 5.0, warmed_up),
    ],
    ids=["as in the report", "at a higher rate", "longer than the point", "few slow", "warmed up"],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_response_times_that_scatter_are_no_queue(
    rate: float, seconds: float, server: Server, seed: int
) -> None:
    found = queue(rate, seconds, server, seed)
    assert not found.growing
    if found.stay_s:
        # In a point of the length that is named, no growth is to be explained.
        assert 2 * found.stay_s <= found.needed_s <= 60
        long = queue(rate, found.needed_s, server, seed)
        assert not long.growing and not long.stay_s


@pytest.mark.parametrize(
    ("rate", "seconds", "server"),
    [
        (600, 5.0, one_at_a_time(560)),
        (150, 5.0, one_at_a_time(75, 0.9)),
        (150, 5.0, one_at_a_time(30)),
        (150, 5.0, one_at_a_time(10)),
        (100, 1.2, in_batches(50)),
        (150, 5.0, in_batches(100)),
        (150, 5.0, last_first(100)),
        (600, 5.0, last_first(560)),
        (60, 5.0, pool(100, 3.0)),
        (80, 5.0, pool(100, 3.0)),
        (6000, 1.2, one_at_a_time(5500)),
    ],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_queue_is_one_in_whatever_order_it_is_served(
    rate: float, seconds: float, server: Server, seed: int
) -> None:
    assert queue(rate, seconds, server, seed).growing


def rise(seconds: float, server: Server, seed: int) -> tuple[float, float] | None:
    each = windows(400, seconds, server, seed)
    return rise_s(Started.of((window.middle_s, window.service) for window in each), 0.0, seconds)


def test_a_rise_throughout_a_point_is_found() -> None:
    found = rise(5.0, rising(0.1), seed=1)
    assert found is not None
    assert found == pytest.approx((0.030, 0.480), rel=0.1)


@pytest.mark.parametrize(
    ("case", "server"),
    [
        ("scatter", scattered(4.0)),
        ("a few slow", few_slow),
        ("busy, not overloaded", one_at_a_time(440, 0.9)),
        ("a warm-up", warmed_up),
        ("a rise of a fifth", lambda starts, chance: [0.05 + 0.002 * start for start in starts]),
        ("a fall", lambda starts, chance: [0.8 - 0.1 * start for start in starts]),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_no_rise_is_found_where_there_is_none(case: str, server: Server, seed: int) -> None:
    assert rise(5.0, server, seed) is None, case
