"""Sweeps: a plan expanded into points, one result at a time.

Everything here decides *what* is run *when*, without a clock: pure arithmetic and one random
generator with a recorded seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import msgspec

from workbench.analysis.evidence import FEWEST_SAMPLES, SHORTEST_S
from workbench.analysis.knee import in_doubt, is_sustained
from workbench.axis import RATE
from workbench.documents import JUDGED, Block, PointStop, Purpose, client_errors
from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.plan.model import GiveUp, Load, Plan
from workbench.workloads.options import Workload


@dataclass(frozen=True)
class PointPlan:
    """One point to run."""

    server: str
    x: float
    """Its value on the plan's axis; of a warm-up always a rate, in the plan's unit."""
    load: str
    """For display: "8,200/s", "50 concurrent"."""
    connection_rate_per_s: float
    """0 in a closed loop."""
    connections: int
    """Or the calls on those that are held; 0: not fixed, for `seconds` (closed loop)."""
    seconds: float
    """Length of the schedule, with the ramp; 0: until `connections` are done (closed loop)."""
    workload: Workload
    concurrency: int = 0
    purpose: Purpose = "sweep"
    pass_number: int = 1
    attempt: int = 1
    """Number of the repeat at this rate in this pass."""
    seed: int = 0
    """Seed of the arrivals. The same for every server, so that all get the same schedule."""
    load_tool: str = ""

    @property
    def samples(self) -> int:
        """Calls in the schedule; 0: unknown (closed loop by seconds)."""
        return self.connections * self.workload.calls_per_connection

    @property
    def after_s(self) -> float:
        """How long it goes on after its schedule if every call is answered at once."""
        drain_s = self.workload.held / self.workload.held_per_s if self.workload.held else 0.0
        return self.workload.longest_stay_s + drain_s

    @property
    def judged(self) -> bool:
        return self.purpose in JUDGED


Sweep: TypeAlias = Generator[PointPlan, PointStop, list[Stated]]
"""See `sweep`."""


def order(plan: Plan, seed: int) -> list[Block]:
    """Return the order of the sweeps.

    sequential: server by server as listed, each with all its repeats. interleaved: in each pass
    every server once, in an order shuffled by `seed`.
    """
    passes = range(1, plan.repeats + 1)
    if plan.order == "sequential":
        blocks = [(server, number) for server in plan.servers for number in passes]
    else:
        shuffle = random.Random(seed)
        blocks = [
            (server, number)
            for number in passes
            for server in shuffle.sample(plan.servers, len(plan.servers))
        ]
    rates = plan.axis.values if plan.axis.per_second else []
    return [Block(server=s, pass_number=n, rates_per_s=rates) for s, n in blocks]


def sweep(plan: Plan, server: str, *, seed: int = 0, pass_number: int = 1) -> Sweep:
    """Yield one server's points in one pass. Send each point's PointStop back in to get the next.

    Returns (StopIteration.value) why it ended early; empty: it is complete.
    """
    if before_it := warm_up(plan, server, seed, pass_number):
        yield before_it
    failing = 0
    planned = list(points(plan, server, seed=seed, pass_number=pass_number))
    for index, point in enumerate(planned):
        fails = True
        for turn in turns(plan, point, index):
            stop = yield turn
            fails = fails and plan.give_up is not None and _fails(stop, plan.give_up)
        failing = failing + 1 if fails else 0
        left = len(planned) - index - 1
        if plan.give_up and failing >= plan.give_up.after_points and left:
            gave_up = notice(
                "gave-up",
                x=point.x,
                suffix=plan.axis.suffix,
                success_below_pct=plan.give_up.success_below_pct,
                points=failing,
                left_out=left,
            )
            return [gave_up]
    return []


def repeat_sweep(
    plan: Plan,
    server: str,
    before: Sequence[PointStop],
    *,
    seed: int = 0,
    pass_number: int = 1,
    ceiling_per_s: float = 0.0,
) -> Sweep:
    """Repeat the part of a sweep that is `undecided`. `before`: its points so far, `ceiling_per_s`:
    the client limit known by now. Runs from the lowest rate in doubt up to where the server fails,
    including rates its sweep had not reached. Used like `sweep`."""
    if before_it := warm_up(plan, server, seed, pass_number):
        yield before_it
    going = set(plan.load_tools)
    for index, point in enumerate(points(plan, server, seed=seed, pass_number=pass_number)):
        for turn in turns(plan, point, index):
            if turn.load_tool not in going:
                continue
            attempts = [s for s in before if (s.x, s.load_tool) == (turn.x, turn.load_tool)]
            # An attempt that lost a client is not counted.
            counted = [stop for stop in attempts if stop.complete]
            if not counted or in_doubt(counted, ceiling_per_s):
                stop = yield another(turn, len(attempts) + 1)
                counted += [stop] * stop.complete
            if counted and not is_sustained(counted[-1]):
                going.discard(turn.load_tool)
    return []


def series_key(tools: Sequence[str], server: str, tool: str) -> str:
    """Return the key of a server's series: its id, or "tornado@wrk" where several tools run."""
    return f"{server}@{tool}" if len(tools) > 1 and tool in tools else server


