"""What the worker's own handlers take: how many calls are pending meanwhile, and how long replies
that can be read wait for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns

from .protocol import WINDOW_NS

_INTERRUPTED_NS = 2_000_000
"""A handler that takes longer had to wait for the CPU."""
_SLEPT_NS = 50_000
"""Between two handlers: the event loop itself needs less, so it waited, and nothing was to be
read."""
_SCHEDSTAT = Path("/proc/self/schedstat")
_LEAST_NS = 100_000
"""Shorter waits of replies are not recorded."""


class Handling:
    """Wraps the handlers of a point.

    Calls pending are integrated over time: counted apart from response times, so that each can be
    checked by the other (Little's law). Waits of replies are upper bounds: each reply may have come
    just after the last time when nothing was to be read.
    """

    def __init__(self, count: Callable[[], int], at_once: int) -> None:
        """`count`: of calls pending. `at_once`: events that a handler takes at most."""
        self.waits: list[tuple[int, int]] = []
        """(upper bound in ns, replies) of those that may have waited."""
        self.begin, self.around, self.means = _observed(count, at_once, self.waits.append)


def _observed(
    count: Callable[[], int], at_once: int, waited: Callable[[tuple[int, int]], None]
) -> tuple[
    Callable[[int], None],
    Callable[[Callable[[], int | None]], Callable[[], None]],
    Callable[[], tuple[float, float]],
]:
    """Return three functions: one begins at a time, one wraps a handler (that of events returns how
    many it found), and one returns a window's mean and uncertainty of the calls pending and begins
    the next. Closures, like all hot paths."""
    at_ns = last = twice_ns = unsure_ns = clear_ns = 0

    def begin(now: int) -> None:
        nonlocal at_ns, clear_ns
        at_ns = clear_ns = now

    def around(handle: Callable[[], int | None]) -> Callable[[], None]:
        def counted() -> None:
            # The number changes in handlers alone: before one it is what it was after the last.
            nonlocal at_ns, last, twice_ns, unsure_ns, clear_ns
            now, before = monotonic_ns(), last
            if now - at_ns > _SLEPT_NS:
                clear_ns = now
            twice_ns += 2 * before * (now - at_ns)
            found = handle()
            at_ns, last = monotonic_ns(), count()
            lasted_ns = at_ns - now
            twice_ns += (before + last) * lasted_ns
            # When in this time the number changed is not known: calls begin and end one after
            # another, so it is that of one call, unless the process was interrupted meanwhile.
            if lasted_ns > _INTERRUPTED_NS:
                unsure_ns += (abs(last - before) or 1) * lasted_ns
            elif last != before:
                unsure_ns += lasted_ns >> 1
            if found is not None:
                if at_ns - clear_ns > _LEAST_NS:
                    waited((at_ns - clear_ns, found))
                if found < at_once:  # Otherwise the rest had come before, too.
                    clear_ns = now

        return counted

    def means() -> tuple[float, float]:
        nonlocal twice_ns, unsure_ns
        found = max(0, twice_ns) / 2 / WINDOW_NS, unsure_ns / WINDOW_NS
        twice_ns = unsure_ns = 0
        return round(found[0], 4), round(found[1], 4)

    return begin, around, means


class RunQueue:
    """How long this process waited for a core although it could have run."""

    def __init__(self) -> None:
        self._read_ns, self._waited_ns = monotonic_ns(), _waited_ns()

    def waited(self, replies: int) -> tuple[int, int]:
        """Return how long since the last call, in ns, and how many of `replies` came meanwhile."""
        now, total = monotonic_ns(), _waited_ns()
        waited_ns, lasted_ns = total - self._waited_ns, now - self._read_ns
        self._read_ns, self._waited_ns = now, total
        if waited_ns < _LEAST_NS or not lasted_ns:
            return 0, 0
        return waited_ns, min(replies, replies * waited_ns // lasted_ns + 1)


def _waited_ns() -> int:
    try:
        return int(_SCHEDSTAT.read_bytes().split()[1])
    except OSError:  # A kernel without it.
        return 0
