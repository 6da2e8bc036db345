"""Tests of the command line on a run and on a comparison, for CI.

A test passes, fails, or is undecided: nothing is claimed of what was not measured, is not reliable,
or lies within the noise.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isinf, isnan
from typing import Literal, TypeAlias

from workbench import metrics
from workbench.analysis.knee import Difference
from workbench.analysis.summary import ServerSummary, Summary
from workbench.errors import BadInput, ExitCode
from workbench.formatting import figure, listed, span
from workbench.plan.model import Plan
from workbench.results.comparison import Comparison, Contender, Figure
from workbench.results.differences import difference_in
from workbench.results.rows import FIGURES, figures
from workbench.results.sustained import sentence

State: TypeAlias = Literal["passed", "failed", "undecided"]

SUSTAINED = "sustained"
"""The key of what a server sustains, beside those of its points."""

_OPERATORS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    "<": (operator.lt, "less than"),
    "<=": (operator.le, "at most"),
    ">": (operator.gt, "more than"),
    ">=": (operator.ge, "at least"),
}
_NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
_CONDITION = re.compile(
    rf"\s*(\w+)\s*(<=|>=|<|>)\s*{_NUMBER}\s*([^\s\d]*)(?:\s+at\s+{_NUMBER}\s*(?:/s)?)?\s*"
)
_DECIDING = ("p50", "CPU per call")
"""What has to be shown not to be slower. The others are only held against a server, because p99
and sustained rates are seldom known to a few percent."""
_JUDGED = ("p50", "p99", "CPU per call")


_TIMES = ("mean_ms", "p50_ms", "p99_ms")


@dataclass(frozen=True)
class Outcome:
    test: str
    """ "p99_ms > 50 at 4000/s", "p50 slower by at most 5 %"."""
    server: str
    state: State
    text: str
    """One sentence."""


@dataclass(frozen=True)
class Condition:
    """What a run must not be, `p99_ms > 50 at 4000/s`: `--fail-if`."""

    text: str
    key: str
    sign: str
    value: float
    at: float | None
    """The value of the axis; None: of what is sustained."""
    unit: str
    """ "/s", " ms"."""

    def outcomes(self, summary: Summary) -> list[Outcome]:
        """Return that of every server, in the plan's order."""
        return [self._of(server, summary) for server in summary.servers.values()]

    def _of(self, server: ServerSummary, summary: Summary) -> Outcome:
        state, text = (
            self._sustained(server) if self.at is None else self._there(server, self.at, summary)
        )
        return Outcome(self.text, server.name, state, text)

    def _sustained(self, server: ServerSummary) -> tuple[State, str]:
        said = f"{sentence(server)}."
        if not server.complete:
            return "undecided", " ".join([f"{server.name} was not measured.", *server.incidents])
        if server.unknown:
            return "undecided", f"{said} {server.why_unknown}"
        knee = server.knee or 0.0
        fails = self._fails(knee)
        # More than it sustained may be true of it, less may not.
        if server.knee_is_floor and not server.faulty and fails is self.sign.startswith("<"):
            return "undecided", f"{said} Its limit was not reached; offer higher rates."
        return self._judged(fails, said)

    def _there(self, server: ServerSummary, x: float, summary: Summary) -> tuple[State, str]:
        at = f"{server.name} at {server.axis.at(x)}"
        point = server.at(x)
        if point is None:
            return "undecided", " ".join([f"{at} was not measured.", *server.incidents])
        if not point.trusted:
            return "undecided", " ".join([f"{at} is {point.verdict}.", *point.reasons])
        cell = figures(point, summary.clock).get(self.key)
        value = cell.value if cell else point.value(self.key)
        if not isinstance(value, float | int) or isnan(value):
            return "undecided", f"{at}: its {self.key} is unknown."
        fails, said = self._fails(value), f"{at}: {self.key} is {_number(value)}{self.unit}."
        remarks = [each for stop in point.stops if stop.verdict == "ok" for each in stop.reasons]
        if fails and remarks and self.key in _TIMES:
            # They say that the server itself may be faster than it seems.
            return "undecided", f"{said} {remarks[0]}"
        return self._judged(fails, said)

    def _fails(self, value: float) -> bool:
        return _OPERATORS[self.sign][0](value, self.value)

    def _judged(self, fails: bool, said: str) -> tuple[State, str]:
        must_not = f"{_OPERATORS[self.sign][1]} {_number(self.value)}{self.unit}"
        if not fails:
            return "passed", said
        return "failed", f"{said.removesuffix('.')}, which is {must_not}."


