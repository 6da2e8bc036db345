"""What a verdict may rest on: figures of one point, of the clients and of the target's kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from workbench.documents import (
    WINDOW_US,
    Counts,
    Percentiles,
    Window,
    client_errors,
    server_errors,
)

BEHIND_SHARE = 0.03
"""Of the calls due: unanswered at the schedule's end, and grown by as much over its second half."""


@dataclass(frozen=True, kw_only=True)
class Queue:
    """Calls due and not yet answered, while the schedule ran."""

    due: int
    replied: int
    open_halfway: int
    """Due, neither answered nor failed, at half the schedule."""
    open_at_end: int

    @property
    def growing(self) -> bool:
        """Did the server answer less than it was asked, with no end in sight?"""
        allowed = BEHIND_SHARE * self.due
        # The second half holds half of what is due.
        return self.open_at_end > allowed and (self.open_at_end - self.open_halfway) > allowed / 2


def queue_of(windows: Iterable[Window], seconds: float) -> Queue | None:
    """From a point's windows and its schedule's length; whole windows only, None: fewer than 2."""
    whole = math.floor(seconds * 1e6 / WINDOW_US + 1e-6)
    if whole < 2:
        return None
    due = replied = still_open = halfway = 0
    for window in windows:
        if window.index >= whole:
            continue
        due += window.due
        replied += window.replies
        still_open += window.due - window.replies - sum(window.errors.values())
        if window.index < whole // 2:
            halfway = still_open
    return Queue(due=due, replied=replied, open_halfway=halfway, open_at_end=still_open)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All a verdict may rest on."""

    server: str
    """Its name, for the sentences."""
    counts: Counts
    seconds: float
    """Of the schedule."""
    offered_per_s: float = 0.0
    """In the plan's unit; 0 in a closed loop."""
    complete: bool = True
    conserved: bool = True
    """Of every worker; see `conserved`."""
    lateness_us: Percentiles | None = None
    client_cpu_pct: float = 0.0
    """Of one core, the busiest worker while the schedule ran."""
    workers: int = 1
    client_cores: int = 1
    """That workers may use."""
    queue: Queue | None = None
    """None: unknown, or a closed loop, which never falls behind."""
    ceiling_per_s: float | None = None
    """The clients' highest rate against the null server; None: not measured."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Kernel counters of the target, by how much they grew over the point."""

    def figures(self) -> dict[str, float]:
        """For `PointStop.evidence`."""
        counts = self.counts
        figures: dict[str, float] = {
            "success_share": share(counts.succeeded, counts.scheduled),
            "unsent_share": share(counts.unsent, counts.scheduled),
            "late_share": self.late_share,
            "server_errors_share": share(server_errors(counts.errors), counts.scheduled),
            "client_errors_share": share(client_errors(counts.errors), counts.scheduled),
            "client_cpu_pct": self.client_cpu_pct,
        }
        if self.lateness_us is not None:
            figures["lateness_p99_us"] = self.lateness_us.p99
        if self.queue is not None:
            figures["open_halfway"] = self.queue.open_halfway
            figures["open_at_end"] = self.queue.open_at_end
        if self.ceiling_per_s is not None:
            figures["ceiling_per_s"] = self.ceiling_per_s
        return {name: float(value) for name, value in (figures | dict(self.counters)).items()}

    @property
    def late_share(self) -> float:
        """Of the connections started."""
        started = self.lateness_us.count if self.lateness_us else self.counts.sent
        return min(1.0, share(self.counts.late, started))


def conserved(counts: Counts) -> bool:
    """The audit: every call scheduled is accounted for, exactly once."""
    parts = [counts.unsent, counts.succeeded, counts.in_flight, *counts.errors.values()]
    return counts.scheduled == sum(parts) and min(parts) >= 0


def share(part: int, whole: int) -> float:
    """part / whole; 0 of nothing."""
    return part / whole if whole > 0 else 0.0
