"""The budget: what a plan costs in time, samples, ports and descriptors, before it is run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench import formatting
from workbench.analysis.sensitivity import TYPICAL, WANTED, Spreads, detectable, passes_for
from workbench.axis import RATE
from workbench.errors import BadInput
from workbench.machines.facts import Limits, limits_of
from workbench.messages import plans
from workbench.messages.problems import Problem
from workbench.plan import duration, resources, suitability
from workbench.plan.model import Plan, Warming, three_figures
from workbench.plan.resources import (
    addresses_for,
    clients_close,
    drain,
    drain_any,
    fullest,
    highest_rate,
    quick_ports,
)
from workbench.plan.schedule import points
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.sessions.history import earlier


@dataclass(frozen=True)
class Budget:
    """The cost of a plan. `check()` rejects a plan that cannot be run as specified."""

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
    descriptors: int
    """File descriptors for them, of all clients together."""
    cool_down_s: dict[str, list[float]]
    """By server id: how long to rest after each point of its sweep, in order."""
    problems: list[Problem] = field(default_factory=list)
    warnings: list[plans.Warned] = field(default_factory=list)
    rests: plans.RestsForPorts | None = None
    """Why points rest longer than the plan specifies; None: they do not."""
    warming: Warming | None = None
    """Before a server's first point; None: no load."""
    sensitivity: plans.Sensitivity | None = None
    """The differences that its passes can show; None: a search, whose points have no rate in
    common."""
    addresses: int = 1
    """Local addresses that each client connects from in turn."""
    several: plans.SeveralAddresses | None = None
    """Why several; None: one is enough."""
    ceiling_per_s: float = 0.0
    """The client limit that all this assumes, if the rates end there; 0: they do not."""
    most_per_s: float = math.inf
    """The highest rate for which there are ports."""
    estimated: plans.RatesEstimated | None = None
    """Of such a plan, what is only an estimate."""
    held: plans.HeldToCeiling | None = None
    """Where the connections end, if that is what the machines can hold."""

    def known(self, plan: Plan) -> Plan:
        """Return the plan with the numbers of connections that this budget found."""
        return plan.holding(self.held.connections) if self.held else plan

    def check(self) -> None:
        """Raise BadInput with all problems."""
        if self.problems:
            raise BadInput(" ".join(problem.text() for problem in self.problems))

    def describe(self) -> list[str]:
        """Return sentences about the cost of the run; warnings are separate."""
        fewest, most = self.samples_per_point
        span = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        expected, at_most = self.points
        connections = formatting.number_of(self.open_at_worst, "connections")
        search = f" A search takes about {expected} points for each server, at most {at_most}."
        return [
            f"Takes {formatting.time_span(self.duration_s)}.{search * (expected != at_most)}",
            f"A point has {formatting.counted(span, ' calls')}."
            if most
            else "The number of calls per point is not fixed.",
            _ports_text(self.ports_needed, self.ports_free),
            f"At worst it has {connections} open at once; the clients have"
            f" {self.descriptors:,} descriptors for that.",
            *([_warm_up_text(*self.warming)] if self.warming else []),
            *([self.sensitivity.text()] if self.sensitivity else []),
            *([self.several.text()] if self.several else []),
            *([self.estimated.text()] if self.estimated else []),
            *([self.held.text()] if self.held else []),
        ]


