"""Why a server stops where it does, from what was seen of its processes while it was the limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.analysis.results import SeriesResult
from workbench.documents import PointStop
from workbench.messages import causes
from workbench.messages.base import Message
from workbench.messages.limits import Limit
from workbench.messages.reasons import reasons_of

FULL_PCT = 92.0
"""Of a core: above it a thread has no time left. The rest goes to wake-ups and the sampler."""

IDLE_PCT = 60.0
"""Of a core: below it CPU time is not what the server lacks."""

TURNS_PCT = 120.0
"""Of a core: up to here, several threads use no more than one; switching between them costs."""

STARVED = 0.2
"""Share of the time that the busiest thread was ready and had no CPU."""

ONE_THREAD = 0.8
"""Share of the tree's CPU time: above it one thread does the work."""

SHORT_OF = 0.1
"""Share of the time that something of the machine waited for memory or disk."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Of the server and its machine over a point."""

    busy_pct: float
    """CPU of the whole process tree, of one core, while the load lasted."""
    cpu_s: float
    seconds: float
    """The whole point, with its ramp and its end."""
    cores: int
    """That it may use."""
    kernel_share: float | None = None
    busiest_s: float | None = None
    """CPU time of its busiest thread; None: not known."""
    starved_s: float = 0.0
    """How long that thread was ready and had no CPU."""
    threads: int = 0
    """That used CPU time."""
    descriptors: int = 0
    """Most that one of its processes had open."""
    nofile: int = 0
    """The limit of each; 0: none is known."""
    backlog: int = 0
    overflows: int = 0
    """Of its accept queue."""
    pressure: Mapping[str, float] = field(default_factory=dict)
    """By resource: share of the time in which something of the machine waited for it."""


def cause(seen: Seen) -> Message | None:
    """The first of the resources that it had used up; None: nothing is known of it.

    What runs out first is named first: a server without descriptors has time left, one that waits
    for memory or a disk has, too, and one whose thread has a whole core lacks nothing but that.
    """
    if not seen.busy_pct or not seen.seconds:
        return None
    tried = (_descriptors, _cores, _one_core, _no_cpu, _machine, _idle)
    return next((found for each in tried if (found := each(seen))), None)


def why_it_stops(series: SeriesResult) -> tuple[PointStop, Message] | None:
    """The lowest point above what it sustains at which the server was the limit, and what it
    lacked there, or which limit of a search it exceeded; None: there is none, or nothing is known
    of it."""
    above = (stop for stop in series.counted if stop.x > (series.knee or 0.0))
    missed = {point for peak in series.peaks for point in peak.missed}
    limits = [s for s in above if s.verdict == "server-limited" or s.point in missed]
    if not limits or not series.axis.has_limit:
        return None
    first = min(limits, key=lambda stop: stop.x)
    reasons = reasons_of(first)
    found = [each for kind in (causes.Cause, Limit) for each in reasons if isinstance(each, kind)]
    named = next(iter(found), None)
    return (first, named) if named else None


def _descriptors(seen: Seen) -> Message | None:
    if not seen.nofile or seen.descriptors < 0.97 * seen.nofile:
        return None
    return causes.DescriptorsUsedUp(opened=seen.descriptors, limit=seen.nofile)


def _cores(seen: Seen) -> Message | None:
    if seen.busy_pct < FULL_PCT * seen.cores:
        return None
    return causes.CoresFull(cores=seen.cores, busy_pct=seen.busy_pct, kernel_pct=_kernel(seen))


def _one_core(seen: Seen) -> Message | None:
    """Of several."""
    if seen.busy_pct < FULL_PCT or seen.busiest_s is None:
        return None
    if seen.busiest_s >= ONE_THREAD * seen.cpu_s:
        return causes.ThreadFull(busy_pct=seen.busy_pct, cores=seen.cores, kernel_pct=_kernel(seen))
    if seen.threads > 1 and seen.busy_pct <= TURNS_PCT:
        return causes.TurnsTaken(threads=seen.threads, busy_pct=seen.busy_pct, cores=seen.cores)
    return None


def _no_cpu(seen: Seen) -> Message | None:
    if seen.starved_s < STARVED * seen.seconds:
        return None
    waited_pct = 100 * seen.starved_s / seen.seconds
    return causes.CpuContended(waited_pct=waited_pct, busy_pct=seen.busy_pct)


def _machine(seen: Seen) -> Message | None:
    memory, disk = (seen.pressure.get(name, 0.0) for name in ("memory", "io"))
    if max(memory, disk) < SHORT_OF:
        return None
    if memory >= SHORT_OF:
        return causes.MachineWaited(resource="memory", pct=100 * memory)
    return causes.MachineWaited(resource="io", pct=100 * disk)


def _idle(seen: Seen) -> Message | None:
    if seen.busy_pct >= IDLE_PCT:
        return None
    if seen.overflows and seen.backlog:
        return causes.NotAccepted(busy_pct=seen.busy_pct, backlog=seen.backlog)
    return causes.Waited(busy_pct=seen.busy_pct)


def _kernel(seen: Seen) -> float | None:
    return None if seen.kernel_share is None else 100 * seen.kernel_share
