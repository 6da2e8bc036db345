"""Checks of a plan that do not depend on a machine; `workbench.plan.budget` has the others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from workbench.config.schema_errors import complaint
from workbench.errors import BadInput
from workbench.messages.problems import Problem, problem
from workbench.plan.model import Plan, Range, Search, plain, varied

MOST_POINTS = 2_000
"""The most points of one server's sweep."""


def check(plan: Plan, *, name: str = "", also: Iterable[Problem] = ()) -> Plan:
    """Return the plan. Raise BadInput with all problems; those found elsewhere, `also`, first."""
    found = list(dict.fromkeys(each.line() for each in (*also, *problems(plan))))
    if found:
        raise BadInput(f"plan {name or plan.name or '(unnamed)'}, {' '.join(found)}")
    return plan


def problems(plan: Plan) -> Iterator[Problem]:
    """Return all problems that do not depend on machines."""
    yield from _server_problems(plan)
    if plan.search:
        yield from _search_problems(plan, plan.search)
    else:
        yield from _concurrency_problems(plan) if plan.closed else _rate_problems(plan)
    if (plan.connections is None) == (plan.seconds is None):
        yield problem("length-unclear", both=plan.seconds is not None)
    elif plan.connections is not None and plan.workload.held:
        yield problem("seconds-only", workload=plan.declared.label)
    values = [] if plan.to_ceiling else plan.values
    at = plan.profiled.at if plan.profiled else None
    if at and values and not values[0] <= at <= values[-1]:
        highest = plan.axis.at(values[-1])
        yield problem("profile-outside", at=at, low=values[0], highest=highest)
    if plan.vary and not plan.search:
        yield from _vary_problems(plan)
    else:
        yield from plan.declared.problems(plan.workload)


def _server_problems(plan: Plan) -> Iterator[Problem]:
    if not plan.servers:
        yield problem("no-servers")
    for server in plan.servers:
        if plan.servers.count(server) > 1:
            yield problem("server-twice", server=server)
    for address in plan.running:
        if address not in plan.servers:
            yield problem("not-among-servers", address=address)


def _rate_problems(plan: Plan) -> Iterator[Problem]:
    if len(plan.concurrency) > (1 if plan.rates else 0):
        yield problem("not-in-this-loop", "concurrency", given="concurrency")
    keys = ("rates",)
    if isinstance(plan.rates, Range):
        yield from _range_problems(plan.rates, keys)
        if plan.to_ceiling and not plan.calibrate:
            yield problem("ceiling-unknown")
        return
    if not plan.rates and not plan.concurrency:
        yield problem("no-values", *keys)
    yield from _list_problems(keys, plan.rates)


def _range_problems(given: Range, keys: tuple[str, ...]) -> Iterator[Problem]:
    if isinstance(given.to, str):
        if given.points is None or given.step is not None:
            yield problem("ceiling-in-points", *(() if keys == ("rates",) else keys))
        return
    if (given.step is None) == (given.points is None):
        yield problem("step-or-points", *keys)
        return
    if given.from_ > given.to:
        yield problem("range-descends", *keys, first=given.from_, last=given.to)
    yield from _too_many(keys, given.count)


def _search_problems(plan: Plan, search: Search) -> Iterator[Problem]:
    if plan.closed:
        yield problem("search-in-closed-loop")
        return
    for key in ("rates", "concurrency", "vary"):
        if getattr(plan, key):
            yield problem("beside-search", key)
    low, high, step = search.from_, search.to, search.step
    if low >= high:
        yield problem("search-bounds-descend", low=low, high=high)
    elif low + step > high:
        yield problem(
            "search-step-too-large", step=step, low=low, high=high, tenth=(high - low) / 10
        )
    yield from _too_many(("search.step",), search.grid.count)


def _concurrency_problems(plan: Plan) -> Iterator[Problem]:
    keys = ("concurrency",)
    if plan.rates:
        yield problem("not-in-this-loop", "rates", given="rates")
    elif not plan.concurrency:
        yield problem("no-values", *keys, closed=True)
    yield from _list_problems(keys, plan.concurrency)


def _vary_problems(plan: Plan) -> Iterator[Problem]:
    keys = ("vary",)
    key, given = next(iter(plan.vary.items()))
    if len(plan.vary) > 1:
        yield problem("one-field-only", fields=list(plan.vary))
        return
    values = given if isinstance(given, list) else []
    if not (known := plan.declared.axis(key, values)):
        fields_ = [each.key for each in plan.declared.axes]
        yield problem("not-varied", field=key, workload=plan.declared.label, fields=fields_)
        return
    loads: Sequence[float] = plan.concurrency if plan.closed else plan.rates_per_s
    if len(loads) > 1:
        yield problem("one-load-only", "concurrency" if plan.closed else "rates", field=key)
    if isinstance(given, Range):
        if given.to == "ceiling" and key != "connections":
            yield problem("ceiling-of-field", field=key)
            return
        yield from _range_problems(given, keys)
        known = plan.axis
    elif not values:
        yield problem("no-values", *keys, varied=True)
    yield from _list_problems(keys, values)
    for x in known.values:
        try:
            found = list(plan.declared.problems(varied(plan.workload, key, x)))
        except msgspec.ValidationError as error:
            _, said = complaint(str(error), {key: plain(x)}, type(plan.workload))
            yield problem("invalid-value", *keys, value=x, said=said)
            return
        if found:
            yield from found
            return


def _too_many(keys: tuple[str, ...], count: int) -> Iterator[Problem]:
    if count > MOST_POINTS:
        yield problem("too-many-points", *keys, points=count, most=MOST_POINTS)


def _list_problems(keys: tuple[str, ...], values: list[float] | list[int]) -> Iterator[Problem]:
    yield from _too_many(keys, len(values))
    for earlier, later in itertools.pairwise(values):
        if later <= earlier:
            yield problem(
                "not-ascending", *keys, earlier=earlier, later=later, twice=later == earlier
            )
