"""Sessions over time: the windows of points, and the samples of the server's machine.

A *block* is one series in one pass. Blocks are overlaid, each from its own start, so that servers
measured one after another can be compared. Windows are merged by adding counts and histograms;
percentiles are never averaged.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from statistics import fmean
from typing import Literal

from workbench.analysis import histogram
from workbench.analysis.results import PERCENTILES, TRUSTED, View, supported, window_ms
from workbench.analysis.windows import Thinner, pending
from workbench.axis import RATE, Axis
from workbench.documents import (
    AnyDocument,
    Errors,
    HostSample,
    Metric,
    Percentiles,
    PointStart,
    PointStop,
    RunStart,
    Verdict,
    Window,
)

TIME = Axis(key="time", label="Time", unit="seconds")
"""The axis of these charts, from the start of what is shown. No session varies it."""

METRICS: Sequence[Metric] = (
    Metric(key="offered", label="Offered load", unit="per second", source="window"),
    Metric(key="connections", label="Open connections", source="window"),
    Metric(key="pending", label="Pending calls", source="window"),
    Metric(key="cpu", label="Server CPU", unit="% of a core", source="host"),
    Metric(key="host_cpu", label="Machine CPU", unit="% of all cores", source="host"),
    Metric(key="load", label="Load average", unit="tasks, over a minute", source="host"),
    Metric(key="memory", label="Server memory (RSS)", unit="MB", source="host"),
    Metric(key="free_memory", label="Available memory", unit="MB", source="host"),
    Metric(key="accept_queue", label="Accept queue", unit="connections", source="host"),
)
"""Metrics other than replies, response times and errors, in the order of the menu."""

Doubt = Literal["load rises or ends", "unreliable", "incomplete"]

ERRORS = Metric(key="errors", label="Errors", unit="% of completed calls")
"""Over time a call counts when it ends, which may be long after it was scheduled."""

LOAD = "LoadHundredths"
"""Gauge of a `HostSample`: the machine's load average of one minute, in hundredths."""

