"""One server of one session, as it stands in a comparison, and its figures at one rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.histogram import merge, percentiles
from workbench.analysis.intervals import Interval, PassKnee, knee_interval, pass_knees
from workbench.analysis.knee import knee, unknown
from workbench.analysis.looks import holds
from workbench.documents import Percentiles, PointStop, ServerRecord


@dataclass(frozen=True)
class Figures:
    """One server at one rate over all passes: counts added up, histograms merged."""

    offered: float
    """Per second in the plan's unit; in a closed loop connections at a time."""
    stops: tuple[PointStop, ...]
    """Complete points, one a pass."""

    @cached_property
    def replies_per_s(self) -> float:
        return sum(stop.replies_per_s for stop in self.stops) / len(self.stops)

    @cached_property
    def errors_pct(self) -> float:
        scheduled = sum(stop.counts.scheduled for stop in self.stops)
        succeeded = sum(stop.counts.succeeded for stop in self.stops)
        return 100 * (1 - succeeded / scheduled) if scheduled else 0.0

    @cached_property
    def latency_us(self) -> Percentiles | None:
        """None: no call was answered."""
        together = percentiles(merge(stop.histograms.latency for stop in self.stops))
        return together or self.stops[0].latency_us

    @cached_property
    def cpu_pct(self) -> float:
        """Of one core, the server's process tree; 0: not measured."""
        return sum(stop.server_cpu_pct for stop in self.stops) / len(self.stops)

    @cached_property
    def rss_bytes(self) -> int:
        """Peak over the passes; 0: not measured."""
        return max(stop.server_rss_bytes for stop in self.stops)


@dataclass(frozen=True)
class Contender:
    """One server of one session."""

    tag: str
    """Of its session."""
    record: ServerRecord
    points: Sequence[PointStop]
    """Complete ones of its sweeps, of several looks at a rate the last."""
    backlog: int = 0
    """In force in the kernel; 0: not known."""
    died: str = ""
    gave_up: str = ""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def key(self) -> str:
        """ "A/gevent"."""
        return f"{self.tag}/{self.id}"

    @property
    def label(self) -> str:
        """ "gevent in A"."""
        return f"{self.name} in {self.tag}"

    @cached_property
    def closed_loop(self) -> bool:
        return any(point.concurrency for point in self.points)

    @cached_property
    def knee_per_s(self) -> float | None:
        """None: it held no rate, or there is none in a closed loop."""
        return None if self.closed_loop else knee(self.points)

    @cached_property
    def is_unknown(self) -> bool:
        """Nothing shows whether it holds any rate."""
        return unknown(self.points) is not None

    @cached_property
    def pass_knees(self) -> list[PassKnee]:
        return pass_knees(self.points)

    @cached_property
    def interval(self) -> Interval | None:
        """Of its knee; None: nothing was measured, or a closed loop."""
        return knee_interval(self.pass_knees)

    @cached_property
    def figure_per_s(self) -> float:
        """What servers are ranked by: the knee; a closed loop has none, there the most replies."""
        if self.closed_loop:
            return max(self.at(offered).replies_per_s for offered in self.offered)  # type: ignore[union-attr]
        return self.knee_per_s or 0.0

    @cached_property
    def at_knee(self) -> Figures | None:
        """Over the passes that held it; None: it held no rate."""
        held = [p for p in self.points if p.rate_per_s == self.knee_per_s and holds(p)]
        return Figures(held[0].rate_per_s, tuple(held)) if held else None

    @cached_property
    def offered(self) -> list[float]:
        """What was offered to it, rising."""
        return sorted({offered(point) for point in self.points})

    def at(self, rate: float) -> Figures | None:
        """None: that rate was not measured."""
        stops = tuple(point for point in self.points if offered(point) == rate)
        return Figures(rate, stops) if stops else None

    @cached_property
    def verdicts(self) -> Counter[str]:
        """Points by verdict."""
        return Counter(point.verdict for point in self.points)

    @cached_property
    def rss_bytes(self) -> int:
        """Peak over the sweep, whole process tree; 0: not measured."""
        return max((point.server_rss_bytes for point in self.points), default=0)


def offered(point: PointStop) -> float:
    """A point's rate, in a closed loop its concurrency."""
    return float(point.concurrency or point.rate_per_s)
