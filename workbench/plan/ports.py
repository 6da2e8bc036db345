"""Local ports of a client: how many a plan occupies, and how long to rest until they are free.

The side that closes a connection first keeps it in TIME_WAIT. A server that closes first leaves
nothing on the client; otherwise every connection occupies a local port for 60 s for its
destination.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.machines.facts import Limits
from workbench.plan.model import Plan
from workbench.plan.schedule import PointPlan

_FULL = 0.45
"""Share of its ports from which an address counts as full. The kernel searches every other port
first: measured on Linux 6.18, connecting takes 24 µs of CPU time while half of the ports are free,
and 2 ms with fewer."""


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
