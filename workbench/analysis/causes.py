"""Why a server stops where it does, from what was seen of its processes while it was the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.analysis.results import SeriesResult
from workbench.documents import PointStop
from workbench.messages import causes
from workbench.messages.base import Message
from workbench.messages.limits import Limit
from workbench.messages.reasons import reasons_of

SERVICES = {
    "5432": "PostgreSQL",
    "3306": "MySQL",
    "1433": "SQL Server",
    "1521": "Oracle",
    "27017": "MongoDB",
    "6379": "Redis",
    "11211": "memcached",
    "9042": "Cassandra",
    "9200": "Elasticsearch",
    "5672": "RabbitMQ",
    "9092": "Kafka",
}
"""By their usual port (IANA's registry of service names, or the projects' own documentation)."""

DATABASES = {
    "postgres": "PostgreSQL",
    "mysqld": "MySQL",
    "mariadbd": "MariaDB",
    "mongod": "MongoDB",
    "redis-server": "Redis",
    "memcached": "memcached",
}
"""By the name of their program."""

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

THROTTLED = 0.1
"""Share of the time in which a quota kept the server from running."""

COLLECTING = 0.3
"""Share of the CPU time that went to threads which collect garbage."""

ELSEWHERE = 0.5
"""Share of the CPU time that a database in the server's own process tree took."""

MOSTLY = 0.5
"""Of the threads that work: so many waited for the same thing."""

ANSWERED_LATE = 0.6
"""Of the connections to a database or service that are in use, and of the samples: in which an
answer was waited for."""

SHORT_OF = 0.1
"""Share of the time that something of the machine waited for memory or disk."""


@dataclass(frozen=True)
class Upstream:
    """Somebody whom a server asks: a database, another service."""

    address: str
    connections: float
    """In use, mean of the samples."""
    share: float
    """Of them, that waited for an answer."""
    present: float
    """Share of the samples in which one did."""


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
    waits: Mapping[str, float] = field(default_factory=dict)
    """By what for: threads that waited, on average; see `machines.waiting`."""
    upstreams: Sequence[Upstream] = ()
    """Whom it asked, those it waited for the most first."""
    opened: float = 0.0
    """Connections open, on average."""
    programs: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds by the name of a program in its process tree."""
    collectors_s: float = 0.0
    """CPU time of its threads that collect garbage."""
    throttled_s: float | None = None
    """How long a quota of CPU time kept it from running; None: it has none."""


def cause(seen: Seen) -> Message | None:
    """The first of the resources that it had used up; None: nothing is known of it.

    What runs out first is named first: a server without descriptors or quota has time left, one
    without memory may spend its time on finding some, one whose thread has a whole core lacks
    nothing but that, and one that has time waits for something.
    """
    if not seen.busy_pct or not seen.seconds:
        return None
    tried = (
        *(_descriptors, _quota, _memory, _collector, _database_here, _cores, _one_core),
        *(_answer, _threads, _no_cpu, _disk, _idle),
    )
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


def _quota(seen: Seen) -> Message | None:
    """Of its control group: a container, a unit of systemd."""
    if (seen.throttled_s or 0.0) < THROTTLED * seen.seconds:
        return None
    throttled_pct = 100 * min(1.0, (seen.throttled_s or 0.0) / seen.seconds)
    return causes.CpuQuota(throttled_pct=throttled_pct, busy_pct=seen.busy_pct)


def _collector(seen: Seen) -> Message | None:
    if not seen.cpu_s or seen.collectors_s < COLLECTING * seen.cpu_s:
        return None
    collecting_pct = 100 * min(1.0, seen.collectors_s / seen.cpu_s)
    return causes.GarbageCollected(collecting_pct=collecting_pct, busy_pct=seen.busy_pct)


def _database_here(seen: Seen) -> Message | None:
    """One that belongs to the server and uses its cores."""
    name = next((name for name in seen.programs if name in DATABASES), "")
    if seen.busy_pct < IDLE_PCT or not name or seen.programs[name] < ELSEWHERE * seen.cpu_s:
        return None
    share_pct = 100 * min(1.0, seen.programs[name] / seen.cpu_s)
    return causes.DatabaseBusy(
        service=DATABASES[name], share_pct=share_pct, busy_pct=seen.busy_pct, cores=seen.cores
    )


def _answer(seen: Seen) -> Message | None:
    """Of a database or another service, for which it waits while it has time."""
    if seen.busy_pct >= IDLE_PCT * seen.cores:
        return None
    for each in seen.upstreams:
        if min(each.share, each.present) < ANSWERED_LATE:
            continue
        # Where threads were seen to wait for something else, only as many that read may speak.
        others = max(seen.waits.get(kind, 0.0) for kind in ("lock", "timer", "disk"))
        if others < 1 or seen.waits.get("socket", 0.0) >= ANSWERED_LATE * each.connections:
            return causes.WaitedForAnswer(
                address=each.address,
                service=SERVICES.get(each.address.rpartition(":")[2], ""),
                connections=max(1, round(each.connections)),
                busy_pct=seen.busy_pct,
            )
    return None


def _threads(seen: Seen) -> Message | None:
    """What most of its threads that work wait for: neither what a dispatcher does between two
    calls, nor spare threads, of which there are more than connections."""
    if seen.busy_pct >= FULL_PCT * seen.cores:
        return None
    working = {kind: n for kind, n in seen.waits.items() if kind not in ("accept", "events")}
    if working.get("lock", 0.0) > seen.opened + 1:
        working.pop("lock")
    if not working:
        return None
    kind, count = max(working.items(), key=lambda item: item[1])
    if count < MOSTLY * sum(working.values()):
        return None
    if kind == "lock" and count >= 1:
        return causes.WaitedForLock(threads=count, busy_pct=seen.busy_pct)
    if kind in ("timer", "disk") and seen.busy_pct < IDLE_PCT * seen.cores:
        cause = {"timer": causes.Slept, "disk": causes.WaitedForDisk}[kind]
        return cause(share_pct=100 * count / sum(working.values()), busy_pct=seen.busy_pct)
    return None


def _memory(seen: Seen) -> Message | None:
    memory = seen.pressure.get("memory", 0.0)
    return causes.MachineWaited(resource="memory", pct=100 * memory) if memory >= SHORT_OF else None


def _disk(seen: Seen) -> Message | None:
    disk = seen.pressure.get("io", 0.0)
    return causes.MachineWaited(resource="io", pct=100 * disk) if disk >= SHORT_OF else None


def _idle(seen: Seen) -> Message | None:
    if seen.busy_pct >= IDLE_PCT:
        return None
    if seen.overflows and seen.backlog:
        return causes.NotAccepted(busy_pct=seen.busy_pct, backlog=seen.backlog)
    return causes.Waited(busy_pct=seen.busy_pct)


def _kernel(seen: Seen) -> float | None:
    return None if seen.kernel_share is None else 100 * seen.kernel_share
