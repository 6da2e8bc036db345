"""One interval of time of a point, with the figures that a point has. Windows are merged by adding
counts and histograms; percentiles are never averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from statistics import fmean
from typing import Literal

from workbench.analysis import histogram
from workbench.analysis.series import PERCENTILES, TRUSTED, View, supported, window_ms
from workbench.analysis.windows import pending
from workbench.axis import Axis
from workbench.documents import (
    Errors,
    HostSample,
    Metric,
    Percentiles,
    PointStart,
    PointStop,
    Verdict,
    Window,
)

TIME = Axis(key="time", label="Time", unit="seconds")
"""The axis of these charts, from the start of what is shown. No session varies it."""

METRICS: Sequence[Metric] = (
    Metric(key="offered", label="Offered load", unit="per second"),
    Metric(key="connections", label="Open connections"),
    Metric(key="pending", label="Pending calls"),
    Metric(key="cpu", label="Server CPU", unit="% of a core"),
    Metric(key="host_cpu", label="Machine CPU", unit="% of all cores"),
    Metric(key="load", label="Load average", unit="tasks, over a minute"),
    Metric(key="memory", label="Server memory (RSS)", unit="MB"),
    Metric(key="free_memory", label="Available memory", unit="MB"),
    Metric(key="accept_queue", label="Accept queue", unit="connections"),
)
"""Metrics other than replies, response times and errors, in the order of the menu."""

Doubt = Literal["load rises or ends", "unreliable", "incomplete"]

ERRORS = Metric(key="errors", label="Errors", unit="% of completed calls")
"""Over time a call counts when it ends, which may be long after it was scheduled."""

LOAD = "LoadHundredths"
"""Gauge of a `HostSample`: the machine's load average of one minute, in hundredths."""

_ANY = View()
"""Of metrics that are no response times."""
_WITHOUT_DATA_S = 5.0
"""A line is interrupted if there are no points for longer than this."""


@dataclass
class Stretch:
    start: PointStart
    windows: list[Window] = field(default_factory=list)
    stop: PointStop | None = None
    """None: it is running, or was cut off."""


@dataclass(frozen=True)
class Slice:
    """One series in one interval of time, with the figures that `PointResult` has for a point."""

    begun_us: int
    """Start of what is shown."""
    stretch: Stretch
    windows: Sequence[Window]
    samples: Sequence[HostSample]
    of: Axis
    """What the session varies."""
    _known: dict[tuple[str, View], float] = field(default_factory=dict, compare=False, repr=False)

    axis = TIME
    waiting = 0

    @cached_property
    def x(self) -> float:
        """Its midpoint, in seconds."""
        first, last = self.windows[0], self.windows[-1]
        return ((first.t_us + last.t_us + last.length_us) / 2 - self.begun_us) / 1e6

    @cached_property
    def from_s(self) -> float:
        return (self.windows[0].t_us - self.begun_us) / 1e6

    @property
    def to_s(self) -> float:
        return self.from_s + self.seconds

    @cached_property
    def seconds(self) -> float:
        return lasted_us(self.stretch, self.windows) / 1e6

    @property
    def offered(self) -> str:
        """ "4,700/s", "50 concurrent"."""
        return self.of.of(self.stretch.start)

    @cached_property
    def doubt(self) -> Doubt | None:
        """Why it must not be trusted; None: it may be."""
        stop = self.stretch.stop
        if any(window.phase != "measure" for window in self.windows):
            return "load rises or ends"
        if stop is not None and not stop.complete:
            return "incomplete"
        return "unreliable" if stop is not None and stop.verdict not in TRUSTED else None

    @property
    def trusted(self) -> bool:
        return self.doubt is None

    @property
    def phase(self) -> str:
        """ "ramp", "measure" or "drain"; of several the first."""
        return self.windows[0].phase

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of its point; None: the point has not ended."""
        return self.stretch.stop.verdict if self.stretch.stop else None

    @cached_property
    def replies_per_s(self) -> float:
        """In the unit of the session's axis, as for a point."""
        return self.per_s(sum(window.replies for window in self.windows))

    @cached_property
    def errors(self) -> Errors:
        """Calls that ended without success, by class, most frequent first."""
        total: dict[str, int] = {}
        for window in self.windows:
            for name, count in window.errors.items():
                total[name] = total.get(name, 0) + count
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    @cached_property
    def errors_pct(self) -> float:
        """Percent of the completed calls; NaN: none did."""
        lost = sum(self.errors.values())
        ended = lost + sum(window.replies for window in self.windows)
        return 100 * lost / ended if ended else nan

    def times(self, clock: str) -> Percentiles | None:
        """None: no reply."""
        if len(self.windows) == 1:
            return getattr(self.windows[0], f"{clock}_us")  # type: ignore[no-any-return]
        return histogram.percentiles(histogram.merge(getattr(w, clock) for w in self.windows))

    def time_ms(self, view: View) -> float:
        """NaN: no reply."""
        if len(self.windows) == 1:
            return window_ms(self.windows[0], view)
        merged = histogram.merge(getattr(window, view.clock) for window in self.windows)
        if view.percentile == "mean":
            us = histogram.mean(merged)
        else:
            us = histogram.percentile(merged, PERCENTILES[view.percentile])
        return nan if us is None else max(1, us) / 1000

    def supported(self, view: View) -> bool:
        """Whether there were enough replies for this percentile."""
        return supported(self.times(view.clock), view.percentile)

    def value(self, metric: str, view: View) -> float:
        """NaN: unknown."""
        key = metric, view
        if key not in self._known:
            self._known[key] = _VALUES[metric](self, view) if metric in _VALUES else nan
        return self._known[key]

    def spread(self, metric: str, view: View) -> None:
        """A slice is of one pass."""

    def per_s(self, calls: int) -> float:
        each = self.stretch.start.calls_per_connection if self.of.of_connections else 1
        return calls / each / self.seconds


