"""Whether a plan can give meaningful results: the size and length of its points, its servers, and
what it needs of machines (`resources`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from workbench.analysis.evidence import FEWEST_SAMPLES, SHORTEST_S
from workbench.analysis.histogram import samples_needed
from workbench.axis import RATE
from workbench.formatting import time_span
from workbench.machines.facts import Limits
from workbench.machines.runner_client import LONGEST_RUN_S
from workbench.messages import plans
from workbench.messages.problems import Problem, problem
from workbench.plan import resources
from workbench.plan.model import Plan
from workbench.plan.resources import Keys, clients_close
from workbench.plan.schedule import PointPlan
from workbench.servers.entry import ServerEntry


def problems(
    plan: Plan,
    entries: Sequence[ServerEntry],
    planned: Sequence[PointPlan],
    limits: Limits,
    duration_s: tuple[float, float],
    *,
    clients: int = 1,
) -> list[Problem]:
    """Return why the plan cannot be run as specified; empty: it can. `limits`: the ports of all
    `clients` together, the descriptors of one process."""
    size = resources.size_keys(plan)
    needs_ports = any(clients_close(plan, entry.closes_first) for entry in entries)
    return [
        *_too_long(duration_s, size),
        *protocol_problems(plan, entries),
        *_one_client_problems(plan, entries, clients),
        *(list(_size_problems(plan, planned, size)) or _limit_problems(plan, planned, size)),
        *resources.problems(plan, planned, limits, clients, needs_ports=needs_ports),
    ]


def warnings(
    plan: Plan, planned: Sequence[PointPlan], limits: Limits, clients: int
) -> list[plans.Warned]:
    """Return what to expect of the results. `clients`: number of clients that share the load."""
    size = resources.size_keys(plan)
    return [
        *_warms_up_higher(plan),
        *_lengthened(plan, planned, size),
        *_thin_points(plan, planned, size),
        *resources.warnings(plan, planned, limits, clients),
    ]


def _too_long(duration_s: tuple[float, float], keys: Keys) -> Iterator[Problem]:
    if duration_s[0] > LONGEST_RUN_S:
        yield problem(
            "run-too-long", *keys, lasts=time_span(duration_s), limit_h=LONGEST_RUN_S / 3600
        )


def protocol_problems(plan: Plan, entries: Sequence[ServerEntry]) -> Iterator[Problem]:
    """Return the problems of servers that do not support the plan's protocol, one for all that
    support the same ones."""
    wanted = plan.declared.needs(plan.workload)
    unfit: dict[tuple[str, ...], list[str]] = {}
    for entry in entries:
        if not plan.declared.serves(wanted, entry.protocols):
            unfit.setdefault(tuple(entry.protocols), []).append(entry.name)
    for protocols, servers in unfit.items():
        yield problem(
            "protocol-not-supported", servers=servers, protocols=list(protocols), wanted=wanted
        )


def _one_client_problems(
    plan: Plan, entries: Sequence[ServerEntry], clients: int
) -> Iterator[Problem]:
    """Return what has one client, where several connect at once."""
    fixed = plan.closed and plan.warming is None  # A warm-up has a rate, which all clients share.
    several = max(plan.concurrency, default=1) if fixed else clients * plan.workers
    if several == 1:
        return
    keys = ("concurrency",) if fixed else ("workers",)
    one = "concurrency" if fixed else "workers and clients"
    if what := plan.declared.one_client(plan.workload):
        yield problem(
            "one-client-only", "workload.transport", *keys, one=one, what=what, clients=several
        )
    for entry in entries:
        if entry.one_client:
            yield problem(
                "one-client-only", "servers", *keys, one=one, what=entry.name, clients=several
            )


def _size_problems(plan: Plan, planned: Sequence[PointPlan], keys: Keys) -> Iterator[Problem]:
    short = [p for p in planned if 0 < p.seconds - p.ramp_s + _rounding(p) < SHORTEST_S]
    if short:
        point = min(short, key=lambda p: p.seconds)
        connections = math.ceil(point.connection_rate_per_s * SHORTEST_S)
        yield problem(
            "point-too-short",
            *keys,
            seconds=point.seconds - point.ramp_s,
            shortest_s=SHORTEST_S,
            **_remedy(plan, point, connections, SHORTEST_S),
        )
    ramp_s = max(point.longest_stay_s for point in planned)
    steady_s = ramp_s + SHORTEST_S
    unsteady = [p for p in planned if ramp_s and 0 < p.seconds + _rounding(p) < steady_s]
    if unsteady and not short:
        point = min(unsteady, key=lambda p: p.seconds)
        connections = math.ceil(point.connection_rate_per_s * steady_s)
        yield problem(
            "no-steady-part",
            *keys,
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
        yield problem(
            "point-too-small",
            *keys,
            calls=point.samples,
            fewest=FEWEST_SAMPLES,
            **_remedy(plan, point, connections, seconds),
        )


def _limit_problems(plan: Plan, planned: Sequence[PointPlan], keys: Keys) -> Iterator[Problem]:
    """Return the problems of a search whose points are too small for its percentile."""
    if plan.search is None or plan.search.p99_ms is None:
        return
    needed = samples_needed(0.99)
    point = min(planned, key=lambda p: p.samples)
    if point.samples < needed:
        connections = math.ceil(needed / point.calls_per_connection)
        yield problem(
            "too-few-for-limit",
            *keys,
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
    """Return where a point is too small, and how to mend it."""
    if plan.seconds is not None:
        remedy = f"Set seconds to {math.ceil(seconds * 10) / 10:g} or more."
    else:
        allow = "" if plan.closed else ", or allow that by `lengthen: true`"
        remedy = f"Set connections to {connections:,} or more{allow}."
    return {"at": plan.axis.at(point.x), "remedy": remedy}


def _warms_up_higher(plan: Plan) -> Iterator[plans.Warned]:
    highest = max(plan.rates_per_s, default=math.inf)
    if plan.warming and plan.warming.rate_per_s > highest:
        yield plans.WarmUpAboveRates(
            warm_up=RATE.at(plan.warming.rate_per_s), highest=RATE.at(highest)
        )


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
        yield plans.FewSamples(keys=keys, needed=needed, **resources.place(plan, thin[-1]))
