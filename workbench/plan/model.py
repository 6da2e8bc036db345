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
from workbench.workloads.base import Declaration, Workload
from workbench.workloads.pong.declaration import PongWorkload
from workbench.workloads.registry import (
    declaration,
)

Rate: TypeAlias = Annotated[float, Meta(gt=0, le=1_000_000)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=100_000_000)]


class Range(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rates in equal steps, both ends included."""

    from_: Rate = msgspec.field(name="from")
    to: Rate
    step: Rate

    @property
    def count(self) -> int:
        # A rounding error must not lose the last step of 0.1.
        return max(0, math.floor((self.to - self.from_) / self.step + 1e-9) + 1)


class Search(Range, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A search for the peak between two rates: the highest rate that meets the limits."""

    errors_pct: Annotated[float, Meta(ge=0, lt=50)] = 1.0
    """Limit: percent of the attempts that may fail."""
    p99_ms: Annotated[float, Meta(gt=0, le=600_000)] | None = None
    """Limit: p99 of the latency, from the scheduled time; None: not limited."""
    points: Annotated[int, Meta(ge=6, le=1_000)] = 30
    """Maximum number of points per server and pass; a search that is certain ends earlier."""


class WarmUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Load before a server's first point; recorded, never judged."""

    rate_per_s: Rate = 500.0
    seconds: Seconds = 1.0


class GiveUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When to end the sweep of a server that has clearly failed."""

    after_points: Annotated[int, Meta(ge=1, le=1_000)] = 3
    """Consecutive points."""
    success_below_pct: Annotated[float, Meta(gt=0, le=100)] = 50.0
    """Share of the calls not lost through a client's own fault."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Profiling of every server after all results are measured, in a separate pass."""

    at: Annotated[float, Meta(gt=0, le=1e15)] | None = None
    """A value of the plan's axis; None: the highest that the server sustains, otherwise the highest
    measured."""
    seconds: Annotated[float, Meta(ge=1, le=600)] = 5.0


class Load(NamedTuple):
    """The load at one value of a plan's axis."""

    workload: Workload
    rate_per_s: float
    """Rate in the plan's unit; 0 in a closed loop."""
    concurrency: int
    """Connections of a closed loop; 0 in an open one."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comparison: servers, workload and offered rates."""

    name: str = ""
    description: str = ""
    servers: list[Annotated[str, Meta(min_length=1)]]
    """Ids of the catalogue."""
    workload: Workload = PongWorkload()
    """What one client does with one connection."""
    rate_of: Literal["connections", "requests"] | None = None
    """What `rates` count, unless the workload says what. None: connections when each has one call,
    requests otherwise; see `unit`."""
    rates: list[Rate] | Range = []
    concurrency: list[Annotated[int, Meta(ge=1, le=1_000_000)]] = []
    """Closed loop only, in place of `rates`."""
    search: Search | None = None
    """In place of `rates`."""
    vary: dict[str, list[Annotated[float, Meta(ge=-1e15, le=1e15)]]] = {}
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
    every rate is measured once. See `analysis.repeats`."""
    order: Literal["sequential", "interleaved"] = "sequential"
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    """0: drawn when the run starts, and recorded."""
    backlog: Annotated[int, Meta(ge=1, le=1_000_000)] = 512
    nofile: Annotated[int, Meta(ge=64, le=10_000_000)] = 20_000
    """Soft descriptor limit of both servers and agents."""
    workers: Annotated[int, Meta(ge=1, le=256)] = 1
    """Agent processes per client."""
    load_tool: Annotated[str, Meta(min_length=1)] = "agent"
    """The load tool; see `load.registry`."""
    give_up: GiveUp | None = GiveUp()
    """None: every rate is run in any case."""
    calibrate: bool = True
    """Calibrate the clients against the null server first."""
    profile: Profile | bool = False
    """True: with the defaults."""

    @property
    def profiled(self) -> Profile | None:
        """None: no server is profiled."""
        if isinstance(self.profile, bool):
            return Profile() if self.profile else None
        return self.profile

    @property
    def rates_per_s(self) -> list[float]:
        """Offered rates, ascending, in `unit` per second; of a search those it may choose. Empty in
        a closed loop."""
        rates = self.search or self.rates
        if not isinstance(rates, Range):
            return [float(rate) for rate in rates]
        return [round(float(rates.from_ + k * rates.step), 6) for k in range(rates.count)]

    @property
    def axis(self) -> Axis:
        """What is varied from point to point, and its values."""
        for key, values in self.vary.items():
            if found := self.declared.axis(key, values):
                return found
        if self.closed:
            return axes.concurrency([float(n) for n in self.concurrency])
        if self.search:
            return axes.searched(self.unit, self.search.from_, self.search.to, self.search.step)
        return axes.rate(self.unit, self.rates_per_s)

    @property
    def values(self) -> list[float]:
        """The values that may be measured, ascending."""
        return self.rates_per_s if self.search else self.axis.values

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
        if self.declared.counts:
            return self.declared.counts
        one_call = self.declared.calls(self.workload) == 1
        return self.rate_of or ("connections" if one_call else "requests")


def varied(workload: Workload, key: str, x: float) -> Workload:
    """Check the varied field's values. Raises msgspec.ValidationError for an invalid one."""
    return msgspec.convert(msgspec.to_builtins(workload) | {key: plain(x)}, type(workload))


def plain(x: float) -> int | float:
    return int(x) if x == int(x) else x
