"""Sessions over time: windows of points, merged by adding counts and histograms (percentiles are
never averaged), and the samples of the server's machine.

A *block* is one series in one pass. Blocks are overlaid, each from its own start, so that servers
measured one after another can be compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from statistics import fmean
from typing import Literal

from workbench.analysis import histogram
from workbench.analysis.histogram import merge, packed, percentiles
from workbench.analysis.series import TRUSTED, View, milliseconds, supported, window_ms
from workbench.axis import RATE, Axis
from workbench.documents import (
    WINDOW_US,
    AnyDocument,
    Errors,
    HostSample,
    Metric,
    Percentiles,
    PointStart,
    PointStop,
    RunStart,
    Window,
)

_LONG_S = ((3_600.0, 50), (60.0, 5))
"""(seconds, windows): in points planned to be longer, this number of windows is recorded as one:
10 s of them in a point over an hour, 1 s in one over a minute."""


def merge_windows(windows: Sequence[Window]) -> Window:
    """Merge successive windows; percentiles come from their coarse histograms."""
    if len(windows) == 1:
        return windows[0]
    first, last = windows[0], windows[-1]
    latency = merge(window.latency for window in windows)
    service = merge(window.service for window in windows)
    lasted = length_us(windows)
    return Window(
        t_us=first.t_us,
        point=first.point,
        index=last.index,
        length_us=lasted,
        due=sum(window.due for window in windows),
        sent=sum(window.sent for window in windows),
        late=sum(window.late for window in windows),
        established=sum(window.established for window in windows),
        replies=sum(window.replies for window in windows),
        errors=dict(sorted(_errors(windows).items())),
        in_flight=last.in_flight,
        pending=pending(windows),
        pending_within=sum(w.pending_within * w.length_us for w in windows) / lasted,
        latency_us=percentiles(latency),
        service_us=percentiles(service),
        latency=packed(latency, coarse=True),
        service=packed(service, coarse=True),
        phase=first.phase,
        values=last.values,
    )


class Thinner:
    """Merges windows of long points for recording."""

    def __init__(self, seconds: float) -> None:
        """`seconds`: planned length of the point."""
        self._count = next((count for longer, count in _LONG_S if seconds > longer), 1)
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
    return sum(known) / length_us(windows)


def seconds(windows: Sequence[Window]) -> float:
    return length_us(windows) / 1e6


def length_us(windows: Sequence[Window]) -> int:
    return sum(window.length_us for window in windows)


def _errors(windows: Sequence[Window]) -> Counter[str]:
    total: Counter[str] = Counter()
    for window in windows:
        total.update(window.errors)
    return total


def skipped(before: int, window: Window) -> int:
    """Number of windows of 200 ms that are missing between that with index `before` and this."""
    return window.index - before - window.length_us // WINDOW_US


_DECIDED_PCT = 5.0
"""Percent of the scheduled calls (a marker's height): with more open, no error rate is shown."""


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
        """(least, most) percent of the calls scheduled so far: open ones may fail. None: none."""
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
            return replies / seconds(measured) / self._calls_per_unit
        # Replies as a share of scheduled calls are right in a partly filled window, too.
        return self.x * min(1.0, replies / sum(window.due for window in measured))

    def _time(self, view: View) -> float:
        times = (window_ms(window, view) for window in reversed(self.windows))
        return next((ms for ms in times if not isnan(ms)), nan)


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

    @cached_property
    def replies_per_s(self) -> float:
        """In the unit of the session's axis, as for a point."""
        return self.per_s(sum(window.replies for window in self.windows))

    @cached_property
    def errors(self) -> Errors:
        """Calls that ended without success, by class, most frequent first."""
        return dict(_errors(self.windows).most_common())

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
        return percentiles(merge(getattr(window, clock) for window in self.windows))

    def time_ms(self, view: View) -> float:
        """NaN: no reply."""
        if view.percentile != "mean":
            return milliseconds(self.times(view.clock), view.percentile)
        us = histogram.mean(*(getattr(window, view.clock) for window in self.windows))
        return nan if us is None else us / 1000

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
    "pending": lambda now, view: nan if (found := pending(now.windows)) is None else found,
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


def lasted_us(stretch: Stretch, windows: Sequence[Window]) -> float:
    """How long there was load in windows: the last of a point may end after its schedule."""
    last, stop = windows[-1], stretch.stop
    if stop is None or last.phase != "measure":
        return length_us(windows)
    beyond_us = last.t_us + last.length_us - (stretch.start.t_us + stop.seconds * 1e6)
    return length_us(windows) - min(max(0.0, beyond_us), last.length_us)


def _mean(values: Iterable[float]) -> float:
    each = list(values)
    return fmean(each) if each else nan


_STEPS_S = (0.2, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_MOST_SLICES = 240
"""The most slices of the longest block; more would be closer than the pixels of a chart."""
_SAMPLE_HOLDS_US = 2_500_000
"""A sample describes the time since the previous one, about a second."""
_LEAST_SHARE = 0.5
"""A slice of which less was under load, because its point ended, has no rate worth drawing."""


@dataclass
class Block:
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
                key, stretch = (document.series, document.pass_number), Stretch(document)
                block = self.blocks.setdefault(key, Block(document.server))
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
                if lasted_us(stretch, windows) < _LEAST_SHARE * length_us(windows):
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


def _grouped(stretch: Stretch, step_s: float) -> list[list[Window]]:
    """The windows of each step from the start of a point; phases are kept separate."""
    if any(window.replies and not window.latency for window in stretch.windows):
        return [[window] for window in stretch.windows]
    groups: dict[tuple[int, str], list[Window]] = {}
    for window in stretch.windows:
        place = int((window.t_us - stretch.start.t_us) / 1e6 / step_s + 1e-6)
        groups.setdefault((place, window.phase), []).append(window)
    return list(groups.values())


def _of(samples: Sequence[HostSample], windows: Sequence[Window]) -> Sequence[HostSample]:
    """Samples within the time of the windows; otherwise the next one, which covers it too."""
    from_us, to_us = windows[0].t_us, windows[-1].t_us + windows[-1].length_us
    first, end = (bisect_right(samples, t_us, key=lambda s: s.t_us) for t_us in (from_us, to_us))
    if first < end:
        return samples[first:end]
    return [s for s in samples[end : end + 1] if s.t_us <= to_us + _SAMPLE_HOLDS_US]
