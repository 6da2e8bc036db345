"""Log-linear buckets for times: exact to 1 us below 2 ms, to 0.1 % above, up to 10 minutes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

LONGEST_US = 600_000_000


def bucket_of(us: int) -> int:
    """The bucket of a time in whole microseconds; the same scheme as `analysis.histogram`."""
    if us < 2048:
        return us if us > 0 else 0
    us = min(us, LONGEST_US)
    exponent = us.bit_length() - 11
    return (exponent << 10) + (us >> exponent)


def count_buckets(times_ns: Iterable[int]) -> Counter[int]:
    """Counts by bucket. Counting equal microseconds first keeps the work in C."""
    counts: Counter[int] = Counter()
    for us, count in Counter([ns // 1000 for ns in times_ns]).items():
        counts[bucket_of(us)] += count
    return counts


def sparse(counts: Counter[int]) -> list[int]:
    """[bucket, count, bucket, count, ...] in ascending order, as it travels and is recorded."""
    return [number for bucket in sorted(counts) for number in (bucket, counts[bucket])]
