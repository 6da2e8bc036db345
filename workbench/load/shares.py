"""A point divided among several programs, and their reports added up, as autobench does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from workbench.analysis import histogram
from workbench.documents import Counts, Histograms, SparseHistogram
from workbench.load.base import LoadReport, PointSpec
from workbench.messages.base import Message


def shared(spec: PointSpec, parts: int) -> list[PointSpec]:
    """Divide a point among programs, as equally as whole connections allow; none is without one."""
    if spec.mode == "closed":
        parts = min(parts, spec.concurrency)
    elif spec.connections:
        parts = min(parts, spec.connections)
    return [
        msgspec.structs.replace(
            spec,
            concurrency=_share(spec.concurrency, n, parts),
            connections=_share(spec.connections, n, parts),
            # In proportion, so that all end together.
            rate_per_s=spec.rate_per_s * _portion(spec.connections, n, parts),
            seed=spec.seed + n,
        )
        for n in range(parts)
    ]


def _portion(whole: int, number: int, parts: int) -> float:
    return _share(whole, number, parts) / whole if whole else 1 / parts


def _share(whole: int, number: int, parts: int) -> int:
    return whole // parts + (number < whole % parts)


def merged(reports: Sequence[LoadReport], complaints: Sequence[Message] = ()) -> LoadReport:
    """Add the reports of several programs. A figure that one cannot tell is unknown of all; so are
    percentiles, which add up only as histograms."""
    counts = [report.counts for report in reports]
    errors: Counter[str] = Counter()
    for each in counts:
        errors.update(each.errors)
    return LoadReport(
        counts=Counts(
            scheduled=sum(c.scheduled for c in counts),
            unsent=sum(c.unsent for c in counts),
            sent=sum(c.sent for c in counts),
            late=_sum([c.late for c in counts]),
            established=_sum([c.established for c in counts]),
            succeeded=sum(c.succeeded for c in counts),
            errors=dict(sorted(errors.items())),
            in_flight=sum(c.in_flight for c in counts),
        ),
        histograms=Histograms(
            **{
                name: _merged_times([getattr(r.histograms, name) for r in reports])
                for name in Histograms.__struct_fields__
            }
        ),
        replies_in_schedule=sum(r.replies_in_schedule for r in reports),
        schedule_s=max((r.schedule_s for r in reports), default=0.0),
        offered_in_s=max((r.offered_in_s or r.schedule_s for r in reports), default=None)
        if any(r.offered_in_s for r in reports)
        else None,
        complaints=list(complaints),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _merged_times(parts: Sequence[SparseHistogram]) -> SparseHistogram:
    return histogram.merge(parts) if all(parts) else []
