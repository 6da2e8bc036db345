"""Complete, plausible sessions without a load: deterministic documents with known knees.

`session(3, 8)` is a list from `RunStart` to `RunStop`: three servers, eight rates each, with
windows, host samples, histograms, and a client limit with its Note. `knees(3, ...)` returns what
every server sustains. Pure Python; the same arguments give the same documents.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import ceil, exp
from statistics import NormalDist
from typing import Literal, ParamSpec

from msgspec import structs

from workbench.analysis.histogram import coarse
from workbench.documents import (
    JUDGED,
    WINDOW_US,
    AnyDocument,
    Block,
    Counts,
    Errors,
    Histograms,
    HostSample,
    MachineRecord,
    Percentiles,
    PointStart,
    PointStop,
    Purpose,
    RunStart,
    RunStop,
    ServerRecord,
    SparseHistogram,
    Status,
    Verdict,
    Window,
)
from workbench.messages import notes, reasons
from workbench.messages.base import Message
from workbench.plan.model import Plan, Search
from workbench.plan.reading import to_data
from workbench.plan.search import PeakSearch, with_limits

LATE = reasons.ClientsLate(late_share=0.25, p99_us=9_000, relief="machine")
"""Of every point that is not to be trusted."""

P = ParamSpec("P")

End = Literal["done", "interrupted", "crashed"]
"""`interrupted`: aborted in the middle of the last point. `crashed`: cut there, no `RunStop`."""


@dataclass(frozen=True)
class Contestant:
    """How a made-up server behaves."""

    id: str
    name: str
    version: str
    capacity_per_s: float
    """Answers per second it can give at most."""
    service_us: float
    """Median service time when idle."""
    rss_bytes: int


CONTESTANTS: tuple[Contestant, ...] = tuple(
    Contestant(id_, name, version, capacity, service, rss << 20)
    for id_, name, version, capacity, service, rss in (
        ("asyncio-streams", "asyncio streams", "CPython 3.11.7", 5250, 210, 21),
        ("asyncio-protocol", "asyncio Protocol", "CPython 3.11.7", 7450, 150, 20),
        ("gevent", "gevent", "gevent 26.9.0", 8350, 120, 31),
        ("tornado", "Tornado", "tornado 6.6.1", 4650, 260, 27),
        ("twisted", "Twisted", "Twisted 26.10.0", 4150, 290, 39),
        ("eventlet", "Eventlet", "eventlet 0.41.3", 6250, 180, 29),
        ("circuits", "Circuits (epoll)", "circuits 3.2.5", 1850, 620, 24),
        ("uvloop", "uvloop", "uvloop 0.23.0", 8150, 110, 26),
        ("trio", "Trio", "trio 0.35.0", 3650, 330, 33),
        ("curio", "Curio", "curio 1.6", 4350, 270, 22),
        ("asyncore", "asyncore", "CPython 3.11.7", 5050, 230, 18),
        ("erlang-gen-tcp", "Erlang gen_tcp", "Erlang 25", 8550, 100, 64),
    )
)
NULL = Contestant("null", "Null server", "", 14000, 60, 9 << 20)

_TIMEOUT_US = 5_000_000
_SLICES = 60
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}
_SUCCESS = 0.99
_GAP_US = 150_000


def contestants(count: int) -> list[Contestant]:
    """The first `count`; beyond twelve they come again with other capacities."""
    known = len(CONTESTANTS)
    return [
        CONTESTANTS[i]
        if i < known
        else replace(
            CONTESTANTS[i % known],
            id=f"{CONTESTANTS[i % known].id}-{i // known + 1}",
            name=f"{CONTESTANTS[i % known].name} {i // known + 1}",
            capacity_per_s=CONTESTANTS[i % known].capacity_per_s * 0.9 ** (i // known),
        )
        for i in range(count)
    ]


def sweep_rates(points: int, last: float = 9000.0) -> list[float]:
    """Evenly spaced, up to `last`."""
    return [round(last * (i + 1) / points, 1) for i in range(points)]


def knees(
    servers: int | Sequence[Contestant],
    points: int,
    *,
    rates: Sequence[float] | None = None,
    untrusted_from: float | None = None,
) -> dict[str, float | None]:
    """The rate each server sustains in `session` with the same arguments, by id."""
    who = contestants(servers) if isinstance(servers, int) else servers
    trusted = untrusted_from or float("inf")
    sustained = {
        c.id: [
            rate
            for rate in rates or sweep_rates(points)
            if rate <= c.capacity_per_s and rate < trusted
        ]
        for c in who
    }
    return {server: max(rates_held, default=None) for server, rates_held in sustained.items()}


def _listed(run: Callable[P, Iterator[AnyDocument]]) -> Callable[P, list[AnyDocument]]:
    return lambda *args, **kwargs: list(run(*args, **kwargs))


@_listed
def session(
    servers: int | Sequence[Contestant] = 3,
    points: int = 8,
    *,
    rates: Sequence[float] | None = None,
    seconds: float = 2.0,
    repeats: int = 1,
    seed: int = 1,
    ceiling: bool = True,
    untrusted_from: float | None = None,
    give_up: bool = False,
    end: End = "done",
) -> Iterator[AnyDocument]:
    """The documents of a whole run.

    From the offered rate `untrusted_from` on every point is `client-limited`, as when the clients
    were late. With `give_up` a sweep ends after three points below half. `servers`
    may be made-up ones, for example with a capacity of 0: all its calls fail.
    """
    who = contestants(servers) if isinstance(servers, int) else list(servers)
    swept = list(rates or sweep_rates(points))
    order = [
        Block(server=c.id, pass_number=number + 1, rates_per_s=swept)
        for number in range(repeats)
        for c in who
    ]
    by_id = {c.id: c for c in who}
    yield _run_start(who, swept, seconds, seed, order)
    run = _Run(random.Random(seed), seconds, untrusted_from or float("inf"))
    if ceiling:
        for rate in (NULL.capacity_per_s / 2, NULL.capacity_per_s):
            yield from run.point(NULL, rate, purpose="ceiling")
        yield notes.Ceiling(ceiling_per_s=NULL.capacity_per_s).note(run.t_us)
    for block in order:
        server = by_id[block.server]
        backlog = notes.Backlog(name=server.name, backlog=512, asked=512)
        yield backlog.note(run.t_us, server=server.id)
        yield from run.point(server, 500.0, purpose="warm_up", number=block.pass_number)
        gone = 0
        for rate in block.rates_per_s:
            cut = end != "done" and block is order[-1] and rate == block.rates_per_s[-1]
            point = list(run.point(server, rate, number=block.pass_number, complete=not cut))
            if cut and end == "crashed":
                yield from point[:-1]
                return
            yield from point
            gone = gone + 1 if _is_gone(point[-1]) else 0
            if give_up and gone == 3:
                left = len(block.rates_per_s) - block.rates_per_s.index(rate) - 1
                gave_up = notes.GaveUp(x=rate, success_below_pct=50.0, points=3, left_out=left)
                yield gave_up.note(run.t_us, server=server.id)
                break
    status: Status = "done" if end == "done" else "aborted"
    yield RunStop(t_us=run.t_us, status=status, reason="" if end == "done" else "Aborted by hand.")


def searches(
    servers: int | Sequence[Contestant] = 3,
    *,
    search: Search | None = None,
    seconds: float = 2.0,
    seed: int = 1,
    end: End = "done",
) -> list[AnyDocument]:
    """A whole run that searches the peak of each server."""
    who = contestants(servers) if isinstance(servers, int) else list(servers)
    search = search or Search(from_=500, to=9_000, step=250, p99_ms=50)
    plan = Plan(
        servers=[c.id for c in who], search=search, seconds=seconds, warm_up=None, name="Peak"
    )
    order = [Block(server=c.id, pass_number=1, rates_per_s=[]) for c in who]
    start = _run_start(who, [], seconds, seed, order)
    found: list[AnyDocument] = [
        structs.replace(start, v=3, axis=plan.axis, plan=to_data(plan) | {"name": plan.name})
    ]
    run = _Run(random.Random(seed), seconds, float("inf"))
    for server in who:
        of_server = PeakSearch(plan, server.id, name=server.name, seed=seed)
        points = of_server.run()
        point = next(points)
        with suppress(StopIteration):
            while True:
                *before, stop = run.point(server, point.x, purpose="search", look=point.attempt)
                assert isinstance(stop, PointStop)
                found += [*before, stop := with_limits(stop, search)]
                if end != "done" and server is who[-1]:
                    return found[:-1]
                point = points.send(stop)
        found.append(of_server.answer().note(run.t_us, server=server.id))
    return [*found, RunStop(t_us=run.t_us, status="done", reason="")]


def _is_gone(stop: AnyDocument) -> bool:
    return isinstance(stop, PointStop) and stop.errors_pct > 50


def _run_start(
    who: Sequence[Contestant],
    rates: Sequence[float],
    seconds: float,
    seed: int,
    order: list[Block],
) -> RunStart:
    return RunStart(
        session=f"{random.Random(seed).getrandbits(64):016x}",
        started_utc="2026-11-09T14:12:03Z",
        pongbench="0.1.0",
        plan={
            "name": "Socket ping-pong",
            "description": "A made-up comparison.",
            "servers": [c.id for c in who],
            "workload": {
                "protocol": "pong",
                "path": "/",
                "calls_per_connection": 1,
                "think_time_s": 0.0,
                "pipeline": 1,
                "timeout_s": 5.0,
                "arrivals": "uniform",
                "mode": "open",
            },
            "rate_of": "connections",
            "rates": list(rates),
            "seconds": seconds,
            "lengthen": False,
            "warm_up": {"rate_per_s": 500.0, "seconds": 1.0},
            "cool_down_s": 0.15,
            "repeats": max((block.pass_number for block in order), default=1),
            "order": "sequential",
            "seed": seed,
            "backlog": 512,
            "nofile": 20000,
            "workers": 1,
            "give_up": {"after_points": 3, "success_below_pct": 50.0},
            "calibrate": True,
        },
        machines=[
            MachineRecord(
                name="localhost",
                roles=["target", "client"],
                facts={
                    "kernel": "Linux 6.1.0-41-amd64",
                    "distribution": "Debian GNU/Linux 12 (bookworm)",
                    "cpu_model": "AMD EPYC 7763 64-Core Processor",
                    "cpu_count": 4,
                    "memory_bytes": 16 << 30,
                },
            )
        ],
        servers=[
            ServerRecord(
                id=c.id,
                name=c.name,
                family="socket",
                version=c.version,
                runtime="CPython 3.11.7",
                files={"server.py": f"{random.Random(c.id).getrandbits(256):064x}"},
            )
            for c in who
        ],
        order=order,
        seed=seed,
    )


class _Run:
    """The clock and the numbering of points."""

    def __init__(self, rng: random.Random, seconds: float, untrusted_from: float) -> None:
        self.t_us = 250_000
        self._rng = rng
        self._seconds = seconds
        self._untrusted_from = untrusted_from
        self._points = 0
        self._next_sample_us = 0

    def point(
        self,
        server: Contestant,
        rate: float,
        *,
        purpose: Purpose = "sweep",
        number: int = 1,
        look: int = 1,
        complete: bool = True,
    ) -> Iterator[AnyDocument]:
        """From `PointStart` to `PointStop`."""
        self._points += 1
        seconds = self._seconds if purpose in JUDGED else 1.0
        scheduled = round(rate * seconds)
        yield PointStart(
            t_us=self.t_us,
            point=self._points,
            server=server.id,
            rate_per_s=rate,
            purpose=purpose,
            pass_number=number,
            look=look,
            connections=scheduled,
            seconds=seconds,
        )
        if not complete:
            seconds /= 2
            scheduled //= 2
        outcome = _Outcome(server, rate, scheduled, self._rng, rate >= self._untrusted_from)
        count = max(1, round(seconds * 1e6 / WINDOW_US))
        for index, share in enumerate(_shares(outcome.counts, count)):
            yield outcome.window(self.t_us, self._points, index, share)
            self.t_us += WINDOW_US
            if self.t_us >= self._next_sample_us:
                self._next_sample_us = self.t_us + 1_000_000
                yield outcome.sample(self.t_us)
        yield outcome.stop(
            self.t_us,
            self._points,
            purpose=purpose,
            number=number,
            look=look,
            complete=complete,
            seconds=seconds,
        )
        self.t_us += _GAP_US


class _Outcome:
    """What one rate does to one server."""

    def __init__(
        self, server: Contestant, rate: float, scheduled: int, rng: random.Random, untrusted: bool
    ) -> None:
        self.server, self.rate = server, rate
        capacity = server.capacity_per_s
        self.load = rate / capacity if capacity else float("inf")
        over = self.load > 1
        if not capacity:
            share = 0.0
        elif over:
            share = max(0.3 / self.load, (1 - 0.25 * (self.load - 1)) / self.load)
            share = min(share * rng.uniform(0.96, 1.0), 0.985)
        else:
            share = 1.0 if self.load < 0.9 else 1 - rng.uniform(0, 0.004)
        succeeded = min(scheduled, round(scheduled * share))
        lost = scheduled - succeeded
        refused = lost if not capacity else 0
        reset = 0 if refused else round(lost * rng.uniform(0.2, 0.4))
        own = round((lost - refused - reset) * 0.6) if untrusted else 0
        timo = lost - refused - reset - own
        classes = {
            "client-timo": timo,
            "connrefused": refused,
            "connreset": reset,
            "fd-unavail": own,
        }
        self.counts = Counts(
            scheduled=scheduled,
            unsent=0,
            sent=scheduled,
            late=scheduled // 4 if untrusted else 0,
            established=scheduled - refused,
            succeeded=succeeded,
            errors={name: n for name, n in classes.items() if n},
        )
        jitter = rng.uniform(0.92, 1.08)
        queue = 1 / (1 - min(self.load, 0.97))
        self.service_us = server.service_us * min(queue, 12) * jitter
        self.latency_us = (
            min(server.service_us * queue * 120 * (self.load - 0.9), 2.4e6) * jitter
            if over
            else self.service_us * 1.02
        )
        self.spread = 1.1 if over else 0.35 + 0.6 * min(self.load, 1)
        self.lateness_us = 9_000.0 if untrusted else 40.0
        self.untrusted = untrusted

    def window(self, t_us: int, point: int, index: int, share: Counts) -> Window:
        latency_us, latency = _lognormal(self.latency_us, self.spread, share.succeeded)
        service_us, service = _lognormal(self.service_us, self.spread, share.succeeded)
        return Window(
            t_us=t_us,
            point=point,
            index=index,
            due=share.scheduled,
            sent=share.sent,
            late=share.late,
            established=share.established,
            replies=share.succeeded,
            errors=share.errors,
            in_flight=round(self.rate * self.latency_us / 1e6),
            latency_us=latency_us,
            service_us=service_us,
            latency=coarse(latency),
            service=coarse(service),
        )

    def sample(self, t_us: int) -> HostSample:
        overflows = round(self.counts.scheduled - self.counts.succeeded)
        return HostSample(
            t_us=t_us,
            machine="localhost",
            server=self.server.id,
            cpu_pct=min(100.0, round(100 * self.load, 1)),
            rss_bytes=self._rss(),
            pss_bytes=self._rss() * 9 // 10,
            processes=1,
            threads=1,
            descriptors=12 + round(self.rate / 50),
            accept_queue=512 if self.load > 1 else 3,
            backlog=512,
            host_cpu_pct=round(min(96.0, 25 + 50 * min(self.load, 1)), 1),
            memory_available_bytes=11 << 30,
            counters={"ListenOverflows": overflows} if overflows else {},
            gauges={"TIME_WAIT": round(self.rate)},
        )

    def stop(
        self,
        t_us: int,
        point: int,
        *,
        purpose: Purpose,
        number: int,
        look: int,
        complete: bool,
        seconds: float,
    ) -> PointStop:
        counts = self.counts
        times = {
            "latency": _lognormal(self.latency_us, self.spread, counts.succeeded),
            "service": _lognormal(self.service_us, self.spread, counts.succeeded),
            "connect": _lognormal(90.0, 0.3, counts.succeeded),
            "first_byte": _lognormal(self.service_us * 0.8, self.spread, counts.succeeded),
            "lateness": _lognormal(self.lateness_us, 0.5, counts.sent),
        }
        verdict, found = self._verdict(complete)
        return PointStop(
            t_us=t_us,
            point=point,
            server=self.server.id,
            rate_per_s=self.rate,
            purpose=purpose,
            pass_number=number,
            look=look,
            complete=complete,
            seconds=seconds,
            counts=counts,
            offered_per_s=round(counts.scheduled / seconds, 1),
            replies_per_s=round(counts.succeeded / seconds, 1),
            errors_pct=round(100 * (1 - counts.succeeded / max(1, counts.scheduled)), 3),
            latency_us=times["latency"][0],
            service_us=times["service"][0],
            connect_us=times["connect"][0],
            first_byte_us=times["first_byte"][0],
            lateness_us=times["lateness"][0],
            histograms=Histograms(**{name: histogram for name, (_, histogram) in times.items()}),
            client_cpu_pct=97.0 if self.untrusted else round(min(90.0, self.rate / 150), 1),
            server_cpu_pct=min(100.0, round(100 * self.load, 1)),
            server_rss_bytes=self._rss(),
            verdict=verdict,
            reasons=[reason.text() for reason in found],
            findings=[reason.record() for reason in found],
            evidence={"lateness_p99_us": float(times["lateness"][0].p99)}
            if times["lateness"][0]
            else {},
        )

    def _rss(self) -> int:
        return self.server.rss_bytes + round(self.rate) * 1500

    def _verdict(self, complete: bool) -> tuple[Verdict, list[Message]]:
        if not complete:
            return "inconclusive", [reasons.Interrupted()]
        counts = self.counts
        if self.untrusted:
            return "client-limited", [LATE]
        lost = counts.scheduled - counts.succeeded
        if counts.succeeded < _SUCCESS * counts.scheduled:
            failed = reasons.CallsFailed(
                failed=lost, calls=counts.scheduled, errors=dict(counts.errors)
            )
            return "server-limited", [failed]
        return "ok", []


def _shares(counts: Counts, windows: int) -> list[Counts]:
    """The counts of a point split over its windows; their sums are the point's."""

    def part(total: int, index: int) -> int:
        return total * (index + 1) // windows - total * index // windows

    return [
        Counts(
            scheduled=part(counts.scheduled, i),
            unsent=0,
            sent=part(counts.sent, i),
            late=part(counts.late, i),
            established=part(counts.established, i),
            succeeded=part(counts.succeeded, i),
            errors=_parts(counts.errors, i, part),
        )
        for i in range(windows)
    ]


