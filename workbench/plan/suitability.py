"""Whether the points of a plan can give meaningful results: their size, their length, and what they
need of a client."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from workbench.analysis.evidence import FEWEST_SAMPLES, SHORTEST_S
from workbench.analysis.histogram import samples_needed
from workbench.machines.limits import ClientLimits
from workbench.machines.runner_client import LONGEST_RUN_S
from workbench.messages import plans
from workbench.plan import duration, schedule
from workbench.plan.model import Plan
from workbench.plan.ports import clients_close, ports_of
from workbench.plan.schedule import PointPlan

Keys: TypeAlias = tuple[str, ...]
"""Keys of the plan."""

_OWN_DESCRIPTORS = 64
"""Descriptors of an agent, in addition to its connections."""


_SPARE = 0.05
"""Share of the descriptors that random arrivals and think times may need beyond the mean."""


class Room(NamedTuple):
    """How many connections a machine can hold open, and what limits it."""

    connections: int
    where: Literal["clients", "target"]
    resource: plans.Resource


class Contestant(Protocol):
    """The attributes of a catalogue entry that a budget uses."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def closes_first(self) -> str: ...
    @property
    def protocols(self) -> Sequence[str]: ...
    @property
    def warm_up_s(self) -> float: ...
    @property
    def heritage(self) -> bool: ...
    @property
    def one_client(self) -> bool: ...
    @property
    def rights(self) -> Mapping[Any, str]: ...


def problems(
    plan: Plan,
    entries: Sequence[Contestant],
    planned: Sequence[PointPlan],
    limits: ClientLimits,
    duration_s: tuple[float, float],
    *,
    clients: int = 1,
) -> list[plans.Problem]:
    """Return why the plan cannot be run as specified; empty: it can. `limits`: the ports of all
    `clients` together, the descriptors of one process."""
    size = _size_keys(plan)
    needs_ports = any(clients_close(plan, entry.closes_first) for entry in entries)
    return [
        *_too_long(duration_s, size),
        *protocol_problems(plan, entries),
        *_one_client_problems(plan, entries, clients),
        *(list(_size_problems(plan, planned, size)) or _limit_problems(plan, planned, size)),
        *_held_problems(plan, planned, limits, clients),
        *(_port_problems(plan, planned, limits, size) if needs_ports else ()),
    ]


def warnings(
    plan: Plan, planned: Sequence[PointPlan], limits: ClientLimits, clients: int
) -> list[plans.Warned]:
    """Return what to expect of the results. `clients`: number of clients that share the load."""
    size = _size_keys(plan)
    return [
        *_lengthened(plan, planned, size),
        *_thin_points(plan, planned, size),
        *_pile_up(plan, planned, limits, clients),
    ]


def _size_keys(plan: Plan) -> Keys:
    """Return the key that decides the size of points."""
    return ("connections",) if plan.seconds is None else ("seconds",)


def open_at_worst(point: PointPlan) -> int:
    """Return the concurrent connections to a server that has stopped answering."""
    return _open(point, duration.stay_s(point) + point.workload.timeout_s)


def kept_open(plan: Plan) -> int:
    """Return the most connections that a plan keeps open at once although nothing is asked on most
    of them: held ones, and those in their think time."""
    return max(
        (
            0 if point.concurrency else _open(point, duration.stay_s(point))
            for point in schedule.points(plan, "")
        ),
        default=0,
    )


def rooms(plan: Plan, limits: ClientLimits, clients: int) -> list[Room]:
    """Return the limits of the connections held open at once. `limits`: the ports of all `clients`
    together, the descriptors of one process."""
    return [
        Room(limits.ports, "clients", "ports"),
        Room(descriptors(plan, limits, clients), "clients", "descriptors"),
        Room(max(0, plan.nofile - _OWN_DESCRIPTORS), "target", "descriptors"),
    ]


def descriptors(plan: Plan, limits: ClientLimits, clients: int) -> int:
    """Return how many descriptors all clients together have for connections."""
    each = max(0, min(plan.nofile, limits.descriptors) - _OWN_DESCRIPTORS)
    return clients * plan.workers * each


