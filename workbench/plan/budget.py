"""The budget: what a plan costs in time, samples, ports and descriptors, before it is run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench import formatting
from workbench.analysis.evidence import SHORTEST_S
from workbench.analysis.sensitivity import TYPICAL, WANTED, Spreads, detectable, passes_for
from workbench.axis import RATE
from workbench.errors import BadInput
from workbench.machines.facts import limits_of
from workbench.messages.plans import Warned, warning
from workbench.messages.problems import Problem
from workbench.plan.calibration import CALIBRATIONS, CEILING_ATTEMPTS, CEILING_HALVINGS, patience_s
from workbench.plan.model import Plan, Warming, three_figures
from workbench.plan.needs import Needs, addresses_for, open_at_worst, quick_ports
from workbench.plan.schedule import PROFILE_LEAD_S, PointPlan
from workbench.plan.search import example
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
    open_at_worst: int
    """Concurrent connections to a server that has stopped answering."""
    descriptors: int
    """File descriptors for them, of all clients together."""
    cool_down_s: dict[str, list[float]]
    """By server id: how long to rest after each point of its sweep, in order."""
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    remarks: list[Warned] = field(default_factory=list)
    """Why points rest longer than the plan specifies, which differences its passes can show, what
    is only an estimate."""
    warming: Warming | None = None
    """Before a server's first point; None: no load."""
    addresses: int = 1
    """Local addresses that each client connects from in turn."""
    ceiling_per_s: float = 0.0
    """The client limit that all this assumes, if the rates end there; 0: they do not."""
    most_per_s: float = math.inf
    """The highest rate for which there are ports."""
    held: Warned | None = None
    """Where the connections end, if that is what the machines can hold."""

    def known(self, plan: Plan) -> Plan:
        """Return the plan with the numbers of connections that this budget found."""
        return plan.holding(self.held.parameters["connections"]) if self.held else plan

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
        needed, free = self.ports_needed, self.ports_free
        said = [
            f"Takes {formatting.time_span(self.duration_s)}.{search * (expected != at_most)}",
            f"A point has {formatting.counted(span, ' calls')}."
            if most
            else "The number of calls per point is not fixed.",
            f"It uses at most {needed:,} of {free:,} local ports."
            if needed <= free
            else f"It would use up to {needed:,} local ports; there are {free:,}.",
            f"At worst it has {connections} open at once; the clients have"
            f" {self.descriptors:,} descriptors for that.",
        ]
        if self.warming:
            rate = RATE.at(self.warming.rate_per_s)
            said.append(f"Each server is warmed up at {rate} for {self.warming.seconds:g} s.")
        return [*said, *(remark.text() for remark in self.remarks)]


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
    one_address = clients * limits.ports
    stays = plan.workload.stay_s > 0
    limits = replace(
        limits,
        addresses=1 if ipv6 else limits.addresses,
        ports=one_address,
        port_reuse_s=limits.port_reuse_s + plan.workload.stay_s,
        target_descriptors=limits_of(facts if loopback else target_facts or {}).descriptors,
        target_processes=min((entry.processes for entry in entries), default=1),
    )
    needs = Needs(plan, entries, limits, clients)
    clients_close = any(map(needs.closes, entries))
    taken = clients_close or plan.workload.held > 0
    quick = replace(needs, limits=replace(limits, ports=quick_ports(limits)))
    if held := _held(quick):
        plan = plan.holding(held.parameters["connections"])
    most_per_s, ceiling_per_s = math.inf, 0.0
    if plan.to_ceiling:
        # Only connections that stay open are worth several addresses.
        taken = taken and stays
        if clients_close:
            most_per_s = (quick if stays else needs).highest_rate
        most_per_s = min(most_per_s, needs.most_per_s)
        ceiling_per_s = three_figures(min(plan.typical_ceiling_per_s, most_per_s), down=True)
        plan = plan.ending_at(ceiling_per_s)
    needs = replace(needs, plan=plan)
    wanted = addresses_for(needs.fullest[1], one_address) if taken else 1
    addresses = min(limits.addresses, wanted)
    needs = replace(needs, limits=replace(limits, ports=one_address * addresses))
    planned = needs.points
    worst = max(map(open_at_worst, planned))
    drained, in_use = needs.rests() if clients_close else ([], 0)
    unhurried = [plan.cool_down_s] * len(planned)
    rests = {entry.id: drained if needs.closes(entry) else unhurried for entry in entries}
    duration_s, measured = _duration(plan, planned, [(e.warm_up_s, rests[e.id]) for e in entries])
    remarks: list[Warned] = []
    longest_s = max((rest for each in rests.values() for rest in each), default=0.0)
    if longest_s > plan.cool_down_s:
        remarks.append(warning("rests-for-ports", longest_s=longest_s))
    if not plan.search:
        interleaved, protocol = plan.order == "interleaved", plan.workload.protocol
        spreads = earlier(protocol, target, interleaved=interleaved) if target else TYPICAL
        remarks.append(sensitivity(plan.repeats, spreads))
    if addresses > 1:
        ports = one_address // clients
        remarks.append(warning("several-addresses", addresses=addresses, ports=ports))
    if ceiling_per_s:
        remarks.append(warning("rates-estimated", ceiling=plan.axis.at(ceiling_per_s)))
    if held:
        remarks.append(held)
    return Budget(
        duration_s=duration_s,
        points=measured,
        samples_per_point=(min(p.samples for p in planned), max(p.samples for p in planned)),
        ports_needed=max(in_use, worst),
        ports_free=needs.limits.ports,
        open_at_worst=worst,
        descriptors=needs.descriptors,
        cool_down_s=rests,
        problems=needs.problems(duration_s),
        warnings=[
            each
            for each in (*needs.warnings(), *needs.few_addresses(wanted))
            # Of rates that are an estimate, it would warn of what may never be offered.
            if not (ceiling_per_s and each.code == "timeouts-fill")
        ],
        remarks=remarks,
        warming=plan.warming,
        addresses=addresses,
        ceiling_per_s=ceiling_per_s,
        most_per_s=most_per_s,
        held=held,
    )


