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


_LAST = bucket_of(LONGEST_US)


def count_buckets(counts: Counter[int], times_ns: Iterable[int]) -> None:
    """Add times to their buckets, of which some may be out of bounds. `bucket_of` is inlined: a
    function call for each time would dominate the cost, and this runs while load is offered."""
    counts.update(
        [
            us if (us := ns // 1000) < 2048 else ((e := us.bit_length() - 11) << 10) + (us >> e)
            for ns in times_ns
        ]
    )


def bounded(counts: Counter[int]) -> Counter[int]:
    """Move what is out of bounds to the first or the last bucket."""
    if counts and not 0 <= min(counts) <= max(counts) <= _LAST:
        for bucket in [bucket for bucket in counts if not 0 <= bucket <= _LAST]:
            counts[0 if bucket < 0 else _LAST] += counts.pop(bucket)
    return counts


def sparse(counts: Counter[int]) -> list[int]:
    """Return [bucket, count, bucket, count, ...] in ascending order, as sent and recorded."""
    return [number for bucket in sorted(counts) for number in (bucket, counts[bucket])]
