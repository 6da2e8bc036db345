"""Why a server reaches its limit, from measurements of its processes at a point it limited."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from workbench.analysis.series import SeriesResult
from workbench.analysis.usage import Usage
from workbench.documents import PointStop
from workbench.messages.base import Said
from workbench.messages.causes import CAUSES, lacking
from workbench.messages.reasons import LIMITS, reasons_of

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
"""Percent of one core: above it a thread has no time left but for wake-ups and the sampler."""

IDLE_PCT = 60.0
"""Percent of one core: below it the server does not lack CPU time."""

TURNS_PCT = 120.0
"""Percent of one core: up to here several threads, with their switching, use no more than one."""

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
"""Share of the connections to a service, and of the samples, that must wait for an answer."""

NOT_ACCEPTED = 50
"""Connections in the accept queue: an idle server that accepts them at all leaves fewer there."""

SHORT_OF = 0.1
"""Share of the time that tasks on the machine waited for memory or disk."""


@dataclass(frozen=True)
class Given:
    cores: int
    nofile: int = 0
    """Descriptor limit of each process; 0: unknown."""
    backlog: int = 0


def cause(used: Usage, given: Given) -> Said | None:
    """The first resource that was exhausted; None: unknown.

    The order matters: a server without descriptors or CPU quota may be idle, one without memory may
    spend CPU time looking for some, one whose thread fills a core lacks nothing else, and an idle
    one is waiting for something.
    """
    if not used.busy_pct or not used.seconds:
        return None
    tried = (
        *(
            _descriptors,
            _quota,
            partial(_machine, "memory"),
            _collector,
            _database_here,
            _cores,
            _one_core,
        ),
        *(_answer, _threads, _no_cpu, partial(_machine, "io"), _idle),
    )
    return next((found for each in tried if (found := each(used, given))), None)


def why_it_stops(series: SeriesResult) -> tuple[PointStop, Said] | None:
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
    causes = (each for each in reasons if each.code in CAUSES)
    named = next(causes, next((each for each in reasons if each.code in LIMITS), None))
    return (first, named) if named else None


def _descriptors(used: Usage, given: Given) -> Said | None:
    if not given.nofile or used.descriptors < 0.97 * given.nofile:
        return None
    return lacking("descriptors-used-up", opened=used.descriptors, limit=given.nofile)


def _cores(used: Usage, given: Given) -> Said | None:
    if used.busy_pct < FULL_PCT * given.cores:
        return None
    return lacking(
        "cores-full", cores=given.cores, busy_pct=used.busy_pct, kernel_pct=_kernel(used)
    )


def _one_core(used: Usage, given: Given) -> Said | None:
    """One core's worth of CPU, of several available."""
    if used.busy_pct < FULL_PCT or used.busiest is None:
        return None
    if used.busiest.cpu_s >= ONE_THREAD * used.cpu_s:
        return lacking(
            "thread-full", busy_pct=used.busy_pct, cores=given.cores, kernel_pct=_kernel(used)
        )
    if used.working > 1 and used.busy_pct <= TURNS_PCT:
        return lacking(
            "turns-taken", threads=used.working, busy_pct=used.busy_pct, cores=given.cores
        )
    return None


def _no_cpu(used: Usage, given: Given) -> Said | None:
    starved_s = used.busiest.waited_s if used.busiest else 0.0
    if starved_s < STARVED * used.seconds:
        return None
    waited_pct = 100 * starved_s / used.seconds
    own = used.working > given.cores and used.busy_pct >= IDLE_PCT * given.cores
    threads, cores = (used.working, given.cores) if own else (0, 0)
    return lacking(
        "cpu-contended", waited_pct=waited_pct, busy_pct=used.busy_pct, threads=threads, cores=cores
    )


