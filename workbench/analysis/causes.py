"""Why a server reaches its limit, from measurements of its processes at a point it limited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.analysis.results import SeriesResult
from workbench.documents import PointStop
from workbench.messages import causes
from workbench.messages.base import Message
from workbench.messages.reasons import Limit, reasons_of

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
"""By default port (IANA's registry of service names, or the projects' own documentation)."""

DATABASES = {
    "postgres": "PostgreSQL",
    "mysqld": "MySQL",
    "mariadbd": "MariaDB",
    "mongod": "MongoDB",
    "redis-server": "Redis",
    "memcached": "memcached",
}
"""By the name of the program."""

FULL_PCT = 92.0
"""Percent of one core: above it a thread has no time left. The rest goes to wake-ups and the
sampler."""

IDLE_PCT = 60.0
"""Percent of one core: below it the server does not lack CPU time."""

TURNS_PCT = 120.0
"""Percent of one core: up to here several threads use no more than one core; switching between them
costs some."""

STARVED = 0.2
"""Share of the time that the busiest thread was runnable but had no CPU."""

ONE_THREAD = 0.8
"""Share of the process tree's CPU time: above it one thread does the work."""

THROTTLED = 0.1
"""Share of the time that a CPU quota throttled the server."""

COLLECTING = 0.3
"""Share of the CPU time spent in garbage collector threads."""

ELSEWHERE = 0.5
"""Share of the CPU time spent in a database within the server's own process tree."""

MOSTLY = 0.5
"""Share of the working threads that must wait for the same thing."""

ANSWERED_LATE = 0.6
"""Share of the connections in use to a database or service that must be waiting for an answer, and
share of the samples in which one must be."""

NOT_ACCEPTED = 50
"""Connections in the accept queue: an idle server that accepts them at all leaves fewer there."""

SHORT_OF = 0.1
"""Share of the time that tasks on the machine waited for memory or disk."""


@dataclass(frozen=True)
class Upstream:
    """A service that the server calls, such as a database."""

    address: str
    connections: float
    """Connections in use, mean of the samples."""
    share: float
    """Share of `connections` that waited for an answer."""
    present: float
    """Share of the samples in which at least one waited."""


@dataclass(frozen=True, kw_only=True)
class Observations:
    """What was measured of the server and its machine over a point."""

    busy_pct: float
    """CPU of the whole process tree in percent of one core, while the load lasted."""
    cpu_s: float
    seconds: float
    """The whole point, including ramp and drain."""
    cores: int
    """Cores the server may use."""
    kernel_share: float | None = None
    busiest_s: float | None = None
    """CPU time of its busiest thread; None: unknown."""
    starved_s: float = 0.0
    """Time that this thread was runnable but had no CPU."""
    threads: int = 0
    """Threads that used CPU time."""
    descriptors: int = 0
    """The most that one of its processes had open."""
    nofile: int = 0
    """Descriptor limit of each process; 0: unknown."""
    backlog: int = 0
    overflows: int = 0
    """Overflows of its accept queue."""
    accept_queue: int = 0
    """The most connections seen in it."""
    pressure: Mapping[str, float] = field(default_factory=dict)
    """By resource: share of the time that tasks on the machine waited for it."""
    waits: Mapping[str, float] = field(default_factory=dict)
    """Mean number of waiting threads, by what they waited for; see `machines.usage`."""
    upstreams: Sequence[Upstream] = ()
    """Services it called, those it waited for most first."""
    opened: float = 0.0
    """Mean number of open connections."""
    programs: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds, by program name within its process tree."""
    collectors_s: float = 0.0
    """CPU time of its garbage collector threads."""
    throttled_s: float | None = None
    """Time that a CPU quota throttled it; None: it has no quota."""


def cause(observed: Observations) -> Message | None:
    """The first resource that was exhausted; None: unknown.

    The order matters: a server without descriptors or CPU quota may be idle, one without memory may
    spend CPU time looking for some, one whose thread fills a core lacks nothing else, and an idle
    one is waiting for something.
    """
    if not observed.busy_pct or not observed.seconds:
        return None
    tried = (
        *(_descriptors, _quota, _memory, _collector, _database_here, _cores, _one_core),
        *(_answer, _threads, _no_cpu, _disk, _idle),
    )
    return next((found for each in tried if (found := each(observed))), None)


def why_it_stops(series: SeriesResult) -> tuple[PointStop, Message] | None:
    """The lowest point above the sustained rate at which the server was the limit, with what it
    lacked there or the limit of a search that it exceeded; None: there is no such point, or the
    cause is unknown."""
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


def _descriptors(observed: Observations) -> Message | None:
    if not observed.nofile or observed.descriptors < 0.97 * observed.nofile:
        return None
    return causes.DescriptorsUsedUp(opened=observed.descriptors, limit=observed.nofile)


def _cores(observed: Observations) -> Message | None:
    if observed.busy_pct < FULL_PCT * observed.cores:
        return None
    return causes.CoresFull(
        cores=observed.cores, busy_pct=observed.busy_pct, kernel_pct=_kernel(observed)
    )


def _one_core(observed: Observations) -> Message | None:
    """One core's worth of CPU, of several available."""
    if observed.busy_pct < FULL_PCT or observed.busiest_s is None:
        return None
    if observed.busiest_s >= ONE_THREAD * observed.cpu_s:
        return causes.ThreadFull(
            busy_pct=observed.busy_pct, cores=observed.cores, kernel_pct=_kernel(observed)
        )
    if observed.threads > 1 and observed.busy_pct <= TURNS_PCT:
        return causes.TurnsTaken(
            threads=observed.threads, busy_pct=observed.busy_pct, cores=observed.cores
        )
    return None


