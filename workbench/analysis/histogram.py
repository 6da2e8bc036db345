"""Histograms of times, as the agents count them: log-linear, and merged by adding counts.

A time of v whole microseconds (0 to `LARGEST_US`; larger ones count as that) lies in bucket v below
2,048. Above, each octave has 1,024 buckets: with e = v.bit_length() - 11, the bucket is (e << 10) +
(v >> e). A bucket is narrower than 0.1 % of its values. By HdrHistogram's convention a bucket
stands for its upper bound, so no percentile is reported too low.

A sparse histogram is a `documents.SparseHistogram`: [bucket, count, bucket, count, ...], ascending.
Documents have them packed (`analysis.packing`); every function here takes both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from workbench.analysis import packing
from workbench.analysis.packing import COARSE, FINE, LARGEST_US
from workbench.documents import Histogram, Histograms, PackedHistogram, Percentiles, SparseHistogram
from workbench.remote.agent.tally import bucket_of

_EXACT = 2_048


def bucket_bounds(bucket: int) -> tuple[int, int]:
    """(lowest, highest) time of a bucket in microseconds, both inclusive."""
    if bucket < _EXACT:
        return bucket, bucket
    e = (bucket >> 10) - 1
    low = (bucket - (e << 10)) << e
    return low, min(low + (1 << e) - 1, LARGEST_US)


BUCKETS = bucket_of(LARGEST_US) + 1


def _coarse_bucket(bucket: int) -> int:
    if bucket >= _EXACT:  # 1,024 fine buckets an octave
        return min(bucket | 63, BUCKETS - 1)
    step = 1 << max(0, bucket.bit_length() - 5)
    return int(bucket | (step - 1))


_COARSE_BUCKETS = np.unique([_coarse_bucket(bucket) for bucket in range(BUCKETS)])


def merge(histograms: Iterable[Histogram]) -> SparseHistogram:
    """The sum of histograms. Raises ValueError if one is not a histogram."""
    total = np.zeros(BUCKETS, dtype=np.int64)
    for histogram in histograms:
        buckets, counts = _split(histogram)
        np.add.at(total, buckets, counts)
    filled = np.flatnonzero(total)
    return _interleave(filled, total[filled])


def packed(histogram: Histogram, *, coarse: bool = False) -> PackedHistogram:
    """The same counts as text. `coarse`: as windows have them, if it is coarse."""
    if isinstance(histogram, str) and (not coarse or histogram[:1] in ("", packing.MARK)):
        return histogram
    # An old file may name a bucket twice.
    buckets, counts = _split(merge([histogram]))
    places = np.searchsorted(_COARSE_BUCKETS, buckets)
    if coarse and (_COARSE_BUCKETS[places] == buckets).all():
        return packing.pack(places, counts, COARSE)
    return packing.pack(buckets, counts, FINE)


def all_packed(histograms: Histograms) -> Histograms:
    names = Histograms.__struct_fields__
    return Histograms(**{name: packed(getattr(histograms, name)) for name in names})


def coarse(histogram: Histogram) -> SparseHistogram:
    """The same counts in 16 buckets per octave, each named by its last fine bucket, so that all
    functions of this module accept the result. Buckets are less than 7 % wide, and exact below 32
    us."""
    buckets, counts = _split(histogram)
    if not len(buckets):
        return []
    few = _COARSE_BUCKETS[np.searchsorted(_COARSE_BUCKETS, buckets)]
    first = np.flatnonzero(np.concatenate(([True], few[1:] != few[:-1])))
    return _interleave(few[first], np.add.reduceat(counts, first))


def percentile(histogram: Histogram, q: float) -> int | None:
    """The time in microseconds at rank ceil(q x count), for 0 < q <= 1; None: it is empty."""
    buckets, counts = _split(histogram)
    return _at(buckets, np.cumsum(counts), q) if len(buckets) else None


def percentiles(histogram: Histogram) -> Percentiles | None:
    """The default percentiles, in microseconds; None: the histogram is empty."""
    buckets, counts = _split(histogram)
    if not len(buckets):
        return None
    ranks = np.cumsum(counts)
    p50, p90, p99, p999, largest = (_at(buckets, ranks, q) for q in (0.5, 0.9, 0.99, 0.999, 1.0))
    return Percentiles(count=int(ranks[-1]), p50=p50, p90=p90, p99=p99, p999=p999, max=largest)


def percentile_supported(count: int, q: float) -> bool:
    """Whether `count` values are enough for percentile `q` (0 to 1): at least ten must lie beyond
    it, so p50 needs 20 values, p90 100, p99 1,000 and p99.9 10,000."""
    return count >= samples_needed(q)


@cache
def samples_needed(q: float) -> int:
    return math.ceil(round(10 / (1 - q), 6))


def mean(*histograms: Histogram) -> float | None:
    """Mean time in microseconds, from the midpoints of the buckets; None: there are no times."""
    parts = [times_us(histogram) for histogram in histograms]
    count = sum(int(counts.sum()) for _, counts in parts)
    return sum(float(us @ counts) for us, counts in parts) / count if count else None


def total_us(histogram: Histogram) -> float:
    """Sum of all times in microseconds, from the midpoints of the buckets."""
    buckets, counts = _split(histogram)
    return float(_middles()[buckets] @ counts)


def times_us(histogram: Histogram) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The times in microseconds, as midpoints of their buckets, and the count of each."""
    buckets, counts = _split(histogram)
    return _middles()[buckets], counts


@cache
def _middles() -> NDArray[np.float64]:
    return np.array([sum(bucket_bounds(bucket)) / 2 for bucket in range(BUCKETS)])


def _at(buckets: NDArray[np.int64], ranks: NDArray[np.int64], q: float) -> int:
    # 0.07 * 100 is 7.000000000000001: rounding first gives the intended rank.
    rank = max(1, math.ceil(round(q * int(ranks[-1]), 6)))
    return bucket_bounds(int(buckets[np.searchsorted(ranks, rank)]))[1]


def _split(histogram: Histogram) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(histogram, str):
        return _unpacked(histogram)
    pairs = np.asarray(histogram, dtype=np.int64)
    if len(pairs) % 2:
        raise ValueError("a sparse histogram has an even number of entries")
    buckets, counts = pairs[::2], pairs[1::2]
    if len(buckets) and not (buckets.min() >= 0 and buckets.max() < BUCKETS and counts.min() >= 0):
        raise ValueError("a bucket or a count of a sparse histogram is out of range")
    return buckets, counts


def _unpacked(text: PackedHistogram) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not text:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    buckets, counts, digits = packing.unpack(text)
    return (_COARSE_BUCKETS[buckets] if digits == COARSE else buckets), counts


def _interleave(buckets: NDArray[np.int64], counts: NDArray[np.int64]) -> SparseHistogram:
    pairs: SparseHistogram = np.column_stack((buckets, counts)).ravel().tolist()
    return pairs
