"""The budget: what a plan costs in time, samples, ports and descriptors, before it is run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

from workbench import formatting
from workbench.analysis.evidence import FEWEST_SAMPLES, SHORTEST_S
from workbench.analysis.histogram import samples_needed
from workbench.analysis.sensitivity import TYPICAL, WANTED, Spreads, detectable, passes_for
from workbench.errors import BadInput
from workbench.machines.limits import ClientLimits, limits_of
from workbench.machines.runner_client import LONGEST_RUN_S
from workbench.messages import plans
from workbench.plan.model import Plan
from workbench.plan.ports import clients_close, drain, drain_any, ports_of
from workbench.plan.schedule import (
    CEILING_ATTEMPTS,
    CEILING_HALVINGS,
    PROFILE_LEAD_S,
    PointPlan,
    points,
)
from workbench.plan.search import example
from workbench.sessions.spreads import earlier
from workbench.workloads.registry import declaration

Keys: TypeAlias = tuple[str, ...]
"""Keys of the plan."""

DEPLOY_S = (0.5, 3.0)
"""Seconds to start a server with a ready runtime, gate and stop it."""

_OWN_DESCRIPTORS = 64
"""Descriptors of an agent, in addition to its connections."""


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
    def rights(self) -> Mapping[Any, str]: ...


@dataclass(frozen=True)
class Budget:
    """What a plan costs. `check()` refuses a plan that cannot be run as specified."""

    duration_s: tuple[float, float]
    """Seconds, if every server answers at once, and if every point waits for its timeouts."""
    points: tuple[int, int]
    """Points of one server in one pass: expected, and at most, which differ for a search."""
    samples_per_point: tuple[int, int]
    """Calls of the smallest and the largest point; 0: unknown (closed loop by seconds)."""
    ports_needed: int
    """The most at one time, for one destination."""
    ports_free: int
    """Local ports of a client."""
    open_at_worst: int
    """Concurrent connections to a server that has stopped answering."""
    cool_down_s: dict[str, list[float]]
    """By server id: how long to rest after each point of its sweep, in order."""
    problems: list[plans.Problem] = field(default_factory=list)
    warnings: list[plans.Warned] = field(default_factory=list)
    rests: plans.RestsForPorts | None = None
    """Why points rest longer than the plan specifies; None: they do not."""
    sensitivity: plans.Sensitivity | None = None
    """What differences its passes can show; None: a search, whose points have no rate in common."""

    def check(self) -> None:
        """Raise BadInput with all problems."""
        if self.problems:
            raise BadInput(" ".join(problem.text() for problem in self.problems))

    def describe(self) -> list[str]:
        """Return sentences about the cost of the run; warnings are separate."""
        fewest, most = self.samples_per_point
        span = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        expected, at_most = self.points
        search = f" A search takes about {expected} points for each server, at most {at_most}."
        return [
            f"It takes {formatting.time_span(self.duration_s)}.{search * (expected != at_most)}",
            f"A point has {span} calls." if most else "A point has as many calls as fit.",
            _ports_text(self.ports_needed, self.ports_free),
            *([self.sensitivity.text()] if self.sensitivity else []),
        ]


def assess(
    plan: Plan,
    entries: Sequence[Contestant],
    facts: Mapping[str, Any],
    *,
    loopback: bool = False,
    clients: int = 1,
    target: str = "",
) -> Budget:
    """Return the budget of a plan for these servers on a client with these facts.

    `loopback`: client and target are one machine. `clients`: how many such clients share the load.
    `target`: its name; what earlier sessions there tell of the spread of passes is reckoned with.
    """
    limits = limits_of(facts, loopback=loopback)
    planned = list(points(plan, ""))
    reuse_s = limits.port_reuse_s + _longest_stay_s(planned)
    limits = replace(limits, ports=clients * limits.ports, port_reuse_s=reuse_s)
    open_at_worst = max(_open_at_worst(point) for point in planned)
    client_closes = [clients_close(plan, entry.closes_first) for entry in entries]
    if any(client_closes):
        drained, in_use = (
            drain_any(planned, limits, plan.cool_down_s, plan.search.points)
            if plan.search
            else drain(planned, limits, plan.cool_down_s)
        )
    else:
        drained, in_use = [], 0
    unhurried = [plan.cool_down_s] * len(planned)
    rests = {
        entry.id: drained if closes else unhurried
        for entry, closes in zip(entries, client_closes, strict=True)
    }
    size = ("connections",) if plan.seconds is None else ("seconds",)
    turns = [(e.warm_up_s, rests[e.id]) for e in entries]
    measured = (len(planned),) * 2
    if plan.search:
        duration_s, measured = _search_duration(plan, planned, turns)
    else:
        duration_s = _duration(plan, planned, turns)
    longest_s = max((rest for each in rests.values() for rest in each), default=0.0)
    problems = [
        *_too_long(duration_s, size),
        *protocol_problems(plan, entries),
        *(list(_size_problems(plan, planned, size)) or _limit_problems(plan, planned, size)),
        *(_port_problems(plan, planned, limits, size) if any(client_closes) else ()),
    ]
    warnings = [
        *_lengthened(plan, planned, size),
        *_thin_points(plan, planned, size),
        *_pile_up(plan, planned, limits, clients),
    ]
    return Budget(
        duration_s=duration_s,
        points=measured,
        samples_per_point=(min(p.samples for p in planned), max(p.samples for p in planned)),
        ports_needed=max(in_use, open_at_worst),
        ports_free=limits.ports,
        open_at_worst=open_at_worst,
        cool_down_s=rests,
        problems=problems,
        warnings=warnings,
        rests=plans.RestsForPorts(longest_s=longest_s) if longest_s > plan.cool_down_s else None,
        sensitivity=None if plan.search else _sensitivity(plan, target),
    )


def _sensitivity(plan: Plan, target: str) -> plans.Sensitivity:
    interleaved = plan.order == "interleaved"
    protocol = plan.workload.protocol
    found = earlier(protocol, target, interleaved=interleaved) if target else TYPICAL
    return sensitivity(plan.repeats, found)


def sensitivity(passes: int, spreads: Spreads) -> plans.Sensitivity:
    """What so many passes can show, if they differ by `spreads`."""
    changes = {name: detectable(each, passes) for name, each in spreads.by_figure.items()}
    name, spread = next(iter(spreads.by_figure.items()))
    return plans.Sensitivity(
        passes=passes,
        shows={name: round(100 * c, 2) for name, c in changes.items() if c and c <= 1},
        figure=name,
        wanted_pct=100 * WANTED,
        proposed=passes_for(WANTED, spread),
        session=spreads.session,
    )


def _ports_text(needed: int, free: int) -> str:
    if needed <= free:
        return f"It holds at most {needed:,} of {free:,} local ports."
    return f"At worst it would hold {needed:,} local ports; there are {free:,}."


def _duration(
    plan: Plan, planned: Sequence[PointPlan], servers: Sequence[tuple[float, Sequence[float]]]
) -> tuple[float, float]:
    """Return the duration. `servers`: seconds of warm-up calls before every turn, and the rests, of
    each."""
    timeouts = sum(point.workload.timeout_s for point in planned)
    stay = _longest_stay_s(planned)
    warm_up = plan.warm_up.seconds + stay + plan.cool_down_s if plan.warm_up else 0.0
    schedules = sum(point.seconds + _stay_s(point) for point in planned)
    low, high = _calibration_s(plan, warm_up, stay)
    for own_warm_up, rest in servers:
        sweeps = plan.repeats * (own_warm_up + warm_up + schedules + sum(rest))
        low += sweeps + plan.repeats * DEPLOY_S[0]
        high += sweeps + plan.repeats * (DEPLOY_S[1] + timeouts)
        if plan.profiled:
            profile = _profile_s(plan, own_warm_up, warm_up) + max(rest)
            low += profile + DEPLOY_S[0]
            high += profile + DEPLOY_S[1] + plan.workload.timeout_s
        if plan.looks > 1 and plan.axis.has_limit:
            # One more turn of each server, up to the point after the one in doubt.
            longest = max(point.seconds for point in planned) + stay
            turn = DEPLOY_S[1] + own_warm_up + warm_up + 2 * (longest + max(rest))
            high += plan.repeats * turn
    return low, high


def _search_duration(
    plan: Plan, planned: Sequence[PointPlan], servers: Sequence[tuple[float, Sequence[float]]]
) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return the duration and the number of points of each search: expected, and at most."""
    assert plan.search is not None
    found = example(plan)
    stay = _longest_stay_s(planned)
    warm_up = plan.warm_up.seconds + stay + plan.cool_down_s if plan.warm_up else 0.0
    low, high = _calibration_s(plan, warm_up, stay)
    place = {point.x: n for n, point in enumerate(planned)}
    for own_warm_up, rests in servers:
        expected = sum(point.seconds + stay + rests[place[point.x]] for point in found)
        longest = max(point.seconds for point in planned) + stay + max(rests)
        at_most = plan.search.points * (longest + plan.workload.timeout_s)
        low += plan.repeats * (DEPLOY_S[0] + own_warm_up + warm_up + expected)
        high += plan.repeats * (DEPLOY_S[1] + own_warm_up + warm_up + at_most)
        if plan.profiled:
            profile = _profile_s(plan, own_warm_up, warm_up) + max(rests)
            low += profile + DEPLOY_S[0]
            high += profile + DEPLOY_S[1] + plan.workload.timeout_s
    return (low, high), (len(found), plan.search.points)


