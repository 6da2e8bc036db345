"""Merging windows of a point: counts and histograms are added, percentiles are never averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan, nan

from workbench.analysis.histogram import merge, packed, percentiles
from workbench.analysis.series import View, window_ms
from workbench.axis import Axis
from workbench.documents import WINDOW_US, PointStart, Window

_LONG_S = ((3_600.0, 50), (60.0, 5))
"""(seconds, windows): in points planned to be longer, this number of windows is recorded as one."""


def windows_per_record(seconds: float) -> int:
    """The number of windows that a point of this length records as one: 10 s of them in a point
    over an hour, 1 s in one over a minute, otherwise a single one."""
    return next((count for longer, count in _LONG_S if seconds > longer), 1)


def merge_windows(windows: Sequence[Window]) -> Window:
    """Merge successive windows; percentiles come from their coarse histograms."""
    if len(windows) == 1:
        return windows[0]
    first, last = windows[0], windows[-1]
    errors: Counter[str] = Counter()
    for window in windows:
        errors.update(window.errors)
    latency = merge(window.latency for window in windows)
    service = merge(window.service for window in windows)
    length_us = sum(window.length_us for window in windows)
    return Window(
        t_us=first.t_us,
        point=first.point,
        index=last.index,
        length_us=length_us,
        due=sum(window.due for window in windows),
        sent=sum(window.sent for window in windows),
        late=sum(window.late for window in windows),
        established=sum(window.established for window in windows),
        replies=sum(window.replies for window in windows),
        errors=dict(sorted(errors.items())),
        in_flight=last.in_flight,
        pending=pending(windows),
        pending_within=sum(w.pending_within * w.length_us for w in windows) / length_us,
        latency_us=percentiles(latency),
        service_us=percentiles(service),
        latency=packed(latency, coarse=True),
        service=packed(service, coarse=True),
        phase=first.phase,
        values=last.values,
    )


class Thinner:
    """Merges windows of long points for recording; see `windows_per_record`."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: planned length of the point."""
        self._count = windows_per_record(seconds)
        self._waiting: list[Window] = []

    def take(self, window: Window) -> list[Window]:
        """The windows to be recorded now. Windows of different phases are never merged."""
        ready = self.rest() if self._waiting and self._waiting[-1].phase != window.phase else []
        self._waiting.append(window)
        if (window.index + 1) % self._count == 0:
            ready += self.rest()
        return ready

    def rest(self) -> list[Window]:
        """The remaining windows once the point has ended."""
        left, self._waiting = self._waiting, []
        return [merge_windows(left)] if left else []


def pending(windows: Sequence[Window]) -> float | None:
    """Pending calls, mean over the windows; None: unknown for some window."""
    known = [w.pending * w.length_us for w in windows if w.pending is not None]
    if not windows or len(known) < len(windows):
        return None
    return sum(known) / sum(window.length_us for window in windows)


def seconds(windows: Sequence[Window]) -> float:
    return sum(window.length_us for window in windows) / 1e6


def skipped(before: int, window: Window) -> int:
    """Number of windows of 200 ms that are missing between the one with index `before` and this
    one."""
    return window.index - before - window.length_us // WINDOW_US


_DECIDED_PCT = 5.0
"""Percent of the scheduled calls: with more of them open, no error rate is shown. About the height
of a marker."""


@dataclass
class Running:
    start: PointStart
    axis: Axis
    windows: list[Window] = field(default_factory=list)

    @property
    def server(self) -> str:
        return self.start.series

    @property
    def x(self) -> float:
        return self.start.x

    @property
    def _calls_per_unit(self) -> int:
        """Calls per unit that the axis counts."""
        return self.start.calls_per_connection if self.axis.of_connections else 1

    @property
    def errors_pct(self) -> tuple[float, float] | None:
        """(least, most) percent of the calls scheduled so far, because open calls may still fail.
        None: none was scheduled yet."""
        due = sum(window.due for window in self.windows)
        if not due:
            return None
        lost = sum(sum(window.errors.values()) for window in self.windows)
        answered = sum(window.replies for window in self.windows)
        return 100 * min(1.0, lost / due), 100 * max(0.0, 1 - answered / due)

    def value(self, metric: str, view: View | None = None) -> float:
        """The value so far; response times are those of the latest window that has any. NaN: not
        known yet, because no window has it, too many calls may still time out (errors), or it is
        known only at the end of a point."""
        scheduled = [window for window in self.windows if window.due]
        if not scheduled:
            return nan
        if metric == "errors":
            least, most = self.errors_pct or (nan, nan)
            return least if most - least <= _DECIDED_PCT else nan
        if metric == "replies":
            return self._replies([w for w in scheduled if w.phase == "measure"])
        return self._time(view or View()) if metric == "time" else nan

    def _replies(self, measured: Sequence[Window]) -> float:
        if not measured:
            return nan
        replies = sum(window.replies for window in measured)
        if not self.axis.calibrated:
            seconds = sum(window.length_us for window in measured) / 1e6
            return replies / seconds / self._calls_per_unit
        # Replies as a share of scheduled calls are right in a partly filled window, too.
        return self.x * min(1.0, replies / sum(window.due for window in measured))

    def _time(self, view: View) -> float:
        times = (window_ms(window, view) for window in reversed(self.windows))
        return next((ms for ms in times if not isnan(ms)), nan)
