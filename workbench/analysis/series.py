"""The results of one series, point by point and over its passes.

This is the one model of results for charts, tables, summary, comparison and reports. It takes
points as they come, so a running and a recorded session give the same results.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from typing import Literal, TypeVar

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.histogram import mean, merge, percentile_supported, percentiles
from workbench.analysis.knee import (
    Interval,
    PassKnee,
    is_floor,
    is_sustained,
    knee,
    knee_interval,
    last_attempts,
    pass_knees,
    pass_peaks,
    peak_per_s,
    stopped_past,
    undecided,
    unknown,
)
from workbench.analysis.tasks import Tasks
from workbench.axis import RATE, Axis
from workbench.documents import Errors, Percentiles, PointStop, Verdict, Window
from workbench.messages.outcomes import Peak
from workbench.messages.reasons import reasons_of, what_fails

Clock = Literal["latency", "service"]
"""`latency` counts from the scheduled time of a call, `service` from when it was sent."""

Percentile = Literal["p50", "p90", "p99", "p999", "max", "mean"]
PERCENTILES: dict[Percentile, float] = {
    "p50": 0.5,
    "p90": 0.9,
    "p99": 0.99,
    "p999": 0.999,
    "max": 1.0,
    "mean": 0.5,
}
"""The quantile of each. The mean is none: it needs as many values as the median."""


@dataclass(frozen=True)
class View:
    """Which response time is shown."""

    percentile: Percentile = "p99"
    clock: Clock = "latency"
    metric: str = ""
    """Key of a metric shown in place of the errors; empty: the errors."""


def window_ms(window: Window, view: View) -> float:
    """The response time in one window; NaN: no reply, or not recorded."""
    latency = view.clock == "latency"
    if view.percentile == "mean":
        found = mean(window.latency if latency else window.service)
        return nan if found is None else found / 1000
    return milliseconds(window.latency_us if latency else window.service_us, view.percentile)


def clock_of(stops: Iterable[PointStop]) -> Clock:
    """Return the clock of all these points: "service" where a tool without a schedule ran some."""
    unscheduled = any(stop.latency_us is None and stop.service_us is not None for stop in stops)
    return "service" if unscheduled else "latency"


def mean_us(stops: Iterable[PointStop], time: str) -> float | None:
    """Over all replies of the points; `time`: a field of `Histograms`. None: it is empty."""
    return mean(*(getattr(stop.histograms, time) for stop in stops))


def milliseconds(times: Percentiles | None, percentile: Percentile) -> float:
    """NaN: not measured. At least 1 us, so that it has a logarithm."""
    return nan if times is None else max(1, getattr(times, percentile)) / 1000


def supported(times: Percentiles | None, percentile: Percentile) -> bool:
    """Whether there were enough replies for this percentile."""
    share = PERCENTILES[percentile]
    return share == 1 or (times is not None and percentile_supported(times.count, share))


def known_us(times: Percentiles | None, percentile: Percentile) -> float | None:
    """A percentile; None: not measured, or there were too few replies for it."""
    if times is None or not supported(times, percentile):
        return None
    return float(getattr(times, percentile))


TRUSTED: tuple[Verdict, ...] = ("ok", "server-limited", "faulty")
"""Verdicts of points that say something about the server."""


@dataclass(frozen=True)
class PointResult:
    """One series at one value of the axis, over its passes: counts added up, histograms merged."""

    x: float
    stops: tuple[PointStop, ...]
    """Complete points, by pass."""
    axis: Axis = RATE

    @cached_property
    def trusted(self) -> bool:
        return all(stop.verdict in TRUSTED for stop in self.stops)

    @cached_property
    def replies_per_s(self) -> float:
        """In the axis's unit, if that is a rate."""
        return sum(stop.replies_per_s for stop in self.stops) / len(self.stops)

    @cached_property
    def errors_pct(self) -> float:
        """Percent of attempts."""
        scheduled = sum(stop.counts.scheduled for stop in self.stops)
        succeeded = sum(stop.counts.succeeded for stop in self.stops)
        return 100 * (1 - succeeded / scheduled) if scheduled else 0.0

    @cached_property
    def errors(self) -> Errors:
        """Calls that did not succeed, by class, most frequent first, including `unsent`."""
        total: Counter[str] = Counter()
        for stop in self.stops:
            total.update(stop.counts.errors)
            total.update({"unsent": stop.counts.unsent, "in flight": stop.counts.in_flight})
        return {name: count for name, count in total.most_common() if count}

    @cached_property
    def waiting(self) -> int:
        """Connections open at the last call, if 99 % were not answered by then: late replies."""
        if not self.axis.calibrated or self.replies_per_s >= SUSTAINED_SHARE * self.x:
            return 0
        return round(sum(stop.evidence.get("open_at_end", 0.0) for stop in self.stops))

    @cached_property
    def latency_us(self) -> Percentiles | None:
        """None: no call was answered."""
        return _percentiles(self.stops, "latency")

    @cached_property
    def service_us(self) -> Percentiles | None:
        return _percentiles(self.stops, "service")

    def times(self, clock: Clock) -> Percentiles | None:
        return self.latency_us if clock == "latency" else self.service_us

    def mean_us(self, clock: Clock) -> float | None:
        """None: no call was answered, or the load tool reports no histogram."""
        return mean_us(self.stops, clock)

    def time_ms(self, view: View) -> float:
        """The response time that the view shows; NaN: not known."""
        if view.percentile != "mean":
            return milliseconds(self.times(view.clock), view.percentile)
        us = self.mean_us(view.clock)
        return nan if us is None else us / 1000

    @cached_property
    def cpu_pct(self) -> float:
        """Percent of one core, the server's process tree, mean of the passes; 0: not measured."""
        return sum(stop.server_cpu_pct for stop in self.stops) / len(self.stops)

    @cached_property
    def rss_bytes(self) -> int:
        """Peak over the passes; 0: not measured."""
        return max(stop.server_rss_bytes for stop in self.stops)

    def value(self, metric: str, view: View | None = None) -> float:
        """A built-in metric, or one of the points' `values`; NaN: unknown."""
        if metric in BUILT_IN:
            return BUILT_IN[metric](self, view or View())
        values = [stop.values.get(metric) for stop in self.stops]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else nan

    def supported(self, view: View) -> bool:
        """Whether there were enough replies for this percentile."""
        return supported(self.times(view.clock), view.percentile)

    def spread(self, metric: str, view: View | None = None) -> tuple[float, float] | None:
        """(lowest, highest) over the passes; None: there is only one."""
        if len(self.stops) < 2:
            return None
        values = [each.value(metric, view) for each in self.passes]
        known = [value for value in values if not isnan(value)]
        return (min(known), max(known)) if known else None

    def by_pass(self, of: Callable[[PointStop], float | None]) -> dict[int, float]:
        """A figure, where it is known."""
        values = ((stop.pass_number, of(stop)) for stop in self.stops)
        return {number: value for number, value in values if value is not None}

    @property
    def verdict(self) -> Verdict:
        return self.deciding_stop.verdict

    @property
    def reasons(self) -> list[str]:
        return self.deciding_stop.reasons

    @cached_property
    def deciding_stop(self) -> PointStop:
        """The pass whose verdict applies to all: the first that is not ok."""
        return next((stop for stop in self.stops if stop.verdict != "ok"), self.stops[-1])

    @cached_property
    def passes(self) -> list[PointResult]:
        return [PointResult(self.x, (stop,), self.axis) for stop in self.stops]


