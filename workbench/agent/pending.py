"""How many calls were pending on average."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic_ns

from .protocol import WINDOW_NS

_INTERRUPTED_NS = 2_000_000
"""A handler that takes longer had to wait for the CPU."""


class Pending:
    """Calls pending, integrated over time: counted apart from response times, so that each can be
    checked by the other (Little's law)."""

    def __init__(self, count: Callable[[], int]) -> None:
        self.begin, self.around, self.means = _integral(count)


def _integral(
    count: Callable[[], int],
) -> tuple[
    Callable[[int], None],
    Callable[[Callable[[], None]], Callable[[], None]],
    Callable[[], tuple[float, float]],
]:
    """Return three functions: one begins the integral at a time, one wraps a handler, and one
    returns a window's mean and uncertainty and begins the next. Closures, like all hot paths."""
    at_ns = last = twice_ns = unsure_ns = 0

    def begin(now: int) -> None:
        nonlocal at_ns
        at_ns = now

    def around(handle: Callable[[], None]) -> Callable[[], None]:
        def counted() -> None:
            # The number changes in handlers alone: before one it is what it was after the last.
            nonlocal at_ns, last, twice_ns, unsure_ns
            now, before = monotonic_ns(), last
            twice_ns += 2 * before * (now - at_ns)
            handle()
            at_ns, last = monotonic_ns(), count()
            lasted_ns = at_ns - now
            twice_ns += (before + last) * lasted_ns
            # When in this time the number changed is not known: calls begin and end one after
            # another, so it is that of one call, unless the process was interrupted meanwhile.
            if lasted_ns > _INTERRUPTED_NS:
                unsure_ns += (abs(last - before) or 1) * lasted_ns
            elif last != before:
                unsure_ns += lasted_ns >> 1

        return counted

    def means() -> tuple[float, float]:
        nonlocal twice_ns, unsure_ns
        found = max(0, twice_ns) / 2 / WINDOW_NS, unsure_ns / WINDOW_NS
        twice_ns = unsure_ns = 0
        return round(found[0], 4), round(found[1], 4)

    return begin, around, means
