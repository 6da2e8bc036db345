"""When each connection is due. Pure arithmetic: nothing here looks at a clock."""

from __future__ import annotations

import random
from collections.abc import Iterator

SECOND_NS = 1_000_000_000


def share_of(count: int, share: int, shares: int) -> int:
    """How many of `count` things fall to `share` when they are dealt out in turn."""
    return (count - share + shares - 1) // shares


def uniform(rate_per_s: float, count: int, share: int = 0, shares: int = 1) -> Iterator[int]:
    """Nanoseconds after the start at which this share's connections are due.

    The point's connections are evenly spaced; this share takes every `shares`-th of them, so
    that all shares together offer exactly the plan's rate.
    """
    gap = SECOND_NS / rate_per_s
    for index in range(share, count, shares):
        yield round(index * gap)


def poisson(
    rate_per_s: float, count: int, seed: int, share: int = 0, shares: int = 1
) -> Iterator[int]:
    """The same number of connections in the same time, at random instants.

    A Poisson process of which it is known that `n` arrivals fall into `T` seconds: `n + 1`
    exponential gaps, scaled to `T`. So the offered rate is the plan's, not a sample of it.
    """
    mine = share_of(count, share, shares)
    length_ns = count / rate_per_s * SECOND_NS
    gaps = random.Random(f"{seed}/{share}/{shares}")
    total = sum(gaps.expovariate(1.0) for _ in range(mine + 1))
    gaps = random.Random(f"{seed}/{share}/{shares}")
    at = 0.0
    for _ in range(mine):
        at += gaps.expovariate(1.0)
        yield round(at / total * length_ns)
