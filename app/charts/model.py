"""What the charts draw: documents in, series out. No Qt.

One `ChartModel` consumes a session's documents one by one, from a live run or a file alike. Charts
look at `version` and `Series.version` to see what changed since they last drew.
"""

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

from workbench.analysis.histogram import merge, percentile_supported, percentiles
from workbench.analysis.knee import knee
from workbench.documents import (
    WINDOW_US,
    AnyDocument,
    Errors,
    Note,
    Percentiles,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Verdict,
    Window,
)

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
            for stop in self.stops:
                by_rate[offered(stop)].append(stop)
            self._readings = [
                self._merged(rate, tuple(stops)) for rate, stops in sorted(by_rate.items())
            ]
            self._knee = knee(self.stops)
        return self._readings

    def _merged(self, rate: float, stops: tuple[PointStop, ...]) -> Reading:
        """Merging histograms costs, so a reading that has not changed is kept."""
        known = self._kept.get(rate)
        if known is None or len(known.stops) != len(stops):
            known = self._kept[rate] = Reading(rate, stops)
        return known

    @property
    def knee_per_s(self) -> float | None:
        """The highest offered rate held so far; None: none."""
        self.readings()
        return self._knee

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
        """It may hold more: no point above the knee shows the server's own limit."""
        held = self.knee_per_s or 0.0
        return not any(
            reading.offered > held and reading.verdict == "server-limited"
            for reading in self.readings()
        )

    def values(self, quantity: Quantity, view: View) -> Values:
        """The line over all passes."""
        return _values(self.readings(), quantity, view)

    def pass_values(self, number: int, quantity: Quantity, view: View) -> Values:
        """The line of one pass."""
        chosen = sorted(
            (stop for stop in self.stops if stop.pass_number == number),
            key=offered,
        )
        return _values([Reading(offered(stop), (stop,)) for stop in chosen], quantity, view)

    def __post_init__(self) -> None:
        self._cached_version = -1
        self._readings: list[Reading] = []
        self._kept: dict[float, Reading] = {}
        self._knee: float | None = None


@dataclass
class Running:
    """The point being run now."""

    start: PointStart
    calls_per_unit: float
    """How many calls make one of what rates count."""
    windows: list[Window] = field(default_factory=list)

    @property
    def server(self) -> str:
        return self.start.server

    @property
    def offered(self) -> float:
        return offered(self.start)

    def value(self, quantity: Quantity, view: View) -> float:
        """So far; the response time is that of the latest window that has one. NaN: none yet."""
        scheduled = [window for window in self.windows if window.due]
        if not scheduled:
            return float("nan")
        due = sum(window.due for window in scheduled)
        if quantity is Quantity.ERRORS:
            return 100 * min(1.0, sum(sum(w.errors.values()) for w in self.windows) / due)
        if quantity is Quantity.REPLIES:
            replies = sum(window.replies for window in scheduled)
            if self.start.concurrency:
                seconds = len(scheduled) * WINDOW_US / 1e6
                return replies / seconds / self.calls_per_unit
            # The share of what was due, of the offered rate: right in a half-full window too.
            return self.start.rate_per_s * min(1.0, replies / due)
        for window in reversed(self.windows):
            times = window.latency_us if view.clock == "latency" else window.service_us
            if times is not None:
                return milliseconds(times, view.percentile)
        return float("nan")


class ChartModel:
    """A session as the charts see it. Call it with every document."""

    def __init__(self) -> None:
        self.start: RunStart | None = None
        self.stop: RunStop | None = None
        self.series: dict[str, Series] = {}
        """By id, in the plan's order."""
        self.running: Running | None = None
        """Points of warm-up and calibration too: see `running.start.purpose`."""
        self.sweeping: PointStart | None = None
        """The latest point of the sweep under way: stays between its points."""
        self.ceiling_per_s: float | None = None
        """What the clients can offer at most."""
        self.last_offered = 1000.0
        """Where the x axis ends: the highest rate of the plan, in a closed loop its concurrency."""
        self.over = False
        """No more documents come."""
        self.version = 0
        """Grows with every document that changes what is drawn."""

    def __call__(self, document: AnyDocument) -> None:
        self.version += 1
        match document:
            case RunStart():
                self.start = document
                self.last_offered = self._last_planned(document)
                for record in document.servers:
                    self._series(record.id, record.name)
            case PointStart():
                self.running = Running(document, self._calls_per_unit())
                self.sweeping = document if document.purpose == "sweep" else None
            case Window():
                if self.running is not None and self.running.start.point == document.point:
                    self.running.windows.append(document)
            case PointStop():
                self.running = None
                if document.purpose == "sweep" and document.complete:
                    series = self._series(document.server)
                    series.stops.append(document)
                    series.version += 1
                    self.last_offered = max(self.last_offered, offered(document))
            case Note(topic="ceiling"):
                ceiling = document.data.get("ceiling_per_s")
                self.ceiling_per_s = None if ceiling is None else float(ceiling)
            case Note(topic="gave-up") if document.server in self.series:
                self.series[document.server].gave_up = document.text
            case RunStop():
                self.stop = document
                self.end()
            case _:
                self.version -= 1

    def end(self) -> None:
        """The documents end here, even if the run was cut off before its `RunStop`."""
        self.over, self.running, self.sweeping = True, None, None
        self.version += 1

    def _series(self, id_: str, name: str = "") -> Series:
        if id_ not in self.series:
            self.series[id_] = Series(id_, name or id_, len(self.series))
        return self.series[id_]

    @property
    def running_server(self) -> str:
        """Whose sweep is under way; empty: nobody's."""
        return self.sweeping.server if self.sweeping else ""

    @property
    def closed_loop(self) -> bool:
        """Then x counts connections kept open, and no ideal line exists."""
        return self._workload().get("mode") == "closed"

    @property
    def unit(self) -> str:
        """What rates count."""
        default = "connections" if self.calls_per_connection == 1 else "requests"
        return str((self.start.plan.get("rate_of") if self.start else None) or default)

    @property
    def timeout_ms(self) -> float:
        return 1000 * float(self._workload().get("timeout_s", 5.0))

    def ranked(self) -> list[Series]:
        """By what they hold, highest first; in the plan's order where that is the same."""
        return sorted(self.series.values(), key=lambda s: -s.figure_per_s)

    def _last_planned(self, start: RunStart) -> float:
        planned = [rate for block in start.order for rate in block.rates_per_s]
        if self.closed_loop:
            planned = [float(n) for n in start.plan.get("concurrency") or []]
        return max(planned, default=1000.0)

    def _workload(self) -> dict[str, object]:
        return (self.start.plan.get("workload") if self.start else None) or {}

    def _calls_per_unit(self) -> float:
        return float(self.calls_per_connection) if self.unit == "connections" else 1.0

    @property
    def calls_per_connection(self) -> int:
        return int(str(self._workload().get("calls_per_connection", 1)))


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