def most_per_s(plan: Plan, limits: ClientLimits, clients: int) -> float:
    """Return the highest rate of users, or of other connections that stay open, for which there
    are descriptors; infinite: any. `limits`: as in `rooms`."""
    stay_s = plan.declared.stay_s(plan.workload)
    calls = plan.declared.calls(plan.workload) if plan.unit == "requests" else 1
    found = [r.connections for r in rooms(plan, limits, clients) if r.resource == "descriptors"]
    return (1 - _SPARE) * calls * min(found) / stay_s if stay_s else math.inf


def _open(point: PointPlan, stay_s: float) -> int:
    if point.concurrency or point.held:
        return point.concurrency or point.held
    return min(point.connections, math.ceil(point.connection_rate_per_s * stay_s))


def _too_long(duration_s: tuple[float, float], keys: Keys) -> Iterator[plans.Problem]:
    shortest_s, longest_s = duration_s
    if shortest_s > LONGEST_RUN_S:
        yield plans.RunTooLong(
            keys=keys, shortest_s=shortest_s, longest_s=longest_s, limit_s=LONGEST_RUN_S
        )


def protocol_problems(plan: Plan, entries: Sequence[Contestant]) -> Iterator[plans.Problem]:
    """Return the problems of servers that do not support the plan's protocol."""
    wanted = plan.workload.protocol
    for entry in entries:
        if not plan.declared.serves(plan.workload.protocol, entry.protocols):
            yield plans.ProtocolNotSupported(
                name=entry.name, protocols=list(entry.protocols), wanted=wanted
            )


def _one_client_problems(
    plan: Plan, entries: Sequence[Contestant], clients: int
) -> Iterator[plans.Problem]:
    """Return what has one client, where several connect at once."""
    fixed = plan.closed and plan.warm_up is None  # A warm-up has a rate, which all clients share.
    several = max(plan.concurrency, default=1) if fixed else clients * plan.workers
    if several == 1:
        return
    keys = ("concurrency",) if fixed else ("workers",)
    if what := plan.declared.one_client(plan.workload):
        yield plans.OneClientOnly(keys=("workload.transport", *keys), what=what, clients=several)
    for entry in entries:
        if entry.one_client:
            yield plans.OneClientOnly(keys=("servers", *keys), what=entry.name, clients=several)


def _size_problems(plan: Plan, planned: Sequence[PointPlan], keys: Keys) -> Iterator[plans.Problem]:
    short = [p for p in planned if 0 < p.seconds - p.ramp_s + _rounding(p) < SHORTEST_S]
    if short:
        point = min(short, key=lambda p: p.seconds)
        connections = math.ceil(point.connection_rate_per_s * SHORTEST_S)
        yield plans.PointTooShort(
            keys=keys,
            seconds=point.seconds - point.ramp_s,
            shortest_s=SHORTEST_S,
            **_remedy(plan, point, connections, SHORTEST_S),
        )
    ramp_s = duration.longest_stay_s(planned)
    steady_s = ramp_s + SHORTEST_S
    unsteady = [p for p in planned if ramp_s and 0 < p.seconds + _rounding(p) < steady_s]
    if unsteady and not short:
        point = min(unsteady, key=lambda p: p.seconds)
        connections = math.ceil(point.connection_rate_per_s * steady_s)
        yield plans.NoSteadyPart(
            keys=keys,
            seconds=round(point.seconds, 3),
            think_s=ramp_s,
            **_remedy(plan, point, connections, steady_s),
        )
        return
    thin = [p for p in planned if 0 < p.samples < FEWEST_SAMPLES]
    # If two rules lengthen a point, the longer one applies.
    if short and all(p in short and _samples_in(p, SHORTEST_S) >= FEWEST_SAMPLES for p in thin):
        return
    if thin:
        point = min(thin, key=lambda p: p.samples)
        connections = math.ceil(FEWEST_SAMPLES / point.calls_per_connection)
        seconds = connections / (point.connection_rate_per_s or connections)
        yield plans.PointTooSmall(
            keys=keys,
            calls=point.samples,
            fewest=FEWEST_SAMPLES,
            **_remedy(plan, point, connections, seconds),
        )


def _limit_problems(
    plan: Plan, planned: Sequence[PointPlan], keys: Keys
) -> Iterator[plans.Problem]:
    """Return the problems of a search whose points are too small for its percentile."""
    if plan.search is None or plan.search.p99_ms is None:
        return
    needed = samples_needed(0.99)
    point = min(planned, key=lambda p: p.samples)
    if point.samples < needed:
        connections = math.ceil(needed / point.calls_per_connection)
        yield plans.TooFewForLimit(
            keys=keys,
            calls=point.samples,
            needed=needed,
            **_remedy(plan, point, connections, connections / point.connection_rate_per_s),
        )