def _profile_s(plan: Plan, own_warm_up: float, warm_up: float) -> float:
    """Return how long the load of one server's profile takes."""
    assert plan.profiled is not None
    return own_warm_up + warm_up + plan.profiled.seconds + 2 * PROFILE_LEAD_S


def _calibration_s(plan: Plan, warm_up: float, stay: float) -> tuple[float, float]:
    """Return how long the calibration of the clients takes."""
    if not (plan.calibrate and plan.axis.calibrated):
        return 0.0, 0.0
    most = CEILING_ATTEMPTS + CEILING_HALVINGS
    point = SHORTEST_S + stay + plan.cool_down_s
    return (
        DEPLOY_S[0] + warm_up + point,
        DEPLOY_S[1] + warm_up + most * (point + plan.workload.timeout_s),
    )


def _stay_s(point: PointPlan) -> float:
    """Return how long think time keeps each connection open."""
    return declaration(point.workload.protocol).stay_s(point.workload)


def _longest_stay_s(planned: Sequence[PointPlan]) -> float:
    return max(map(_stay_s, planned))


def _open_at_worst(point: PointPlan) -> int:
    return _open(point, _stay_s(point) + point.workload.timeout_s)


def _open(point: PointPlan, stay_s: float) -> int:
    if point.concurrency:
        return point.concurrency
    return min(point.connections, math.ceil(point.connection_rate_per_s * stay_s))