def condition(text: str, plan: Plan) -> Condition:
    """Read a condition on a run of this plan. Raises BadInput, also where it can never be told."""
    found = _CONDITION.fullmatch(text)
    where = f"--fail-if {text!r}"
    if found is None:
        raise BadInput(
            f"{where} is no condition; write `p99_ms > 50 at 4000/s` or `sustained < 3000/s`."
        )
    key, sign, value, unit, at = found.groups()
    units = _units(plan)
    if key not in units:
        raise BadInput(f"{where}: there is no figure {key!r}. There are {listed([*units])}.")
    if unit and unit != units[key].strip():
        known = f"is in {units[key].strip()}" if units[key] else "has no unit"
        raise BadInput(f"{where}: {key} {known}, not in {unit!r}.")
    axis, of_run = plan.axis, key == SUSTAINED
    if of_run and not axis.has_limit:
        raise BadInput(f"{where}: this plan seeks no limit, so nothing is known to be sustained.")
    if of_run != (at is None):
        raise BadInput(
            f"{where}: what a server sustains is of all its rates; leave out `at`."
            if of_run
            else f"{where}: say where, as in `{key} {sign} {value} at {axis.at(plan.values[0])}`."
        )
    x = None if at is None else _parsed(at)
    if x is not None and not plan.to_ceiling and x not in plan.values:
        offered = listed([axis.at(each) for each in plan.values])
        raise BadInput(f"{where}: this plan does not measure {axis.at(x)}; it measures {offered}.")
    return Condition(text, key, sign, _parsed(value), x, units[key])


def measured(summary: Summary) -> list[Outcome]:
    """Return whether each server has a result at all, which a run says by its own exit code."""
    states: dict[bool, State] = {True: "passed", False: "failed"}
    return [
        Outcome("measured", each.name, states[bool(each.complete)], f"{sentence(each)}.")
        for each in summary.servers.values()
    ]


def _units(plan: Plan) -> dict[str, str]:
    """Return the units of all figures by which a run of the plan can be judged."""
    known = metrics.records(
        plan.declared.requests(plan.workload),
        held=plan.workload.held > 0,
        statuses=plan.declared.statuses,
    )
    more = {each.key: f" {each.unit}".rstrip() for each in known}
    return {SUSTAINED: plan.axis.suffix, **FIGURES, **more}


def _parsed(number: str) -> float:
    return float(number.replace(",", ""))


def _number(value: float) -> str:
    return figure(value) if value >= 0.1 else f"{value:.2g}"


def share(text: str, option: str = "--fail-if-slower") -> float:
    """Read a percentage: 0.05 of "5%". Raises BadInput."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%?\s*", text)
    if found is None or not 0 < float(found[1]) < 1000:
        raise BadInput(f"{option}: {text!r} is no percentage; write 5%.")
    return float(found[1]) / 100


def slower(
    found: Comparison, most: float, pairs: Sequence[tuple[Contender, Contender]]
) -> list[Outcome]:
    """Test that the first of each pair is at most `most` slower than the second, as a share: failed
    if an interval shows that it is slower than that, passed if they show that it is not."""
    if not pairs:
        text = "These sessions have no server in common that was measured."
        return [Outcome(_at_most(most), "", "undecided", text)]
    return [outcome for a, b in pairs for outcome in _slower(found, most, a, b)]


def _at_most(most: float) -> str:
    return f"slower by at most {span(100 * most, 100 * most)} %"


def _slower(found: Comparison, most: float, a: Contender, b: Contender) -> Iterator[Outcome]:
    tagged = len(found.sides) > 1
    first, second = (each.label if tagged else each.name for each in (a, b))
    known = {each.what: each for each in found.figures(a, b) if each.what in _JUDGED}
    decided = False
    if known and found.rate is not None:
        at = found.axis.at(found.rate)
        there = [(each, each.result.at(found.rate)) for each in (a, b)]
        doubtful = [each for each, point in there if not (point and point.trusted)]
        for what, each in known.items():
            state = "undecided" if doubtful else _state(each, most)
            if state == "undecided" and (what not in _DECIDING or not each.text):
                continue
            decided |= what in _DECIDING
            why = "".join(f" {c.name} is not reliable there." for c in doubtful[:1])
            text = f"{what} of {first} at {at}, against {second}: {each.text}.{why}"
            yield Outcome(f"{what} {_at_most(most)}", first, state, text)
    state = _of_limits(found.difference(a, b), b.result.figure, most)
    if state == "failed" or not decided:
        text = difference_in(found, a, b)
        yield Outcome(f"sustained rate {_at_most(most)}", first, state, text)


def _state(each: Figure, most: float) -> State:
    if each.change is None:
        return "passed" if each.difference == 0 else "undecided"
    return _of_interval(each.change.low, each.change.high, most)


def _of_limits(found: Difference | None, second: float, most: float) -> State:
    """`second`: what the second sustains."""
    if found is None or not second or found.passes < 2 or isinf(found.low):
        return "undecided"
    return _of_interval(-found.high / second, -found.low / second, most)


def _of_interval(low: float, high: float, most: float) -> State:
    """`low`, `high`: by which share it is slower."""
    return "failed" if low > most else "passed" if high <= most else "undecided"


def exit_code(outcomes: Iterable[Outcome]) -> ExitCode:
    states = {each.state for each in outcomes}
    if "failed" in states:
        return ExitCode.TEST_FAILED
    return ExitCode.UNDECIDED if "undecided" in states else ExitCode.DONE
