"""What a plan needs of its machines, and whether it can give meaningful results: ports, descriptors
for connections open at once, how long to rest until enough ports are free, and points that are long
and large enough.

The side that closes a connection first keeps it in TIME_WAIT. A server that closes first leaves
nothing on the client; otherwise every connection occupies a local port for 60 s for its
destination.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from workbench.analysis.evidence import FEWEST_SAMPLES, SHORTEST_S
from workbench.analysis.histogram import samples_needed
from workbench.axis import RATE
from workbench.formatting import time_span
from workbench.machines.facts import Limits
from workbench.machines.runner_client import LONGEST_RUN_S
from workbench.messages.plans import Warned, warning
from workbench.messages.problems import Problem, Resource, problem
from workbench.plan import schedule
from workbench.plan.model import Plan, three_figures
from workbench.plan.schedule import PointPlan
from workbench.servers.entry import ServerEntry

_FULL = 0.45
"""Share of its ports from which an address counts as full. The kernel searches every other port
first: measured on Linux 6.18, connecting takes 24 µs of CPU time while half of the ports are free,
and 2 ms with fewer."""

_OWN_DESCRIPTORS = 64
"""Descriptors of an agent or a server, in addition to its connections."""

_SPARE = 0.05
"""Share of the descriptors that random arrivals and think times may need beyond the mean."""


class Room(NamedTuple):
    """How many connections a machine can hold open, and what limits it."""

    connections: int
    where: Literal["clients", "target"]
    resource: Resource


@dataclass(frozen=True)
class Needs:
    """A plan with its servers, on machines with these limits."""

    plan: Plan
    entries: Sequence[ServerEntry]
    limits: Limits
    """The ports of all clients together, the descriptors of one process."""
    clients: int = 1

    @cached_property
    def points(self) -> list[PointPlan]:
        """Those of one server in one pass."""
        return list(schedule.points(self.plan, ""))

    @cached_property
    def size(self) -> tuple[str, ...]:
        """The key that decides the size of points."""
        return ("connections",) if self.plan.seconds is None else ("seconds",)

    def closes(self, entry: ServerEntry) -> bool:
        """Return whether clients close first, so that their ports stay in use."""
        return self.plan.declared.clients_close(self.plan.workload, entry.closes_first)

    def problems(self, duration_s: tuple[float, float]) -> list[Problem]:
        """Return why the plan cannot be run as specified; empty: it can."""
        more = {"lasts": time_span(duration_s), "limit_h": LONGEST_RUN_S / 3600}
        return [
            *[problem("run-too-long", *self.size, **more)] * (duration_s[0] > LONGEST_RUN_S),
            *protocol_problems(self.plan, self.entries),
            *self._one_client_problems(),
            *(list(self._size_problems()) or self._limit_problems()),
            *self._room_problems(),
        ]

    def warnings(self) -> list[Warned]:
        """Return what to expect of the results, and what is missing if a server stops answering."""
        return [*self._points_to_expect(), *self._descriptors_to_expect()]

    def few_addresses(self, wanted: int) -> Iterator[Warned]:
        """Warn of clients with enough ports, but too few addresses to connect quickly."""
        point, needed = self.fullest
        if self.limits.addresses < wanted and needed <= self.limits.ports:
            yield warning(
                "few-addresses",
                *self.size,
                addresses=self.limits.addresses,
                wanted=wanted,
                needed=math.ceil(needed / self.clients),
                ports=self._of_one_address // self.clients,
                **self._place(point),
            )

    @cached_property
    def rooms(self) -> list[Room]:
        """The limits of the connections held open at once."""
        of_servers = self.limits.target_processes * self._each(self.limits.target_descriptors)
        return [
            Room(self.limits.ports, "clients", "ports"),
            Room(self.descriptors, "clients", "descriptors"),
            Room(of_servers, "target", "descriptors"),
        ]

    @property
    def descriptors(self) -> int:
        """How many all clients together have for connections."""
        return self.clients * self.plan.workers * self._each(self.limits.descriptors)

    def _each(self, hard: int) -> int:
        """Return how many connections one process can have, where the hard limit is `hard`."""
        return max(0, min(self.plan.nofile, hard) - _OWN_DESCRIPTORS)

    @property
    def most_per_s(self) -> float:
        """Of users, or others who stay: as many as have descriptors; infinite: any."""
        stay_s = self.plan.workload.stay_s
        found = [room.connections for room in self.rooms if room.resource == "descriptors"]
        return (1 - _SPARE) * self._calls * min(found) / stay_s if stay_s else math.inf

    @property
    def highest_rate(self) -> float:
        """Of connections that clients close: as many as have ports; infinite: any."""
        plan, occupied_s = self.plan, self.limits.port_reuse_s
        if plan.connections is not None and plan.connections <= self.limits.ports:
            return math.inf
        if plan.seconds is not None:
            occupied_s = min(occupied_s, plan.seconds)
        return self._calls * self.limits.ports / occupied_s

    @property
    def _calls(self) -> int:
        plan = self.plan
        return plan.workload.calls_per_connection if plan.unit == "requests" else 1

    @property
    def _of_one_address(self) -> int:
        """The ports of one address of each client, where all of its addresses are used."""
        return self.limits.ports // self.limits.addresses

    @cached_property
    def fullest(self) -> tuple[PointPlan, int]:
        """The first point that takes the most ports, and how many."""
        point = max(self.points, key=self._ports_of)
        return point, self._ports_of(point)

    def _ports_of(self, point: PointPlan) -> int:
        """Return the ports occupied after a point, when every connection was closed from here."""
        if point.workload.held:
            return point.workload.held
        if not point.connection_rate_per_s:
            return point.connections or point.concurrency
        occupied = math.ceil(point.connection_rate_per_s * self.limits.port_reuse_s)
        return min(point.connections, occupied)

    def rests(self) -> tuple[list[float], int]:
        """Return the rest after each point for the ports of the next, and the peak of ports."""
        if self.plan.search:
            return self._rests_in_any_order(self.plan.search.points)
        clock, most = 0.0, 0
        in_use: list[tuple[float, int]] = []
        rests: list[float] = []
        for index, point in enumerate(self.points):
            needed = self._ports_of(point)
            if index:
                freed = _wait(in_use, clock, self.limits.ports - needed)
                rests.append(max(self.plan.cool_down_s, freed))
                clock += rests[-1]
            in_use = [(end, n) for end, n in in_use if end > clock]
            clock += point.seconds
            in_use.append((clock + self.limits.port_reuse_s, needed))
            most = max(most, sum(n for _, n in in_use))
        return [*rests, self.plan.cool_down_s], most

    def _rests_in_any_order(self, at_most: int) -> tuple[list[float], int]:
        """The same, whichever point comes next; `at_most` of them will be measured.

        The rests of the points that still occupy ports add up to at most the time that a port stays
        occupied, so a rest in proportion to the needs of a point leaves room for the largest.
        """
        needs, cool_down_s = [self._ports_of(point) for point in self.points], self.plan.cool_down_s
        largest, ports = max(needs), self.limits.ports
        if at_most * largest <= ports:
            return [cool_down_s] * len(needs), at_most * largest
        room, occupied_s = max(1, ports - largest), self.limits.port_reuse_s
        rests = [max(cool_down_s, occupied_s * min(1.0, need / room)) for need in needs]
        return rests, max(largest, ports)

    def _one_client_problems(self) -> Iterator[Problem]:
        plan = self.plan
        fixed = plan.closed and plan.warming is None  # A warm-up has a rate, which all share.
        several = max(plan.concurrency, default=1) if fixed else self.clients * plan.workers
        if several == 1:
            return
        keys = ("concurrency",) if fixed else ("workers",)
        more = {"one": "concurrency" if fixed else "workers and clients", "clients": several}
        if what := plan.declared.one_client(plan.workload):
            yield problem("one-client-only", "workload.transport", *keys, what=what, **more)
        for entry in self.entries:
            if entry.one_client:
                yield problem("one-client-only", "servers", *keys, what=entry.name, **more)

    def _size_problems(self) -> Iterator[Problem]:
        own_s = [(p, p.seconds - p.workload.ramp_s + _rounding(p)) for p in self.points]
        short = [point for point, lasts_s in own_s if 0 < lasts_s < SHORTEST_S]
        if short:
            point = min(short, key=lambda p: p.seconds)
            connections = math.ceil(point.connection_rate_per_s * SHORTEST_S)
            given = {"seconds": point.seconds - point.workload.ramp_s, "shortest_s": SHORTEST_S}
            more = self._remedy(point, connections, SHORTEST_S, **given)
            yield problem("point-too-short", *self.size, **more)
        ramp_s = max(point.workload.longest_stay_s for point in self.points)
        steady_s = ramp_s + SHORTEST_S
        unsteady = [p for p in self.points if ramp_s and 0 < p.seconds + _rounding(p) < steady_s]
        if unsteady and not short:
            point = min(unsteady, key=lambda p: p.seconds)
            connections = math.ceil(point.connection_rate_per_s * steady_s)
            given = {"seconds": round(point.seconds, 3), "think_s": ramp_s}
            more = self._remedy(point, connections, steady_s, **given)
            yield problem("no-steady-part", *self.size, **more)
            return
        thin = [p for p in self.points if 0 < p.samples < FEWEST_SAMPLES]
        # If two rules lengthen a point, the longer one applies.
        calls_per_s = [p.connection_rate_per_s * p.workload.calls_per_connection for p in thin]
        enough = all(SHORTEST_S * per_s >= FEWEST_SAMPLES for per_s in calls_per_s)
        if short and enough and all(point in short for point in thin):
            return
        if thin:
            point = min(thin, key=lambda p: p.samples)
            connections = math.ceil(FEWEST_SAMPLES / point.workload.calls_per_connection)
            seconds = connections / (point.connection_rate_per_s or connections)
            calls, fewest = point.samples, FEWEST_SAMPLES
            more = self._remedy(point, connections, seconds, calls=calls, fewest=fewest)
            yield problem("point-too-small", *self.size, **more)

    def _limit_problems(self) -> Iterator[Problem]:
        """Return the problems of a search whose points are too small for its percentile."""
        if self.plan.search is None or self.plan.search.p99_ms is None:
            return
        needed = samples_needed(0.99)
        point = min(self.points, key=lambda p: p.samples)
        if point.samples < needed:
            connections = math.ceil(needed / point.workload.calls_per_connection)
            seconds = connections / point.connection_rate_per_s
            more = self._remedy(point, connections, seconds, calls=point.samples, needed=needed)
            yield problem("too-few-for-limit", *self.size, **more)

    def _room_problems(self) -> Iterator[Problem]:
        """Return what is missing however fast the server answers, for the first such point."""
        plan, limits, rooms = self.plan, self.limits, self.rooms
        held = any(point.workload.held for point in self.points)
        if any(map(self.closes, self.entries)) and not held:
            point, needed = self.fullest
            if needed > limits.ports:
                addresses = addresses_for(needed, self._of_one_address)
                yield problem(
                    "not-enough-ports",
                    *self.size,
                    ports=limits.ports,
                    needed=needed,
                    addresses=addresses,
                    lacking=addresses - limits.addresses,
                    at=plan.axis.at(point.x),
                )
            rooms = [room for room in rooms if room.resource != "ports"]
        for available, where, resource in rooms:
            full = next((point for point in self.points if _kept(point) > available), None)
            if full is None:
                continue
            kept, at = _kept(full), plan.axis.at(full.x)
            what, fewer = f"{kept:,} connections held open", "hold fewer"
            key = "vary" if "connections" in plan.vary else "workload.connections"
            if full.concurrency:
                what, fewer = f"{kept:,} concurrent connections", "lower concurrency"
                key = "concurrency"
            elif not full.workload.held:
                what = f"The {kept:,} connections that think time keeps open at {at}"
                most, key = self.most_per_s, "rates"
                fits = 0 if math.isinf(most) else int(three_figures(most, down=True))
                fewer = "lower the rate" + f" to {fits:,}/s at most" * bool(fits)
            per_client = limits.ports // self.clients if resource == "ports" else 1
            yield problem(
                "too-many-open",
                key,
                what=what,
                where=where,
                resource=resource,
                available=available,
                fewer=fewer,
                clients=math.ceil(kept / max(1, per_client)),
                addresses=math.ceil(kept / self._of_one_address),
            )
            return

    def _points_to_expect(self) -> Iterator[Warned]:
        plan, needed = self.plan, samples_needed(0.99)
        highest = max(plan.rates_per_s, default=math.inf)
        if plan.warming and plan.warming.rate_per_s > highest:
            warm_up = RATE.at(plan.warming.rate_per_s)
            yield warning("warm-up-above-rates", warm_up=warm_up, highest=RATE.at(highest))
        wanted = plan.connections if plan.connections is not None and plan.lengthen else math.inf
        if longer := [p.connections for p in self.points if p.connections > wanted]:
            yield warning(
                "points-lengthened",
                *self.size,
                lengthened=len(longer),
                points=len(self.points),
                connections=int(wanted),
                most=max(longer),
            )
        if thin := [p for p in self.points if FEWEST_SAMPLES <= p.samples < needed]:
            yield warning("few-samples", *self.size, needed=needed, **self._place(thin[-1]))

    def _descriptors_to_expect(self) -> Iterator[Warned]:
        allowed = {"client": self.limits.descriptors, "target": self.limits.target_descriptors}
        wanted = self.plan.nofile
        for few in sorted({each for each in allowed.values() if each < wanted}):
            where = [name for name, each in allowed.items() if each == few]
            yield warning("few-descriptors", "nofile", where=where, allowed=few, wanted=wanted)
        for room in reversed(self.rooms):
            # Points with too many in any case are problems.
            beyond = [p for p in self.points if open_at_worst(p) > room.connections >= _kept(p)]
            if beyond and room.where == "clients":
                yield warning(
                    "timeouts-fill",
                    "nofile",
                    connections=max(open_at_worst(point) for point in beyond),
                    resource=room.resource,
                    available=room.connections,
                    **self._place(beyond[0]),
                )

    def _place(self, point: PointPlan) -> dict[str, Any]:
        return {"x": point.x, "suffix": self.plan.axis.suffix}

    def _remedy(
        self, point: PointPlan, connections: int, lasts_s: float, **given: float
    ) -> dict[str, Any]:
        """Return where a point is too small, and how to mend it."""
        if self.plan.seconds is not None:
            remedy = f"Set seconds to {math.ceil(lasts_s * 10) / 10:g} or more."
        else:
            allow = "" if self.plan.closed else ", or allow that by `lengthen: true`"
            remedy = f"Set connections to {connections:,} or more{allow}."
        return {"at": self.plan.axis.at(point.x), "remedy": remedy, **given}


def protocol_problems(plan: Plan, entries: Sequence[ServerEntry]) -> Iterator[Problem]:
    """Return which servers lack the plan's protocol, one problem for all alike."""
    wanted = plan.declared.needs(plan.workload)
    unfit: dict[tuple[str, ...], list[str]] = {}
    for entry in entries:
        if not plan.declared.serves(wanted, entry.protocols):
            unfit.setdefault(tuple(entry.protocols), []).append(entry.name)
    for protocols, servers in unfit.items():
        yield problem(
            "protocol-not-supported", servers=servers, protocols=list(protocols), wanted=wanted
        )