_ANY = View()
"""Of metrics that are no response times."""
_STEPS_S = (0.2, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_MOST_SLICES = 240
"""The most slices of the longest block; more would be closer together than the pixels of a
chart."""
_SAMPLE_HOLDS_US = 2_500_000
"""A sample describes the time since the previous one, about a second."""
_LEAST_SHARE = 0.5
"""A slice of which less was under load, because its point ended, has no rate worth drawing."""
_WITHOUT_DATA_S = 5.0
"""A line is interrupted if there are no points for longer than this."""


@dataclass
class Stretch:
    """One point over time."""

    start: PointStart
    windows: list[Window] = field(default_factory=list)
    stop: PointStop | None = None
    """None: it is running, or was cut off."""


@dataclass
class Block:
    """One series in one pass."""

    server: str
    stretches: list[Stretch] = field(default_factory=list)
    samples: list[HostSample] = field(default_factory=list)
    version: int = 0
    """Incremented by every document."""

    def chosen(self, x: float | None) -> list[Stretch]:
        """Its points at a value of the axis, of several attempts the last; None: the whole block,
        without later attempts, which ran after other servers."""
        if x is not None:
            return [stretch for stretch in self.stretches if stretch.start.x == x][-1:]
        first = (stretch.start for stretch in self.stretches)
        later = {start.point for start in first if start.purpose == "sweep" and start.look > 1}
        return [stretch for stretch in self.stretches if stretch.start.point not in later]

    def span_s(self, x: float | None) -> float:
        """The length of these points together."""
        chosen = self.chosen(x)
        if not chosen or not (windows := chosen[-1].windows or chosen[0].windows):
            return 0.0
        return (windows[-1].t_us + windows[-1].length_us - chosen[0].start.t_us) / 1e6


class OverTime:
    """A consumer of a session's documents that collects everything over time."""

    def __init__(self) -> None:
        self.axis = RATE
        self.blocks: dict[tuple[str, int], Block] = {}
        """By series and pass."""
        self._running: tuple[Block, Stretch, Thinner] | None = None
        self._sampled: Block | None = None
        """Samples of a point's last second come after its end."""
        self._slices: dict[tuple[str, int, float | None, float], dict[tuple[int, ...], Slice]] = {}

    @classmethod
    def joined(
        cls, axis: Axis, sessions: Mapping[str, OverTime], wanted: Container[str]
    ) -> OverTime:
        """Return the `wanted` series of several sessions, by their tags: "A/gevent"."""
        found = cls()
        found.axis = axis
        found.blocks = {
            (key, number): block
            for tag, each in sessions.items()
            for (series, number), block in each.blocks.items()
            if (key := f"{tag}/{series}") in wanted
        }
        return found

    def __call__(self, document: AnyDocument) -> None:
        match document:
            case RunStart():
                self.axis = document.axis or RATE
            case PointStart(judged=True):
                block = self._block(document)
                stretch = Stretch(document)
                block.stretches.append(stretch)
                self._running, self._sampled = (block, stretch, Thinner(document.seconds)), block
            case PointStart():
                self._running = self._sampled = None
            case Window() if self._running is not None:
                block, stretch, thinner = self._running
                if stretch.start.point == document.point:
                    # A long run must not fill the memory; a session is recorded likewise.
                    stretch.windows += thinner.take(document)
                    block.version += 1
            case HostSample() if self._sampled and self._sampled.server == document.server:
                self._sampled.samples.append(document)
                self._sampled.version += 1
            case PointStop() if self._running is not None:
                block, stretch, thinner = self._running
                stretch.windows += thinner.rest()
                stretch.stop = document
                block.version += 1
                self._running = None
            case _:
                pass

    def _block(self, start: PointStart) -> Block:
        key = start.series, start.pass_number
        return self.blocks.setdefault(key, Block(start.server))

    @property
    def passes(self) -> list[int]:
        return sorted({number for _, number in self.blocks})

    @property
    def values(self) -> list[float]:
        """Values of the axis that have points, ascending."""
        each = (stretch.start.x for block in self.blocks.values() for stretch in block.stretches)
        return sorted(set(each))

    def span_s(self, x: float | None) -> float:
        """The length of the longest block."""
        return max((block.span_s(x) for block in self.blocks.values()), default=0.0)

    def slices(self, series: str, pass_number: int, x: float | None, step_s: float) -> list[Slice]:
        """One series over time: its point at `x`, or its whole block. Empty: it has not run.

        Slices are `step_s` long, and never of two points. Where windows carry no histograms (older
        sessions) each slice is one window, because percentiles cannot be put together.
        """
        block = self.blocks.get((series, pass_number))
        chosen = block.chosen(x) if block else []
        if not block or not chosen:
            return []
        key = series, pass_number, x, step_s
        before = self._slices.get(key, {})
        kept: dict[tuple[int, ...], Slice] = {}
        for stretch in chosen:
            for windows in _grouped(stretch, step_s):
                if _lasted_us(stretch, windows) < _LEAST_SHARE * _length_us(windows):
                    continue
                samples = _of(block.samples, windows)
                ended = int(stretch.stop is not None)
                same = stretch.start.point, windows[0].index, len(windows), len(samples), ended
                kept[same] = before.get(same) or Slice(
                    chosen[0].start.t_us, stretch, windows, samples, self.axis
                )
        self._slices[key] = kept
        return list(kept.values())

    def step_s(self, x: float | None) -> float:
        """The length of the slices of a chart."""
        span_s = self.span_s(x)
        return next((step for step in _STEPS_S if span_s / step <= _MOST_SLICES), _STEPS_S[-1])


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
        return _lasted_us(self.stretch, self.windows) / 1e6

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


def _grouped(stretch: Stretch, step_s: float) -> list[list[Window]]:
    """The windows of each step from the start of a point; phases are kept separate."""
    if any(window.replies and not window.latency for window in stretch.windows):
        return [[window] for window in stretch.windows]
    groups: dict[tuple[int, str], list[Window]] = {}
    for window in stretch.windows:
        place = int((window.t_us - stretch.start.t_us) / 1e6 / step_s + 1e-6)
        groups.setdefault((place, window.phase), []).append(window)
    return list(groups.values())


def _length_us(windows: Sequence[Window]) -> int:
    return sum(window.length_us for window in windows)


def _lasted_us(stretch: Stretch, windows: Sequence[Window]) -> float:
    """How long there was load in windows: the last of a point may end after its schedule."""
    last, stop = windows[-1], stretch.stop
    if stop is None or last.phase != "measure":
        return _length_us(windows)
    beyond_us = last.t_us + last.length_us - (stretch.start.t_us + stop.seconds * 1e6)
    return _length_us(windows) - min(max(0.0, beyond_us), last.length_us)


def _of(samples: Sequence[HostSample], windows: Sequence[Window]) -> Sequence[HostSample]:
    """Samples within the time of the windows; otherwise the next one, which covers it too."""
    from_us, to_us = windows[0].t_us, windows[-1].t_us + windows[-1].length_us
    first, end = (bisect_right(samples, t_us, key=_t_us) for t_us in (from_us, to_us))
    if first < end:
        return samples[first:end]
    return [s for s in samples[end : end + 1] if s.t_us <= to_us + _SAMPLE_HOLDS_US]


def _t_us(sample: HostSample) -> int:
    return sample.t_us


def _or_nan(value: float | None) -> float:
    return nan if value is None else value


def _mean(values: Iterable[float]) -> float:
    each = list(values)
    return fmean(each) if each else nan
