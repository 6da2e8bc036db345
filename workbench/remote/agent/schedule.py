"""The scheduled time of each connection. Pure arithmetic, without a clock."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from .protocol import Load

SECOND_NS = 1_000_000_000


def share_of(count: int, share: int, shares: int) -> int:
    """Return how many of `count` items belong to `share` when they are distributed round-robin."""
    return (count - share + shares - 1) // shares


def uniform(rate_per_s: float, count: int, share: int = 0, shares: int = 1) -> Iterator[int]:
    """Yield this share's scheduled times in nanoseconds from the start.

    The point's connections are evenly spaced; this share takes every `shares`-th of them, so that
    all shares together offer exactly the plan's rate.
    """
    gap = SECOND_NS / rate_per_s
    for index in range(share, count, shares):
        yield round(index * gap)


def poisson(
    rate_per_s: float, count: int, seed: int, share: int = 0, shares: int = 1
) -> Iterator[int]:
    """Yield as many connections in the same time, at random instants.

    These are Poisson arrivals conditioned on `n` arrivals in `T` seconds: `n + 1` exponential gaps,
    scaled to `T`. So the offered rate is exactly the plan's, not a sample of it.
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


def think_times(load: Load) -> Callable[[], int]:
    """Return what gives the next think time in nanoseconds, of any connection."""
    mean_ns = load.think_time_s * SECOND_NS
    if load.think_times == "constant":
        constant = round(mean_ns)
        return lambda: constant
    draw = random.Random(f"think/{load.seed}/{load.share}/{load.shares}").expovariate
    return lambda: round(mean_ns * draw(1.0))
