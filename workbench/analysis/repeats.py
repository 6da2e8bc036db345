"""Which measurements count where a rate was measured more than once, and which rates to repeat.

A sweep ends where a rate is not sustained, so one hiccup of a machine could decide its result. The
deciding rate is therefore repeated: a failure counts only if it happened twice, and a point that
could not be judged is repeated. A slow spell of a machine outlasts a point, so all other servers
run between two attempts. All attempts stay in the session; the last one counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.documents import PointStop


def is_sustained(point: PointStop) -> bool:
    """Whether the server sustained this rate: at least 99 % of attempts succeeded and the verdict
    is ok."""
    return (
        point.verdict == "ok" and point.counts.succeeded >= SUSTAINED_SHARE * point.counts.scheduled
    )


def last_attempts(points: Iterable[PointStop]) -> list[PointStop]:
    """The last attempt at each value, in the order of the first attempts. An interrupted attempt
    does not replace an earlier one."""
    found: dict[tuple[object, ...], PointStop] = {}
    for point in points:
        rate = point.x
        # A search counts every point, even if it returns to a rate.
        attempt = point.look if point.purpose == "search" else 0
        place = (point.series, point.purpose, point.pass_number, rate, attempt)
        if point.complete or place not in found:
            found[place] = point
    return list(found.values())


def undecided(points: Iterable[PointStop], ceiling_per_s: float = 0.0) -> PointStop | None:
    """Of one server's sweep in one pass: the last attempt at the rate where it ends, if another
    attempt may change the result. Interrupted attempts do not count, and a closed loop has no such
    rate. `ceiling_per_s`: the client limit as known by now."""
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
    """Whether another attempt at this rate may change the result. All `attempts` are complete. A
    rate judged by a lower client limit than is known by now is in doubt."""
    last = attempts[-1]
    if last.verdict == "ports-limited" or beyond_client_limit(last, ceiling_per_s):
        return False
    sustained = sum(map(is_sustained, attempts))
    lost = sum(attempt.verdict in ("server-limited", "faulty") for attempt in attempts)
    return not (lost >= 2 or sustained > lost)


def beyond_client_limit(point: PointStop, known_per_s: float) -> bool:
    """Whether more was offered than the clients reach. `known_per_s`: the client limit as known by
    now."""
    ceiling = max(point.evidence.get("ceiling_per_s", float("inf")), known_per_s)
    return point.verdict == "client-limited" and point.offered_per_s > ceiling