def _quota(used: Usage, given: Given) -> Said | None:
    """The CPU quota of its control group (a container, a systemd unit)."""
    if (used.throttled_s or 0.0) < THROTTLED * used.seconds:
        return None
    throttled_pct = 100 * min(1.0, (used.throttled_s or 0.0) / used.seconds)
    return lacking("cpu-quota", throttled_pct=throttled_pct, busy_pct=used.busy_pct)


def _collector(used: Usage, given: Given) -> Said | None:
    if not used.cpu_s or used.collectors_s < COLLECTING * used.cpu_s:
        return None
    collecting_pct = 100 * min(1.0, used.collectors_s / used.cpu_s)
    return lacking("garbage-collected", collecting_pct=collecting_pct, busy_pct=used.busy_pct)


def _database_here(used: Usage, given: Given) -> Said | None:
    """A database in its own process tree, on the same cores."""
    name = next((name for name in used.programs if name in DATABASES), "")
    if used.busy_pct < IDLE_PCT or not name or used.programs[name] < ELSEWHERE * used.cpu_s:
        return None
    share_pct = 100 * min(1.0, used.programs[name] / used.cpu_s)
    return lacking(
        "database-busy",
        service=DATABASES[name],
        share_pct=share_pct,
        busy_pct=used.busy_pct,
        cores=given.cores,
    )


def _answer(used: Usage, given: Given) -> Said | None:
    """The answer of a database or another service, while the server is mostly idle."""
    if used.busy_pct >= IDLE_PCT * given.cores:
        return None
    for each in used.upstreams:
        if min(each.share, each.present) < ANSWERED_LATE:
            continue
        # If threads also waited for something else, only threads seen reading count as waiting for
        # the answer.
        others = max(used.waits.get(kind, 0.0) for kind in ("lock", "timer", "disk"))
        if others < 1 or used.waits.get("socket", 0.0) >= ANSWERED_LATE * each.connections:
            return lacking(
                "waited-for-answer",
                address=each.address,
                service=SERVICES.get(each.address.rpartition(":")[2], ""),
                connections=max(1, round(each.connections)),
                busy_pct=used.busy_pct,
            )
    return None


def _threads(used: Usage, given: Given) -> Said | None:
    """What most of its working threads wait for. Not counted are dispatchers between two calls, and
    idle threads of a pool larger than the number of connections."""
    if used.busy_pct >= FULL_PCT * given.cores:
        return None
    working = {kind: n for kind, n in used.waits.items() if kind not in ("accept", "events")}
    if working.get("lock", 0.0) > used.opened + 1:
        working.pop("lock")
    if not working:
        return None
    kind, count = max(working.items(), key=lambda item: item[1])
    if count < MOSTLY * sum(working.values()):
        return None
    if kind == "lock" and count >= 1:
        return lacking("waited-for-lock", threads=count, busy_pct=used.busy_pct)
    if kind in ("timer", "disk") and used.busy_pct < IDLE_PCT * given.cores:
        return lacking(
            "slept" if kind == "timer" else "waited-for-disk",
            share_pct=100 * count / sum(working.values()),
            busy_pct=used.busy_pct,
        )
    return None


def _machine(resource: str, used: Usage, given: Given) -> Said | None:
    share = used.pressure.get(resource, 0.0)
    if share < SHORT_OF:
        return None
    return lacking("machine-waited", resource=resource, pct=100 * share)


def _idle(used: Usage, given: Given) -> Said | None:
    if used.busy_pct >= IDLE_PCT:
        return None
    if used.counters.get("ListenOverflows") and given.backlog:
        return lacking("not-accepted", busy_pct=used.busy_pct, backlog=given.backlog)
    if used.accept_queue >= NOT_ACCEPTED:
        return lacking(
            "not-accepted", busy_pct=used.busy_pct, backlog=given.backlog, waiting=used.accept_queue
        )
    return lacking("waited", busy_pct=used.busy_pct)


def _kernel(used: Usage) -> float | None:
    return None if used.system_share is None else 100 * used.system_share