def span_s(
    plan: Plan, catalogue: Catalogue, facts: Mapping[str, Any]
) -> tuple[float, float] | None:
    """Return how long a plan takes here, at least and at most; None: a server is unknown."""
    try:
        entries = [catalogue[server] for server in plan.servers]
    except BadInput:
        return None
    return assess(plan, entries, facts, loopback=True).duration_s


def _held(quick: Needs) -> Warned | None:
    """Return where the connections end. `quick`: with the ports that connect quickly."""
    if not quick.plan.holds_to_ceiling:
        return None
    room = min(quick.rooms, key=lambda each: each.connections)
    return warning(
        "held-to-ceiling",
        connections=int(three_figures(room.connections, down=True)),
        where=room.where,
        resource=room.resource,
        available=room.connections,
    )


DEPLOY_S = (0.5, 3.0)
"""Seconds to start a server with a ready runtime, gate and stop it."""


def _duration(
    plan: Plan, planned: Sequence[PointPlan], servers: Sequence[tuple[float, Sequence[float]]]
) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return how long it takes if every server answers at once, and if every point waits for its
    timeouts; and the points of a server in a pass, expected and at most. `servers`: seconds of
    warm-up calls before every turn, and the rests, of each."""
    low, high = calibration_s(plan)
    tools, timeout_s, search = len(plan.load_tools), plan.workload.timeout_s, plan.search
    found = example(plan) if search else planned
    place = {point.x: n for n, point in enumerate(planned)}
    lasts = [point.seconds + point.after_s for point in planned]
    stay = max(point.workload.longest_stay_s for point in planned)
    for own_warm_up, rests in servers:
        warm_up = own_warm_up + _warm_up_s(plan)
        if search:
            least = sum(point.seconds + stay + rests[place[point.x]] for point in found)
            longest = max(point.seconds for point in planned) + stay + max(rests)
            most = search.points * (longest + timeout_s)
        else:
            least = tools * (sum(lasts) + sum(rests))
            most = least + tools * sum(point.workload.timeout_s for point in planned)
        low += plan.repeats * (DEPLOY_S[0] + warm_up + least)
        high += plan.repeats * (DEPLOY_S[1] + warm_up + most)
        if plan.profiled:
            load_s = warm_up + max(rests) + plan.profiled.seconds + 2 * PROFILE_LEAD_S
            low += load_s + DEPLOY_S[0]
            high += load_s + DEPLOY_S[1] + timeout_s
        if plan.looks > 1 and plan.axis.has_limit and not search:
            # One more turn of each server, up to the point after the one in doubt.
            high += plan.repeats * (DEPLOY_S[1] + warm_up + 2 * (max(lasts) + max(rests)))
    return (low, high), (len(found), search.points if search else len(planned))


def _warm_up_s(plan: Plan) -> float:
    return plan.warming.seconds + plan.cool_down_s if plan.warming else 0.0


def calibration_s(plan: Plan) -> tuple[float, float]:
    """Return how long the calibration of the clients takes."""
    if not (plan.calibrate and plan.axis.calibrated):
        return 0.0, 0.0
    tools, before_s = len(plan.load_tools), _warm_up_s(plan)
    point = SHORTEST_S + plan.cool_down_s
    missed = point + plan.workload.timeout_s
    most = CALIBRATIONS * (CEILING_ATTEMPTS + CEILING_HALVINGS)
    refining = min(most * missed, patience_s(plan) + CEILING_ATTEMPTS * missed)
    return tools * (DEPLOY_S[0] + before_s + point), tools * (DEPLOY_S[1] + before_s + refining)


def sensitivity(passes: int, spreads: Spreads) -> Warned:
    """What a number of passes can show, given their `spreads`."""
    changes = {name: detectable(each, passes) for name, each in spreads.by_figure.items()}
    name, spread = next(iter(spreads.by_figure.items()))
    proposed = passes_for(WANTED, spread)
    return warning(
        "sensitivity",
        passes=passes,
        shows={name: round(100 * c, 2) for name, c in changes.items() if c and c <= 1},
        figure=name,
        wanted_pct=100 * WANTED,
        proposed=proposed if proposed and proposed > passes else None,
        session=spreads.session,
    )
