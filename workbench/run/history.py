"""Earlier results of a server at less load, for judging its next point."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.faults import is_fault
from workbench.axis import Axis
from workbench.documents import PointStop
from workbench.messages.reasons import UnexpectedReplies, reasons_of
from workbench.plan.schedule import PointPlan


class History:
    """Points of sweeps, by server, load tool and place; at each place the last complete one."""

    def __init__(self) -> None:
        self._stops: defaultdict[tuple[str, str], dict[float, PointStop]] = defaultdict(dict)

    def add(self, stop: PointStop) -> None:
        if stop.complete and stop.judged:
            self._stops[stop.server, stop.load_tool][stop.x] = stop

    def below(self, point: PointPlan, axis: Axis) -> list[PointStop]:
        """Points of its server at less load, ascending; none if the plan does not vary load."""
        if not point.judged or axis.of_workload:
            return []
        known = self._stops[point.server, point.load_tool]
        return [known[x] for x in sorted(known) if x < point.x]


def clean_per_s(below: Sequence[PointStop]) -> float | None:
    """See `Evidence`."""
    if not below:
        return None
    counts = below[-1].counts
    faults = sum(n for name, n in counts.errors.items() if is_fault(name))
    if faults > (1 - SUSTAINED_SHARE) * counts.scheduled:
        return None
    return counts.succeeded / below[-1].seconds


def faulty_before(below: Sequence[PointStop]) -> frozenset[str]:
    """See `Evidence`."""
    found = (reason for stop in below if stop.verdict == "faulty" for reason in reasons_of(stop))
    return frozenset(each.error for each in found if isinstance(each, UnexpectedReplies))
