"""Histograms of given times, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from workbench.analysis.histogram import bucket_of


def histogram_of(times_us: Iterable[int]) -> list[int]:
    """Return a sparse histogram in which each time is counted by itself."""
    counts = Counter(map(bucket_of, times_us))
    return [part for bucket in sorted(counts) for part in (bucket, counts[bucket])]
