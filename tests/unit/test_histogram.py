"""Histograms agree with exact arithmetic within a bucket's width."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.histograms import histogram_of
from workbench.analysis import histogram as h

TIMES = st.integers(0, h.LARGEST_US)
MANY = st.lists(st.one_of(TIMES, st.integers(0, 10_000)), min_size=1, max_size=300)


@given(TIMES)
def test_a_time_lies_within_the_bounds_of_its_bucket(us: int) -> None:
    low, high = h.bucket_bounds(h.bucket_of(us))
    assert low <= us <= high
    assert high - low <= us / 1000


@given(st.integers(1, h.BUCKETS - 1))
def test_buckets_join_without_gap_or_overlap(bucket: int) -> None:
    assert h.bucket_bounds(bucket)[0] == h.bucket_bounds(bucket - 1)[1] + 1
    assert all(h.bucket_of(bound) == bucket for bound in h.bucket_bounds(bucket))


@given(MANY, st.sampled_from([0.01, 0.5, 0.9, 0.99, 0.999, 1.0]))
def test_a_percentile_is_the_exact_one_or_less_than_a_thousandth_above(
    times: list[int], q: float
) -> None:
    exact = sorted(times)[max(1, math.ceil(round(q * len(times), 6))) - 1]
    reported = h.percentile(histogram_of(times), q)
    assert reported is not None
    assert exact <= reported <= exact * 1.001


def test_percentiles_of_a_long_tail_agree_with_numpy_within_a_thousandth() -> None:
    times = np.random.default_rng(7).lognormal(7, 1.2, 50_000).astype(int)
    reported = h.percentiles(histogram_of(times.tolist()))
    assert reported is not None
    for name, q in (("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9), ("max", 100)):
        exact = np.percentile(times, q, method="inverted_cdf")
        assert getattr(reported, name) == pytest.approx(exact, rel=1e-3), name


@given(MANY, MANY)
def test_merging_histograms_equals_counting_all_times_in_one(a: list[int], b: list[int]) -> None:
    merged = h.merge([histogram_of(a), [], histogram_of(b)])
    assert merged == histogram_of(a + b)


@given(MANY)
def test_the_mean_is_within_a_thousandth(times: list[int]) -> None:
    assert h.mean(histogram_of(times)) == pytest.approx(np.mean(times), rel=1e-3)


def test_times_beyond_ten_minutes_count_as_ten_minutes() -> None:
    reported = h.percentiles(histogram_of([10**12]))
    assert reported is not None
    assert reported.max == h.LARGEST_US


def test_nothing_measured_has_no_percentiles() -> None:
    assert h.percentiles([]) is None
    assert h.percentile([], 0.5) is None
    assert h.merge([[], []]) == []


@pytest.mark.parametrize("damaged", [[1], [-1, 3], [h.BUCKETS, 1], [3, -1]])
def test_a_damaged_histogram_is_refused(damaged: list[int]) -> None:
    with pytest.raises(ValueError, match="sparse histogram"):
        h.merge([damaged])


@pytest.mark.parametrize(("q", "needed"), [(0.5, 20), (0.9, 100), (0.99, 1_000), (0.999, 10_000)])
def test_a_percentile_needs_ten_values_beyond_it(q: float, needed: int) -> None:
    assert h.samples_needed(q) == needed
    assert h.percentile_supported(needed, q)
    assert not h.percentile_supported(needed - 1, q)


@given(MANY)
def test_a_coarse_histogram_keeps_counts_and_stays_within_its_error(times_us: list[int]) -> None:
    fine = histogram_of(times_us)
    rough = h.coarse(fine)
    assert sum(rough[1::2]) == len(times_us)
    for q in (0.5, 0.99, 1.0):
        true, reported = h.percentile(fine, q), h.percentile(rough, q)
        assert true is not None
        assert reported is not None
        assert true <= reported <= true * 1.07 + 1
    assert h.coarse(rough) == rough
