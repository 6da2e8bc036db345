"""A plan while it is edited, and may be invalid: all its problems, its cost and its timeline."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from workbench.config.schema_errors import complaint
from workbench.config.yaml import plain
from workbench.consent import exposure
from workbench.converting import convert
from workbench.documents import Block
from workbench.errors import BadInput
from workbench.formatting import capital
from workbench.messages.plans import Warned, more_rights, old_servers_exposed
from workbench.plan.budget import Budget, assess
from workbench.plan.checks import problems
from workbench.plan.model import Plan
from workbench.plan.needs import protocol_problems
from workbench.plan.reading import as_plan, plan_type
from workbench.plan.schedule import PointPlan, order, points, warm_up
from workbench.plan.search import example
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry

_PLACEHOLDERS: dict[str, Any] = {
    "servers": ["-"],
    "rates.from": 1,
    "rates.to": 1,
    "rates.step": 1,
    "rates.points": 2,
    "search.from": 1,
    "search.to": 2,
    "search.step": 1,
}
"""Replaces invalid values without a default, so that the rest can be checked."""


_NAMED = 3
"""At most this many servers with the same problem are named."""

_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")


@dataclass(frozen=True)
class Step:
    """A point on the time axis of one server's sweep."""

    begin_s: float
    end_s: float
    point: PointPlan


@dataclass(frozen=True)
class Draft:
    """What is known about a plan that is being edited."""

    plan: Plan | None
    """None: the data are invalid; `faults` say why."""
    faults: dict[str, str] = field(default_factory=dict)
    """By key ("rates.from", "workload.timeout_s"): one sentence, without the key."""
    budget: Budget | None = None
    steps: list[Step] = field(default_factory=list)
    """Of a sweep, or of an example of a search; of the slowest server."""
    connections: int = 0
    """Calls of the whole run; 0: not fixed. Of a search those expected."""
    order: list[Block] = field(default_factory=list)
    """The order of the sweeps; with a seed drawn at the start, one order of many."""

    @property
    def sound(self) -> bool:
        """Whether it can run."""
        return self.plan is not None and not self.faults

    precautions: list[Warned] = field(default_factory=list)
    """Additional privileges of its servers, from where they can be reached, and missing secrets."""

    remarks: list[Warned] = field(default_factory=list)
    """What its load tools do not report, and how they are started."""

    @property
    def warnings(self) -> list[Warned]:
        return [*(self.budget.warnings if self.budget else []), *self.precautions]