def _parts(errors: Errors, index: int, part: Callable[[int, int], int]) -> Errors:
    split = {name: part(total, index) for name, total in errors.items()}
    return {name: n for name, n in split.items() if n}


def bucket_of(us: int) -> int:
    """The histogram bucket of a time: 1,024 buckets an octave from 2,048 us on."""
    us = min(max(us, 0), 600_000_000)
    shift = max(0, us.bit_length() - 11)
    return (shift << 10) + (us >> shift)


def bucket_top(bucket: int) -> int:
    """The largest time of a bucket, microseconds."""
    shift = max(0, (bucket >> 10) - 1)
    return ((bucket - (shift << 10) + 1) << shift) - 1


@cache
def _normals() -> tuple[tuple[float, float], ...]:
    """(up to this share, standard normal value there), the tail in finer steps."""
    steps = [(i + 1) / _SLICES for i in range(_SLICES - 1)] + [0.99, 0.995, 0.999, 0.9999, 1.0]
    middles = [(a + b) / 2 for a, b in pairwise([0.0, *steps])]
    return tuple((s, NormalDist().inv_cdf(m)) for s, m in zip(steps, middles, strict=True))


@cache
def _lognormal(
    median_us: float, sigma: float, count: int
) -> tuple[Percentiles | None, SparseHistogram]:
    """`count` times as a histogram, and its percentiles by rank."""
    if count <= 0:
        return None, []
    buckets: dict[int, int] = {}
    done = 0
    for share, normal in _normals():
        upto = round(count * share)
        if upto > done:
            bucket = bucket_of(min(round(median_us * exp(sigma * normal)), _TIMEOUT_US))
            buckets[bucket] = buckets.get(bucket, 0) + upto - done
            done = upto
    ordered = sorted(buckets.items())
    tops = {name: _rank(ordered, ceil(q * count)) for name, q in _QUANTILES.items()}
    return Percentiles(count=count, **tops), [x for pair in ordered for x in pair]


def _rank(ordered: list[tuple[int, int]], rank: int) -> int:
    for bucket, n in ordered:
        rank -= n
        if rank <= 0:
            return bucket_top(bucket)
    raise AssertionError("a rank beyond the count")