def assess(
    plan: Plan,
    entries: Sequence[ServerEntry],
    facts: Mapping[str, Any],
    *,
    loopback: bool = False,
    clients: int = 1,
    target: str = "",
    target_facts: Mapping[str, Any] | None = None,
    ipv6: bool = False,
) -> Budget:
    """Return the budget of a plan for these servers on a client with these facts.

    `loopback`: client and target are one machine. `clients`: how many such clients share the load.
    `target`: its name, to find the spread of passes in earlier sessions there. `target_facts`: None
    or empty: not known, unless it is the client. `ipv6`: clients connect over it, each from one
    address.
    """
    limits = limits_of(facts, loopback=loopback)
    if ipv6:
        limits = replace(limits, addresses=1)
    reuse_s = limits.port_reuse_s + plan.declared.stay_s(plan.workload)
    one_address = clients * limits.ports
    limits = replace(
        limits,
        ports=one_address,
        port_reuse_s=reuse_s,
        target_descriptors=limits_of(facts if loopback else target_facts or {}).descriptors,
        target_processes=min((entry.processes for entry in entries), default=1),
    )
    client_closes = [clients_close(plan, entry.closes_first) for entry in entries]
    taken = any(client_closes) or plan.declared.held(plan.workload) > 0
    held = _held(plan, limits, clients)
    plan = plan.holding(held.connections) if held else plan
    most_per_s, ceiling_per_s = math.inf, 0.0
    if plan.to_ceiling:
        stays = plan.declared.stay_s(plan.workload) > 0
        # Only connections that stay open are worth several addresses.
        taken = taken and stays
        ports = quick_ports(limits) if stays else limits.ports
        if any(client_closes):
            most_per_s = highest_rate(plan, replace(limits, ports=ports))
        most_per_s = min(most_per_s, resources.most_per_s(plan, limits, clients))
        ceiling_per_s = three_figures(min(plan.typical_ceiling_per_s, most_per_s), down=True)
        plan = plan.ending_at(ceiling_per_s)
    planned = list(points(plan, ""))
    wanted = addresses_for(fullest(planned, limits)[1], one_address) if taken else 1
    addresses = min(limits.addresses, wanted)
    limits = replace(limits, ports=one_address * addresses)
    open_at_worst = max(resources.open_at_worst(point) for point in planned)
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
    turns = [(e.warm_up_s, rests[e.id]) for e in entries]
    measured = (len(planned),) * 2
    if plan.search:
        duration_s, measured = duration.of_searches(plan, planned, turns)
    else:
        duration_s = duration.of_sweeps(plan, planned, turns)
    longest_s = max((rest for each in rests.values() for rest in each), default=0.0)
    return Budget(
        duration_s=duration_s,
        points=measured,
        samples_per_point=(min(p.samples for p in planned), max(p.samples for p in planned)),
        ports_needed=max(in_use, open_at_worst),
        ports_free=limits.ports,
        open_at_worst=open_at_worst,
        descriptors=resources.descriptors(plan, limits, clients),
        cool_down_s=rests,
        problems=suitability.problems(plan, entries, planned, limits, duration_s, clients=clients),
        warnings=[
            warning
            for warning in (
                *suitability.warnings(plan, planned, limits, clients),
                *resources.few_addresses(plan, planned, limits, clients, wanted),
            )
            # Of rates that are an estimate, it would warn of what may never be offered.
            if not (ceiling_per_s and isinstance(warning, plans.TimeoutsFill))
        ],
        rests=plans.RestsForPorts(longest_s=longest_s) if longest_s > plan.cool_down_s else None,
        warming=plan.warming,
        sensitivity=None if plan.search else _sensitivity(plan, target),
        addresses=addresses,
        several=plans.SeveralAddresses(addresses=addresses, ports=one_address // clients)
        if addresses > 1
        else None,
        ceiling_per_s=ceiling_per_s,
        most_per_s=most_per_s,
        estimated=plans.RatesEstimated(ceiling=plan.axis.at(ceiling_per_s))
        if ceiling_per_s
        else None,
        held=held,
    )


def span_s(
    plan: Plan, catalogue: Catalogue, facts: Mapping[str, Any]
) -> tuple[float, float] | None:
    """Return how long a plan takes on this computer, at least and at most; None: a server of it is
    not known."""
    try:
        entries = [catalogue[server] for server in plan.servers]
    except BadInput:
        return None
    return assess(plan, entries, facts, loopback=True).duration_s


def _held(plan: Plan, limits: Limits, clients: int) -> plans.HeldToCeiling | None:
    """Return where the connections end. `limits`: the ports of one address of each client."""
    if not plan.holds_to_ceiling:
        return None
    quick = replace(limits, ports=quick_ports(limits))
    room = min(resources.rooms(plan, quick, clients), key=lambda each: each.connections)
    return plans.HeldToCeiling(
        connections=int(three_figures(room.connections, down=True)),
        where=room.where,
        resource=room.resource,
        available=room.connections,
    )


def _sensitivity(plan: Plan, target: str) -> plans.Sensitivity:
    interleaved = plan.order == "interleaved"
    protocol = plan.workload.protocol
    found = earlier(protocol, target, interleaved=interleaved) if target else TYPICAL
    return sensitivity(plan.repeats, found)


def sensitivity(passes: int, spreads: Spreads) -> plans.Sensitivity:
    """What a number of passes can show, given their `spreads`."""
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


def _warm_up_text(rate_per_s: float, seconds: float) -> str:
    return f"Each server is warmed up at {RATE.at(rate_per_s)} for {seconds:g} s."


def _ports_text(needed: int, free: int) -> str:
    if needed <= free:
        return f"It uses at most {needed:,} of {free:,} local ports."
    return f"It would use up to {needed:,} local ports; there are {free:,}."