def _too_long(duration_s: tuple[float, float], keys: Keys) -> Iterator[plans.Problem]:
    shortest_s, longest_s = duration_s
    if shortest_s > LONGEST_RUN_S:
        yield plans.RunTooLong(
            keys=keys, shortest_s=shortest_s, longest_s=longest_s, limit_s=LONGEST_RUN_S
        )


def protocol_problems(plan: Plan, entries: Sequence[Contestant]) -> Iterator[plans.Problem]:
    """Return the problems of servers that do not speak the plan's protocol."""
    wanted = plan.workload.protocol
    for entry in entries:
        if wanted not in entry.protocols:
            yield plans.ProtocolNotSupported(
                name=entry.name, protocols=list(entry.protocols), wanted=wanted
            )


def _size_problems(plan: Plan, planned: Sequence[PointPlan], keys: Keys) -> Iterator[plans.Problem]:
    short = [p for p in planned if 0 < p.seconds + _rounding(p) < SHORTEST_S]
    if short:
        point = min(short, key=lambda p: p.seconds)
        connections = math.ceil(point.connection_rate_per_s * SHORTEST_S)
        yield plans.PointTooShort(
            keys=keys,
            seconds=point.seconds,
            shortest_s=SHORTEST_S,
            **_remedy(plan, point, connections, SHORTEST_S),
        )
    ramp_s = _longest_stay_s(planned)
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
        yield plans.NotEnoughPorts(
            keys=keys, ports=limits.ports, needed=needed, **_place(plan, point)
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
        yield plans.FewSamples(keys=keys, needed=needed, **_place(plan, thin[-1]))


def _pile_up(
    plan: Plan, planned: Sequence[PointPlan], limits: ClientLimits, clients: int
) -> Iterator[plans.Warned]:
    keys = ("nofile",)
    descriptors = min(plan.nofile, limits.descriptors)
    if limits.descriptors < plan.nofile:
        yield plans.FewDescriptors(keys=keys, allowed=limits.descriptors, wanted=plan.nofile)
    usable = clients * plan.workers * max(0, descriptors - _OWN_DESCRIPTORS)
    resources: list[tuple[int, plans.Resource]] = [
        (usable, "descriptors"),
        (limits.ports, "ports"),
    ]
    for have, resource in resources:
        stay_s = _longest_stay_s(planned)
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
        beyond = [point for point in planned if _open_at_worst(point) > have]
        if beyond:
            yield plans.TimeoutsFill(
                keys=keys,
                connections=max(_open_at_worst(point) for point in beyond),
                resource=resource,
                available=have,
                **_place(plan, beyond[0]),
            )