def _samples_in(point: PointPlan, seconds: float) -> float:
    return point.connection_rate_per_s * seconds * point.calls_per_connection


def _rounding(point: PointPlan) -> float:
    """Return the tolerance, in seconds, for rounding to whole connections."""
    return 0.5 / point.connection_rate_per_s if point.connection_rate_per_s else 0.0


def _remedy(plan: Plan, point: PointPlan, connections: int, seconds: float) -> dict[str, Any]:
    """Return the fix for a `SmallPoint`."""
    if plan.seconds is not None:
        return {**_place(plan, point), "needed_s": seconds}
    return {**_place(plan, point), "connections": connections, "may_lengthen": not plan.closed}


def _place(plan: Plan, point: PointPlan) -> dict[str, Any]:
    return {"x": point.x, "suffix": plan.axis.suffix}


def _port_problems(
    plan: Plan, planned: Sequence[PointPlan], limits: ClientLimits, keys: Keys
) -> Iterator[plans.Problem]:
    point = max(planned, key=lambda p: ports_of(p, limits))
    needed = ports_of(point, limits)
    if needed > limits.ports:
        one_address = limits.ports // limits.addresses  # All are used by then.
        yield plans.NotEnoughPorts(
            keys=keys,
            ports=limits.ports,
            needed=needed,
            addresses=math.ceil(needed / one_address),
            have=limits.addresses,
            **_place(plan, point),
        )


def _held_problems(
    plan: Plan, planned: Sequence[PointPlan], limits: ClientLimits, clients: int
) -> Iterator[plans.Problem]:
    """Return what is missing to hold the connections of the first point with too many."""
    key = "vary" if "connections" in plan.vary else "workload.connections"
    for available, where, resource in rooms(plan, limits, clients):
        point = next((point for point in planned if point.held > available), None)
        if point is not None:
            yield plans.TooManyHeld(
                keys=(key,),
                connections=point.held,
                where=where,
                resource=resource,
                available=available,
                per_client=limits.ports // clients,
                **_place(plan, point),
            )
            return


def _lengthened(plan: Plan, planned: Sequence[PointPlan], keys: Keys) -> Iterator[plans.Warned]:
    if plan.connections is None or not plan.lengthen:
        return
    longer = [p for p in planned if p.connections > (plan.connections or 0)]
    if longer:
        yield plans.PointsLengthened(
            keys=keys,
            lengthened=len(longer),
            points=len(planned),
            connections=plan.connections,
            most=max(p.connections for p in longer),
        )


def _thin_points(plan: Plan, planned: Sequence[PointPlan], keys: Keys) -> Iterator[plans.Warned]:
    needed = samples_needed(0.99)
    thin = [p for p in planned if FEWEST_SAMPLES <= p.samples < needed]
    if thin:
        yield plans.FewSamples(keys=keys, needed=needed, **_place(plan, thin[-1]))


def _pile_up(
    plan: Plan, planned: Sequence[PointPlan], limits: ClientLimits, clients: int
) -> Iterator[plans.Warned]:
    keys = ("nofile",)
    if limits.descriptors < plan.nofile:
        yield plans.FewDescriptors(keys=keys, allowed=limits.descriptors, wanted=plan.nofile)
    resources: list[tuple[int, plans.Resource]] = [
        (descriptors(plan, limits, clients), "descriptors"),
        (limits.ports, "ports"),
    ]
    for have, resource in resources:
        stay_s = max(map(duration.stay_s, planned))
        thought = planned if stay_s and not plan.closed else []
        full = [point for point in thought if _open(point, stay_s) > have]
        if full:
            yield plans.ThinkTimeFills(
                keys=keys,
                connections=_open(full[-1], stay_s),
                think_s=stay_s,
                resource=resource,
                available=have,
                **_place(plan, full[0]),
            )
            continue
        beyond = [p for p in planned if open_at_worst(p) > have and not p.held]
        if beyond:
            yield plans.TimeoutsFill(
                keys=keys,
                connections=max(open_at_worst(point) for point in beyond),
                resource=resource,
                available=have,
                **_place(plan, beyond[0]),
            )
