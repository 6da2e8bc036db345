"""The values that a plan varies: rates, connections, a field, or the bounds of a search."""

from __future__ import annotations

from typing import Literal

from workbench import formatting
from workbench.axis import RATE
from workbench.messages.base import place
from workbench.messages.plans.problem import Problem


class NotInThisLoop(Problem, frozen=True, kw_only=True):
    """Rates in a closed loop, or a concurrency in an open one."""

    given: Literal["rates", "concurrency"]

    def text(self) -> str:
        if self.given == "rates":
            return "A closed loop offers no rate; give concurrency in their place."
        return "Only a closed loop has one; give rates, or set workload.mode to closed."


class RangeDescends(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("rates",)
    first: float
    last: float

    def text(self) -> str:
        return f"They run from {self.first:g} down to {self.last:g}; swap the two."


class StepOrPoints(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("rates",)

    def text(self) -> str:
        return "A range has either a step or a number of points; give one of the two."


class CeilingInPoints(Problem, frozen=True, kw_only=True):
    """Values up to a limit that is not known yet in steps, of which there would be any number."""

    keys: tuple[str, ...] = ("rates.points",)

    def text(self) -> str:
        return "A range up to the ceiling needs a number of points in place of a step."


class CeilingOfField(Problem, frozen=True, kw_only=True):
    """Values up to the limit of a field that has none."""

    keys: tuple[str, ...] = ("vary",)
    field: str

    def text(self) -> str:
        return f"Nothing limits '{self.field}' before a run; give its highest value."


class CeilingUnknown(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("rates", "calibrate")

    def text(self) -> str:
        return (
            "The rates end at the client limit, which only a calibration finds; set calibrate to "
            "true, or give the highest rate."
        )


class SearchInClosedLoop(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("search",)

    def text(self) -> str:
        return (
            "A closed loop offers no rate to search for; remove search, or set workload.mode to "
            "open."
        )


class BesideSearch(Problem, frozen=True, kw_only=True):
    """Values beside a search, which chooses its own."""

    def text(self) -> str:
        return "A search chooses its rates by itself; remove this, or remove search."


class ProfileOutside(Problem, frozen=True, kw_only=True):
    """A profile beyond what is measured."""

    keys: tuple[str, ...] = ("profile.at",)
    at: float
    low: float
    high: float
    suffix: str = RATE.suffix

    def text(self) -> str:
        low, high = RATE.figure(self.low), place(self.high, self.suffix)
        return f"{RATE.figure(self.at)} is outside what the plan measures, {low} to {high}."


class SearchBoundsDescend(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("search.to",)
    low: float
    high: float

    def text(self) -> str:
        return f"It must be above from ({self.low:g}), and is {self.high:g}."


class SearchStepTooLarge(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("search.step",)
    step: float
    low: float
    high: float

    def text(self) -> str:
        return (
            f"{self.step:g} is more than lies between {self.low:g} and {self.high:g}; use "
            f"{(self.high - self.low) / 10:.3g} or less."
        )


class TooManyPoints(Problem, frozen=True, kw_only=True):
    points: int
    most: int

    def text(self) -> str:
        return f"{self.points:,} points for one server are more than {self.most:,}; widen the step."


class NoValues(Problem, frozen=True, kw_only=True):
    """There are no values to vary."""

    closed: bool = False
    varied: bool = False
    """A field of the workload is to vary."""

    def text(self) -> str:
        if self.varied:
            return "None is given; list the values, for example [1, 2, 4]."
        if self.closed:
            return "None is given; a closed loop needs a list, for example [50]."
        return "None is given; give a list, or from, to and step."


class OneFieldOnly(Problem, frozen=True, kw_only=True):
    """More than one field is to vary."""

    keys: tuple[str, ...] = ("vary",)
    fields: list[str]

    def text(self) -> str:
        return f"{formatting.listed(self.fields)} cannot vary together; keep one of them."


class NotVaried(Problem, frozen=True, kw_only=True):
    """The workload cannot vary this field."""

    keys: tuple[str, ...] = ("vary",)
    field: str
    workload: str
    fields: list[str]
    """Fields that can vary."""

    def text(self) -> str:
        if not self.fields:
            return f"{self.workload} has no field that can vary; give several rates instead."
        known = formatting.listed(self.fields)
        return f"{self.workload} cannot vary '{self.field}', only {known}; or give several rates."


class OneLoadOnly(Problem, frozen=True, kw_only=True):
    """Several loads are given although something else is to vary."""

    field: str

    def text(self) -> str:
        return f"With '{self.field}' varied, the load stays the same; give a single value."


class InvalidValue(Problem, frozen=True, kw_only=True):
    """A varied field does not accept this value."""

    value: float
    said: str

    def text(self) -> str:
        return f"{self.value:,.12g} is not possible: {self.said}"


class NotAscending(Problem, frozen=True, kw_only=True):
    earlier: float
    later: float

    def text(self) -> str:
        if self.later == self.earlier:
            return f"{self.later:g} is listed twice; list each value once."
        return f"{self.later:g} comes after {self.earlier:g}; list them in ascending order."
