"""Windows of a point put together: counts add up, histograms merge, no percentile is averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.analysis.histogram import merge, percentiles
from workbench.documents import WINDOW_US, Window

_LONG_S = ((3_600.0, 50), (60.0, 5))
"""Points planned for longer than so many seconds are recorded with so many windows in one."""


def recorded_together(seconds: float) -> int:
    """How many windows of a point of this length are recorded as one: 10 s of a point over an
    hour, 1 s of one over a minute, else each by itself."""
    return next((count for longer, count in _LONG_S if seconds > longer), 1)


def together(windows: Sequence[Window]) -> Window:
    """Windows in a row as one; percentiles come from their coarse histograms."""
    if len(windows) == 1:
        return windows[0]
    first, last = windows[0], windows[-1]
    errors: Counter[str] = Counter()
    for window in windows:
        errors.update(window.errors)
    latency = merge(window.latency for window in windows)
    service = merge(window.service for window in windows)
    return Window(
        t_us=first.t_us,
        point=first.point,
        index=last.index,
        length_us=sum(window.length_us for window in windows),
        due=sum(window.due for window in windows),
        sent=sum(window.sent for window in windows),
        late=sum(window.late for window in windows),
        established=sum(window.established for window in windows),
        replies=sum(window.replies for window in windows),
        errors=dict(sorted(errors.items())),
        in_flight=last.in_flight,
        pending=pending(windows),
        latency_us=percentiles(latency),
        service_us=percentiles(service),
        latency=latency,
        service=service,
        phase=first.phase,
        values=last.values,
    )


class Thinner:
    """Windows of long points several in one, as they are recorded; see `recorded_together`."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: as the point was planned."""
        self._count = recorded_together(seconds)
        self._waiting: list[Window] = []

    def take(self, window: Window) -> list[Window]:
        """What is to be recorded now. Windows of two phases are never put together."""
        ready = self.rest() if self._waiting and self._waiting[-1].phase != window.phase else []
        self._waiting.append(window)
        if (window.index + 1) % self._count == 0:
            ready += self.rest()
        return ready

    def rest(self) -> list[Window]:
        """What is left when the point has ended."""
        left, self._waiting = self._waiting, []
        return [together(left)] if left else []


def pending(windows: Sequence[Window]) -> float | None:
    """Calls pending, mean over the windows; None: not known of every window."""
    known = [w.pending * w.length_us for w in windows if w.pending is not None]
    if not windows or len(known) < len(windows):
        return None
    return sum(known) / sum(window.length_us for window in windows)


def seconds(windows: Sequence[Window]) -> float:
    """That the windows cover."""
    return sum(window.length_us for window in windows) / 1e6


def skipped(before: int, window: Window) -> int:
    """How many windows of 200 ms are missing between the one with index `before` and this."""
    return window.index - before - window.length_us // WINDOW_US
