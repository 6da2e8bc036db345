"""Audits within points: steady response times, independent windows."""

from __future__ import annotations

from collections import defaultdict

from workbench.analysis.audits.base import Outcome, SessionData
from workbench.analysis.steadiness import FEWEST, Steadiness, steadiness
from workbench.messages.audits import within as messages

ALARMS = 0.01
"""Share of sessions with steady servers that may fail."""


def steady_state(data: SessionData) -> Outcome:
    """Only sustained points count: beyond a server's limit queues must grow."""
    found = _found(data)
    if not found:
        return Outcome("not-known", messages.TooFewWindows(needed=FEWEST))
    failed = {id_: each for id_, each in found.items() if each.kind != "steady"}
    message = messages.SteadyState(
        servers=len(found),
        unsteady={
            data.names.get(id_, id_): (each.kind, round(100 * each.change, 1))
            for id_, each in failed.items()
        },
    )
    return Outcome("failed" if failed else "passed", message, servers=tuple(failed))


def independence(data: SessionData) -> Outcome:
    """Intervals from a single pass rest on the independence of the windows of a point."""
    found = _found(data)
    if not found:
        return Outcome("not-known", messages.TooFewWindows(needed=FEWEST))
    failed = {id_: each for id_, each in found.items() if each.dependent}
    message = messages.IndependentWindows(
        servers=len(found),
        dependent={data.names.get(i, i): round(each.worth, 2) for i, each in failed.items()},
    )
    return Outcome("failed" if failed else "passed", message, servers=tuple(failed))


def _found(data: SessionData) -> dict[str, Steadiness]:
    """By server, without those that have too few windows."""
    points: defaultdict[str, list[list[float]]] = defaultdict(list)
    for point in data.points:
        if point.verdict == "ok":
            points[point.server].append(data.service(point))
    alarms = ALARMS / max(1, len(points))
    judged = {id_: steadiness(each, alarms=alarms) for id_, each in points.items()}
    return {id_: each for id_, each in judged.items() if each is not None}
