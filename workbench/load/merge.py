"""A point divided among programs, and the windows and totals of many workers merged: by adding
counts, never by averaging."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec

from workbench.analysis import histogram
from workbench.analysis.evidence import Fault
from workbench.documents import ClientPart, Counts, Errors, Histograms, SparseHistogram
from workbench.load.base import LoadReport, LoadWindow, PointSpec, RequestPart, TlsPart
from workbench.load.events import Done, Window
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


_SUMMED = ("due", "sent", "late", "established", "replies", "in_flight")


class WindowMerger:
    """Collects the windows of `parts` workers and passes on each index in order, once complete.

    A worker sends its windows in order. One that is past an index, because it lost that window or
    has ended, contributes nothing to it and is not waited for.
    """

    def __init__(self, parts: Iterable[Hashable], on_window: Callable[[LoadWindow], None]) -> None:
        self._reached = dict.fromkeys(parts, -1)
        """The last index of every worker that runs."""
        self._on_window = on_window
        self._waiting: defaultdict[int, list[Window]] = defaultdict(list)

    def add(self, part: Hashable, window: Window) -> None:
        self._reached[part] = window.i
        self._waiting[window.i].append(window)
        self._hand_on()

    def ended(self, part: Hashable) -> None:
        """Note that `part` sends no more windows."""
        self._reached.pop(part, None)
        self._hand_on()

    def _hand_on(self) -> None:
        whole = min(self._reached.values(), default=math.inf)
        for index in sorted(index for index in self._waiting if index <= whole):
            self._on_window(merge_windows(index, self._waiting.pop(index)))


def merge_windows(index: int, windows: Sequence[Window]) -> LoadWindow:
    """Merge the workers' windows of the same index."""
    return LoadWindow(
        index=index,
        errors=_errors(windows),
        latency=histogram.merge(w.latency for w in windows),
        service=histogram.merge(w.service for w in windows),
        pending=_pending(windows),
        pending_within=round(sum(w.pending_within for w in windows), 4),
        **{name: sum(getattr(w, name) for w in windows) for name in _SUMMED},
    )


def merge_reports(reports: Sequence[Done], complaints: list[Message]) -> LoadReport:
    """Merge the workers' totals into a point's result."""
    if not reports:
        return LoadReport(
            counts=Counts(scheduled=0, unsent=0, sent=0, late=0, established=0, succeeded=0),
            histograms=Histograms(),
            replies_in_schedule=0,
            client_cpu_pct=0.0,
            client_cpu_s=0.0,
            conserved=True,
            schedule_s=0.0,
            complaints=complaints,
        )
    ends = [r.at_schedule_end for r in reports]
    return LoadReport(
        counts=Counts(
            scheduled=sum(r.due for r in reports),
            unsent=sum(r.unsent for r in reports),
            sent=sum(r.sent for r in reports),
            late=sum(r.late for r in reports),
            established=sum(r.established for r in reports),
            succeeded=sum(r.replies for r in reports),
            errors=_errors(reports),
            in_flight=sum(r.in_flight for r in reports),
        ),
        histograms=Histograms(
            **{
                name: histogram.merge(getattr(r.histograms, name) for r in reports)
                for name in ("latency", "service", "connect", "first_byte", "lateness")
            }
        ),
        elsewhere=dict(sum((Counter(r.elsewhere) for r in reports), Counter())),
        waits=histogram.merge(r.waits for r in reports),
        replies_in_schedule=sum(end.replies for end in ends),
        client_cpu_pct=max(100.0 * end.cpu_us / end.wall_us for end in ends),
        client_cpu_s=sum(r.cpu_us for r in reports) / 1e6,
        conserved=all(_conserved(r) for r in reports),
        schedule_s=max(end.wall_us for end in ends) / 1e6,
        complaints=complaints,
        faults=_faults(reports),
        figures=_figures(reports),
        requests=_requests(reports),
        tls=_tls(reports),
    )


def client_part(machine: str, reports: Sequence[Done], clock_uncertainty_us: int) -> ClientPart:
    """Return the part of a point that the workers of one client had."""
    ends = [r.at_schedule_end for r in reports]
    merged = {
        name: histogram.merge(getattr(r.histograms, name) for r in reports)
        for name in ("lateness", "latency", "service")
    }
    return ClientPart(
        machine=machine,
        scheduled=sum(r.due for r in reports),
        sent=sum(r.sent for r in reports),
        late=sum(r.late for r in reports),
        unsent=sum(r.unsent for r in reports),
        cpu_pct=round(max(100.0 * end.cpu_us / end.wall_us for end in ends), 2),
        cpu_s=sum(r.cpu_us for r in reports) / 1e6,
        **{f"{name}_us": histogram.percentiles(each) for name, each in merged.items()},
        latency_mean_us=histogram.mean(merged["latency"]),
        began_late_us=max(r.began_late_us for r in reports),
        clock_uncertainty_us=clock_uncertainty_us,
    )


def _pending(windows: Sequence[Window]) -> float | None:
    """Return the sum; None: a worker does not count them."""
    known = [w.pending for w in windows if w.pending is not None]
    return round(sum(known), 4) if len(known) == len(windows) else None


def _errors(parts: Sequence[Window | Done]) -> Errors:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part.errors)
    return dict(sorted(total.items()))


def _figures(reports: Sequence[Done]) -> dict[str, int]:
    names = {name for report in reports for name in report.figures}
    return {
        name: (max if name.endswith("_us") else sum)(r.figures.get(name, 0) for r in reports)
        for name in sorted(names)
    }


def _faults(reports: Sequence[Done]) -> dict[str, Fault]:
    """Return the first fault of each kind, with their total number."""
    found: dict[str, Fault] = {}
    for name, fault in (item for report in reports for item in report.faults.items()):
        known = found.get(name, fault)
        first = min(known, fault, key=lambda each: each.first_us)
        count = fault.connections + (known.connections if name in found else 0)
        found[name] = msgspec.structs.replace(first, connections=count)
    return found


def _tls(reports: Sequence[Done]) -> TlsPart | None:
    known = [report.tls for report in reports if report.tls]
    agreed = [each for each in known if each.version] or known
    if not agreed:
        return None
    return TlsPart(
        version=agreed[0].version,
        cipher=agreed[0].cipher,
        handshakes=sum(each.handshakes for each in known),
        resumed=sum(each.resumed for each in known),
    )


def _requests(reports: Sequence[Done]) -> list[RequestPart]:
    each = zip(*(report.requests for report in reports), strict=False)
    return [
        RequestPart(
            replies=sum(part.replies for part in parts),
            failed=sum(part.failed for part in parts),
            latency=histogram.merge(part.latency for part in parts),
        )
        for parts in each
    ]


def _conserved(report: Done) -> bool:
    accounted = report.unsent + report.replies + report.in_flight
    return bool(report.due == accounted + sum(report.errors.values()))
