"""The knee: the highest offered rate a server sustains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import median_low

from workbench.analysis.repeats import is_sustained, last_attempts
from workbench.documents import PointStop


def knee(points: Iterable[PointStop]) -> float | None:
    """The highest rate per second held by one server; None: it held none.

    In one pass: the highest offered rate held, and so was every lower one. Over several passes:
    the median of the passes' knees, of two middle ones the lower, so that it is a rate really
    tested and neither a hiccup nor the number of passes shifts it. Only complete points of a sweep
    count, and of several looks at a rate the last. A pass cut short before it found a limit (it was
    stopped) says nothing against another that went further, and is left out.
    """
    passes: defaultdict[int, list[PointStop]] = defaultdict(list)
    for point in last_attempts(points):
        if point.purpose == "sweep" and point.complete:
            passes[point.pass_number].append(point)
    if not passes:
        return None
    furthest = max(point.x for in_pass in passes.values() for point in in_pass)
    found = [
        _sustained_up_to(in_pass)
        for in_pass in passes.values()
        if not all(map(is_sustained, in_pass)) or max(point.x for point in in_pass) == furthest
    ]
    return median_low(found or [_sustained_up_to(in_pass) for in_pass in passes.values()]) or None


def unknown(points: Iterable[PointStop]) -> PointStop | None:
    """Of a server that held no rate: the lowest point, where it shows nothing of the server because
    clients, network or other programs were in the way. None: the server lost its lowest rate by
    itself, or answered wrongly there, it held one, or none was measured."""
    lowest: dict[int, PointStop] = {}
    for point in last_attempts(points):
        if point.purpose == "sweep" and point.complete:
            known = lowest.setdefault(point.pass_number, point)
            if point.x < known.x:
                lowest[point.pass_number] = point
    lost = [point for point in lowest.values() if not is_sustained(point)]
    if not lost or any(point.verdict in ("server-limited", "faulty") for point in lost):
        return None
    return lost[0] if knee(lowest.values()) is None else None


def _sustained_up_to(in_pass: list[PointStop]) -> float:
    highest = 0.0
    for point in sorted(in_pass, key=lambda p: p.x):
        if not is_sustained(point):
            break
        highest = point.x
    return highest


def is_floor(points: Iterable[PointStop], knee_per_s: float | None) -> bool:
    """May the server hold more? At the next rate above the knee no point shows its own limit."""
    sustained = knee_per_s or 0.0
    above = [p for p in last_attempts(points) if p.complete and p.x > sustained]
    nearest = min((point.x for point in above), default=sustained)
    return not any(p.x == nearest and p.verdict == "server-limited" for p in above)