def _percentiles(stops: Sequence[PointStop], clock: Clock) -> Percentiles | None:
    """Over the passes; those of the first pass for sessions without histograms."""
    own = stops[0].latency_us if clock == "latency" else stops[0].service_us
    if len(stops) == 1:
        return own
    return percentiles(merge(getattr(stop.histograms, clock) for stop in stops)) or own


BUILT_IN: dict[str, Callable[[PointResult, View], float]] = {
    "replies": lambda point, view: point.replies_per_s,
    "time": lambda point, view: point.time_ms(view),
    "errors": lambda point, view: point.errors_pct,
    "cpu": lambda point, view: point.cpu_pct or nan,
    "memory": lambda point, view: point.rss_bytes / 1e6 or nan,
}
"""By key: replies per second, milliseconds, percent of attempts, percent of one core, megabytes."""


Value = TypeVar("Value")


class SeriesResult:
    """One series: a server, or one variant of how it was measured."""

    def __init__(
        self, key: str, name: str, *, axis: Axis = RATE, stops: Iterable[PointStop] = ()
    ) -> None:
        self.key = key
        self.name = name
        self.axis = axis
        self.stops = list(stops)
        """Points of its sweeps or searches, as they came; those cut short, too."""
        self.peaks: list[Peak] = []
        """What its searches found, by pass."""
        self.tasks = Tasks()
        self.ended_at: float | None = None
        """The value at which its process ended by itself; None: it did not."""
        self._cached_at = 0
        """Of `stops`, when the answers were found."""
        self._by_x: dict[float, PointResult] = {}
        self._cache: dict[str, object] = {}

    @property
    def complete(self) -> list[PointStop]:
        return [stop for stop in self.stops if stop.complete]

    @property
    def counted(self) -> list[PointStop]:
        """Complete points; of several attempts at a value in a pass, the last."""
        return self._cached("counted", lambda: last_attempts(self.complete))

    def counts(self, stop: PointStop) -> bool:
        """Whether this is the last attempt at its value in its pass."""
        last = self._cached("last", lambda: {id(each) for each in last_attempts(self.stops)})
        return id(stop) in last

    @property
    def pass_numbers(self) -> list[int]:
        return sorted({stop.pass_number for stop in self.stops})

    @property
    def points(self) -> Sequence[PointResult]:
        """By ascending x."""
        return self._cached("points", self._add_up)

    @property
    def shown(self) -> Sequence[PointResult]:
        """Like `points`, but with interrupted points for values that have no complete one. These
        are never trusted or counted."""
        return self._cached("shown", self._with_cut)

    def at(self, x: float) -> PointResult | None:
        """None: this value was not measured."""
        _ = self.points
        return self._by_x.get(x)

    def of_pass(self, number: int) -> list[PointResult]:
        """One pass, by ascending x."""
        mine = sorted((s for s in self.counted if s.pass_number == number), key=lambda s: s.x)
        return [PointResult(stop.x, (stop,), self.axis) for stop in mine]

    @property
    def knee(self) -> float | None:
        """Highest sustained value, or the recorded peak; None: none, or the axis has no limit."""
        if not self.axis.has_limit:
            return None
        if self.axis.bounds:
            return peak_per_s(self.peaks)
        return self._cached("knee", lambda: knee(self.complete))

    @property
    def unknown(self) -> PointStop | None:
        """If no value is known to be sustained: the lowest point, if it shows nothing about the
        server. None: the server was the limit, or it sustains a value."""
        if not self.axis.has_limit:
            return None
        if self.axis.bounds:
            missed = any(peak.peak_per_s or peak.missed for peak in self.peaks)
            return None if missed or not self.peaks else min(self.complete, key=lambda s: s.x)
        return self._cached("unknown", lambda: unknown(self.complete))

    @property
    def why_unknown(self) -> str:
        """Why it is unknown whether it sustains any value; empty: it is known."""
        point = self.unknown
        if point is None:
            return ""
        return " ".join(point.reasons) or f"The point was {point.verdict}."

    @property
    def faulty(self) -> PointStop | None:
        """The lowest point at which the server was faulty; None: nowhere."""
        faulty = (stop for stop in self.counted if stop.verdict == "faulty")
        return self._cached("faulty", lambda: min(faulty, key=lambda stop: stop.x, default=None))

    @property
    def what_is_faulty(self) -> str:
        """ "faulty from 200/s: answers 500"; empty: it is not faulty."""
        point = self.faulty
        if point is None:
            return ""
        well = any(stop.x > point.x and stop.verdict == "ok" for stop in self.counted)
        return f"faulty {'at' if well else 'from'} {self.axis.of(point)}: {self.fault}"

    @property
    def fault(self) -> str:
        """ "answers 500"; empty: it is not faulty."""
        reasons = reasons_of(self.faulty) if self.faulty else []
        found = next(filter(None, map(what_fails, reasons)), "")
        return found or "gives unexpected responses" * bool(self.faulty)

    @property
    def stopped_past(self) -> float | None:
        """The highest value at which it replied, if it stopped above, and is disqualified."""
        if not self.axis.has_limit or self.axis.bounds:
            return None
        ended_at = self.ended_at
        return self._cached(f"stopped, {ended_at}", lambda: stopped_past(self.counted, ended_at))

    @property
    def disqualified(self) -> str:
        """ "stopped replying past 1,500/s"; "at" if nothing higher was tried; may be empty."""
        past = self.stopped_past
        if past is None:
            return ""
        higher = any(stop.x > past for stop in self.counted)
        return f"stopped replying {'past' if higher else 'at'} {self.axis.at(past)}"

    @property
    def knee_is_floor(self) -> bool:
        """Whether it may sustain more: the next value does not show the server's limit."""
        if self.knee is None:
            return False
        if self.axis.bounds:
            best = (peak for peak in self.peaks if peak.peak_per_s == self.knee)
            return any(peak.high_per_s is None for peak in best)
        return self._cached("floor", lambda: is_floor(self.complete, self.knee))

    def in_doubt(self, attempts: int) -> bool:
        """For one pass: whether the value that decides it will be repeated, in a run that
        measures it at most `attempts` times."""
        if not self.axis.has_limit or self.axis.bounds:
            return False
        last = self._cached("undecided", lambda: undecided(self.complete))
        return last is not None and last.look < attempts

    @property
    def pass_knees(self) -> list[PassKnee]:
        if not self.axis.has_limit:
            return []
        if self.axis.bounds:
            return pass_peaks(self.peaks)
        return self._cached("knees", lambda: pass_knees(self.complete))

    @property
    def interval(self) -> Interval | None:
        """The interval of its knee; None: nothing was measured, or there is no knee."""
        found = knee_interval(self.pass_knees)
        if found and self.axis.bounds and len(self.peaks) == 1:
            return replace(found, coverage=self.peaks[0].confidence)
        return found

    @property
    def at_knee(self) -> PointResult | None:
        """The passes that sustained the knee; None: there is no knee."""
        met = {point for peak in self.peaks for point in peak.met}
        knee = self.knee
        there = (stop for stop in self.counted if stop.x == knee)
        at_knee = [s for s in there if (s.point in met if self.peaks else is_sustained(s))]
        return PointResult(at_knee[0].x, tuple(at_knee), self.axis) if at_knee else None

    @property
    def most(self) -> PointResult | None:
        return max(self.points, key=lambda point: point.replies_per_s, default=None)

    @property
    def best(self) -> PointResult | None:
        """The point that represents the series: at its knee, otherwise with the most replies."""
        return (self.at(self.knee) if self.knee is not None else None) or self.most

    @property
    def figure(self) -> float:
        """The figure to rank series by: the knee, otherwise the most replies per second."""
        if self.axis.has_limit:
            return self.knee or 0.0
        return self.most.replies_per_s if self.most else 0.0

    @property
    def metrics(self) -> set[str]:
        """Keys of the metrics beyond the built-in ones that are known of any point."""
        values = (item for stop in self.stops for item in stop.values.items())
        return self._cached("metrics", lambda: {key for key, value in values if value is not None})

    @property
    def rss_bytes(self) -> int:
        """Peak over the sweep, whole process tree; 0: not measured."""
        return max((stop.server_rss_bytes for stop in self.counted), default=0)

    @property
    def verdicts(self) -> Counter[str]:
        return Counter(stop.verdict for stop in self.counted)

    def _add_up(self) -> list[PointResult]:
        """Unchanged points are reused, because merging histograms is expensive."""
        found: defaultdict[float, list[PointStop]] = defaultdict(list)
        for stop in self.counted:
            found[stop.x].append(stop)
        kept, self._by_x = self._by_x, {}
        for x, stops in sorted(found.items()):
            known = kept.get(x)
            same = known is not None and list(map(id, known.stops)) == list(map(id, stops))
            self._by_x[x] = known if known and same else PointResult(x, tuple(stops), self.axis)
        return list(self._by_x.values())

    def _with_cut(self) -> list[PointResult]:
        known = {point.x for point in self.points}
        cut = (stop for stop in self.stops if not stop.complete and stop.replies_per_s)
        last = {stop.x: stop for stop in cut if stop.x not in known}
        more = [PointResult(stop.x, (stop,), self.axis) for stop in last.values()]
        return sorted([*self.points, *more], key=lambda point: point.x)

    def _cached(self, what: str, find: Callable[[], Value]) -> Value:
        """Cached until another point comes."""
        if self._cached_at != len(self.stops):
            self._cache.clear()
            self._cached_at = len(self.stops)
        if what not in self._cache:
            self._cache[what] = find()
        return self._cache[what]  # type: ignore[return-value]
