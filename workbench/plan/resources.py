"""What a plan needs of machines: ports, and descriptors for connections open at once; and how long
to rest until enough of the ports are free.

The side that closes a connection first keeps it in TIME_WAIT. A server that closes first leaves
nothing on the client; otherwise every connection occupies a local port for 60 s for its
destination.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from workbench.machines.facts import Limits
from workbench.messages import plans
from workbench.messages.problems import Problem, Resource, problem
from workbench.plan import schedule
from workbench.plan.model import Plan, three_figures
from workbench.plan.schedule import PointPlan

_FULL = 0.45
"""Share of its ports from which an address counts as full. The kernel searches every other port
first: measured on Linux 6.18, connecting takes 24 µs of CPU time while half of the ports are free,
and 2 ms with fewer."""

Keys: TypeAlias = tuple[str, ...]
"""Keys of the plan."""

_OWN_DESCRIPTORS = 64
"""Descriptors of an agent or a server, in addition to its connections."""

_SPARE = 0.05
"""Share of the descriptors that random arrivals and think times may need beyond the mean."""


class Room(NamedTuple):
    """How many connections a machine can hold open, and what limits it."""

    connections: int
    where: Literal["clients", "target"]
    resource: Resource


def problems(
    plan: Plan,
    planned: Sequence[PointPlan],
    limits: Limits,
    clients: int,
    *,
    needs_ports: bool,
) -> Iterator[Problem]:
    """Return what is missing for points however fast the server answers. `limits`: the ports of
    all `clients` together, the descriptors of one process; `needs_ports`: the clients close first,
    so that ports stay in use."""
    open_at_once = rooms(plan, limits, clients)
    if needs_ports and not any(point.held for point in planned):
        yield from _port_problems(plan, planned, limits)
        open_at_once = [room for room in open_at_once if room.resource != "ports"]
    yield from _open_problems(plan, planned, open_at_once, limits, clients)


def warnings(
    plan: Plan, planned: Sequence[PointPlan], limits: Limits, clients: int
) -> Iterator[plans.Warned]:
    """Return what is missing if a server stops answering; `limits`: as in `problems`."""
    keys = ("nofile",)
    allowed = {"client": limits.descriptors, "target": limits.target_descriptors}
    for few in sorted({each for each in allowed.values() if each < plan.nofile}):
        where = tuple(name for name, each in allowed.items() if each == few)
        yield plans.FewDescriptors(keys=keys, where=where, allowed=few, wanted=plan.nofile)
    for room in reversed(rooms(plan, limits, clients)):
        # Points with too many in any case are problems.
        beyond = [p for p in planned if open_at_worst(p) > room.connections >= _kept(p)]
        if beyond and room.where == "clients":
            yield plans.TimeoutsFill(
                keys=keys,
                connections=max(open_at_worst(point) for point in beyond),
                resource=room.resource,
                available=room.connections,
                **place(plan, beyond[0]),
            )


def few_addresses(
    plan: Plan, planned: Sequence[PointPlan], limits: Limits, clients: int, wanted: int
) -> Iterator[plans.Warned]:
    """Warn of clients that have enough ports, but not the `wanted` number of addresses to connect
    quickly. `limits`: as in `problems`."""
    point, needed = fullest(planned, limits)
    if limits.addresses < wanted and needed <= limits.ports:
        yield plans.FewAddresses(
            keys=size_keys(plan),
            addresses=limits.addresses,
            wanted=wanted,
            needed=math.ceil(needed / clients),
            ports=_of_one_address(limits) // clients,
            **place(plan, point),
        )


def size_keys(plan: Plan) -> Keys:
    """Return the key that decides the size of points."""
    return ("connections",) if plan.seconds is None else ("seconds",)


def place(plan: Plan, point: PointPlan) -> dict[str, Any]:
    """Return the place of a point, as messages have it."""
    return {"x": point.x, "suffix": plan.axis.suffix}


def open_at_worst(point: PointPlan) -> int:
    """Return the concurrent connections to a server that has stopped answering."""
    return _open(point, point.stay_s + point.workload.timeout_s)


def kept_open(plan: Plan) -> int:
    """Return the most connections that a plan keeps open at once although nothing is asked on most
    of them: held ones, and those in their think time."""
    planned = schedule.points(plan, "")
    return max((0 if point.concurrency else _kept(point) for point in planned), default=0)


def rooms(plan: Plan, limits: Limits, clients: int) -> list[Room]:
    """Return the limits of the connections held open at once. `limits`: as in `problems`."""
    return [
        Room(limits.ports, "clients", "ports"),
        Room(descriptors(plan, limits, clients), "clients", "descriptors"),
        Room(
            limits.target_processes * _each(plan, limits.target_descriptors),
            "target",
            "descriptors",
        ),
    ]


def descriptors(plan: Plan, limits: Limits, clients: int) -> int:
    """Return how many descriptors all clients together have for connections."""
    return clients * plan.workers * _each(plan, limits.descriptors)


def most_per_s(plan: Plan, limits: Limits, clients: int) -> float:
    """Return the highest rate of users, or of other connections that stay open, for which there
    are descriptors; infinite: any. `limits`: as in `problems`."""
    stay_s = plan.declared.stay_s(plan.workload)
    calls = plan.declared.calls(plan.workload) if plan.unit == "requests" else 1
    found = [r.connections for r in rooms(plan, limits, clients) if r.resource == "descriptors"]
    return (1 - _SPARE) * calls * min(found) / stay_s if stay_s else math.inf


def _each(plan: Plan, hard: int) -> int:
    """Return how many connections one process can have, where the hard limit is `hard`."""
    return max(0, min(plan.nofile, hard) - _OWN_DESCRIPTORS)


def _kept(point: PointPlan) -> int:
    """Return the connections that are open at once however fast the server answers."""
    return _open(point, point.stay_s)


def _open(point: PointPlan, stay_s: float) -> int:
    if point.concurrency or point.held:
        return point.concurrency or point.held
    return min(point.connections, math.ceil(point.connection_rate_per_s * stay_s))


def _port_problems(plan: Plan, planned: Sequence[PointPlan], limits: Limits) -> Iterator[Problem]:
    point, needed = fullest(planned, limits)
    if needed > limits.ports:
        addresses = addresses_for(needed, _of_one_address(limits))
        yield problem(
            "not-enough-ports",
            *size_keys(plan),
            ports=limits.ports,
            needed=needed,
            addresses=addresses,
            lacking=addresses - limits.addresses,
            at=plan.axis.at(point.x),
        )


def _open_problems(
    plan: Plan,
    planned: Sequence[PointPlan],
    room: Sequence[Room],
    limits: Limits,
    clients: int,
) -> Iterator[Problem]:
    """Return what is missing for the first point with too many connections."""
    for available, where, resource in room:
        point = next((point for point in planned if _kept(point) > available), None)
        if point is not None:
            kept, at = _kept(point), plan.axis.at(point.x)
            what = f"{kept:,} connections held open"
            fewer = "hold fewer"
            if point.concurrency:
                what, fewer = f"{kept:,} concurrent connections", "lower concurrency"
            elif not point.held:
                what = f"The {kept:,} connections that think time keeps open at {at}"
                fits_per_s = _fitting_per_s(plan, limits, clients)
                fewer = "lower the rate" + f" to {fits_per_s:,}/s at most" * bool(fits_per_s)
            per_client = limits.ports // clients if resource == "ports" else 1
            yield problem(
                "too-many-open",
                *_key(plan, point),
                what=what,
                where=where,
                resource=resource,
                available=available,
                fewer=fewer,
                clients=math.ceil(kept / max(1, per_client)),
                addresses=math.ceil(kept / _of_one_address(limits)),
            )
            return


def _fitting_per_s(plan: Plan, limits: Limits, clients: int) -> int:
    most = most_per_s(plan, limits, clients)
    return 0 if math.isinf(most) else int(three_figures(most, down=True))


def _key(plan: Plan, point: PointPlan) -> Keys:
    """Return the key that decides how many connections are open."""
    if point.concurrency:
        return ("concurrency",)
    if point.held:
        return ("vary" if "connections" in plan.vary else "workload.connections",)
    return ("rates",)


def _of_one_address(limits: Limits) -> int:
    """Return the ports of one address of each client, where all of its addresses are used."""
    return limits.ports // limits.addresses


def clients_close(plan: Plan, closes_first: str) -> bool:
    """Return whether the clients close first. `closes_first`: who ends a connection after one
    call."""
    return plan.declared.clients_close(plan.workload, closes_first)


def drain(
    planned: Sequence[PointPlan], limits: Limits, cool_down_s: float
) -> tuple[list[float], int]:
    """Return the rest after each point so that the next has enough free ports, and the peak of
    ports occupied."""
    clock, most = 0.0, 0
    in_use: list[tuple[float, int]] = []
    rests: list[float] = []
    for index, point in enumerate(planned):
        if index:
            freed = _wait(in_use, clock, limits.ports - ports_of(point, limits))
            rests.append(max(cool_down_s, freed))
            clock += rests[-1]
        in_use = [(end, n) for end, n in in_use if end > clock]
        clock += point.seconds
        in_use.append((clock + limits.port_reuse_s, ports_of(point, limits)))
        most = max(most, sum(n for _, n in in_use))
    return [*rests, cool_down_s], most


def drain_any(
    planned: Sequence[PointPlan], limits: Limits, cool_down_s: float, at_most: int
) -> tuple[list[float], int]:
    """Return the rest after each point so that whichever comes next has enough free ports, and the
    peak of ports occupied; `at_most` of the points will be measured.

    The rests of the points that still occupy ports add up to at most the time that a port stays
    occupied, so a rest in proportion to the needs of a point leaves room for the largest.
    """
    needs = [ports_of(point, limits) for point in planned]
    largest = max(needs)
    room = max(1, limits.ports - largest)
    if at_most * largest <= limits.ports:
        return [cool_down_s] * len(planned), at_most * largest
    occupied_s = limits.port_reuse_s
    rests = [max(cool_down_s, occupied_s * min(1.0, need / room)) for need in needs]
    return rests, max(largest, limits.ports)


def quick_ports(limits: Limits) -> int:
    """Return the ports of all addresses that can be used before connecting becomes slow."""
    return math.floor(_FULL * limits.ports * limits.addresses)


def addresses_for(needed: int, ports: int) -> int:
    """Return how many local addresses have `needed` ports, so that connecting stays quick.
    `ports`: of one address."""
    return max(1, math.ceil(needed / (_FULL * ports)))


def fullest(planned: Sequence[PointPlan], limits: Limits) -> tuple[PointPlan, int]:
    """Return the first point that takes the most ports, and how many."""
    point = max(planned, key=lambda each: ports_of(each, limits))
    return point, ports_of(point, limits)


def highest_rate(plan: Plan, limits: Limits) -> float:
    """Return the highest rate whose points have enough ports, in the plan's unit, if the clients
    close first; infinite: any."""
    if plan.connections is not None and plan.connections <= limits.ports:
        return math.inf
    occupied_s = limits.port_reuse_s
    if plan.seconds is not None:
        occupied_s = min(occupied_s, plan.seconds)
    calls = plan.declared.calls(plan.workload) if plan.unit == "requests" else 1
    return calls * limits.ports / occupied_s


def _wait(in_use: Sequence[tuple[float, int]], clock: float, allowed: int) -> float:
    """Return the seconds until at most `allowed` of the ports (freed when, how many; ascending) are
    occupied."""
    still = sum(n for _, n in in_use)
    wait = 0.0
    for free_at, n in in_use:
        if still <= allowed:
            break
        still -= n
        wait = free_at - clock
    return wait


def ports_of(point: PointPlan, limits: Limits) -> int:
    """Return the ports occupied after a point, when every connection was closed from this side."""
    if point.held:
        return point.held
    if not point.connection_rate_per_s:
        return point.connections or point.concurrency
    return min(point.connections, math.ceil(point.connection_rate_per_s * limits.port_reuse_s))
