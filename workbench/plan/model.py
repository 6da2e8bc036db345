"""Plans: what to measure.

A plan is a small YAML file. Every key has the name of the field below. `plan.reading` reads it,
`plan.checks` checks what does not depend on a machine, `plan.budget` the rest.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from workbench import axis as axes
from workbench.axis import Axis
from workbench.converting import convert
from workbench.documents import OUR_AGENT
from workbench.servers.address import Running
from workbench.workloads.base import Declaration
from workbench.workloads.options import Workload
from workbench.workloads.pong.declaration import PongWorkload
from workbench.workloads.registry import declaration

HIGHEST_RATE_PER_S = 1_000_000
Rate: TypeAlias = Annotated[float, Meta(gt=0, le=HIGHEST_RATE_PER_S)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=100_000_000)]


TYPICAL_CEILING_PER_S = 20_000.0
"""A client limit to plan with before it is known."""

TYPICAL_HANDSHAKES_PER_S = 2_000.0
"""The same where every connection is a full TLS handshake."""

TYPICAL_HELD = 10_000
"""Connections that machines can hold open, to plan with before they are known."""


class Range(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Rates or values of a field, both ends included, in equal steps or by their number."""

    from_: Rate = msgspec.field(name="from")
    to: Rate | Literal["ceiling"]
    """ceiling: the client limit; of connections held open, what the machines can hold."""
    step: Rate | None = None
    points: Annotated[int, Meta(ge=2, le=2_000)] | None = None
    spacing: Literal["linear", "geometric"] = "linear"

    @property
    def count(self) -> int:
        if isinstance(self.to, str) or self.step is None:
            return self.points or 0
        # A rounding error must not lose the last step of 0.1.
        return max(0, math.floor((self.to - self.from_) / self.step + 1e-9) + 1)

    def values(self, ceiling_per_s: float) -> list[float]:
        """Return the rates, ascending. `ceiling_per_s`: where they end if `to` is the ceiling."""
        low, high = self.from_, ceiling_per_s if isinstance(self.to, str) else self.to
        if self.points is None:
            return [round(float(low + k * (self.step or 0)), 6) for k in range(self.count)]
        if high <= low:
            return [float(low)]
        parts = [k / (self.points - 1) for k in range(1, self.points - 1)]
        inner = [
            low * (high / low) ** part if self.spacing == "geometric" else low + part * (high - low)
            for part in parts
        ]
        return [*dict.fromkeys([float(low), *map(three_figures, inner), float(high)])]


