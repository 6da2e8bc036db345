"""Plans: what is to be measured.

A plan is a small YAML file. Every key has the name of the field below. Reading a plan checks
everything that can be known without looking at a machine; `workbench.budget` checks the rest.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from workbench import paths, wording
from workbench.errors import BadInput
from workbench.sessions import is_session, read_session
from workbench.yamlio import convert, load_yaml

Arrivals: TypeAlias = Literal["uniform", "poisson"]
Rate: TypeAlias = Annotated[float, Meta(gt=0, le=1_000_000)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=100_000_000)]

MOST_POINTS = 2_000
"""Of one server's sweep."""

SHORTEST_S = 1.0
"""Five windows: a shorter schedule has no steady part to measure."""

FEWEST_SAMPLES = 100
"""Calls of a point; fewer cannot tell 99 % from 98 %."""


class Workload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one client does with one connection."""

    protocol: Literal["pong", "http/1.0", "http/1.1"] = "pong"
    path: str = "/"
    calls_per_connection: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    think_time_s: Annotated[float, Meta(ge=0, le=3_600)] = 0.0
    """Between a reply and the next call of its connection."""
    pipeline: Annotated[int, Meta(ge=1, le=1_000)] = 1
    """Calls outstanding on a connection."""
    timeout_s: Annotated[float, Meta(gt=0, le=600)] = 5.0
    arrivals: Arrivals = "uniform"
    mode: Literal["open", "closed"] = "open"
    """closed: `concurrency` connections at a time, each followed by the next, as `ab` does."""


class Range(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rates in equal steps, both ends included."""

    from_: Rate = msgspec.field(name="from")
    to: Rate
    step: Rate


class WarmUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Load before a server's first point; recorded, never judged."""

    rate_per_s: Rate = 500.0
    seconds: Seconds = 1.0


