"""The audits that failed in a session of a comparison, and what they taint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.analysis.audits import CHECKS, Audit
from workbench.comparison.sides import Side
from workbench.formatting import continued


def failed(sides: Sequence[Side]) -> Iterator[tuple[str, dict[str, str]]]:
    """(audit, outcome by session tag) of each audit that failed in at least one session."""
    for check in CHECKS:
        found = {
            side.tag: next((a for a in side.summary.audits if a.code == check.code), None)
            for side in sides
        }
        failing = [tag for tag, audit in found.items() if audit is not None and audit.failed]
        if failing:
            yield (
                f"Audit failed in {' and '.join(failing)}: {continued(check.label)}",
                {side.tag: _outcome(side, found[side.tag]) for side in sides},
            )


def _outcome(side: Side, audit: Audit | None) -> str:
    """ "passed", "3 points of Circuits"."""
    if audit is None:
        return "not known"
    return _taint(side, audit) if audit.failed else audit.state_label


def _taint(side: Side, audit: Audit) -> str:
    if not audit.points and not audit.servers:
        return "the whole session"
    points = {
        server.id: sum(stop.point in audit.points for stop in server.stops)
        for server in side.summary.servers.values()
    }
    tainted = [id_ for id_, count in points.items() if count or id_ in audit.servers]
    names = [side.summary.servers[id_].name for id_ in tainted]
    who = names[0] if len(names) == 1 else f"{len(names)} servers"
    count = sum(points.values())
    if audit.servers or not count:
        return who if names else "points outside the results"
    return f"{count} point{'s' * (count != 1)} of {who}"
