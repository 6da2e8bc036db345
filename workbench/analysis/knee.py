"""The knee: the highest offered rate a server sustains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import median_low

from workbench.analysis.evidence import HOLDS
from workbench.documents import PointStop


def holds(point: PointStop) -> bool:
    """Did the server hold this rate: at least 99 % of attempts succeeded and the verdict is ok?"""
    return point.verdict == "ok" and point.counts.succeeded >= HOLDS * point.counts.scheduled


def knee(points: Iterable[PointStop]) -> float | None:
    """The highest rate per second held by one server; None: it held none.

    In one pass: the highest offered rate held, and so was every lower one. Over several passes:
    the median of the passes' knees, of two middle ones the lower, so that it is a rate really
    tested and neither a hiccup nor the number of passes shifts it. Only complete points of a sweep
    count. A pass cut short before it found a limit (it was stopped) says nothing against another
    that went further, and is left out.
    """
    passes: defaultdict[int, list[PointStop]] = defaultdict(list)
    for point in points:
        if point.purpose == "sweep" and point.complete:
            passes[point.pass_number].append(point)
    if not passes:
        return None
    furthest = max(point.rate_per_s for tried in passes.values() for point in tried)
    found = [
        _held_from_below(tried)
        for tried in passes.values()
        if not all(map(holds, tried)) or max(point.rate_per_s for point in tried) == furthest
    ]
    return median_low(found or [_held_from_below(tried) for tried in passes.values()]) or None


def _held_from_below(tried: list[PointStop]) -> float:
    highest = 0.0
    for point in sorted(tried, key=lambda p: p.rate_per_s):
        if not holds(point):
            break
        highest = point.rate_per_s
    return highest