def open_at_worst(point: PointPlan) -> int:
    """Return the concurrent connections to a server that has stopped answering."""
    return _open(point, point.workload.stay_s + point.workload.timeout_s)


def kept_open(plan: Plan) -> int:
    """Return the most connections that a plan keeps open at once although nothing is asked on most
    of them: held ones, and those in their think time."""
    planned = schedule.points(plan, "")
    return max((0 if point.concurrency else _kept(point) for point in planned), default=0)


def quick_ports(limits: Limits) -> int:
    """Return the ports of all addresses that can be used before connecting becomes slow."""
    return math.floor(_FULL * limits.ports * limits.addresses)


def addresses_for(needed: int, ports: int) -> int:
    """Return how many local addresses, with `ports` each, connect `needed` ones quickly."""
    return max(1, math.ceil(needed / (_FULL * ports)))


def _kept(point: PointPlan) -> int:
    """Return the connections that are open at once however fast the server answers."""
    return _open(point, point.workload.stay_s)


def _open(point: PointPlan, stay_s: float) -> int:
    if point.concurrency or point.workload.held:
        return point.concurrency or point.workload.held
    return min(point.connections, math.ceil(point.connection_rate_per_s * stay_s))


def _wait(in_use: Sequence[tuple[float, int]], clock: float, allowed: int) -> float:
    """Return the seconds until `allowed` of the ports (freed when, how many) are in use."""
    still, wait = sum(n for _, n in in_use), 0.0
    for free_at, n in in_use:
        if still <= allowed:
            break
        still -= n
        wait = free_at - clock
    return wait


def _rounding(point: PointPlan) -> float:
    """Return the tolerance, in seconds, for rounding to whole connections."""
    return 0.5 / point.connection_rate_per_s if point.connection_rate_per_s else 0.0
