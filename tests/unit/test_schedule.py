"""When connections are due, and how their times are counted, without a clock."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.histograms import histogram_of
from workbench.analysis import histogram
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.schedule import poisson, share_of, think_times, uniform
from workbench.remote.agent.tally import bounded, count_buckets, sparse

RATES = st.floats(0.5, 50_000)
COUNTS = st.integers(0, 500)
SHARES = st.integers(1, 9)
NS = st.integers(-1_000_000, (histogram.LARGEST_US + 1_000_000) * 1_000)


@given(RATES, COUNTS)
def test_uniform_arrivals_are_where_the_rate_puts_them_without_drift(
    rate: float, count: int
) -> None:
    due = list(uniform(rate, count))
    assert len(due) == count
    assert all(abs(at - index / rate * 1e9) <= 1 for index, at in enumerate(due))


@given(RATES, COUNTS, SHARES)
def test_the_shares_of_a_uniform_schedule_add_up_to_the_schedule(
    rate: float, count: int, shares: int
) -> None:
    dealt = [at for share in range(shares) for at in uniform(rate, count, share, shares)]
    assert sorted(dealt) == list(uniform(rate, count))


@given(COUNTS, SHARES)
def test_shares_differ_by_one_at_most_and_add_up(count: int, shares: int) -> None:
    sizes = [share_of(count, share, shares) for share in range(shares)]
    assert sum(sizes) == count
    assert max(sizes) - min(sizes) <= 1


@given(RATES, COUNTS, st.integers(0, 2**31), SHARES)
def test_poisson_arrivals_are_as_many_as_planned_and_fall_into_the_schedule(
    rate: float, count: int, seed: int, shares: int
) -> None:
    dealt = [list(poisson(rate, count, seed, share, shares)) for share in range(shares)]
    assert sum(map(len, dealt)) == count
    for due in dealt:
        assert due == sorted(due)
        assert all(0 <= at <= round(count / rate * 1e9) for at in due)


def test_poisson_arrivals_repeat_by_their_seed_and_differ_by_seed_and_share() -> None:
    first = list(poisson(1_000, 200, seed=7))
    assert first == list(poisson(1_000, 200, seed=7))
    assert first != list(poisson(1_000, 200, seed=8))
    assert list(poisson(1_000, 200, 7, 0, 2)) != list(poisson(1_000, 200, 7, 1, 2))


def test_poisson_gaps_vary_as_much_as_they_are_long() -> None:
    due = list(poisson(1_000, 20_000, seed=7))
    gaps = [b - a for a, b in itertools.pairwise(due)]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert mean == pytest.approx(1e6, rel=0.02)
    assert deviation == pytest.approx(mean, rel=0.05)


@given(st.lists(NS, max_size=200))
def test_the_agent_counts_times_as_the_analysis_does(times_ns: list[int]) -> None:
    counts: Counter[int] = Counter()
    for part in (times_ns[::2], times_ns[1::2]):
        count_buckets(counts, part)
    reported = sparse(bounded(counts))
    clamped = [min(max(0, ns // 1000), histogram.LARGEST_US) for ns in times_ns]
    assert reported == histogram_of(clamped)


def test_random_think_times_are_exponential_and_repeat_with_their_seed() -> None:
    def drawn(**more: int) -> list[int]:
        load = Load("h", 1, "http", think_time_s=5.0, think_times="exponential", **more)
        following = think_times(load)
        return [following() for _ in range(4_000)]

    found = drawn(seed=7)
    assert found == drawn(seed=7) != drawn(seed=7, share=1)
    assert sum(found) / len(found) == pytest.approx(5e9, rel=0.05)
    # Of an exponential distribution, a share of exp(-1) exceeds the mean.
    assert sum(ns > 5e9 for ns in found) / len(found) == pytest.approx(0.368, abs=0.03)
    assert think_times(Load("h", 1, "http", think_time_s=0.25))() == 250_000_000
