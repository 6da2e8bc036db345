"""One series at one value of the axis, over its passes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.histogram import merge, percentiles
from workbench.analysis.results.view import (
    Clock,
    View,
    mean_us,
    milliseconds,
    supported,
)
from workbench.axis import RATE, Axis
from workbench.documents import Errors, Percentiles, PointStop, Verdict

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
        total: defaultdict[str, int] = defaultdict(int)
        for stop in self.stops:
            for name, count in stop.counts.errors.items():
                total[name] += count
            total["unsent"] += stop.counts.unsent
            total["in flight"] += stop.counts.in_flight
        ranked = sorted(total.items(), key=lambda item: -item[1])
        return {name: count for name, count in ranked if count}

    @cached_property
    def waiting(self) -> int:
        """Connections still open when the last call was sent, if fewer than 99 % of the calls were
        answered by then: no errors, but late replies."""
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

    @cached_property
    def latency_mean_us(self) -> float | None:
        """None: no call was answered, or the load tool reports no histogram."""
        return mean_us(self.stops, "latency")

    @cached_property
    def service_mean_us(self) -> float | None:
        return mean_us(self.stops, "service")

    def time_ms(self, view: View) -> float:
        """The response time that the view shows; NaN: not known."""
        if view.percentile != "mean":
            return milliseconds(self.times(view.clock), view.percentile)
        us = self.latency_mean_us if view.clock == "latency" else self.service_mean_us
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
        """Each pass separately."""
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
