"""What servers pay for their calls: CPU time at the same load, and where a core would be full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, isnan, log

from workbench.analysis import significance
from workbench.analysis.results import PointResult, SeriesResult
from workbench.analysis.significance import Finding

CPU_PER_CALL = "cpu_us_per_call"
"""Key of the metric, microseconds; see `metrics.cpu`."""

MARGIN = "cpu_us_per_call_margin"
"""Key of half of its interval of 95 % within a point, microseconds."""


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
    stop = point.deciding_stop
    calls = stop.counts.scheduled
    return stop.offered_per_s * stop.seconds / calls if calls else 1.0


@dataclass(frozen=True)
class Cost:
    """CPU time per call at one value of the axis, microseconds, with its interval of 95 %."""

    mean: float
    half: float | None
    """Half of the interval: of several passes from how they differ, of one from its windows, which
    says nothing of what another start of the server would give. None: not known."""
    passes: int


def cost(point: PointResult | None) -> Cost | None:
    """None: not measured."""
    mean = cpu_us_per_call(point)
    if point is None or mean is None:
        return None
    values = list(_by_pass(point, CPU_PER_CALL).values())
    if len(values) > 1:
        return Cost(mean, significance.mean(values)[1], len(values))
    margins = list(_by_pass(point, MARGIN).values())
    return Cost(mean, margins[0] if margins else None, 1)


@dataclass(frozen=True)
class Cheapest:
    """Of servers at one load, those that pay the least CPU time for a call."""

    series: tuple[SeriesResult, ...]
    """Those that cannot be told apart from the first."""
    equal: bool
    """They were shown to pay the same, within `significance.MARGIN`."""
    cost: Cost
    """Of the first."""
    others: tuple[SeriesResult, ...]
    most: Cost
    """What the dearest pays."""
    passes: int


ONE_PASS = 0.05
"""What two starts of the same server commonly differ by; with a single pass, smaller differences
are not reported."""


def cheapest(equals: Sequence[SeriesResult]) -> Cheapest | None:
    """Of servers that sustain the same, told apart by what they pay there: over several passes by
    the interval of their ratio (`significance.ratio`), of one by their windows and `ONE_PASS`.
    None: fewer than two costs are known."""
    known = [(found, each) for each in equals if (found := cost(each.at_knee))]
    if len(known) < 2:
        return None
    known.sort(key=lambda pair: pair[0].mean)
    first = known[0][1]
    findings = [_finding(first, each) for _, each in known[1:]]
    rest = [each for _, each in known[1:]]
    alike = [first, *(e for e, found in zip(rest, findings, strict=True) if found != "less")]
    return Cheapest(
        series=tuple(alike),
        equal=all(found in ("less", "equal") for found in findings),
        cost=known[0][0],
        others=tuple(e for e, found in zip(rest, findings, strict=True) if found == "less"),
        most=known[-1][0],
        passes=min(found.passes for found, _ in known),
    )


def _finding(first: SeriesResult, second: SeriesResult) -> Finding:
    """Of the first's cost against the second's."""
    a, b = first.at_knee, second.at_knee
    assert a and b
    x, y = _by_pass(a, CPU_PER_CALL), _by_pass(b, CPU_PER_CALL)
    change = significance.ratio(x, y, paired=False)
    if change:
        return change.found()
    wide = ONE_PASS
    for point in (a, b):
        found = cost(point)
        if found and found.half and found.passes == 1:
            wide = hypot(wide, found.half / found.mean)
    apart = log(cpu_us_per_call(a) or 1.0) - log(cpu_us_per_call(b) or 1.0)
    return "less" if apart <= -wide else "indistinguishable"


def _by_pass(point: PointResult, metric: str) -> dict[int, float]:
    values = ((stop.pass_number, stop.values.get(metric)) for stop in point.stops)
    return {number: value for number, value in values if value is not None}
