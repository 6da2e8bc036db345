"""Disqualified: a server that stopped replying past a value, as the WSGI benchmark of 2010 had it.

A server that is merely too slow still answers some calls. One that ended, hangs, or lets every call
run into its timeout answers none, at that value and at all above. One that answers incorrectly does
reply: it is faulty. Points at which clients, ports or network were the limit, or that could not be
judged, prove nothing against a server.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from workbench.documents import Counts, PointStop

SILENT_SHARE = 0.01
"""Share of the calls that a server which stopped replying may still answer."""


def stopped_past(points: Iterable[PointStop], ended_at: float | None = None) -> float | None:
    """Return the highest value at which a server still replied; None: it did not stop.

    `points`: complete ones of its sweeps, the last attempt at each value. `ended_at`: the value at
    which its process ended by itself; None: it did not.
    """
    found: defaultdict[float, list[PointStop]] = defaultdict(list)
    for point in points:
        if point.purpose == "sweep":
            found[point.x].append(point)
    silent = False
    for x, stops in sorted(found.items(), reverse=True):
        if any(_replies(stop.counts) >= SILENT_SHARE * stop.counts.scheduled for stop in stops):
            return x if silent or (ended_at is not None and x <= ended_at) else None
        silent = silent or any(stop.verdict in ("server-limited", "faulty") for stop in stops)
    return None


def _replies(counts: Counts) -> int:
    """How many calls were answered, correctly or not."""
    wrong = sum(n for error, n in counts.errors.items() if _is_wrong_reply(error))
    return counts.succeeded + wrong


def _is_wrong_reply(error: str) -> bool:
    """A wrong body or no HTTP ("protocol"), an unexpected status ("protocol-503"), or a reply that
    fails a check of the plan ("check-text"); not a connection that was closed."""
    kind, _, detail = error.partition("-")
    return kind == "check" or (kind == "protocol" and (not detail or detail.isdigit()))
