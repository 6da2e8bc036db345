"""The budget: what a plan costs in time, samples, ports and descriptors, before it is run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from workbench.analysis.histogram import samples_needed
from workbench.errors import BadInput
from workbench.machines.link import LONGEST_RUN_S
from workbench.plans import FEWEST_SAMPLES, SHORTEST_S, Plan
from workbench.ports import ClientLimits, clients_close, drain, limits_of, ports_of
from workbench.sweeps import CEILING_HALVINGS, CEILING_TRIES, PointPlan, points

DEPLOY_S = (0.5, 3.0)
"""Starting a server whose runtime is there, gating and stopping it."""

_OWN_DESCRIPTORS = 64
"""Of an agent, besides its connections."""


class Contestant(Protocol):
    """What a budget asks of a catalogue entry."""

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


@dataclass(frozen=True)
class Budget:
    """What a plan costs. `check()` refuses it when it cannot give what it promises."""

    duration_s: tuple[float, float]
    """If every server answers at once, and if every point waits for its timeouts."""
    samples_per_point: tuple[int, int]
    """Calls of the smallest and the largest point; 0: unknown (closed loop by seconds)."""
    ports_needed: int
    """At most at one time, against one destination."""
    ports_free: int
    """Of a client."""
    open_at_worst: int
    """Connections open at once against a server that does not answer any more."""
    cool_down_s: dict[str, list[float]]
    """By server id: how long to rest after each point of its sweep, in order."""
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    """By problem or warning: the plan's key that is best changed."""

    def check(self) -> None:
        """Raises BadInput with all problems."""
        if self.problems:
            raise BadInput(" ".join(self.problems))

    def describe(self) -> list[str]:
        """Sentences that tell what the run costs; warnings are apart."""
        fewest, most = self.samples_per_point
        span = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        return [
            f"It takes {duration_text(self.duration_s)}.",
            f"A point has {span} calls." if most else "A point has as many calls as fit.",
            _ports_text(self.ports_needed, self.ports_free),
        ]


def assess(
    plan: Plan,
    entries: Sequence[Contestant],
    facts: Mapping[str, Any],
    *,
    loopback: bool = False,
    clients: int = 1,
) -> Budget:
    """The budget of a plan for these servers on a client with these facts.

    `loopback`: client and target are one machine. `clients`: how many such clients share the load.
    """
    limits = limits_of(facts, loopback=loopback)
    held_s = limits.port_held_s + _stay_s(plan)
    limits = replace(limits, ports=clients * limits.ports, port_held_s=held_s)
    planned = list(points(plan, ""))
    open_at_worst = max(_open_at_worst(plan, point) for point in planned)
    client_closes = [clients_close(plan, entry.closes_first) for entry in entries]
    if any(client_closes):
        drained, held = drain(planned, limits, plan.cool_down_s)
    else:
        drained, held = [], 0
    unhurried = [plan.cool_down_s] * len(planned)
    rests = {
        entry.id: drained if closes else unhurried
        for entry, closes in zip(entries, client_closes, strict=True)
    }
    size = "connections" if plan.seconds is None else "seconds"
    duration_s = _duration(plan, planned, [(e.warm_up_s, rests[e.id]) for e in entries])
    problems = [
        *((size, told) for told in _too_long(duration_s)),
        *(("servers", told) for told in _protocol_problems(plan, entries)),
        *((size, told) for told in _size_problems(plan, planned)),
        *((size, told) for told in (_port_problems(planned, limits) if any(client_closes) else ())),
    ]
    warnings = [
        *((size, told) for told in _lengthened(plan, planned)),
        *((size, told) for told in _thin_points(plan, planned)),
        *(("nofile", told) for told in _pile_up(plan, planned, limits, clients)),
    ]
    return Budget(
        duration_s=duration_s,
        samples_per_point=(min(p.samples for p in planned), max(p.samples for p in planned)),
        ports_needed=max(held, open_at_worst),
        ports_free=limits.ports,
        open_at_worst=open_at_worst,
        cool_down_s=rests,
        problems=[told for _, told in problems],
        warnings=[told for _, told in warnings],
        keys={told: key for key, told in [*problems, *warnings]},
    )


