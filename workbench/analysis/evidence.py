"""What a verdict may rest on: figures of one point, of the clients and of the target's kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from workbench.agent.protocol import EXAMPLE
from workbench.analysis.phases import Steady
from workbench.documents import (
    WINDOW_US,
    Counts,
    Percentiles,
    Window,
    client_errors,
    server_errors,
)
from workbench.shapes import Whole

SUSTAINED_SHARE = 0.99
"""Share of attempts that must succeed for a rate to be held."""

SHORTEST_S = 1.0
"""Five windows: a shorter schedule has no steady part to measure."""

FEWEST_SAMPLES = 100
"""Calls of a point; fewer cannot tell 99 % from 98 %."""

BEHIND_SHARE = 0.03
"""Of the connections due: open at the schedule's end, and as many more than halfway through."""

IN_TIME_SHARE = 0.9
"""Of the calls due in the measured part: a server that keeps up answers nearly all in it, for those
of the ramp come in their stead."""


@dataclass(frozen=True, kw_only=True)
class Queue:
    """What piled up at the server while the schedule ran. Connections the clients never started
    are not in it."""

    due: int
    """Calls."""
    replied: int
    """Calls."""
    connections: int
    """Due."""
    open_halfway: int
    """Connections open at half the schedule."""
    open_at_end: int
    steady_share: float = 1.0
    """Of the calls due in the measured part, answered in it."""

    @property
    def growing(self) -> bool:
        """Did the server end fewer connections than were opened, with no end in sight?"""
        allowed = BEHIND_SHARE * self.connections
        growth = self.open_at_end - self.open_halfway
        # Two counts of a steady queue differ by chance, too; less is enough where the replies of
        # the measured part show it as well, for few connections of many calls tell little.
        sigmas = 1 if self.steady_share < IN_TIME_SHARE else 3
        chance = sigmas * math.sqrt(self.open_at_end + self.open_halfway)
        # The second half holds half of what is due.
        return self.open_at_end > allowed and growth > max(allowed / 2, chance)