class GiveUp(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a server is clearly gone and the rest of its sweep would only cost time."""

    after_points: Annotated[int, Meta(ge=1, le=1_000)] = 3
    """In a row."""
    success_below_pct: Annotated[float, Meta(gt=0, le=100)] = 50.0
    """Of the calls that no client lost by its own fault."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comparison: servers, workload and offered rates."""

    name: str = ""
    description: str = ""
    servers: list[Annotated[str, Meta(min_length=1)]]
    """Catalogue ids."""
    workload: Workload = Workload()
    rate_of: Literal["connections", "requests"] | None = None
    """What `rates` count. None: connections for one call each, requests otherwise; see `unit`."""
    rates: list[Rate] | Range = []
    concurrency: list[Annotated[int, Meta(ge=1, le=1_000_000)]] = []
    """Closed loop only, in place of `rates`."""
    connections: Count | None = None
    """Per point; else `seconds`. In a closed loop both count the same way."""
    seconds: Seconds | None = None
    lengthen: bool = False
    """May a point of too few `connections` get as many as it needs?"""
    warm_up: WarmUp | None = WarmUp()
    cool_down_s: Annotated[float, Meta(ge=0, le=3_600)] = 0.2
    """At least; longer where the client's ports have to be free again (`budget`)."""
    repeats: Annotated[int, Meta(ge=1, le=1_000)] = 1
    looks: Annotated[int, Meta(ge=1, le=9)] = 3
    """At most, at a rate that decides where a server's sweep ends and is in doubt; 1: one look at
    every rate, whatever comes out. See `analysis.looks`."""
    order: Literal["sequential", "interleaved"] = "sequential"
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    """0: drawn when the run starts, and recorded."""
    backlog: Annotated[int, Meta(ge=1, le=1_000_000)] = 512
    nofile: Annotated[int, Meta(ge=64, le=10_000_000)] = 20_000
    """Soft descriptor limit of servers and agents alike."""
    workers: Annotated[int, Meta(ge=1, le=256)] = 1
    """Agent processes per client."""
    give_up: GiveUp | None = GiveUp()
    """None: every rate is run, whatever happens."""
    calibrate: bool = True
    """Find the clients' own ceiling against the null server first."""

    @property
    def rates_per_s(self) -> list[float]:
        """Offered rates, rising, in `unit` per second; empty in a closed loop."""
        if not isinstance(self.rates, Range):
            return [float(rate) for rate in self.rates]
        first, step = self.rates.from_, self.rates.step
        return [round(float(first + k * step), 6) for k in range(_steps(self.rates))]

    @property
    def unit(self) -> Literal["connections", "requests"]:
        """What rates count."""
        one_call = self.workload.calls_per_connection == 1
        return self.rate_of or ("connections" if one_call else "requests")


def load_plan(name_or_path: str | Path) -> Plan:
    """A plan by its name (the user's own, then those shipped), or from a plan or session file.

    Raises BadInput when there is no such plan or it cannot be run.
    """
    path = _find(str(name_or_path))
    if is_session(path):
        return plan_from_data(read_session(path).start.plan, name=str(path))
    return plan_from_data(load_yaml(path, what="plan"), name=str(path))


def plan_names() -> list[str]:
    """Names `load_plan` knows, sorted."""
    return sorted({p.stem for folder in _folders() for p in folder.glob("*.yaml")})


def plan_from_data(data: object, *, name: str) -> Plan:
    """A checked plan from plain data; `name` is the file's, for messages. Raises BadInput."""
    plan: Plan = convert(data, Plan, name=name, what="plan")
    check(plan, name=name)
    return plan if plan.name else msgspec.structs.replace(plan, name=Path(name).stem)


def to_data(plan: Plan) -> dict[str, Any]:
    """Plain data, complete with defaults; `rates` is always a list. `plan_from_data` reads it."""
    data: dict[str, Any] = msgspec.to_builtins(plan)
    data["rates"] = plan.rates_per_s
    return data


def check(plan: Plan, *, name: str = "") -> None:
    """Raises BadInput with the first thing that makes no sense, whatever the machines."""
    for problem in problems(plan):
        raise BadInput(f"plan {name or plan.name or '(unnamed)'}, {problem}")


def _steps(rates: Range) -> int:
    # A step of 0.1 must not miss the end by a rounding error.
    return max(0, math.floor((rates.to - rates.from_) / rates.step + 1e-9) + 1)


def problems(plan: Plan) -> Iterator[str]:
    """All that makes no sense, whatever the machines: "key: what is wrong; what to do."."""
    yield from _server_problems(plan)
    if plan.workload.mode == "open":
        yield from _rate_problems(plan)
    else:
        yield from _concurrency_problems(plan)
    if (plan.connections is None) == (plan.seconds is None):
        both = "both are" if plan.seconds else "neither is"
        yield f"connections, seconds: {both} given; give exactly one of the two."
    yield from _workload_problems(plan.workload)


def _server_problems(plan: Plan) -> Iterator[str]:
    if not plan.servers:
        yield "servers: none is listed; name at least one of the catalogue."
    for server in plan.servers:
        if plan.servers.count(server) > 1:
            yield f"servers: {server} is listed twice; for a second measurement use `repeats`."


def _rate_problems(plan: Plan) -> Iterator[str]:
    if plan.concurrency:
        yield "concurrency: only a closed loop has one; give rates, or set workload.mode to closed."
    if isinstance(plan.rates, Range):
        low, high = plan.rates.from_, plan.rates.to
        if low > high:
            yield f"rates: they run from {low:g} down to {high:g}; swap the two."
        if (count := _steps(plan.rates)) > MOST_POINTS:
            yield _too_many("rates", count)
        return
    if not plan.rates:
        yield "rates: none is given; give a list, or from, to and step."
    if len(plan.rates) > MOST_POINTS:
        yield _too_many("rates", len(plan.rates))
    yield from _must_rise("rates", plan.rates)


def _concurrency_problems(plan: Plan) -> Iterator[str]:
    if plan.rates:
        yield "rates: a closed loop offers no rate; give concurrency in their place."
    if not plan.concurrency:
        yield "concurrency: none is given; a closed loop needs a list, for example [50]."
    if len(plan.concurrency) > MOST_POINTS:
        yield _too_many("concurrency", len(plan.concurrency))
    yield from _must_rise("concurrency", plan.concurrency)


def _too_many(where: str, count: int) -> str:
    return (
        f"{where}: {count:,} points for one server are more than {MOST_POINTS:,}; widen the step."
    )


def _must_rise(where: str, values: list[float] | list[int]) -> Iterator[str]:
    for earlier, later in itertools.pairwise(values):
        if later <= earlier:
            yield f"{where}: {later:g} comes after {earlier:g}; list them rising, each once."


def _workload_problems(workload: Workload) -> Iterator[str]:
    if not re.fullmatch(r"/[\x21-\x7e]*", workload.path):
        yield "workload.path: it must begin with / and hold neither spaces nor control characters."
    calls, pipeline = workload.calls_per_connection, workload.pipeline
    if workload.protocol == "pong" and calls > 1:
        yield "workload.calls_per_connection: pong ends after one reply; use http/1.1."
    if pipeline > calls:
        yield f"workload.pipeline: {pipeline} calls at once need as many calls_per_connection."


def _folders() -> list[Path]:
    return [paths.data_dir() / "plans", paths.RESOURCES / "plans"]


def _find(name: str) -> Path:
    looks_like_a_file = Path(name).suffix in {".yaml", ".yml"} or "/" in name or "\\" in name
    if looks_like_a_file or Path(name).is_file():
        return Path(name)
    # A name never leaves the folders: it holds no separator.
    for folder in _folders():
        candidate = folder / f"{name}.yaml"
        if candidate.is_file():
            return candidate
    known = plan_names()
    close = difflib.get_close_matches(name, known, n=1)
    there = f"{wording.known(known, 'plan')} Or give a file."
    hint = f"Did you mean {close[0]!r}?" if close else there
    raise BadInput(f"There is no plan {name!r}. {hint}")