_VALUES: dict[str, Callable[[Slice, View], float]] = {
    "replies": lambda now, view: now.replies_per_s,
    "time": lambda now, view: now.time_ms(view),
    "errors": lambda now, view: now.errors_pct,
    "offered": lambda now, view: now.per_s(sum(window.due for window in now.windows)),
    "connections": lambda now, view: float(now.windows[-1].in_flight),
    "pending": lambda now, view: _or_nan(pending(now.windows)),
    "cpu": lambda now, view: _mean(sample.cpu_pct for sample in now.samples),
    "host_cpu": lambda now, view: _mean(sample.host_cpu_pct for sample in now.samples),
    "load": lambda now, view: _mean(s.gauges[LOAD] / 100 for s in now.samples if LOAD in s.gauges),
    "memory": lambda now, view: max((s.rss_bytes for s in now.samples), default=0) / 1e6 or nan,
    "free_memory": lambda now, view: (
        min((s.memory_available_bytes for s in now.samples), default=0) / 1e6 or nan
    ),
    "accept_queue": lambda now, view: max(
        (float(s.accept_queue) for s in now.samples), default=nan
    ),
}
"""By key of the metric."""


def known_metrics(slices: Iterable[Slice]) -> list[Metric]:
    """Metrics known for at least one slice; others would show nothing."""
    each = list(slices)
    return [
        metric
        for metric in METRICS
        if any(value > 0 for now in each if not isnan(value := now.value(metric.key, _ANY)))
    ]


def without_data(before: Slice, after: Slice, step_s: float) -> bool:
    """Whether there are no data for a long time between two slices."""
    return after.from_s - before.to_s > max(_WITHOUT_DATA_S, 3 * step_s)


def length_us(windows: Sequence[Window]) -> int:
    return sum(window.length_us for window in windows)


def lasted_us(stretch: Stretch, windows: Sequence[Window]) -> float:
    """How long there was load in windows: the last of a point may end after its schedule."""
    last, stop = windows[-1], stretch.stop
    if stop is None or last.phase != "measure":
        return length_us(windows)
    beyond_us = last.t_us + last.length_us - (stretch.start.t_us + stop.seconds * 1e6)
    return length_us(windows) - min(max(0.0, beyond_us), last.length_us)


def _or_nan(value: float | None) -> float:
    return nan if value is None else value


def _mean(values: Iterable[float]) -> float:
    each = list(values)
    return fmean(each) if each else nan
