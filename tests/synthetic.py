"""Complete, plausible sessions without a load: deterministic documents with known knees.

`session(3, 8)` is a list from `RunStart` to `RunStop`: three servers, eight rates each, with
windows, host samples, histograms, and a client limit with its Note. `knees(3, ...)` returns what
every server sustains. Pure Python; the same arguments give the same documents.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, ParamSpec

from msgspec import structs

from tests.histograms import Times, lognormal
from tests.outcomes import Contestant, Outcome, shares
from workbench.documents import (
    JUDGED,
    VERSION,
    WINDOW_US,
    AnyDocument,
    Block,
    MachineRecord,
    PointStart,
    PointStop,
    Purpose,
    RunStart,
    RunStop,
    ServerRecord,
    Status,
)
from workbench.messages import notes
from workbench.plan.model import Plan, Search
from workbench.plan.reading import to_data
from workbench.plan.search import PeakSearch, with_limits

P = ParamSpec("P")

End = Literal["done", "interrupted", "crashed"]
"""`interrupted`: aborted in the middle of the last point. `crashed`: cut there, no `RunStop`."""


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
    connections: int | None = None,
    repeats: int = 1,
    seed: int = 1,
    times: Times = lognormal,
    ceiling: bool = True,
    untrusted_from: float | None = None,
    give_up: bool = False,
    end: End = "done",
) -> Iterator[AnyDocument]:
    """The documents of a whole run.

    From the offered rate `untrusted_from` on every point is `client-limited`, as when the clients
    were late. `connections`: of every point, in place of `seconds`. With `give_up` a sweep
    ends after three points below half. `servers` may be made-up ones, for example with a capacity
    of 0: all its calls fail.
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
    run = _Run(random.Random(seed), seconds, untrusted_from or float("inf"), connections, times)
    if ceiling:
        for rate in (NULL.capacity_per_s / 2, NULL.capacity_per_s):
            yield from run.point(NULL, rate, purpose="ceiling")
        yield notes.notice("ceiling", ceiling_per_s=NULL.capacity_per_s).note(run.t_us)
    for block in order:
        server = by_id[block.server]
        backlog = notes.notice("backlog", name=server.name, backlog=512, asked=512)
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
                gave_up = notes.notice(
                    "gave-up", x=rate, success_below_pct=50.0, points=3, left_out=left
                )
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
        structs.replace(start, axis=plan.axis, plan=to_data(plan) | {"name": plan.name})
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
    who: Sequence[Contestant], rates: Sequence[float], seconds: float, seed: int, order: list[Block]
) -> RunStart:
    return RunStart(
        v=VERSION,
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

    def __init__(
        self,
        rng: random.Random,
        seconds: float,
        untrusted_from: float,
        connections: int | None = None,
        times: Times = lognormal,
    ) -> None:
        self.t_us = 250_000
        self._rng = rng
        self._connections = connections
        self._times = times
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
        swept = self._connections / rate if self._connections else self._seconds
        seconds = swept if purpose in JUDGED else 1.0
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
        untrusted = rate >= self._untrusted_from
        outcome = Outcome(server, rate, scheduled, self._rng, untrusted, times=self._times)
        count = max(1, round(seconds * 1e6 / WINDOW_US))
        for index, share in enumerate(shares(outcome.counts, count)):
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