class Search(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search for the peak between two rates: the highest rate that meets the limits."""

    from_: Rate = msgspec.field(name="from")
    to: Rate
    step: Rate
    errors_pct: Annotated[float, Meta(ge=0, lt=50)] = 1.0
    """Limit: percent of the attempts that may fail."""
    p99_ms: Annotated[float, Meta(gt=0, le=600_000)] | None = None
    """Limit: p99 of the latency, from the scheduled time; None: not limited."""
    points: Annotated[int, Meta(ge=6, le=1_000)] = 30
    """Maximum number of points per server and pass; a search that is certain ends earlier."""

    @property
    def grid(self) -> Range:
        """The rates that it may choose."""
        return Range(from_=self.from_, to=self.to, step=self.step)


USUAL_WARM_UP_PER_S = 500.0


class WarmUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Load before a server's first point; recorded, never judged."""

    rate_per_s: Rate | None = None
    """None: no more load than the points have; see `Plan.warming`."""
    seconds: Seconds = 1.0


class Warming(NamedTuple):
    """The warm-up that follows from a plan."""

    rate_per_s: float
    seconds: float


class GiveUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When to end the sweep of a server that has clearly failed."""

    after_points: Annotated[int, Meta(ge=1, le=1_000)] = 3
    success_below_pct: Annotated[float, Meta(gt=0, le=100)] = 50.0
    """Share of the calls not lost through a client's own fault."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Profiling of every server after all results are measured, in a separate pass."""

    at: Annotated[float, Meta(gt=0, le=1e15)] | None = None
    """A value of the plan's axis; None: the highest sustained, otherwise measured."""
    seconds: Annotated[float, Meta(ge=1, le=600)] = 5.0


class Load(NamedTuple):
    """The load at one value of a plan's axis."""

    workload: Workload
    rate_per_s: float
    concurrency: int
    """Connections of a closed loop; 0 in an open one."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comparison: servers, workload and offered rates."""

    name: str = ""
    description: str = ""
    source: str = ""
    """The question of a published benchmark that it asks; see `analysis.published`."""
    servers: list[Annotated[str, Meta(min_length=1)]]
    """Ids of the catalogue, and addresses of servers that are running already."""
    running: dict[str, Running] = {}
    workload: Workload = PongWorkload()
    """What one client does with one connection."""
    rate_of: Literal["connections", "requests", "users"] | None = None
    """What `rates` count, unless the workload says what; a user is a connection. None: connections
    when each has one call, requests otherwise; see `unit`."""
    rates: list[Rate] | Range = []
    concurrency: list[Annotated[int, Meta(ge=1, le=1_000_000)]] = []
    """In place of `rates`. In an open loop beside them: one number, of the connections that a load
    tool keeps which has a fixed number of them."""
    search: Search | None = None
    """In place of `rates`."""
    vary: dict[str, list[Annotated[float, Meta(ge=-1e15, le=1e15)]] | Range] = {}
    """A field of the workload and its values, which differ from point to point at one load."""
    connections: Count | None = None
    """Per point; otherwise `seconds`. In a closed loop both count in the same way."""
    seconds: Seconds | None = None
    lengthen: bool = False
    """Whether a point with too few `connections` is extended to the minimum sample size."""
    warm_up: WarmUp | None = WarmUp()
    cool_down_s: Annotated[float, Meta(ge=0, le=3_600)] = 0.2
    """The minimum in seconds; longer where the client's ports must become free first (`budget`)."""
    repeats: Annotated[int, Meta(ge=1, le=1_000)] = 1
    looks: Annotated[int, Meta(ge=1, le=9)] = 3
    """The maximum attempts at a rate that decides where a server's sweep ends and is in doubt; 1:
    every rate is measured once. See `analysis.knee`."""
    order: Literal["sequential", "interleaved"] = "sequential"
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    """0: drawn when the run starts, and recorded."""
    backlog: Annotated[int, Meta(ge=1, le=1_000_000)] = 512
    nofile: Annotated[int, Meta(ge=64, le=10_000_000)] = 20_000
    """Soft descriptor limit of both servers and agents."""
    workers: Annotated[int, Meta(ge=1, le=256)] = 1
    load_tool: Annotated[str, Meta(min_length=1)] = "agent"
    """The load tool; see `load.registry`. The agent stands for the tool that the workload names."""
    with_: list[Annotated[str, Meta(min_length=1)]] = msgspec.field(
        name="with", default_factory=list
    )
    """Further load tools, which run every point in turns with `load_tool`, for comparison."""
    give_up: GiveUp | None = GiveUp()
    """None: every rate is run in any case."""
    calibrate: bool = True
    """Calibrate the clients against the null server first."""
    require_all: bool = False
    """Whether a server that fails its test before the run ends it. Otherwise it is left out."""
    profile: Profile | bool = False

    def __post_init__(self) -> None:
        if self.load_tool == OUR_AGENT:
            own = self.declared.tool(self.workload)
            msgspec.structs.force_setattr(self, "load_tool", own)

    @property
    def warming(self) -> Warming | None:
        """The load before a server's first point. Unless the plan says at what rate, it is at most
        the highest of its rates; in a closed loop no rate is known to be no more than the server
        gets from the points, so there is none. None: no warm-up."""
        if self.warm_up is None or (self.closed and self.warm_up.rate_per_s is None):
            return None
        highest = max(self.rates_per_s, default=USUAL_WARM_UP_PER_S)
        rate = self.warm_up.rate_per_s or min(USUAL_WARM_UP_PER_S, highest)
        return Warming(rate, self.warm_up.seconds)

    @property
    def load_tools(self) -> list[str]:
        """Those that run every point, in their order."""
        return list(dict.fromkeys([self.load_tool, *self.with_]))

    @property
    def profiled(self) -> Profile | None:
        """None: no server is profiled."""
        if isinstance(self.profile, bool):
            return Profile() if self.profile else None
        return self.profile

    @property
    def rates_per_s(self) -> list[float]:
        """Offered rates, ascending, in `unit` per second; of a search those it may choose. Empty in
        a closed loop. If they end at the client limit, that is a typical one."""
        rates = self.search.grid if self.search else self.rates
        if not isinstance(rates, Range):
            return [float(rate) for rate in rates]
        return rates.values(self.typical_ceiling_per_s)

    @property
    def typical_ceiling_per_s(self) -> float:
        """A client limit to assume, and to calibrate from, where the rates end at it."""
        if self.declared.tls(self.workload) == "full":
            return TYPICAL_HANDSHAKES_PER_S
        return TYPICAL_CEILING_PER_S

    @property
    def to_ceiling(self) -> bool:
        """Whether its rates end at the client limit, so that they are not known yet."""
        return not self.search and isinstance(self.rates, Range) and self.rates.to == "ceiling"

    def ending_at(self, ceiling_per_s: float) -> Plan:
        """Return the plan with its rates, given where they end."""
        if not (self.to_ceiling and isinstance(self.rates, Range)):
            return self
        values = self.rates.values(three_figures(ceiling_per_s, down=True))
        return msgspec.structs.replace(self, rates=values)

    @property
    def holds_to_ceiling(self) -> bool:
        """Whether the connections that it varies end at what the machines can hold."""
        return any(isinstance(each, Range) and each.to == "ceiling" for each in self.vary.values())

    def holding(self, most: float) -> Plan:
        """Return the plan with its numbers of connections, given what the machines can hold."""
        most = three_figures(most, down=True)
        vary = {key: _whole(given, most) for key, given in self.vary.items()}
        return msgspec.structs.replace(self, vary=vary)

    @property
    def axis(self) -> Axis:
        """What is varied from point to point, and its values."""
        axis, answers = self._axis, self.declared.answers(self.workload)
        calls = self.workload.calls_per_connection if axis.of_connections else 1
        return msgspec.structs.replace(axis, answers=answers, calls_each=calls)

    @property
    def _axis(self) -> Axis:
        for key, given in self.vary.items():
            if found := self.declared.axis(key, _whole(given, TYPICAL_HELD)):
                return found
        if self.closed:
            counts = self.declared.concurrent
            return axes.concurrency([float(n) for n in self.concurrency], counts)
        if self.search:
            bounds, step = [self.search.from_, self.search.to], self.search.step
            return axes.rate(self.unit, [], bounds=bounds, step=step)
        axis = axes.rate(self.unit, self.rates_per_s)
        if isinstance(self.rates, Range):
            if self.to_ceiling:
                axis = axes.rate(self.unit, [], points=self.rates.count)
            if self.rates.spacing == "geometric":  # the lowest would lie on one another
                axis = msgspec.structs.replace(axis, scale="log")
        return axis

    @property
    def values(self) -> list[float]:
        """The values that may be measured, ascending; see `rates_per_s`."""
        return self.rates_per_s if self.search or self.to_ceiling else self.axis.values

    def at(self, x: float) -> Load:
        """Return the load at a value of the axis. The plan must have no `problems`."""
        loads = [float(n) for n in self.concurrency] if self.closed else self.rates_per_s
        workload, load = self.workload, x
        if self.axis.of_workload:
            workload, load = varied(workload, self.axis.key, x), loads[0]
        return Load(workload, 0.0, round(load)) if self.closed else Load(workload, load, 0)

    @property
    def closed(self) -> bool:
        """Whether it is a closed loop: the server sets the pace."""
        return self.workload.mode == "closed"

    @property
    def declared(self) -> Declaration:
        """The declaration of its workload."""
        return declaration(self.workload.protocol)

    @property
    def unit(self) -> str:
        """What rates count: "connections", "requests", or what the workload says."""
        if counts := self.declared.answers(self.workload):
            return counts
        one_call = self.workload.calls_per_connection == 1
        return self.rate_of or ("connections" if one_call else "requests")


def _whole(given: list[float] | Range, most: float) -> list[float]:
    """Return the values of a field that varies. Those fields have whole numbers."""
    if not isinstance(given, Range):
        return given
    return [*dict.fromkeys(float(round(value)) for value in given.values(most))]


def varied(workload: Workload, key: str, x: float) -> Workload:
    """Check the varied field's values. Raises msgspec.ValidationError for an invalid one."""
    return convert(msgspec.to_builtins(workload) | {key: plain(x)}, type(workload))


def three_figures(rate: float, *, down: bool = False) -> float:
    """Return a rate with three significant figures: 12,300 for 12,345."""
    if rate <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(rate)) - 2)
    steps = math.floor(rate / unit + 1e-9) if down else round(rate / unit)
    return round(steps * unit, 6)


def plain(x: float) -> int | float:
    return int(x) if x == int(x) else x
