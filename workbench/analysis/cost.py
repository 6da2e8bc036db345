"""What servers pay for their calls: CPU time at the same load, and where a core would be full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan

from workbench.analysis.results import PointResult, SeriesResult

CPU_PER_CALL = "cpu_us_per_call"
"""Key of the metric, microseconds; see `metrics.cpu`."""


def cpu_us_per_call(point: PointResult | None) -> float | None:
    """Mean over the passes; None: not measured."""
    if point is None:
        return None
    cost = point.value(CPU_PER_CALL)
    return None if isnan(cost) else cost


def full_core(series: SeriesResult) -> float | None:
    """The load at which what its calls cost would fill one core, in the axis's unit of rates: an
    extrapolation of the price at the highest trusted point. None: that is not known.

    A server of several processes or threads that run at once may go beyond it. On an axis of
    another kind the price differs from value to value, and there is none.
    """
    if series.axis.of_workload:
        return None
    for point in reversed(series.points):
        cost = cpu_us_per_call(point)
        if point.trusted and cost:
            return 1e6 / cost * _per_call(point)
    return None


def rank(series: SeriesResult) -> tuple[float, float]:
    """Sorts servers by knee, else by most replies, highest first; of equals the one first that
    pays the least for a call there. Those without any, or whose price is not known, come last."""
    there = series.at_knee if series.axis.has_limit else series.most
    return -series.figure, cpu_us_per_call(there) or inf


def _per_call(point: PointResult) -> float:
    """What the axis's rates count, per call: a connection may have several."""
    stop = point.telling
    calls = stop.counts.scheduled
    return stop.offered_per_s * stop.seconds / calls if calls else 1.0


@dataclass(frozen=True)
class Cheapest:
    """Of servers at one load, those that pay the least CPU time for a call."""

    series: tuple[SeriesResult, ...]
    """Those that cannot be distinguished from the first."""
    cpu_us: float
    others: tuple[SeriesResult, ...]
    most_us: float
    """What the dearest pays."""
    passes: int


ONE_PASS = 0.05
"""What two passes of the same server commonly differ by; with a single pass, smaller differences
are not reported."""


def cheapest(equals: Sequence[SeriesResult]) -> Cheapest | None:
    """Of servers that sustain the same, told apart by what they pay there: over several passes by
    whether their ranges overlap, of one by `ONE_PASS`. None: fewer than two costs are known."""
    costs = [(range_, each) for each in equals if (range_ := _range(each.at_knee))]
    if len(costs) < 2:
        return None
    costs.sort(key=lambda cost: cost[0].mean)
    first = costs[0][0]
    alike = [each for range_, each in costs if range_.low <= first.high]
    others = [each for range_, each in costs if range_.low > first.high]
    passes = min(range_.passes for range_, _ in costs)
    return Cheapest(tuple(alike), first.mean, tuple(others), costs[-1][0].mean, passes)


@dataclass(frozen=True)
class _Range:
    low: float
    mean: float
    high: float
    passes: int


def _range(point: PointResult | None) -> _Range | None:
    mean = cpu_us_per_call(point)
    if point is None or mean is None:
        return None
    spread = point.spread(CPU_PER_CALL)
    low, high = spread or (mean, mean * (1 + ONE_PASS))
    return _Range(low, mean, high, len(point.stops))
