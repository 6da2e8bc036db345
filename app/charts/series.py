"""What a session says of one server, as lines over the offered rate. No Qt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import isnan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workbench.analysis.evidence import HOLDS
from workbench.analysis.histogram import merge, percentile_supported, percentiles
from workbench.analysis.knee import is_floor, knee, unknown
from workbench.analysis.looks import last_looks, undecided
from workbench.documents import Errors, Percentiles, PointStart, PointStop, Verdict

Clock = Literal["latency", "service"]
"""`latency` counts from when a call was due, `service` from when it was really sent."""

Percentile = Literal["p50", "p90", "p99", "p999", "max"]
PERCENTILES: dict[Percentile, float] = {
    "p50": 0.5,
    "p90": 0.9,
    "p99": 0.99,
    "p999": 0.999,
    "max": 1.0,
}
TRUSTED: tuple[Verdict, ...] = ("ok", "server-limited")
"""Verdicts of points that say something about the server."""

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Quantity(Enum):
    """What one chart of the trio shows over the offered rate."""

    REPLIES = "replies"
    TIME = "time"
    ERRORS = "errors"


@dataclass(frozen=True)
class View:
    """Which response time is shown."""

    percentile: Percentile = "p99"
    clock: Clock = "latency"


@dataclass(frozen=True)
class Values:
    """One line: as many x as y as flags. A y of NaN is a gap."""

    x: Floats
    """Offered, per second."""
    y: Floats
    """Replies per second, milliseconds, or percent."""
    trusted: Flags


@dataclass(frozen=True)
class Reading:
    """One server at one rate, over all passes so far: counts added up, histograms merged."""

    offered: float
    """Per second; in a closed loop connections at a time."""
    stops: tuple[PointStop, ...]
    """Complete points, by pass."""

    @cached_property
    def trusted(self) -> bool:
        return all(stop.verdict in TRUSTED for stop in self.stops)

    @cached_property
    def replies_per_s(self) -> float:
        return sum(stop.replies_per_s for stop in self.stops) / len(self.stops)

    @cached_property
    def errors_pct(self) -> float:
        scheduled = sum(stop.counts.scheduled for stop in self.stops)
        succeeded = sum(stop.counts.succeeded for stop in self.stops)
        return 100 * (1 - succeeded / scheduled) if scheduled else 0.0

    @cached_property
    def errors(self) -> Errors:
        """Calls that did not succeed, by class, most frequent first; `unsent` among them."""
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
        """Connections still open when the last call had been sent, where fewer than 99 % of the
        calls were answered by then: no errors, and yet no replies in time."""
        if self.stops[0].concurrency or self.replies_per_s >= HOLDS * self.offered:
            return 0
        return round(sum(stop.evidence.get("open_at_end", 0.0) for stop in self.stops))

    @cached_property
    def latency_us(self) -> Percentiles | None:
        return _together(self.stops, "latency")

    @cached_property
    def service_us(self) -> Percentiles | None:
        return _together(self.stops, "service")

    @property
    def verdict(self) -> Verdict:
        return self._telling.verdict

    @property
    def reasons(self) -> list[str]:
        return self._telling.reasons

    @property
    def _telling(self) -> PointStop:
        """The pass whose verdict is told: the first that is not ok."""
        return next((stop for stop in self.stops if stop.verdict != "ok"), self.stops[-1])

    def value(self, quantity: Quantity, view: View) -> float:
        """NaN where there is none: no reply, no response time."""
        if quantity is Quantity.REPLIES:
            return self.replies_per_s
        if quantity is Quantity.ERRORS:
            return self.errors_pct
        return milliseconds(self.times(view.clock), view.percentile)

    def supported(self, view: View) -> bool:
        """Were there replies enough to tell this percentile?"""
        times = self.times(view.clock)
        share = PERCENTILES[view.percentile]
        return share == 1 or (times is not None and percentile_supported(times.count, share))

    def times(self, clock: Clock) -> Percentiles | None:
        return self.latency_us if clock == "latency" else self.service_us

    def spread(self, quantity: Quantity, view: View) -> tuple[float, float] | None:
        """(lowest, highest) over the passes; None: there was only one."""
        if len(self.stops) < 2:
            return None
        each = [Reading(self.offered, (stop,)).value(quantity, view) for stop in self.stops]
        known = [value for value in each if not isnan(value)]
        return (min(known), max(known)) if known else None


@dataclass
class Series:
    """One server's sweep."""

    id: str
    name: str
    index: int
    """Its place in the plan; chooses its style."""
    stops: list[PointStop] = field(default_factory=list)
    """Complete points of its sweeps, as they came."""
    gave_up: str = ""
    """Why its sweep ended early; empty: it did not."""
    version: int = 0

    @property
    def passes(self) -> list[int]:
        return sorted({stop.pass_number for stop in self.stops})

    def readings(self) -> Sequence[Reading]:
        """By rising rate."""
        if self._cached_version != self.version:
            self._cached_version = self.version
            by_rate: defaultdict[float, list[PointStop]] = defaultdict(list)
            for stop in last_looks(self.stops):
                by_rate[offered(stop)].append(stop)
            self._readings = [
                self._merged(rate, tuple(stops)) for rate, stops in sorted(by_rate.items())
            ]
            self._knee = knee(self.stops)
            self._undecided = undecided(self.stops)
            self._unknown = unknown(self.stops)
        return self._readings

    def _merged(self, rate: float, stops: tuple[PointStop, ...]) -> Reading:
        """Merging histograms costs, so a reading that has not changed is kept."""
        known = self._kept.get(rate)
        if known is None or list(map(id, known.stops)) != list(map(id, stops)):
            known = self._kept[rate] = Reading(rate, stops)
        return known

    @property
    def knee_per_s(self) -> float | None:
        """The highest offered rate held so far; None: none."""
        self.readings()
        return self._knee

    @property
    def unknown(self) -> PointStop | None:
        """Where no rate is held: the point that shows nothing of the server; None: the server was
        the limit, or it holds a rate."""
        self.readings()
        return self._unknown

    def in_doubt(self, looks: int) -> bool:
        """Of one pass, in a run of so many looks: is the rate that decides it still to be looked at
        again?"""
        self.readings()
        return self._undecided is not None and self._undecided.look < looks

    @property
    def closed_loop(self) -> bool:
        return any(stop.concurrency for stop in self.stops)

    @property
    def figure_per_s(self) -> float:
        """What servers are ranked by: the knee; a closed loop has none, there the most replies."""
        if self.closed_loop:
            return max(reading.replies_per_s for reading in self.readings())
        return self.knee_per_s or 0.0

    @property
    def knee_is_floor(self) -> bool:
        """It may hold more: the next rate above the knee does not show the server's own limit."""
        return is_floor(self.stops, self.knee_per_s)

    def values(self, quantity: Quantity, view: View) -> Values:
        """The line over all passes."""
        return _values(self.readings(), quantity, view)

    def pass_values(self, number: int, quantity: Quantity, view: View) -> Values:
        """The line of one pass."""
        chosen = sorted(
            (stop for stop in last_looks(self.stops) if stop.pass_number == number),
            key=offered,
        )
        return _values([Reading(offered(stop), (stop,)) for stop in chosen], quantity, view)

    def __post_init__(self) -> None:
        self._cached_version = -1
        self._readings: list[Reading] = []
        self._kept: dict[float, Reading] = {}
        self._knee: float | None = None
        self._undecided: PointStop | None = None
        self._unknown: PointStop | None = None


def offered(point: PointStart | PointStop) -> float:
    """Where a point lies on the x axis: its rate, in a closed loop its concurrency."""
    return float(point.concurrency or point.rate_per_s)


def milliseconds(times: Percentiles | None, percentile: Percentile) -> float:
    """NaN: nothing was measured. At least 1 us, so that a logarithm exists."""
    return float("nan") if times is None else max(1, getattr(times, percentile)) / 1000


def _values(readings: Sequence[Reading], quantity: Quantity, view: View) -> Values:
    trusted = [r.trusted and (quantity is not Quantity.TIME or r.supported(view)) for r in readings]
    return Values(
        np.array([r.offered for r in readings], dtype=np.float64),
        np.array([r.value(quantity, view) for r in readings], dtype=np.float64),
        np.array(trusted, dtype=np.bool_),
    )


def _together(stops: Sequence[PointStop], clock: Clock) -> Percentiles | None:
    if len(stops) == 1:
        return stops[0].latency_us if clock == "latency" else stops[0].service_us
    return percentiles(merge(getattr(stop.histograms, clock) for stop in stops))
