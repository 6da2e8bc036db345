"""Audits within points: steady response times, independent windows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import fmean, stdev

from workbench.analysis.audits.base import Audit, SessionData, codes
from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.significance import quantile
from workbench.analysis.steadiness import FEWEST, Steadiness, steadiness
from workbench.documents import PointStop
from workbench.messages.audits import finding

SHORTEST_S = 8.0
"""The shortest time that shows a trend, after a point's first fifth."""

PARTS = 12
"""Of a point; each needs two samples or more."""

NOTABLE = 0.01
"""Growth below this share of the memory, over a point, is ignored, however certain."""

HOUR_S = 3_600.0


@dataclass(frozen=True)
class Growth:
    """Growth of a server's memory at one point, in bytes per hour."""

    per_hour: float
    low: float
    high: float
    """Ends of the 95 % interval."""
    leaks: bool
    """It grows for certain, and notably."""
    seconds: float
    """For which it was watched."""


def growth(samples: Sequence[tuple[float, int]], *, alarms: float = 0.01) -> Growth | None:
    """Judge a point's samples: (seconds, bytes), in order, of the part under constant load.
    `alarms`: share of the points without a leak that may be reported. None: there are too few."""
    settled = samples[-(-len(samples) // 5) :]
    if len(settled) < 2 * PARTS or settled[-1][0] - settled[0][0] < SHORTEST_S:
        return None
    levels = [_mean(settled, n) for n in range(PARTS)]
    rates = [
        (after - before) / (later - earlier) * HOUR_S
        for (earlier, before), (later, after) in pairwise(levels)
    ]
    mean, error = fmean(rates), stdev(rates) / sqrt(len(rates))
    freedom = len(rates) - 1
    beside = quantile(0.975, freedom) * error
    seconds = settled[-1][0] - settled[0][0]
    certain = mean > quantile(1 - alarms, freedom) * error
    notable = mean * seconds / HOUR_S >= NOTABLE * levels[0][1]
    return Growth(mean, mean - beside, mean + beside, certain and notable, seconds)


def _mean(samples: Sequence[tuple[float, int]], part: int) -> tuple[float, float]:
    first, end = (len(samples) * n // PARTS for n in (part, part + 1))
    return fmean(at for at, _ in samples[first:end]), fmean(b for _, b in samples[first:end])


IN_TIME = 0.97
"""Share of the offered load that must be answered as it comes, lest a queue be taken for a leak."""

_OF_NETWORK = {"client-slower", "sustained-over-lossy-link"}

ALARMS = 0.01
"""Share of sessions with steady servers that may fail."""


def steady_state(data: SessionData) -> Audit:
    """Only sustained points count: beyond a server's limit queues must grow."""
    found = _found(data)
    if not found and any(codes(point) & _OF_NETWORK for point in data.points):
        return Audit("not-known", finding("of-network"))
    if not found:
        return Audit("not-known", finding("too-few-windows", needed=FEWEST))
    failed = {id_: each for id_, each in found.items() if each.kind != "steady"}
    message = finding(
        "steady-state",
        servers=len(found),
        unsteady={
            data.names.get(id_, id_): (each.kind, round(100 * each.change, 1))
            for id_, each in failed.items()
        },
    )
    return Audit("failed" if failed else "passed", message, servers=tuple(failed))


def independence(data: SessionData) -> Audit:
    """Intervals from a single pass rest on the independence of the windows of a point."""
    found = _found(data)
    if not found:
        return Audit("not-known", finding("too-few-windows", needed=FEWEST))
    failed = {id_: each for id_, each in found.items() if each.dependent}
    message = finding(
        "independent-windows",
        servers=len(found),
        dependent={data.names.get(i, i): round(each.worth, 2) for i, each in failed.items()},
    )
    return Audit("failed" if failed else "passed", message, servers=tuple(failed))


def memory_growth(data: SessionData) -> Audit:
    """Only points whose calls were answered count: beyond a server's limit its queues grow."""
    points = [point for point in data.points if _answered(point)]
    servers = {point.series for point in points}
    alarms = ALARMS / max(1, len(points))
    found: dict[str, Growth] = {}
    for point in points:
        if each := growth(data.memory(point), alarms=alarms):
            # The longest point says most.
            before = found.get(point.series)
            if before is None or (each.leaks, each.seconds) > (before.leaks, before.seconds):
                found[point.series] = each
    if not found:
        return Audit("does-not-apply", finding("too-short-for-growth"))
    message = finding(
        "memory-growth",
        servers=len(servers),
        growth={
            data.names.get(id_, id_): (each.per_hour, each.low, each.high, each.leaks)
            for id_, each in found.items()
        },
        seconds=max(each.seconds for each in found.values()),
    )
    leaking = tuple(id_ for id_, each in found.items() if each.leaks)
    return Audit("failed" if leaking else "passed", message, servers=leaking)


def _answered(point: PointStop) -> bool:
    answered = point.counts.succeeded >= SUSTAINED_SHARE * point.counts.scheduled
    return answered and point.replies_per_s >= IN_TIME * point.offered_per_s


def _found(data: SessionData) -> dict[str, Steadiness]:
    """By server, of points at which neither network nor client was named, if they are enough."""
    points: defaultdict[str, list[list[float]]] = defaultdict(list)
    for point in data.points:
        if point.verdict == "ok" and not codes(point) & _OF_NETWORK:
            points[point.series].append(data.service(point))
    alarms = ALARMS / max(1, len(points))
    judged = {id_: steadiness(each, alarms=alarms) for id_, each in points.items()}
    return {id_: each for id_, each in judged.items() if each is not None}
