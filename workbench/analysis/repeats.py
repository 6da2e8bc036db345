"""Which measurements count where a rate was measured more than once, and whether it should be.

A sweep ends where one rate is not held, so one hiccup of a machine would decide it. Therefore the
rate that decides is looked at again: what did not hold counts only when it did so twice, and what
could not be judged is tried again. A slow spell of a machine outlasts a point, so the looks lie a
turn of all other servers apart. All stay in the session; the last one counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.documents import PointStop


def is_sustained(point: PointStop) -> bool:
    """Did the server hold this rate: at least 99 % of attempts succeeded and the verdict is ok?"""
    return (
        point.verdict == "ok" and point.counts.succeeded >= SUSTAINED_SHARE * point.counts.scheduled
    )


def last_attempts(points: Iterable[PointStop]) -> list[PointStop]:
    """Without those that were looked at again, in the order of their first looks. An interrupted
    look takes nothing away from an earlier one."""
    found: dict[tuple[object, ...], PointStop] = {}
    for point in points:
        rate = point.x
        # A search counts every point, also where it comes back to a rate.
        attempt = point.look if point.purpose == "search" else 0
        place = (point.server, point.purpose, point.pass_number, rate, attempt)
        if point.complete or place not in found:
            found[place] = point
    return list(found.values())


def undecided(points: Iterable[PointStop], ceiling_per_s: float = 0.0) -> PointStop | None:
    """Of one server's sweep in one pass: the last look at the rate that decides where it ends, if
    another look may change the answer. Interrupted looks count for nothing; in a closed loop
    nothing is decided. `ceiling_per_s`: what the clients are known to reach by now."""
    attempts_at: defaultdict[float, list[PointStop]] = defaultdict(list)
    for point in points:
        if point.complete:
            attempts_at[point.x].append(point)
    for _, attempts in sorted(attempts_at.items()):
        if in_doubt(attempts, ceiling_per_s):
            return attempts[-1]
        if not is_sustained(attempts[-1]):
            return None
    return None


def in_doubt(attempts: Sequence[PointStop], ceiling_per_s: float = 0.0) -> bool:
    """May another look at this rate change the answer? All of `looks` are complete. What was judged
    by a lower ceiling than the clients are known to have by now is in doubt."""
    last = attempts[-1]
    if last.verdict == "ports-limited" or beyond_client_limit(last, ceiling_per_s):
        return False
    sustained = sum(map(is_sustained, attempts))
    lost = sum(attempt.verdict in ("server-limited", "faulty") for attempt in attempts)
    return not (lost >= 2 or sustained > lost)


def beyond_client_limit(point: PointStop, known_per_s: float) -> bool:
    """Was more offered than the clients reach? `known_per_s`: of their limit by now."""
    ceiling = max(point.evidence.get("ceiling_per_s", float("inf")), known_per_s)
    return point.verdict == "client-limited" and point.offered_per_s > ceiling