def turns(plan: Plan, point: PointPlan, index: int) -> list[PointPlan]:
    """Return a point for each load tool, in turn another first."""
    tools = plan.load_tools
    first = index % len(tools)
    return [replace(point, load_tool=tool) for tool in (*tools[first:], *tools[:first])]


def another(point: PointPlan, attempt: int) -> PointPlan:
    """Return the same rate, from the second attempt on with another schedule of the same kind."""
    if attempt == 1:
        return point
    return replace(
        point, attempt=attempt, seed=random.Random(f"{point.seed}/{attempt}").getrandbits(31)
    )


def points(plan: Plan, server: str, *, seed: int = 0, pass_number: int = 1) -> Iterator[PointPlan]:
    """Return the points to be judged, ascending; of a search all that it may choose."""
    for index, x in enumerate(plan.values):
        more = {"pass_number": pass_number, "seed": point_seed(seed, pass_number, index)}
        purpose: Purpose = "search" if plan.search else "sweep"
        yield _point(plan, server, x, plan.seconds, purpose=purpose, **more)


def _point(plan: Plan, server: str, x: float, seconds: float | None, **more: Any) -> PointPlan:
    """Return a point at a value of the axis. `seconds` None: as many connections as planned."""
    load = plan.at(x)
    more |= {"x": x, "load": plan.axis.at(x), "load_tool": plan.load_tools[0]}
    if not plan.closed:
        return open_point(plan, server, load, _connections(plan, load, seconds), **more)
    return PointPlan(
        server=server,
        connection_rate_per_s=0.0,
        connections=0 if seconds else plan.connections or 0,
        seconds=seconds or 0.0,
        workload=load.workload,
        concurrency=load.concurrency,
        **more,
    )


def open_point(plan: Plan, server: str, at: Load, connections: int, **more: Any) -> PointPlan:
    """Return an open-loop point. Its place is its rate, unless `more` has `x`."""
    connection_rate = _connection_rate(plan, at)
    return PointPlan(
        server=server,
        connection_rate_per_s=connection_rate,
        connections=connections,
        seconds=at.workload.ramp_s + connections / connection_rate,
        workload=at.workload,
        **{"x": at.rate_per_s, "load": RATE.at(at.rate_per_s), **more},
    )


def warm_up(plan: Plan, server: str, seed: int, pass_number: int) -> PointPlan | None:
    """Return the load before a server's first point; None: the plan has none."""
    if plan.warming is None:
        return None
    rate, seconds = plan.warming
    load = at_rate(plan, rate)
    connections = _connections(plan, load, seconds)
    more: dict[str, Any] = {"pass_number": pass_number, "seed": point_seed(seed, pass_number, -1)}
    return open_point(plan, server, load, connections, purpose="warm_up", **more)


PROFILE_LEAD_S = 1.0
"""Load before and after a profile, because profilers start slowly."""


def profile_point(plan: Plan, server: str, x: float, *, seconds: float, seed: int) -> PointPlan:
    """Return the load under which a server is profiled: `seconds`, with a lead before and after."""
    more = {"pass_number": plan.repeats + 1, "seed": point_seed(seed, 0, 1)}
    lasts_s = seconds + 2 * PROFILE_LEAD_S
    return _point(plan, server, x, lasts_s, purpose="profile", **more)


def at_rate(plan: Plan, rate: float) -> Load:
    """Return the load at a rate, whatever the axis, to warm up or to calibrate: a varied workload
    gets its first value, and nobody thinks, so that such a point is short and has the same calls
    per second."""
    workload = plan.at(plan.axis.values[0]).workload if plan.vary else plan.workload
    return Load(msgspec.structs.replace(workload, think_time_s=0.0), rate, 0)


def _connection_rate(plan: Plan, load: Load) -> float:
    calls = load.workload.calls_per_connection
    return load.rate_per_s / calls if plan.unit == "requests" else load.rate_per_s


def _connections(plan: Plan, load: Load, seconds: float | None) -> int:
    if seconds is not None:
        return max(1, round(_connection_rate(plan, load) * seconds))
    wanted = plan.connections or 1
    return max(wanted, fewest_connections(plan, load)) if plan.lengthen else wanted


def fewest_connections(plan: Plan, load: Load) -> int:
    """Return the minimum connections of a meaningful point."""
    for_samples = math.ceil(FEWEST_SAMPLES / load.workload.calls_per_connection)
    return max(for_samples, math.ceil(_connection_rate(plan, load) * SHORTEST_S))


def point_seed(seed: int, pass_number: int, index: int) -> int:
    return random.Random(f"{seed}/{pass_number}/{index}").getrandbits(31)


def _fails(stop: PointStop, rule: GiveUp) -> bool:
    counts = stop.counts
    reached = counts.scheduled - counts.unsent - client_errors(counts.errors)
    share = rule.success_below_pct / 100
    return stop.complete and reached > 0 and counts.succeeded < share * reached
