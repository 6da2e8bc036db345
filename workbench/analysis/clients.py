"""What each of several clients did in a run, and how closely they started together."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.analysis import histogram
from workbench.analysis.verdicts import LATE_SHARE, LOST_SHARE
from workbench.documents import ClientPart, Percentiles, PointStop, SparseHistogram
from workbench.messages.base import Stated, share
from workbench.messages.reasons import reason


@dataclass
class ClientSummary:
    machine: str
    points: int = 0
    scheduled: int = 0
    sent: int = 0
    late: int = 0
    unsent: int = 0
    lateness_p99_us: int = 0
    """At its worst point."""
    cpu_pct: float = 0.0
    """Percent of one core: its busiest worker at its busiest point."""
    clock_uncertainty_us: int = 0
    """The largest of all points."""
    ceiling_per_s: float | None = None
    """The highest share of the rate against the null server up to which it always kept its
    schedule; None: not calibrated, or it kept its schedule at no rate."""
    ceiling_is_floor: bool = False
    """It kept its schedule at every tested rate."""


@dataclass
class AllClients:
    clients: list[ClientSummary] = field(default_factory=list)
    skews_us: list[int] = field(default_factory=list)
    """Time between the start of the first and the last client, for each point."""

    def skew(self) -> str:
        """A sentence; empty with fewer than two clients."""
        if len(self.clients) < 2 or not self.skews_us:
            return ""
        middle, most = statistics.median(self.skews_us), max(self.skews_us)
        known = max(client.clock_uncertainty_us for client in self.clients)
        return (
            f"Clients started within {middle / 1000:.2f} ms of each other (median of"
            f" {len(self.skews_us):,} points; at most {most / 1000:.2f} ms; clock uncertainty"
            f" {known / 1000:.2f} ms)."
        )

    def to_data(self) -> dict[str, Any]:
        return {
            "start_skew_ms": {
                "median": statistics.median(self.skews_us) / 1000 if self.skews_us else None,
                "max": max(self.skews_us) / 1000 if self.skews_us else None,
            },
            "clients": [vars(client) for client in self.clients],
        }


def all_clients(points: Sequence[PointStop]) -> AllClients:
    """Over all points of a session, including those against the null server."""
    found: dict[str, ClientSummary] = {}
    for point in points:
        for part in point.clients:
            _add(found.setdefault(part.machine, ClientSummary(part.machine)), part)
    for client in found.values():
        _find_ceiling(client, points)
    together = (point for point in points if len(point.clients) > 1)
    return AllClients(list(found.values()), [point.start_skew_us for point in together])


def _add(client: ClientSummary, part: ClientPart) -> None:
    client.points += 1
    client.scheduled += part.scheduled
    client.sent += part.sent
    client.late += part.late
    client.unsent += part.unsent
    if part.lateness_us:
        client.lateness_p99_us = max(client.lateness_p99_us, part.lateness_us.p99)
    client.cpu_pct = max(client.cpu_pct, part.cpu_pct)
    client.clock_uncertainty_us = max(client.clock_uncertainty_us, part.clock_uncertainty_us)


def _find_ceiling(client: ClientSummary, points: Sequence[PointStop]) -> None:
    rates = sorted(
        (share(part.scheduled, point.counts.scheduled) * point.offered_per_s, _kept(part))
        for point in points
        if point.purpose == "ceiling" and point.complete
        for part in point.clients
        if part.machine == client.machine
    )
    lost = [rate for rate, kept in rates if not kept]
    sustained = [rate for rate, kept in rates if kept and (not lost or rate < lost[0])]
    client.ceiling_per_s = round(sustained[-1], 1) if sustained else None
    client.ceiling_is_floor = bool(sustained and not lost)


def _kept(part: ClientPart) -> bool:
    """Whether it kept its schedule, by the limits that verdicts use."""
    late, unsent = share(part.late, part.sent), share(part.unsent, part.scheduled)
    return late <= LATE_SHARE and unsent <= LOST_SHARE


MEDIAN = 0.1, 200
"""Share of the median, and µs: more than both must be the clients' own to limit it."""
TAIL = 0.5, 2_000
"""The same for p99. In every run on few cores a client waits a millisecond for its core now and
then, and the bound of such waits is generous."""


def client_limited(waits: SparseHistogram, latency: Percentiles | None) -> Stated | None:
    """Return which percentiles of the response time the clients limit, and by how much; None: none.

    `waits`: upper bounds of how long replies waited to be read; those not in it did not. A
    percentile is limited where the bound at the same percentile exceeds a share of it and a time.
    No reply waited for longer than it took.
    """
    if not waits or latency is None:
        return None
    count = sum(waits[1::2])
    whole = [0, max(0, latency.count - count), *waits] if latency.count > count else waits
    of = histogram.percentiles(whole)
    if of is None:
        return None
    p50_us, p99_us = (
        min(wait, time) if wait > max(least_us, share * time) else 0
        for wait, time, (share, least_us) in (
            (of.p50, latency.p50, MEDIAN),
            (of.p99, latency.p99, TAIL),
        )
    )
    return (
        reason("client-limited-times", p50_us=p50_us, p99_us=p99_us) if p50_us or p99_us else None
    )