def examine(
    data: Mapping[str, Any],
    catalogue: Catalogue,
    facts: Mapping[str, Any],
    *,
    loopback: bool = True,
    clients: int = 1,
    target: str = "",
    target_facts: Mapping[str, Any] | None = None,
    listens_on: str = "",
) -> Draft:
    """Examine a draft, for clients with these facts and this target; see `budget.assess`.

    `listens_on`: the machine where other machines must reach the servers; empty: local use only.
    """
    plan, faults = _plan(data)
    if plan is None:
        return Draft(None, faults)
    faults = {problem.keys[-1]: problem.text() for problem in problems(plan)}
    entries, unfit = _entries(plan, catalogue)
    if unfit:
        faults.setdefault("servers", unfit)
    # The cost of a plan that is invalid as a whole is unknown.
    if not entries or set(faults) - {"servers"}:
        return Draft(plan, faults)
    budget = assess(
        plan,
        entries,
        facts,
        loopback=loopback,
        clients=clients,
        target=target,
        target_facts=target_facts,
    )
    by_key: dict[str, list[str]] = {}
    for each in budget.problems:
        by_key.setdefault(each.keys[-1], []).append(each.text())
    for key, sentences in by_key.items():
        faults.setdefault(key, " ".join(sentences))
    given, plan = plan, budget.known(plan).ending_at(budget.ceiling_per_s)
    planned = list(points(plan, ""))
    rests = max(budget.cool_down_s.values(), key=sum, default=[plan.cool_down_s] * len(planned))
    if plan.search:
        after = {point.x: rest for point, rest in zip(planned, rests, strict=True)}
        planned = example(plan)
        rests = [after[point.x] for point in planned]
    found = exposure(entries, listens_on, "") if listens_on else None
    exposed = [old_servers_exposed(found)] if found else []
    connections = sum(point.workload.held or point.connections for point in planned)
    return Draft(
        given,
        faults,
        budget,
        steps=list(_steps(plan, planned, rests)),
        connections=connections * plan.repeats * len(plan.servers),
        order=order(plan, plan.seed or 1),
        precautions=[
            *exposed,
            *itertools.chain(*(more_rights(each.name, each.rights) for each in entries)),
        ],
    )


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain data, with defaults and ranges. `examine` reads it."""
    data: dict[str, Any] = msgspec.to_builtins(plan)
    return data


def number(text: str) -> int | float | str | None:
    """Parse a numeric field: "9,000" is 9000, empty None; invalid text stays."""
    text = text.strip()
    value = plain(text.replace(",", "") if _GROUPED.fullmatch(text) else text)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text or None


def _plan(data: Mapping[str, Any]) -> tuple[Plan | None, dict[str, str]]:
    faults: dict[str, str] = {}
    candidate = copy.deepcopy(dict(data))
    while True:
        try:
            plan = as_plan(convert(candidate, plan_type(candidate)))
        except msgspec.ValidationError as error:
            key, sentence = complaint(str(error), candidate, plan_type(candidate), form=True)
            key = key.partition("[")[0]
            if key in faults or not key or not _fix(candidate, key):
                return None, faults or {"": f"{key}: {sentence}" if key else sentence}
            faults[key] = capital(sentence)
        else:
            return (None if faults else plan), faults


def _fix(data: dict[str, Any], key: str) -> bool:
    """Replace an invalid value, so that the rest can be checked."""
    *outer, last = key.split(".")
    for step in outer:
        inner = data.get(step)
        if not isinstance(inner, dict):
            return False
        data = inner
    if key in _PLACEHOLDERS:
        data[last] = _PLACEHOLDERS[key]
        return True
    return data.pop(last, None) is not None or last not in data


def _entries(plan: Plan, catalogue: Catalogue) -> tuple[list[ServerEntry], str]:
    """Return the entries, and one sentence for each cause that keeps some out."""
    entries: list[ServerEntry] = []
    wanted = plan.workload.protocol
    causes: dict[str, list[tuple[str, str]]] = {
        f"do not support {wanted}": [],
        "cannot be run": [],
        "are not in the catalogue": [],
    }
    foreign, idle, unknown = causes.values()
    for server in plan.servers:
        try:
            entry = catalogue[server]
        except BadInput as error:
            unknown.append((server, str(error)))
            continue
        entries.append(entry)
        if unavailable := entry.unavailable:
            idle.append((entry.name, f"{entry.name} cannot be run: {unavailable.reason}"))
        for unfit in () if unavailable else protocol_problems(plan, [entry]):
            foreign.append((entry.name, unfit.text()))
    sentences = [_unfit(what, servers) for what, servers in causes.items() if servers]
    if max(map(len, causes.values())) > 1:
        sentences.append("Leave them out.")
    return entries, " ".join(sentences)


def _unfit(what: str, servers: list[tuple[str, str]]) -> str:
    """Return the sentence for a single server; of several their number and the first names."""
    names = [name for name, _ in servers]
    if len(names) == 1:
        return servers[0][1]
    more = len(names) - _NAMED
    first, last = (names[:_NAMED], f"{more} more") if more > 1 else (names[:-1], names[-1])
    return f"{len(names)} servers {what}: {', '.join(first)} and {last}."


def _steps(plan: Plan, planned: list[PointPlan], rests: list[float]) -> Iterator[Step]:
    clock = 0.0
    before_it = warm_up(plan, "", 0, 1) if plan.axis.per_second else None
    first = [(before_it, plan.cool_down_s)] if before_it else []
    for point, rest in (*first, *zip(planned, rests, strict=True)):
        # How long a closed loop takes for these connections depends on the server.
        end = clock + (point.seconds or 1.0)
        yield Step(clock, end, point)
        clock = end + rest
