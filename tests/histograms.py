"""Histograms of given times, and of times that are distributed, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from math import ceil, exp
from statistics import NormalDist

import numpy as np

from workbench.analysis.histogram import bucket_bounds, bucket_of, percentiles
from workbench.documents import Percentiles, SparseHistogram

Times = Callable[[float, float, int], tuple[Percentiles | None, SparseHistogram]]
"""A number of times, by their median in microseconds and their sigma."""

_TIMEOUT_US = 5_000_000
_SLICES = 60
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}


def histogram_of(times_us: Iterable[int]) -> list[int]:
    """Return a sparse histogram in which each time is counted by itself."""
    counts = Counter(map(bucket_of, times_us))
    return [part for bucket in sorted(counts) for part in (bucket, counts[bucket])]


@cache
def _normals() -> tuple[tuple[float, float], ...]:
    """(up to this share, standard normal value there), the tail in finer steps."""
    steps = [(i + 1) / _SLICES for i in range(_SLICES - 1)] + [0.99, 0.995, 0.999, 0.9999, 1.0]
    middles = [(a + b) / 2 for a, b in pairwise([0.0, *steps])]
    return tuple((s, NormalDist().inv_cdf(m)) for s, m in zip(steps, middles, strict=True))


@cache
def lognormal(
    median_us: float, sigma: float, count: int
) -> tuple[Percentiles | None, SparseHistogram]:
    """`count` times as a histogram, and its percentiles by rank."""
    if count <= 0:
        return None, []
    buckets: dict[int, int] = {}
    done = 0
    for share, normal in _normals():
        upto = round(count * share)
        if upto > done:
            bucket = bucket_of(min(round(median_us * exp(sigma * normal)), _TIMEOUT_US))
            buckets[bucket] = buckets.get(bucket, 0) + upto - done
            done = upto
    ordered = sorted(buckets.items())
    tops = {name: _rank(ordered, ceil(q * count)) for name, q in _QUANTILES.items()}
    return Percentiles(count=count, **tops), [x for pair in ordered for x in pair]


def sampled(seed: int) -> Times:
    """Like `lognormal`, but every time is drawn: as many buckets are filled as in a real run."""
    rng = np.random.default_rng(seed)

    def times(
        median_us: float, sigma: float, count: int
    ) -> tuple[Percentiles | None, SparseHistogram]:
        drawn = rng.lognormal(np.log(max(1.0, median_us)), 0.6 * sigma, max(0, count))
        us = np.minimum(drawn, _TIMEOUT_US).astype(np.int64)
        octave = np.maximum(0, np.frexp(us)[1] - 11)
        buckets, counts = np.unique((octave << 10) + (us >> octave), return_counts=True)
        sparse: SparseHistogram = np.column_stack((buckets, counts)).ravel().tolist()
        return percentiles(sparse), sparse

    return times


def _rank(ordered: list[tuple[int, int]], rank: int) -> int:
    for bucket, n in ordered:
        rank -= n
        if rank <= 0:
            return bucket_bounds(bucket)[1]
    raise AssertionError("a rank beyond the count")
