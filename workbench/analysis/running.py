"""Figures of a running point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan, nan

from workbench.analysis.results import View, window_ms
from workbench.axis import Axis
from workbench.documents import PointStart, Window

_DECIDED_PCT = 5.0
"""Percent of the scheduled calls: with more of them open, no error rate is shown. About the height
of a marker."""


@dataclass
class Running:
    """The running point."""

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