def duration_text(span_s: tuple[float, float]) -> str:
    """For people: "0.5 to 1.5 min", "2 to 4 min"."""
    unit, name = (3600, "h") if span_s[1] >= 7200 else (60, "min") if span_s[1] >= 60 else (1, "s")
    first, last = (_two(value / unit) for value in span_s)
    return f"{first} {name}" if first == last else f"{first} to {last} {name}"


def _two(value: float) -> str:
    """Two digits, of less than one only the first."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.2g}" if value >= 0.95 else f"{value:.1g}"


def _ports_text(needed: int, free: int) -> str:
    if needed <= free:
        return f"It holds at most {needed:,} of {free:,} local ports."
    return f"At worst it would hold {needed:,} local ports; there are {free:,}."


def _duration(
    plan: Plan, planned: Sequence[PointPlan], servers: Sequence[tuple[float, Sequence[float]]]
) -> tuple[float, float]:
    """`servers`: how long each is to be called before every turn, and its rests."""
    timeout, stay = plan.workload.timeout_s, _stay_s(plan)
    warm_up = plan.warm_up.seconds + stay + plan.cool_down_s if plan.warm_up else 0.0
    schedules = sum(point.seconds + stay for point in planned)
    low = high = 0.0
    for own_warm_up, rest in servers:
        swept = plan.repeats * (own_warm_up + warm_up + schedules + sum(rest))
        low += swept + plan.repeats * DEPLOY_S[0]
        high += swept + plan.repeats * (DEPLOY_S[1] + timeout * len(planned))
        if plan.looks > 1 and plan.rates_per_s:
            # One more turn of each server, up to the point after the one in doubt.
            longest = max(point.seconds for point in planned) + stay
            turn = DEPLOY_S[1] + own_warm_up + warm_up + 2 * (longest + max(rest))
            high += plan.repeats * turn
    if plan.calibrate and plan.rates_per_s:
        most = CEILING_TRIES + CEILING_HALVINGS
        point = SHORTEST_S + stay + plan.cool_down_s
        low += DEPLOY_S[0] + warm_up + point
        high += DEPLOY_S[1] + warm_up + most * (point + timeout)
    return low, high


def _stay_s(plan: Plan) -> float:
    """How long thinking alone keeps a connection open."""
    return (plan.workload.calls_per_connection - 1) * plan.workload.think_time_s


def _open_at_worst(plan: Plan, point: PointPlan) -> int:
    return _open(point, _stay_s(plan) + plan.workload.timeout_s)


def _open(point: PointPlan, stay_s: float) -> int:
    if point.concurrency:
        return point.concurrency
    return min(point.connections, math.ceil(point.connection_rate_per_s * stay_s))


def _too_long(duration_s: tuple[float, float]) -> Iterator[str]:
    if duration_s[0] > LONGEST_RUN_S:
        yield (
            f"It takes {duration_text(duration_s)}, but a run is ended after"
            f" {LONGEST_RUN_S / 3600:.0f} h. Take fewer servers, rates or repeats, or shorter"
            " points."
        )


def _protocol_problems(plan: Plan, entries: Sequence[Contestant]) -> Iterator[str]:
    wanted = plan.workload.protocol
    for entry in entries:
        if wanted not in entry.protocols:
            spoken = ", ".join(entry.protocols)
            yield f"{entry.name} speaks {spoken}, not {wanted}. Leave it out of the plan."


def _size_problems(plan: Plan, planned: Sequence[PointPlan]) -> Iterator[str]:
    short = [p for p in planned if 0 < p.seconds + _rounding(p) < SHORTEST_S]
    if short:
        point = min(short, key=lambda p: p.seconds)
        connections = math.ceil(point.connection_rate_per_s * SHORTEST_S)
        yield (
            f"At {point.load} a point lasts {point.seconds:.2g} s: too short to judge, which takes "
            f"{SHORTEST_S:g} s. {_remedy(plan, connections, SHORTEST_S)}"
        )
    thin = [p for p in planned if 0 < p.samples < FEWEST_SAMPLES]
    # Of two reasons to lengthen a point one is enough, if it is the longer.
    if short and all(p in short and _samples_in(p, SHORTEST_S) >= FEWEST_SAMPLES for p in thin):
        return
    if thin:
        point = min(thin, key=lambda p: p.samples)
        connections = math.ceil(FEWEST_SAMPLES / point.calls_per_connection)
        seconds = connections / (point.connection_rate_per_s or connections)
        yield (
            f"At {point.load} a point has {_calls(point.samples)}: too few to judge, which takes "
            f"{FEWEST_SAMPLES}. {_remedy(plan, connections, seconds)}"
        )


def _samples_in(point: PointPlan, seconds: float) -> float:
    return point.connection_rate_per_s * seconds * point.calls_per_connection


def _rounding(point: PointPlan) -> float:
    """What whole connections may take from the seconds asked for."""
    return 0.5 / point.connection_rate_per_s if point.connection_rate_per_s else 0.0


def _remedy(plan: Plan, connections: int, seconds: float) -> str:
    if plan.seconds is not None:
        return f"Set seconds to {math.ceil(seconds * 10) / 10:g} or more."
    if plan.workload.mode == "closed":
        return f"Set connections to {connections:,} or more."
    return f"Set connections to {connections:,} or more, or allow that by `lengthen: true`."


def _calls(n: int) -> str:
    return "1 call" if n == 1 else f"{n:,} calls"


def _port_problems(planned: Sequence[PointPlan], limits: ClientLimits) -> Iterator[str]:
    point = max(planned, key=lambda p: ports_of(p, limits))
    needed = ports_of(point, limits)
    if needed > limits.ports:
        yield (
            f"The client has {limits.ports:,} free ports and needs {needed:,} at {point.load}, "
            "because it closes first. Widen its range (net.ipv4.ip_local_port_range), or give the "
            "point fewer connections."
        )


def _lengthened(plan: Plan, planned: Sequence[PointPlan]) -> Iterator[str]:
    if plan.connections is None or not plan.lengthen:
        return
    longer = [p for p in planned if p.connections > (plan.connections or 0)]
    if longer:
        yield (
            f"{len(longer)} of {len(planned)} points get more than {plan.connections:,} "
            f"connections, up to {max(p.connections for p in longer):,}, to be long enough."
        )


def _thin_points(plan: Plan, planned: Sequence[PointPlan]) -> Iterator[str]:
    needed = samples_needed(0.99)
    thin = [p for p in planned if FEWEST_SAMPLES <= p.samples < needed]
    if thin:
        yield (
            f"Up to {thin[-1].load} a point has fewer than {needed:,} calls: too few for a "
            "steady p99."
        )


def _pile_up(
    plan: Plan, planned: Sequence[PointPlan], limits: ClientLimits, clients: int
) -> Iterator[str]:
    descriptors = min(plan.nofile, limits.descriptors)
    if limits.descriptors < plan.nofile:
        yield (
            f"The client allows {limits.descriptors:,} descriptors a process, not the "
            f"{plan.nofile:,} of the plan. Raise its hard limit, or lower nofile."
        )
    usable = clients * plan.workers * max(0, descriptors - _OWN_DESCRIPTORS)
    for have, what in ((usable, "descriptors"), (limits.ports, "local ports")):
        stay_s = _stay_s(plan)
        thought = planned if stay_s and plan.workload.mode == "open" else []
        full = [point for point in thought if _open(point, stay_s) > have]
        if full:
            yield (
                f"From {full[0].load} on up to {_open(full[-1], stay_s):,} connections are open at "
                f"once, because thinking keeps each for {stay_s:g} s; the client has {have:,} "
                f"{what}. Such points will count as the client's limit, not the server's."
            )
            continue
        beyond = [point for point in planned if _open_at_worst(plan, point) > have]
        if beyond:
            worst = max(_open_at_worst(plan, point) for point in beyond)
            yield (
                f"From {beyond[0].load} on a server that stops answering leaves up to {worst:,} "
                f"connections open until the timeout; the client has {have:,} {what}. Such points "
                "will count as the client's limit, not the server's."
            )