def _no_cpu(observed: Observations) -> Message | None:
    if observed.starved_s < STARVED * observed.seconds:
        return None
    waited_pct = 100 * observed.starved_s / observed.seconds
    own = observed.threads > observed.cores and observed.busy_pct >= IDLE_PCT * observed.cores
    shared = {"threads": observed.threads, "cores": observed.cores} if own else {}
    return causes.CpuContended(waited_pct=waited_pct, busy_pct=observed.busy_pct, **shared)


def _quota(observed: Observations) -> Message | None:
    """The CPU quota of its control group (a container, a systemd unit)."""
    if (observed.throttled_s or 0.0) < THROTTLED * observed.seconds:
        return None
    throttled_pct = 100 * min(1.0, (observed.throttled_s or 0.0) / observed.seconds)
    return causes.CpuQuota(throttled_pct=throttled_pct, busy_pct=observed.busy_pct)


def _collector(observed: Observations) -> Message | None:
    if not observed.cpu_s or observed.collectors_s < COLLECTING * observed.cpu_s:
        return None
    collecting_pct = 100 * min(1.0, observed.collectors_s / observed.cpu_s)
    return causes.GarbageCollected(collecting_pct=collecting_pct, busy_pct=observed.busy_pct)


def _database_here(observed: Observations) -> Message | None:
    """A database in its own process tree, on the same cores."""
    name = next((name for name in observed.programs if name in DATABASES), "")
    if (
        observed.busy_pct < IDLE_PCT
        or not name
        or observed.programs[name] < ELSEWHERE * observed.cpu_s
    ):
        return None
    share_pct = 100 * min(1.0, observed.programs[name] / observed.cpu_s)
    return causes.DatabaseBusy(
        service=DATABASES[name],
        share_pct=share_pct,
        busy_pct=observed.busy_pct,
        cores=observed.cores,
    )


def _answer(observed: Observations) -> Message | None:
    """The answer of a database or another service, while the server is mostly idle."""
    if observed.busy_pct >= IDLE_PCT * observed.cores:
        return None
    for each in observed.upstreams:
        if min(each.share, each.present) < ANSWERED_LATE:
            continue
        # If threads also waited for something else, only threads seen reading count as waiting for
        # the answer.
        others = max(observed.waits.get(kind, 0.0) for kind in ("lock", "timer", "disk"))
        if others < 1 or observed.waits.get("socket", 0.0) >= ANSWERED_LATE * each.connections:
            return causes.WaitedForAnswer(
                address=each.address,
                service=SERVICES.get(each.address.rpartition(":")[2], ""),
                connections=max(1, round(each.connections)),
                busy_pct=observed.busy_pct,
            )
    return None


def _threads(observed: Observations) -> Message | None:
    """What most of its working threads wait for. Not counted are dispatchers between two calls, and
    idle threads of a pool larger than the number of connections."""
    if observed.busy_pct >= FULL_PCT * observed.cores:
        return None
    working = {kind: n for kind, n in observed.waits.items() if kind not in ("accept", "events")}
    if working.get("lock", 0.0) > observed.opened + 1:
        working.pop("lock")
    if not working:
        return None
    kind, count = max(working.items(), key=lambda item: item[1])
    if count < MOSTLY * sum(working.values()):
        return None
    if kind == "lock" and count >= 1:
        return causes.WaitedForLock(threads=count, busy_pct=observed.busy_pct)
    if kind in ("timer", "disk") and observed.busy_pct < IDLE_PCT * observed.cores:
        cause = {"timer": causes.Slept, "disk": causes.WaitedForDisk}[kind]
        return cause(share_pct=100 * count / sum(working.values()), busy_pct=observed.busy_pct)
    return None


def _memory(observed: Observations) -> Message | None:
    memory = observed.pressure.get("memory", 0.0)
    return causes.MachineWaited(resource="memory", pct=100 * memory) if memory >= SHORT_OF else None


def _disk(observed: Observations) -> Message | None:
    disk = observed.pressure.get("io", 0.0)
    return causes.MachineWaited(resource="io", pct=100 * disk) if disk >= SHORT_OF else None


def _idle(observed: Observations) -> Message | None:
    if observed.busy_pct >= IDLE_PCT:
        return None
    if observed.overflows and observed.backlog:
        return causes.NotAccepted(busy_pct=observed.busy_pct, backlog=observed.backlog)
    if observed.accept_queue >= NOT_ACCEPTED:
        return causes.NotAccepted(
            busy_pct=observed.busy_pct, backlog=observed.backlog, waiting=observed.accept_queue
        )
    return causes.Waited(busy_pct=observed.busy_pct)


def _kernel(observed: Observations) -> float | None:
    return None if observed.kernel_share is None else 100 * observed.kernel_share
