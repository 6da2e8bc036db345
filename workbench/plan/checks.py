"""Checks of a plan that do not depend on a machine; `workbench.plan.budget` has the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from workbench.config.schema_errors import complaint
from workbench.errors import BadInput
from workbench.messages import plans
from workbench.plan.model import Plan, Range, Search, plain, varied

MOST_POINTS = 2_000
"""The most points of one server's sweep."""


def check(plan: Plan, *, name: str = "", also: Iterable[plans.Problem] = ()) -> None:
    """Raise BadInput with all problems that do not depend on machines. `also`: problems found
    elsewhere, which come first."""
    found = list(dict.fromkeys(problem.line() for problem in (*also, *problems(plan))))
    if found:
        raise BadInput(f"plan {name or plan.name or '(unnamed)'}, {' '.join(found)}")


def problems(plan: Plan) -> Iterator[plans.Problem]:
    """Return all problems that do not depend on machines."""
    yield from _server_problems(plan)
    if plan.search:
        yield from _search_problems(plan, plan.search)
    else:
        yield from _concurrency_problems(plan) if plan.closed else _rate_problems(plan)
    if (plan.connections is None) == (plan.seconds is None):
        yield plans.LengthUnclear(both=plan.seconds is not None)
    elif plan.connections is not None and plan.declared.held(plan.workload):
        yield plans.SecondsOnly(workload=plan.declared.label)
    if plan.profiled and plan.profiled.at:
        yield from _profile_problems(plan, plan.profiled.at)
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
    for address in plan.running:
        if address not in plan.servers:
            yield plans.NotAmongServers(address=address)


def _rate_problems(plan: Plan) -> Iterator[plans.Problem]:
    if len(plan.concurrency) > (1 if plan.rates else 0):
        yield plans.NotInThisLoop(keys=("concurrency",), given="concurrency")
    keys = ("rates",)
    if isinstance(plan.rates, Range):
        yield from _range_problems(plan.rates, keys)
        if plan.to_ceiling and not plan.calibrate:
            yield plans.CeilingUnknown()
        return
    if not plan.rates and not plan.concurrency:
        yield plans.NoValues(keys=keys)
    yield from _too_many(keys, len(plan.rates))
    yield from _must_ascend(keys, plan.rates)


def _range_problems(given: Range, keys: tuple[str, ...]) -> Iterator[plans.Problem]:
    if isinstance(given.to, str):
        if given.points is None or given.step is not None:
            yield plans.CeilingInPoints(keys=("rates.points",) if keys == ("rates",) else keys)
        return
    if (given.step is None) == (given.points is None):
        yield plans.StepOrPoints(keys=keys)
        return
    if given.from_ > given.to:
        yield plans.RangeDescends(keys=keys, first=given.from_, last=given.to)
    yield from _too_many(keys, given.count)


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
    yield from _too_many(("search.step",), search.grid.count)


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
    key, given = next(iter(plan.vary.items()))
    if len(plan.vary) > 1:
        yield plans.OneFieldOnly(fields=list(plan.vary))
        return
    values = given if isinstance(given, list) else []
    if not (known := plan.declared.axis(key, values)):
        fields_ = [each.key for each in plan.declared.axes]
        yield plans.NotVaried(field=key, workload=plan.declared.label, fields=fields_)
        return
    loads: Sequence[float] = plan.concurrency if plan.closed else plan.rates_per_s
    if len(loads) > 1:
        yield plans.OneLoadOnly(keys=("concurrency" if plan.closed else "rates",), field=key)
    if isinstance(given, Range):
        if given.to == "ceiling" and key != "connections":
            yield plans.CeilingOfField(field=key)
            return
        yield from _range_problems(given, keys)
        known = plan.axis
    elif not values:
        yield plans.NoValues(keys=keys, varied=True)
    yield from _too_many(keys, len(values))
    yield from _must_ascend(keys, values)
    for x in known.values:
        try:
            found = list(plan.declared.problems(varied(plan.workload, key, x)))
        except msgspec.ValidationError as error:
            _, said = complaint(str(error), {key: plain(x)}, type(plan.workload))
            yield plans.InvalidValue(keys=keys, value=x, said=said)
            return
        if found:
            yield from found
            return


def _profile_problems(plan: Plan, at: float) -> Iterator[plans.Problem]:
    values = [] if plan.to_ceiling else plan.values
    if values and not values[0] <= at <= values[-1]:
        yield plans.ProfileOutside(at=at, low=values[0], high=values[-1], suffix=plan.axis.suffix)


def _too_many(keys: tuple[str, ...], count: int) -> Iterator[plans.Problem]:
    if count > MOST_POINTS:
        yield plans.TooManyPoints(keys=keys, points=count, most=MOST_POINTS)


def _must_ascend(keys: tuple[str, ...], values: list[float] | list[int]) -> Iterator[plans.Problem]:
    for earlier, later in itertools.pairwise(values):
        if later <= earlier:
            yield plans.NotAscending(keys=keys, earlier=earlier, later=later)
