"""The evidence for a verdict: figures of one point, of the clients and of the target's kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Annotated

import msgspec

from workbench.analysis import histogram
from workbench.analysis.phases import Steady
from workbench.analysis.starts import Started, alike
from workbench.documents import (
    WINDOW_US,
    Counts,
    Percentiles,
    Window,
    client_errors,
    server_errors,
    timed_out,
)
from workbench.messages.base import share
from workbench.remote.agent.protocol import EXAMPLE
from workbench.shapes import Whole

SUSTAINED_SHARE = 0.99
"""Share of attempts that must succeed for a rate to be sustained."""

SHORTEST_S = 1.0
"""Five windows: a shorter schedule has no steady part to measure."""

FEWEST_SAMPLES = 100
"""Calls per point; fewer cannot distinguish 99 % from 98 %."""

BEHIND_SHARE = 0.03
"""Share of the scheduled connections: a queue is growing if more are open at the end of the
schedule, and half as many more than halfway through. After a long ramp the time is shorter, so that
this asks for more growth."""

OFFERED_SHARE = 0.9
"""Share of the plan's rate that load tools which keep rates only roughly must offer."""

LEVELLING = 0.75
"""Growth of the number of open connections, against that of the third of the schedule before, up to
which it levels off. That of a queue at a server at its limit grows linearly."""

IN_TIME_SHARE = 0.9
"""Share of the calls scheduled in the measured part. A server that keeps up answers nearly as many
in it, because calls of the ramp take the place of those still open."""


@dataclass(frozen=True, kw_only=True)
class Queue:
    """The backlog of work at the server while the schedule ran, of connections that started."""

    due: int
    """Scheduled calls."""
    replied: int
    connections: int
    """Scheduled connections."""
    open_halfway: int
    """Connections open halfway through the schedule, or after a ramp that takes longer."""
    open_at_end: int
    steady_share: float = 1.0
    """Share of the calls scheduled in the measured part that were answered in it."""
    stay_s: float = 0.0
    """How long response times keep a connection open (p99), if they alone explain why more are open
    at the end: calls take as long, whenever they began. 0: they do not."""
    needed_s: float = 0.0
    """Length of a point long enough for such response times."""

    @property
    def growing(self) -> bool:
        """Whether connections opened faster than the server finished them, with no end in sight."""
        if self.stay_s:
            return False
        allowed = BEHIND_SHARE * self.connections
        growth = self.open_at_end - self.open_halfway
        # Two counts of a steady queue also differ by chance. Less growth is enough where the
        # replies of the measured part confirm it, because a few connections with many calls are
        # weak evidence.
        sigmas = 1 if self.steady_share < IN_TIME_SHARE else 3
        chance = sigmas * math.sqrt(self.open_at_end + self.open_halfway)
        # The second half has half of the schedule.
        return self.open_at_end > allowed and growth > max(allowed / 2, chance)