def queue_of(
    windows: Iterable[Window],
    seconds: float,
    *,
    calls_per_connection: int = 1,
    think_time_s: float = 0.0,
    steady: Steady | None = None,
) -> Queue | None:
    """From a point's windows and its schedule's length; only windows that lie in it count.
    `steady`: its measured part.

    None: it cannot be told, because the schedule holds fewer than two windows, or because thinking
    alone keeps a connection open for more than half of it.
    """
    whole = math.floor(seconds * 1e6 / WINDOW_US + 1e-6)
    if whole < 2 or (calls_per_connection - 1) * think_time_s > seconds / 2:
        return None
    inside = [window for window in windows if window.index < whole]
    open_at = {window.index: window.in_flight for window in inside}
    due = sum(window.due for window in inside)
    return Queue(
        due=due,
        replied=sum(window.replies for window in inside),
        connections=due // calls_per_connection,
        open_halfway=open_at.get(whole // 2 - 1, 0),
        open_at_end=open_at.get(whole - 1, 0),
        steady_share=share(steady.replies, steady.due) if steady and steady.due else 1.0,
    )


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Unexpected replies of one kind; see `agent.tally.Fault`."""

    connections: Whole
    first_us: Whole
    """Of the first one, from the point's start."""
    answered: Whole
    """Calls of its connection before it."""
    received: Whole
    """Bytes of it."""
    example: Annotated[str, msgspec.Meta(max_length=EXAMPLE)]
    """The first of them, each as the character of that number."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All a verdict may rest on."""

    counts: Counts
    seconds: float
    """Of the schedule."""
    offered_per_s: float = 0.0
    """In the plan's unit; 0 in a closed loop."""
    complete: bool = True
    conserved: bool | None = True
    """Of every worker; see `conserved`. None: the load tool does not account for every call."""
    lateness_us: Percentiles | None = None
    client_cpu_pct: float | None = 0.0
    """Of one core, the busiest worker while the schedule ran. None: unknown."""
    timeout_s: float = 0.0
    """After which a call counts as lost; 0: unknown."""
    workers: int = 1
    client_cores: int = 1
    """That workers may use."""
    queue: Queue | None = None
    """None: unknown, or a closed loop, which never falls behind."""
    ceiling_per_s: float | None = None
    """The clients' highest rate against the null server; None: not measured."""
    ceiling_others_pct: float = 0.0
    """Of one core: what other programs took while that was looked for."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Kernel counters of the target, by how much they grew over the point."""
    resent_by_clients: int = 0
    """Segments of TCP that machines other than the target sent again."""
    link_lost_share: float = 0.0
    """Of the segments between a client and the target, when the links were checked before the run;
    the worst link."""
    connect_us: Percentiles | None = None
    """Of the connections that were established."""
    others_cpu_pct: float | None = 0.0
    """Of one core: what other programs took, at least, on the cores of server and clients. None:
    unknown."""
    loopback: bool = False
    """Server and clients share a machine, and no network lies between them."""
    server_cpu_pct: float | None = None
    """Of one core, its process tree. None: nobody looked, nor were `counters` read."""
    calls_per_connection: int = 1
    reply_known: bool = True
    """What the server has to answer. Otherwise a 4xx may be all that there is to answer."""
    faults: Mapping[str, Fault] = field(default_factory=dict)
    """By error; empty where the load tool reports none."""
    clean_per_s: float | None = None
    """Calls that the server answered per second at the next lower rate. None: there is none, or
    replies were wrong there, too."""
    faulty_before: Set[str] = frozenset()
    """Errors of which the server was found faulty at a lower rate."""

    def figures(self) -> dict[str, float]:
        """For `PointStop.evidence`."""
        counts = self.counts
        figures: dict[str, float] = {
            "success_share": share(counts.succeeded, counts.scheduled),
            "unsent_share": share(counts.unsent, counts.scheduled),
            "server_errors_share": share(server_errors(counts.errors), counts.scheduled),
            "client_errors_share": share(client_errors(counts.errors), counts.scheduled),
        }
        if self.others_cpu_pct is not None:
            figures["others_cpu_pct"] = self.others_cpu_pct
        if self.late_share is not None:
            figures["late_share"] = self.late_share
        if self.client_cpu_pct is not None:
            figures["client_cpu_pct"] = self.client_cpu_pct
        if self.lateness_us is not None:
            figures["lateness_p99_us"] = self.lateness_us.p99
        if self.link_lost_share:
            figures["link_lost_share"] = self.link_lost_share
        if self.resent_by_clients:
            figures["resent_by_clients"] = self.resent_by_clients
        if self.queue is not None:
            figures["open_halfway"] = self.queue.open_halfway
            figures["open_at_end"] = self.queue.open_at_end
        if self.server_cpu_pct is not None:
            figures["server_cpu_pct"] = self.server_cpu_pct
        if self.clean_per_s is not None:
            figures["clean_per_s"] = self.clean_per_s
        if self.ceiling_per_s is not None:
            figures["ceiling_per_s"] = self.ceiling_per_s
            figures["ceiling_others_pct"] = self.ceiling_others_pct
        return {name: float(value) for name, value in (figures | dict(self.counters)).items()}

    @property
    def sustained(self) -> bool:
        """Did at least 99 % of the calls succeed?"""
        return share(self.counts.succeeded, self.counts.scheduled) >= SUSTAINED_SHARE

    @property
    def late_share(self) -> float | None:
        """Of the connections started; None: unknown."""
        if self.counts.late is None:
            return None
        started = self.lateness_us.count if self.lateness_us else self.counts.sent
        return min(1.0, share(self.counts.late, started))


def conserved(counts: Counts) -> bool:
    """The audit: every call scheduled is accounted for, exactly once."""
    parts = [counts.unsent, counts.succeeded, counts.in_flight, *counts.errors.values()]
    return counts.scheduled == sum(parts) and min(parts) >= 0


def share(part: int, whole: int) -> float:
    """part / whole; 0 of nothing."""
    return part / whole if whole > 0 else 0.0
