"""A point divided among programs; windows and totals of many workers merged by adding counts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from workbench.analysis import histogram
from workbench.analysis.evidence import Fault, conserved
from workbench.documents import ClientPart, Counts, Errors, Histograms
from workbench.load.base import LoadReport, OnWindow, PointSpec
from workbench.load.events import Done, LoadWindow, RequestPart, TlsPart
from workbench.messages.base import Said
from workbench.remote.agent.schedule import share_of

N = TypeVar("N", int, float)


def shared(spec: PointSpec, parts: int) -> list[PointSpec]:
    """Divide a point among programs, as equally as whole connections allow; none is without one."""
    if spec.mode == "closed":
        parts = min(parts, spec.concurrency)
    elif spec.connections:
        parts = min(parts, spec.connections)
    divided = []
    for n in range(parts):
        connections = share_of(spec.connections, n, parts)
        # In proportion, so that all end together.
        portion = connections / spec.connections if spec.connections else 1 / parts
        part = replace(
            spec,
            # 0: the tool decides, which is not what a small share means.
            concurrency=max(share_of(spec.concurrency, n, parts), min(spec.concurrency, 1)),
            connections=connections,
            rate_per_s=spec.rate_per_s * portion,
            seed=spec.seed + n,
        )
        divided.append(part)
    return divided


def merged(reports: Sequence[LoadReport], complaints: Sequence[Said] = ()) -> LoadReport:
    """Add reports. A figure or percentile that one cannot tell is unknown of all."""
    return LoadReport(
        counts=_added([report.counts for report in reports]),
        histograms=Histograms(
            **{
                name: histogram.merge(each) if all(each) else []
                for name in Histograms.__struct_fields__
                for each in [[getattr(r.histograms, name) for r in reports]]
            }
        ),
        replies_in_schedule=sum(r.replies_in_schedule for r in reports),
        schedule_s=max((r.schedule_s for r in reports), default=0.0),
        offered_in_s=max((r.offered_in_s or r.schedule_s for r in reports), default=None)
        if any(r.offered_in_s for r in reports)
        else None,
        complaints=list(complaints),
    )


def _added(parts: Sequence[Counts]) -> Counts:
    known = ("scheduled", "unsent", "sent", "succeeded", "in_flight")
    return Counts(
        errors=_errors(parts),
        late=_sum([c.late for c in parts]),
        established=_sum([c.established for c in parts]),
        **{name: sum(getattr(c, name) for c in parts) for name in known},
    )


def _sum(values: Sequence[N | None]) -> N | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


_SUMMED = ("due", "sent", "late", "established", "replies", "in_flight")


class WindowMerger:
    """Collects the windows of all workers, passes on each index in order, once complete. A worker
    that is past an index, because it lost that window, or has ended is not waited for."""

    def __init__(self, workers: Iterable[tuple[str, int]], on_window: OnWindow) -> None:
        self.reached = dict.fromkeys(workers, -1)
        """The last window of each that has not ended, by client and number."""
        self._on_window = on_window
        self._waiting: defaultdict[int, list[LoadWindow]] = defaultdict(list)

    def add(self, worker: tuple[str, int], window: LoadWindow) -> None:
        self.reached[worker] = window.index
        self._waiting[window.index].append(window)
        self._hand_on()

    def ended(self, worker: tuple[str, int]) -> None:
        self.reached.pop(worker, None)
        self._hand_on()

    def _hand_on(self) -> None:
        whole = min(self.reached.values(), default=math.inf)
        for index in sorted(index for index in self._waiting if index <= whole):
            self._on_window(merge_windows(index, self._waiting.pop(index)))


def merge_windows(index: int, windows: Sequence[LoadWindow]) -> LoadWindow:
    pending = _sum([w.pending for w in windows])
    return LoadWindow(
        index=index,
        errors=_errors(windows),
        latency=histogram.merge(w.latency for w in windows),
        service=histogram.merge(w.service for w in windows),
        pending=None if pending is None else round(pending, 4),
        pending_within=round(sum(w.pending_within for w in windows), 4),
        **{name: sum(getattr(w, name) for w in windows) for name in _SUMMED},
    )


def merge_reports(reports: Sequence[Done], complaints: list[Said]) -> LoadReport:
    ends = [r.at_schedule_end for r in reports]
    return LoadReport(
        counts=_added([r.counts for r in reports]),
        histograms=Histograms(
            **{
                name: histogram.merge(getattr(r.histograms, name) for r in reports)
                for name in Histograms.__struct_fields__
            }
        ),
        elsewhere=dict(sum((Counter(r.elsewhere) for r in reports), Counter())),
        waits=histogram.merge(r.waits for r in reports),
        replies_in_schedule=sum(end.replies for end in ends),
        client_cpu_pct=max((100.0 * end.cpu_us / end.wall_us for end in ends), default=0.0),
        client_cpu_s=sum(r.cpu_us for r in reports) / 1e6,
        conserved=all(conserved(r.counts) for r in reports),
        schedule_s=max((end.wall_us for end in ends), default=0) / 1e6,
        complaints=complaints,
        faults=_faults(reports),
        figures=_figures(reports),
        requests=_requests(reports),
        tls=_tls(reports),
    )


def client_part(machine: str, reports: Sequence[Done], clock_uncertainty_us: int) -> ClientPart:
    return part(
        machine,
        merge_reports(reports, []),
        began_late_us=max(r.began_late_us for r in reports),
        clock_uncertainty_us=clock_uncertainty_us,
    )


def part(machine: str, report: LoadReport, **more: Any) -> ClientPart:
    """Return the part of a point that one client had; `more`: its other fields."""
    counts, times = report.counts, report.histograms
    return ClientPart(
        machine=machine,
        cpu_pct=round(report.client_cpu_pct or 0.0, 2),
        cpu_s=report.client_cpu_s or 0.0,
        scheduled=counts.scheduled,
        sent=counts.sent,
        late=counts.late or 0,
        unsent=counts.unsent,
        lateness_us=histogram.percentiles(times.lateness),
        latency_us=histogram.percentiles(times.latency),
        service_us=histogram.percentiles(times.service),
        latency_mean_us=histogram.mean(times.latency),
        **more,
    )


def _errors(parts: Sequence[LoadWindow | Counts]) -> Errors:
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
