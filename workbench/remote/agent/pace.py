"""When the connections of a point begin: by a schedule, or as others end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from time import monotonic_ns

from .protocol import Load
from .schedule import poisson, share_of, uniform

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

    def begin(self, at_ns: int) -> None:
        raise NotImplementedError

    def collect(self, now: int) -> int:
        """Move what has become due into `waiting`. Returns how many."""
        raise NotImplementedError

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
