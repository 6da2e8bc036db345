"""What the verdicts of points could not check, because the load tool does not report it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from workbench.documents import PointStop
from workbench.messages.tools import NotChecked, ToolCannotTell, Unchecked


def unchecked(
    stop: PointStop, *, closed: bool, noted: Iterable[ToolCannotTell] = ()
) -> list[Unchecked]:
    """Return what the verdict of a point could not check, most important first.

    `closed`: in a closed loop there is no schedule to keep, and no queue grows. `noted`: what the
    load tools of the session do not report. Sessions of the agent, of any version, checked all.
    """
    if stop.counts.late is not None and stop.conserved is not None:
        return []
    untold: Collection[str] = {
        what for each in noted if each.tool == stop.load_tool for what in each.untold
    }
    found: dict[Unchecked, bool] = {
        "schedule": stop.counts.late is None and not closed,
        "queue": "open_at_end" not in stop.evidence and not closed,
        "client-cpu": stop.client_cpu_pct is None,
        "background-load": "others_cpu_pct" not in stop.evidence,
        "conservation": stop.conserved is None,
        "replies": "replies" in untold,
    }
    return [what for what, unknown in found.items() if unknown]


def of_points(
    stops: Iterable[PointStop], *, closed: bool, noted: Iterable[ToolCannotTell] = ()
) -> Iterator[NotChecked]:
    """Return what could not be checked at one or more of these points, by load tool."""
    noted = list(noted)
    by_tool: dict[str, dict[Unchecked, None]] = {}
    for stop in stops:
        found = unchecked(stop, closed=closed, noted=noted)
        by_tool.setdefault(stop.load_tool, {}).update(dict.fromkeys(found))
    for tool, what in by_tool.items():
        if what:
            yield NotChecked(tool=tool, what=list(what))
