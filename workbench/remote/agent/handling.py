"""What the worker's own handlers take: how many calls are pending meanwhile, and how long replies
that can be read wait for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from time import monotonic_ns

from .protocol import WINDOW_NS

_INTERRUPTED_NS = 2_000_000
"""A handler that takes longer had to wait for the CPU."""
_SLEPT_NS = 50_000
"""Between two handlers: the event loop itself needs less, so it waited for something to read."""
_LEAST_NS = 100_000
"""Shorter waits of replies are not recorded."""
_ASK_NS = 1_000_000
"""How long this process waited for a core is asked at most this often; it takes 1 µs."""
_PARTS = 4
"""Replies of one handler that are weighed apart, because the first is read long before the last."""


class Handling:
    """Wraps the handlers of a point.

    Calls pending are integrated over time: counted apart from response times, so that each can be
    checked by the other (Little's law). Waits of replies are upper bounds: each reply may have come
    just after the last time when nothing was to be read, or when this process, which slept, began
    to wait for a core.
    """

    def __init__(self, count: Callable[[], int], times: tuple[list[int], list[int]]) -> None:
        """`count`: of calls pending. `times`: what each reply is added to, in one or the other."""
        waits: list[tuple[int, int, int]] = []
        """Of those that may have waited: ns until the first was read, and from then to the last,
        replies."""
        self._waits = waits
        # Closures, like all hot paths.
        at_ns = last = twice_ns = unsure_ns = clear_ns = asked_ns = woke_ns = 0
        queued_ns = 0
        some, others = times

        def begin(now: int) -> None:
            nonlocal at_ns, clear_ns, queued_ns
            at_ns = clear_ns = now
            queued_ns = run_queue_ns()

        def around(handle: Callable[[], bool | None]) -> Callable[[], None]:
            def counted() -> None:
                # The number changes in handlers alone: before one it is what it was after the last.
                nonlocal at_ns, last, twice_ns, unsure_ns, clear_ns, asked_ns, woke_ns, queued_ns
                now, before = monotonic_ns(), last
                if now - at_ns > _SLEPT_NS:
                    clear_ns = now
                    if now - asked_ns > _ASK_NS:
                        asked_ns, already = now, queued_ns
                        queued_ns = run_queue_ns()
                        woke_ns = queued_ns - already
                twice_ns += 2 * before * (now - at_ns)
                answered = len(some) + len(others)
                more = handle()
                at_ns, last = monotonic_ns(), count()
                lasted_ns = at_ns - now
                twice_ns += (before + last) * lasted_ns
                # When in this time the number changed is not known: calls begin and end one after
                # another, so it is that of one call, unless the process was interrupted meanwhile.
                if lasted_ns > _INTERRUPTED_NS:
                    unsure_ns += (abs(last - before) or 1) * lasted_ns
                elif last != before:
                    unsure_ns += lasted_ns >> 1
                if more is not None:
                    until_ns = now - clear_ns + woke_ns
                    if until_ns + lasted_ns > _LEAST_NS:
                        waits.append((until_ns, lasted_ns, len(some) + len(others) - answered))
                    if not more:  # Otherwise the rest had come before, too.
                        clear_ns = now
                        woke_ns = 0

            return counted

        def means() -> tuple[float, float]:
            nonlocal twice_ns, unsure_ns
            found = max(0, twice_ns) / 2 / WINDOW_NS, unsure_ns / WINDOW_NS
            twice_ns = unsure_ns = 0
            return round(found[0], 4), round(found[1], 4)

        self.begin, self.around, self.means = begin, around, means

    def waits(self) -> Iterator[tuple[int, int]]:
        """Yield (upper bound in ns, replies) of those that may have waited since the last call."""
        for until_ns, lasted_ns, found in self._waits:
            parts = min(found, _PARTS)
            for part in range(parts):
                replies = found * (part + 1) // parts - found * part // parts
                yield until_ns + lasted_ns * (part + 1) // parts, replies
        self._waits.clear()


try:
    _SCHEDSTAT = os.open("/proc/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
except OSError:  # A kernel without it.
    _SCHEDSTAT = -1


def run_queue_ns() -> int:
    """Return how long this process could have run and waited for a core, since it began."""
    return int(os.pread(_SCHEDSTAT, 64, 0).split()[1]) if _SCHEDSTAT >= 0 else 0
