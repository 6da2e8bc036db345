"""When the connections of a point begin: by a schedule, which is pure arithmetic, or as others
end."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from time import monotonic_ns

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


_NEVER = 1 << 62


class Pace:
    """What to start, and when. `waiting` holds the scheduled times (ns) that have passed."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.waiting: deque[int] = deque()
        self.exhausted = False
        """Nothing further will become due."""
        self.next_due = 0
        self.length_ns = 0
        self.left = 0
        """Closed loop: connections to be begun."""

    def failed(self) -> None:
        """Handle a connection that could not be started."""


class OpenPace(Pace):
    """An absolute schedule, whatever the server does."""

    def __init__(self, load: Load) -> None:
        super().__init__(load)
        self.at_ns = 0
        ramp_ns = round(load.ramp_s * 1e9)
        self.length_ns = ramp_ns + round(load.connections / load.rate_per_s * 1e9)
        calls: Iterator[int] = (
            poisson(load.rate_per_s, load.connections, load.seed, load.share, load.shares)
            if load.arrivals == "poisson"
            else uniform(load.rate_per_s, load.connections, load.share, load.shares)
        )
        if load.held:
            held = uniform(load.held_per_s, load.held, load.share, load.shares)
            calls = chain(held, (ramp_ns + offset for offset in calls))
        self.offsets = calls
        # Not in `begin`: the first Poisson instant needs the sum of all gaps, which takes longer
        # than the lead time of the start.
        self._advance()

    def begin(self, at_ns: int) -> None:
        self.at_ns = at_ns
        self.next_due += at_ns

    def _advance(self) -> None:
        offset = next(self.offsets, None)
        if offset is None:
            self.exhausted = True
            self.next_due = 0
        else:
            self.next_due = self.at_ns + offset

    def collect(self, now: int) -> int:
        """Move what has become due into `waiting`. Returns how many."""
        before = len(self.waiting)
        while not self.exhausted and self.next_due <= now:
            self.waiting.append(self.next_due)
            self._advance()
        return len(self.waiting) - before


class ClosedPace(Pace):
    """Fixed concurrency: each connection that ends is replaced by the next."""

    def begin(self, at_ns: int) -> None:
        load = self.load
        by_time = not load.connections
        self.left = _NEVER if by_time else share_of(load.connections, load.share, load.shares)
        self.length_ns = round(load.seconds * 1e9) if by_time else _NEVER
        self.until = at_ns + self.length_ns
        self.vacant = share_of(load.concurrency, load.share, load.shares)
        self.next_due = at_ns

    def collect(self, now: int) -> int:
        """Start the first connections, and replace those that failed at once."""
        if now >= self.until:
            self.left = 0
        count = min(self.vacant, self.left)
        self.vacant -= count
        self.left -= count
        self.waiting.extend([now] * count)
        self.exhausted = not self.left
        self.next_due = 0
        return count

    def failed(self) -> None:
        """Try again after a millisecond, because an immediate retry would be a busy loop."""
        self.vacant += 1
        self.next_due = monotonic_ns() + 1_000_000
