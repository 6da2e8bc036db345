"""Local ports of a client: how many a plan holds, and how long to rest until they are free again.

The side that closes a connection first keeps it in TIME_WAIT. A server that closes first leaves
nothing on the client; otherwise every connection holds a local port for 60 s against its one
destination.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.plans import Plan
from workbench.sweeps import PointPlan

TIME_WAIT_S = 60.0
"""Fixed in the Linux kernel."""

REUSE_S = 1.0
"""After which net.ipv4.tcp_tw_reuse lets a port in TIME_WAIT be used again."""


@dataclass(frozen=True)
class ClientLimits:
    """What a client's kernel allows."""

    ports: int = 28_232
    """Local ports free to use; by default those of an untouched Linux."""
    descriptors: int = 1_048_576
    """Hard limit of one process."""
    port_held_s: float = TIME_WAIT_S
    """By a connection closed from this side."""


def limits_of(facts: Mapping[str, Any], *, loopback: bool = False) -> ClientLimits:
    """From a machine's facts (`machines.facts`); what they do not tell is taken as usual."""
    usual, sysctls = ClientLimits(), facts.get("sysctls", {})
    ports = usual.ports
    if port_range := sysctls.get("net.ipv4.ip_local_port_range"):
        low, high = map(int, port_range.split())
        ports = high - low + 1
    # 1: for all connections, 2 (the kernel's default): for those over loopback.
    reuse = sysctls.get("net.ipv4.tcp_tw_reuse")
    reused = reuse == 1 or (reuse == 2 and loopback)
    return ClientLimits(
        ports=ports,
        descriptors=facts.get("descriptor_limits", {}).get("hard", usual.descriptors),
        port_held_s=REUSE_S if reused else TIME_WAIT_S,
    )


def clients_close(plan: Plan, closes_first: str) -> bool:
    """Do the clients close first? `closes_first`: who ends a connection after one call."""
    # A kept-alive connection is ended by who knows that no call follows: the client.
    workload = plan.workload
    kept = workload.protocol == "http/1.1" or workload.calls_per_connection > 1
    return closes_first == "client" or kept


def drain(
    planned: Sequence[PointPlan], limits: ClientLimits, cool_down_s: float
) -> tuple[list[float], int]:
    """Rests after each point such that the next finds its ports free, and the most ports held."""
    clock, most = 0.0, 0
    held: list[tuple[float, int]] = []
    rests: list[float] = []
    for index, point in enumerate(planned):
        if index:
            freed = _wait(held, clock, limits.ports - ports_of(point, limits))
            rests.append(max(cool_down_s, freed))
            clock += rests[-1]
        held = [(end, n) for end, n in held if end > clock]
        clock += point.seconds
        held.append((clock + limits.port_held_s, ports_of(point, limits)))
        most = max(most, sum(n for _, n in held))
    return [*rests, cool_down_s], most


def _wait(held: Sequence[tuple[float, int]], clock: float, allowed: int) -> float:
    """Seconds until at most `allowed` of the ports (freed when, how many; rising) are held."""
    still = sum(n for _, n in held)
    wait = 0.0
    for free_at, n in held:
        if still <= allowed:
            break
        still -= n
        wait = free_at - clock
    return wait


def ports_of(point: PointPlan, limits: ClientLimits) -> int:
    """Held at a point's end, when every connection is closed from this side."""
    if not point.connection_rate_per_s:
        return point.connections or point.concurrency
    return min(point.connections, math.ceil(point.connection_rate_per_s * limits.port_held_s))
