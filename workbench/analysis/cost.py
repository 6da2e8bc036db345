"""CPU cost of calls: CPU time at the same load, and the load at which one core would be full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, isnan, log

from workbench.analysis import significance
from workbench.analysis.series import PointResult, SeriesResult
from workbench.analysis.significance import Finding
from workbench.documents import PointStop

CPU_PER_CALL = "cpu_us_per_call"
"""Key of the metric, in microseconds; see `metrics.cpu`."""

MARGIN = "cpu_us_per_call_margin"
"""Key of half the width of its 95 % interval within a point, in microseconds."""


def cpu_us_per_call(point: PointResult | None) -> float | None:
    """Mean over the passes; None: not measured."""
    if point is None:
        return None
    cost = point.value(CPU_PER_CALL)
    return None if isnan(cost) else cost


def full_core(series: SeriesResult) -> float | None:
    """The load at which one core would be full, in the axis's unit of rates, extrapolated from the
    cost per call at the knee, or at the most replies where there is none. None: unknown.

    Not from a point beyond the knee: a server with a long queue handles several calls at once,
    which makes each cheaper but not faster. Servers with several processes or threads may exceed
    it. On an axis other than rates the cost changes with the value, so there is none.
    """
    if series.axis.of_workload:
        return None
    there = _at_limit(series)
    cost = cpu_us_per_call(there)
    return 1e6 / cost * _per_call(there) if there and there.trusted and cost else None


def rank(series: SeriesResult) -> tuple[float, float]:
    """Sort key: knee, or most replies where there is none, highest first; ties by the lowest CPU
    time per call there. Servers without points, or of unknown cost, come last."""
    return -series.figure, cpu_us_per_call(_at_limit(series)) or inf


def _at_limit(series: SeriesResult) -> PointResult | None:
    return series.at_knee if series.axis.has_limit else series.most


def _per_call(point: PointResult) -> float:
    """Units that the axis's rates count, per call: a connection may have several calls."""
    stop = point.deciding_stop
    calls = stop.counts.scheduled
    return stop.offered_per_s * stop.seconds / calls if calls else 1.0


@dataclass(frozen=True)
class Cost:
    """CPU time per call at one value of the axis, in microseconds, with its 95 % interval."""

    mean: float
    half: float | None
    """Half the width of the interval: of several passes from their spread, of a single one from its
    windows, which do not show how another start of the server would differ. None: unknown."""
    passes: int


def cost(point: PointResult | None) -> Cost | None:
    """None: not measured."""
    mean = cpu_us_per_call(point)
    if point is None or mean is None:
        return None
    values = list(point.by_pass(_per_call_us).values())
    if len(values) > 1:
        return Cost(mean, significance.mean(values)[1], len(values))
    margins = list(point.by_pass(lambda stop: stop.values.get(MARGIN)).values())
    return Cost(mean, margins[0] if margins else None, 1)


@dataclass(frozen=True)
class Cheapest:
    """Of servers at one load, those with the lowest CPU time per call."""

    series: tuple[SeriesResult, ...]
    """Those that cannot be distinguished from the first."""
    equal: bool
    """Their costs were shown to be equal, within `significance.MARGIN`."""
    cost: Cost
    others: tuple[SeriesResult, ...]
    most: Cost | None
    """The highest cost of `others`; None: there are none."""
    passes: int


ONE_PASS = 0.05
"""Typical difference between two starts of a server; with one pass, smaller ones do not count."""


def cheapest(equals: Sequence[SeriesResult]) -> Cheapest | None:
    """Compare the cost of servers that sustain the same rate: over several passes by the interval
    of their ratio (`significance.ratio`), for a single pass by its windows and `ONE_PASS`. None:
    fewer than two costs are known."""
    known = [(found, each) for each in equals if (found := cost(each.at_knee))]
    if len(known) < 2:
        return None
    (least, first), *rest = sorted(known, key=lambda pair: pair[0].mean)
    others = [(_finding(first, each), paid, each) for paid, each in rest]
    dearer = [(paid, each) for found, paid, each in others if found == "less"]
    return Cheapest(
        series=(first, *(each for found, _, each in others if found != "less")),
        equal=all(found in ("less", "equal") for found, *_ in others),
        cost=least,
        others=tuple(each for _, each in dearer),
        most=dearer[-1][0] if dearer else None,
        passes=min(paid.passes for paid, _ in known),
    )


def _finding(first: SeriesResult, second: SeriesResult) -> Finding:
    a, b = first.at_knee, second.at_knee
    assert a and b
    change = significance.ratio(a.by_pass(_per_call_us), b.by_pass(_per_call_us), paired=False)
    if change:
        return change.found()
    wide = ONE_PASS
    for point in (a, b):
        found = cost(point)
        if found and found.half and found.passes == 1:
            wide = hypot(wide, found.half / found.mean)
    apart = log(cpu_us_per_call(a) or 1.0) - log(cpu_us_per_call(b) or 1.0)
    return "less" if apart <= -wide else "indistinguishable"


def _per_call_us(stop: PointStop) -> float | None:
    return stop.values.get(CPU_PER_CALL)