def queue_of(
    windows: Iterable[Window],
    seconds: float,
    *,
    calls_per_connection: int = 1,
    ramp_s: float = 0.0,
    steady: Steady | None = None,
) -> Queue | None:
    """The queue over a point's schedule of `seconds`; windows after it are ignored. `steady`: the
    point's measured part. `ramp_s`: how long think time alone keeps connections open. The ramp also
    includes the time a server takes for its replies: until then open connections are no backlog.

    None: unknown, because the schedule has fewer than two windows, or ends less than a second
    after a ramp that takes more than half of it.
    """
    windows = list(windows)
    whole = math.floor(seconds * 1e6 / WINDOW_US + 1e-6)
    ramp_s += calls_per_connection * _quickest_s(windows)
    ramp = math.ceil(ramp_s * 1e6 / WINDOW_US - 1e-6)
    halfway = max(whole // 2, ramp)
    if whole < 2 or (ramp > whole // 2 and seconds - ramp_s < SHORTEST_S):
        return None
    inside = [window for window in windows if window.index < whole]
    open_at = {window.index: window.in_flight for window in inside}
    due = sum(window.due for window in inside)
    queue = Queue(
        due=due,
        replied=sum(window.replies for window in inside),
        connections=due // calls_per_connection,
        open_halfway=open_at.get(halfway - 1, 0),
        open_at_end=open_at.get(whole - 1, 0),
        steady_share=share(steady.replies, steady.due) if steady and steady.due else 1.0,
    )
    if _levels_off([open_at.get(whole * n // 3 - 1, 0) for n in (1, 2, 3)]):
        return _explained(queue, windows, seconds, calls_per_connection)
    return queue


def _levels_off(opened: Sequence[int]) -> bool:
    """Whether the last third added fewer connections. `opened`: at the end of each third."""
    first, second, last = opened
    return last - second <= LEVELLING * (second - first)


def _explained(queue: Queue, windows: Sequence[Window], seconds: float, calls: int) -> Queue:
    """By Little's law, with response times that scatter, ever more connections are open until the
    longest ones end. Then their number levels off, and calls take as long whenever they began; if
    a queue grows, later ones take longer. For how long calls that time out would have taken is
    unknown.
    """
    unknown = sum(timed_out(window.errors) for window in windows)
    if not queue.growing or unknown > (1 - SUSTAINED_SHARE) * queue.due:
        return queue
    started = Started.of((window.middle_s, window.latency) for window in windows)
    # Servers warm up in the first third.
    if not alike(started, seconds / 3, seconds):
        return queue
    stay_s = calls * started.percentile_s(0.99)
    mean_s = calls * float(started.took_s @ started.counts) / started.total
    # Then none is left of the first half, and `IN_TIME_SHARE` of the calls are answered.
    needed_s = max(2 * stay_s, mean_s / (1 - IN_TIME_SHARE))
    return replace(queue, stay_s=stay_s, needed_s=needed_s)


def _quickest_s(windows: Iterable[Window]) -> float:
    """Response time of the quickest reply, which waited for no queue or stall; 0: unknown."""
    merged = histogram.merge(window.service for window in windows)
    return histogram.bucket_bounds(merged[0])[1] / 1e6 if merged else 0.0


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Unexpected replies of one kind; see `agent.tally.Tally.lose`."""

    connections: Whole
    first_us: Whole
    """When the first one came, from the point's start."""
    answered: Whole
    """Calls answered on its connection before it."""
    received: Whole
    """Bytes received of it."""
    example: Annotated[str, msgspec.Meta(max_length=EXAMPLE)]
    """The first of these bytes, each as the character of that number."""
    why: Annotated[str, msgspec.Meta(max_length=EXAMPLE)] = ""
    """It is malformed; empty: not known, or not the reason."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    counts: Counts
    seconds: float
    """Length of the schedule."""
    offered_per_s: float = 0.0
    """In the plan's unit; 0 in a closed loop."""
    planned_per_s: float = 0.0
    """The same as planned, where the load tool keeps rates only roughly; 0: it keeps them."""
    closed: bool = False
    complete: bool = True
    exit_status: int | None = None
    """Of a server that ended by itself; negative: the signal. None: it runs, or nobody watches."""
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    """Requests that went to another host and port, by that."""
    requests: int = 0
    """Of which it is known where they went."""
    uncounted: int = 0
    """Workers of which that is not known."""
    least_cpu_s: float = 0.0
    """CPU time that no server can do with for its replies; 0: unknown."""
    conserved: bool | None = True
    """For every worker; see `conserved`. None: the load tool does not account for every call."""
    lateness_us: Percentiles | None = None
    client_cpu_pct: float | None = 0.0
    """Percent of one core: the busiest worker while the schedule ran. None: unknown."""
    latency_us: Percentiles | None = None
    """From the scheduled time."""
    p99_limit_ms: float | None = None
    """Of the workload; None: it has none."""
    timeout_s: float = 0.0
    """A call not answered by then has failed; 0: unknown."""
    most_open: int = 0
    """Connections that one worker may have open because of the load tool alone; 0: no limit."""
    workers: int = 1
    client_cores: int = 1
    queue: Queue | None = None
    """None: unknown (see `queue_of`), or a closed loop, which cannot fall behind."""
    rise_s: tuple[float, float] | None = None
    """Median service times at the beginning and at the end of a point in which they rise
    throughout; see `analysis.starts`. None: they do not, or it is unknown."""
    ceiling_per_s: float | None = None
    """The clients' highest rate against the null server; None: not measured."""
    ceiling_others_pct: float = 0.0
    """Background load during calibration, in percent of one core."""
    counters: Mapping[str, int] = field(default_factory=dict)
    """Increments of the target's kernel counters over the point."""
    resent_by_clients: int = 0
    """TCP segments retransmitted by machines other than the target."""
    link_lost_share: float = 0.0
    """Share of segments that the worst link to the target lost before the run."""
    connect_us: Percentiles | None = None
    """Connect times of the connections that were established."""
    others_cpu_pct: float | None = 0.0
    """Lower bound, in percent of one core, of what other programs took. None: unknown."""
    stolen_cpu_pct: float = 0.0
    """The part of it that the host of a virtual machine gave to others."""
    loopback: bool = False
    """Server and clients share a machine, with no network between them."""
    server_cpu_pct: float | None = None
    """Its process tree, in percent of one core. None: not sampled, nor were `counters`."""
    calls_per_connection: int = 1
    clients: Mapping[str, Percentiles] = field(default_factory=dict)
    """Service times by client; empty where the load tool reports none."""
    faults: Mapping[str, Fault] = field(default_factory=dict)
    """By error; empty where the load tool reports none."""
    clean_per_s: float | None = None
    """Calls answered per second at the next lower rate. None: it was faulty too, or is none."""
    faulty_before: Set[str] = frozenset()
    """Errors for which the server was found faulty at a lower rate."""

    def figures(self) -> dict[str, float]:
        """For `PointStop.evidence`."""
        counts, queue, known = self.counts, self.queue, self.ceiling_per_s is not None
        figures: dict[str, float | None] = {
            "success_share": share(counts.succeeded, counts.scheduled),
            "unsent_share": share(counts.unsent, counts.scheduled),
            "server_errors_share": share(server_errors(counts.errors), counts.scheduled),
            "client_errors_share": share(client_errors(counts.errors), counts.scheduled),
            "others_cpu_pct": self.others_cpu_pct,
            "stolen_cpu_pct": self.stolen_cpu_pct or None,
            "late_share": self.late_share,
            "client_cpu_pct": self.client_cpu_pct,
            "lateness_p99_us": self.lateness_us.p99 if self.lateness_us else None,
            "link_lost_share": self.link_lost_share or None,
            "resent_by_clients": self.resent_by_clients or None,
            "open_halfway": queue.open_halfway if queue else None,
            "open_at_end": queue.open_at_end if queue else None,
            "server_cpu_pct": self.server_cpu_pct,
            "clean_per_s": self.clean_per_s,
            "ceiling_per_s": self.ceiling_per_s,
            "ceiling_others_pct": self.ceiling_others_pct if known else None,
            **self.counters,
        }
        return {name: float(value) for name, value in figures.items() if value is not None}

    @property
    def sustained(self) -> bool:
        """Whether at least 99 % of the calls succeeded."""
        return share(self.counts.succeeded, self.counts.scheduled) >= SUSTAINED_SHARE

    @property
    def too_short_for(self) -> float:
        """For how many seconds replies keep a connection open (median, or p99 where they scatter),
        where the point is too short to show whether a queue grows; else 0."""
        if self.queue is not None:
            return self.queue.stay_s
        if self.closed or self.latency_us is None:
            return 0.0
        stay_s = self.calls_per_connection * self.latency_us.p50 / 1e6
        return stay_s if stay_s > self.seconds / 2 else 0.0

    @property
    def late_share(self) -> float | None:
        """Share of the started connections that were late; None: unknown, or a closed loop, whose
        connections all begin at once."""
        if self.counts.late is None or self.closed:
            return None
        # Calls of a late connection all count as late.
        late, calls = self.counts.late, self.counts.sent
        if self.lateness_us:
            calls = self.lateness_us.count * self.calls_per_connection
        return min(1.0, share(late, calls))


def conserved(counts: Counts) -> bool:
    """Whether every scheduled call is accounted for exactly once."""
    parts = [counts.unsent, counts.succeeded, counts.in_flight, *counts.errors.values()]
    return counts.scheduled == sum(parts) and min(parts) >= 0
