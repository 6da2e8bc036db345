"""Plans: what to measure.

A plan is a small YAML file. Every key has the name of the field below. Reading a plan checks
everything that does not depend on a machine; `workbench.plan.budget` checks the rest.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from workbench import axis as axes
from workbench import formatting, paths
from workbench.axis import Axis
from workbench.config.complaints import complaint
from workbench.config.yaml import convert, load_yaml, loads_yaml
from workbench.errors import BadInput
from workbench.messages import plans
from workbench.sessions import is_session, read_session
from workbench.workloads.base import Declaration, Workload, fields
from workbench.workloads.pong.declaration import PongWorkload
from workbench.workloads.registry import (
    PROTOCOLS,
    WORKLOADS,
    declaration,
    options_of,
)

Rate: TypeAlias = Annotated[float, Meta(gt=0, le=1_000_000)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=100_000_000)]

MOST_POINTS = 2_000
"""The most points of one server's sweep."""


class Range(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rates in equal steps, both ends included."""

    from_: Rate = msgspec.field(name="from")
    to: Rate
    step: Rate


class Search(Range, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The peak is searched for between two rates: the highest that keeps the limits."""

    errors_pct: Annotated[float, Meta(ge=0, lt=50)] = 1.0
    """At most so many percent of the attempts may fail."""
    p99_ms: Annotated[float, Meta(gt=0, le=600_000)] | None = None
    """Limit of the p99 of the latency, from the scheduled time; None: it may be any."""
    points: Annotated[int, Meta(ge=6, le=1_000)] = 30
    """The most of one server in a pass; a search that is sure ends before."""


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
    """What `rates` count. None: connections when each has one call, requests otherwise; see
    `unit`."""
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
    every rate is measured once. See `analysis.looks`."""
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

    @property
    def rates_per_s(self) -> list[float]:
        """Offered rates, ascending, in `unit` per second; of a search those it may choose. Empty in
        a closed loop."""
        rates = self.search or self.rates
        if not isinstance(rates, Range):
            return [float(rate) for rate in rates]
        return [round(float(rates.from_ + k * rates.step), 6) for k in range(_steps(rates))]

    @property
    def axis(self) -> Axis:
        """What is varied from point to point, and its values."""
        for key, values in self.vary.items():
            if varied := self.declared.axis(key, values):
                return varied
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
            workload, load = _varied(workload, self.axis.key, x), loads[0]
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
    def unit(self) -> Literal["connections", "requests"]:
        """What rates count."""
        one_call = self.declared.calls(self.workload) == 1
        return self.rate_of or ("connections" if one_call else "requests")


def load_plan(name_or_path: str | Path) -> Plan:
    """Load a plan by name (the user's own, then the shipped ones), or from a plan or session file.

    Raises BadInput when there is no such plan or it cannot be run.
    """
    plan = read_plan(name_or_path)
    check(plan, name=str(_find(str(name_or_path))))
    return plan


def read_plan(name_or_path: str | Path, changes: Sequence[str] = ()) -> Plan:
    """Read a plan like `load_plan`, with keys set as "key=value" (see `with_set`), without checking
    it as a whole; see `check`. Raises BadInput."""
    path = _find(str(name_or_path))
    if is_session(path):
        data: Any = read_session(path).start.plan
    else:
        data = load_yaml(path, what="plan")
    read = _named(data, str(path))
    return with_set(read, changes) if changes else read


def plan_names() -> list[str]:
    """Return the names that `load_plan` knows, sorted."""
    return sorted({p.stem for folder in _folders() for p in folder.glob("*.yaml")})


def plan_from_data(data: object, *, name: str) -> Plan:
    """Build a checked plan from plain data; `name` is the file's, for messages. Raises BadInput."""
    plan = _named(data, name)
    check(plan, name=name)
    return plan


def _named(data: object, name: str) -> Plan:
    plan = as_plan(convert(data, plan_type(data), name=name, what="plan"))
    return plan if plan.name else msgspec.structs.replace(plan, name=Path(name).stem)


def plan_type(data: object) -> type[Plan]:
    """Return the type for plain data, with the keys of its workload; see `as_plan`."""
    return _plan_with(options_of(data.get("workload") if isinstance(data, Mapping) else None))


def as_plan(read: Plan) -> Plan:
    """Convert a value of a `plan_type` to a plan."""
    return Plan(**{name: getattr(read, name) for name in Plan.__struct_fields__})


@functools.cache
def _plan_with(options: type[Workload]) -> type[Plan]:
    return msgspec.defstruct(  # type: ignore[return-value]
        "Plan",
        [("workload", options, PongWorkload())],
        bases=(Plan,),
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def with_set(plan: Plan, changes: Sequence[str]) -> Plan:
    """Set keys as "key=value", the value as in YAML; keys of the workload need no "workload."
    prefix. Raises BadInput; the plan as a whole is checked by `check`."""
    data: dict[str, Any] = msgspec.to_builtins(plan)
    for change in changes:
        _set(data, change)
    changed = _named(data, plan.name)
    keys = {change.partition("=")[0].removeprefix("workload.") for change in changes}
    for key in sorted(keys & set(changed.vary)):
        raise BadInput(f"--set {key}: the plan varies it; set its values, vary={{{key}: [...]}}.")
    if idle := sorted(keys & _OF_RATES) if changed.closed else []:
        raise BadInput(
            f"--set {idle[0]}: a closed loop offers no rate, so it has no effect; leave it out, or"
            " set mode=open and rates."
        )
    return changed


_OF_RATES = {"arrivals", "rate_of", "lengthen"}
"""Keys without effect in a closed loop."""


def _set(data: dict[str, Any], change: str) -> None:
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"--set {change}: write KEY=VALUE, for example seconds=10.")
    if key in _keys_of_workloads() - set(Plan.__struct_fields__):
        key = f"workload.{key}"
    value = loads_yaml(text, name=change, what="--set") if text else ""
    if key == "workload.protocol" and value in PROTOCOLS:
        # Keys that the other protocol does not have would be reported as errors.
        there = declaration(str(value)).options.__struct_fields__
        data["workload"] = {k: v for k, v in data["workload"].items() if k in there}
    if key in ("seconds", "connections"):
        data |= {"seconds": None, "connections": None}
    if key == "search" and value:
        data |= {"rates": [], "concurrency": [], "vary": {}}
    elif key.startswith(("rates", "concurrency", "vary")):
        data["search"] = None
    *outer, last = key.split(".")
    inner: Any = data
    for step in outer:
        if step not in inner:
            raise BadInput(f"--set {change}: {_no_key(step, [*inner, *_keys_of_workloads()])}")
        if not isinstance(inner := inner.get(step), dict):
            known = (
                "is a list in this plan; give all of it"
                if isinstance(inner, list)
                else "holds no keys"
            )
            raise BadInput(f"--set {change}: {step} {known}.")
    inner[last] = value


def _keys_of_workloads() -> set[str]:
    return {field.key for each in WORKLOADS.values() for field in fields(each.options)}


def _no_key(key: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    if close:
        return f"there is no key {key!r}; did you mean {close[0]!r}?"
    return f"there is no key {key!r}; docs/plans.md lists them."


def to_data(plan: Plan) -> dict[str, Any]:
    """Return plain data, complete with defaults; `rates` is always a list, empty of a search.
    `plan_from_data` reads it."""
    data: dict[str, Any] = msgspec.to_builtins(plan)
    data["rates"] = [] if plan.search else plan.rates_per_s
    return data


def check(plan: Plan, *, name: str = "", also: Iterable[plans.Problem] = ()) -> None:
    """Raise BadInput with all problems that do not depend on machines. `also`: problems found
    elsewhere, which come first."""
    found = list(dict.fromkeys(problem.line() for problem in (*also, *problems(plan))))
    if found:
        raise BadInput(f"plan {name or plan.name or '(unnamed)'}, {' '.join(found)}")


def _steps(rates: Range) -> int:
    # A rounding error must not lose the last step of 0.1.
    return max(0, math.floor((rates.to - rates.from_) / rates.step + 1e-9) + 1)


def problems(plan: Plan) -> Iterator[plans.Problem]:
    """Return all problems that do not depend on machines."""
    yield from _server_problems(plan)
    if plan.search:
        yield from _search_problems(plan, plan.search)
    else:
        yield from _concurrency_problems(plan) if plan.closed else _rate_problems(plan)
    if (plan.connections is None) == (plan.seconds is None):
        yield plans.LengthUnclear(both=plan.seconds is not None)
    if plan.vary and not plan.search:
        yield from _vary_problems(plan)
    else:
        yield from plan.declared.problems(plan.workload)


def _server_problems(plan: Plan) -> Iterator[plans.Problem]:
    if not plan.servers:
        yield plans.NoServers()
    for server in plan.servers:
        if plan.servers.count(server) > 1:
            yield plans.ServerTwice(server=server)


def _rate_problems(plan: Plan) -> Iterator[plans.Problem]:
    if plan.concurrency:
        yield plans.NotInThisLoop(keys=("concurrency",), given="concurrency")
    keys = ("rates",)
    if isinstance(plan.rates, Range):
        low, high = plan.rates.from_, plan.rates.to
        if low > high:
            yield plans.RangeDescends(first=low, last=high)
        yield from _too_many(keys, _steps(plan.rates))
        return
    if not plan.rates and not plan.concurrency:
        yield plans.NoValues(keys=keys)
    yield from _too_many(keys, len(plan.rates))
    yield from _must_ascend(keys, plan.rates)


def _search_problems(plan: Plan, search: Search) -> Iterator[plans.Problem]:
    if plan.closed:
        yield plans.SearchInClosedLoop()
        return
    for key in ("rates", "concurrency", "vary"):
        if getattr(plan, key):
            yield plans.BesideSearch(keys=(key,))
    low, high, step = search.from_, search.to, search.step
    if low >= high:
        yield plans.SearchBoundsDescend(low=low, high=high)
    elif low + step > high:
        yield plans.SearchStepTooLarge(step=step, low=low, high=high)
    yield from _too_many(("search.step",), _steps(search))


def _concurrency_problems(plan: Plan) -> Iterator[plans.Problem]:
    keys = ("concurrency",)
    if plan.rates:
        yield plans.NotInThisLoop(keys=("rates",), given="rates")
    elif not plan.concurrency:
        yield plans.NoValues(keys=keys, closed=True)
    yield from _too_many(keys, len(plan.concurrency))
    yield from _must_ascend(keys, plan.concurrency)


def _vary_problems(plan: Plan) -> Iterator[plans.Problem]:
    keys = ("vary",)
    key, values = next(iter(plan.vary.items()))
    if len(plan.vary) > 1:
        yield plans.OneFieldOnly(fields=list(plan.vary))
        return
    if not (known := plan.declared.axis(key, values)):
        fields_ = [each.key for each in plan.declared.axes]
        yield plans.NotVaried(field=key, workload=plan.declared.label, fields=fields_)
        return
    loads: Sequence[float] = plan.concurrency if plan.closed else plan.rates_per_s
    if len(loads) > 1:
        yield plans.OneLoadOnly(keys=("concurrency" if plan.closed else "rates",), field=key)
    if not values:
        yield plans.NoValues(keys=keys, varied=True)
    yield from _too_many(keys, len(values))
    yield from _must_ascend(keys, values)
    for x in known.values:
        try:
            found = list(plan.declared.problems(_varied(plan.workload, key, x)))
        except msgspec.ValidationError as error:
            _, said = complaint(str(error), {key: _plain(x)}, type(plan.workload))
            yield plans.InvalidValue(keys=keys, value=x, said=said)
            return
        if found:
            yield from found
            return


def _varied(workload: Workload, key: str, x: float) -> Workload:
    """Check the varied field's values. Raises msgspec.ValidationError for an invalid one."""
    return msgspec.convert(msgspec.to_builtins(workload) | {key: _plain(x)}, type(workload))


def _plain(x: float) -> int | float:
    return int(x) if x == int(x) else x


def _too_many(keys: tuple[str, ...], count: int) -> Iterator[plans.Problem]:
    if count > MOST_POINTS:
        yield plans.TooManyPoints(keys=keys, points=count, most=MOST_POINTS)


def _must_ascend(keys: tuple[str, ...], values: list[float] | list[int]) -> Iterator[plans.Problem]:
    for earlier, later in itertools.pairwise(values):
        if later <= earlier:
            yield plans.NotAscending(keys=keys, earlier=earlier, later=later)


def _folders() -> list[Path]:
    return [paths.data_dir() / "plans", paths.RESOURCES / "plans"]


def _find(name: str) -> Path:
    looks_like_a_file = Path(name).suffix in {".yaml", ".yml"} or "/" in name or "\\" in name
    if looks_like_a_file or Path(name).is_file():
        return Path(name)
    # A name contains no separator, so it cannot leave the folders.
    for folder in _folders():
        candidate = folder / f"{name}.yaml"
        if candidate.is_file():
            return candidate
    known = plan_names()
    close = difflib.get_close_matches(name, known, n=1)
    there = f"{formatting.known(known, 'plan')} Or give a file."
    hint = f"Did you mean {close[0]!r}?" if close else there
    raise BadInput(f"There is no plan {name!r}. {hint}")
