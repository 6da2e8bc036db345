"""Points that are too small or too short, and what a plan's passes can show."""

from __future__ import annotations

import math

from workbench import formatting
from workbench.messages.base import Message
from workbench.messages.plans.problem import PointProblem, PointWarned, Warned


class SmallPoint(PointProblem, frozen=True, kw_only=True):
    """A point that cannot be judged."""

    connections: int = 0
    """Number that would be enough; 0: `seconds` are given."""
    may_lengthen: bool = False
    """The plan may set `lengthen`."""
    needed_s: float = 0.0

    def remedy(self) -> str:
        if not self.connections:
            return f"Set seconds to {math.ceil(self.needed_s * 10) / 10:g} or more."
        allow = ", or allow that by `lengthen: true`" if self.may_lengthen else ""
        return f"Set connections to {self.connections:,} or more{allow}."


class PointTooShort(SmallPoint, frozen=True, kw_only=True):
    seconds: float
    shortest_s: float

    def text(self) -> str:
        return (
            f"At {self.at()} a point lasts {self.seconds:.2g} s: too short for a verdict, which "
            f"takes {self.shortest_s:g} s. {self.remedy()}"
        )


class NoSteadyPart(SmallPoint, frozen=True, kw_only=True):
    """The first connections are still in their think time when the schedule ends."""

    seconds: float
    think_s: float

    def text(self) -> str:
        return (
            f"At {self.at()} a point lasts {self.seconds:g} s and think time alone keeps each "
            f"connection open for {self.think_s:g} s, so nothing is measured at a steady load. "
            f"{self.remedy()}"
        )


class PointTooSmall(SmallPoint, frozen=True, kw_only=True):
    calls: int
    fewest: int

    def text(self) -> str:
        calls = formatting.number_of(self.calls, "calls")
        return (
            f"At {self.at()} a point has {calls}: too few for a verdict, which takes "
            f"{self.fewest}. {self.remedy()}"
        )


class TooFewForLimit(SmallPoint, frozen=True, kw_only=True):
    """The search limits a percentile, and a point has too few replies for it."""

    calls: int
    needed: int

    def text(self) -> str:
        return (
            f"At {self.at()} a point has {self.calls:,} calls: too few for a p99, which takes "
            f"{self.needed:,}. {self.remedy()}"
        )


class WarmUpAboveRates(Warned, frozen=True, kw_only=True):
    """A warm-up at a rate of its own."""

    keys: tuple[str, ...] = ("warm_up.rate_per_s",)
    warm_up: str
    """ "500/s"."""
    highest: str

    def text(self) -> str:
        return (
            f"The warm-up at {self.warm_up} loads servers more than the plan's highest rate,"
            f" {self.highest}."
        )


class PointsLengthened(Warned, frozen=True, kw_only=True):
    lengthened: int
    points: int
    connections: int
    """As given in the plan."""
    most: int

    def text(self) -> str:
        return (
            f"{self.connections:,} connections are too few at {self.lengthened} of {self.points}"
            f" points; these get up to {self.most:,}."
        )


class FewSamples(PointWarned, frozen=True, kw_only=True):
    """`x`: the highest with too few calls."""

    needed: int

    def text(self) -> str:
        return (
            f"Up to {self.at()} a point has fewer than {self.needed:,} calls: too few for a steady "
            "p99."
        )


class Sensitivity(Message, frozen=True, kw_only=True):
    """The smallest differences between two servers that a plan's passes can show, 9 times in 10."""

    keys: tuple[str, ...] = ("repeats",)
    passes: int
    shows: dict[str, float]
    """Percent, by figure; differences beyond 100 % are left out."""
    figure: str
    """The figure for which a number of passes is proposed."""
    wanted_pct: float
    proposed: int | None
    """Passes that show a difference of `wanted_pct`; None: too many."""
    session: str
    """Where the spread of passes was measured; empty: a typical one is assumed."""

    def text(self) -> str:
        basis = f"spread of passes as in {self.session}" if self.session else "typical spread"
        wanted = f"{self.wanted_pct:g} % in {self.figure}"
        if self.passes == 1:
            said = "One pass cannot show significance"
            if self.proposed is None:
                return f"{said}; {wanted} cannot be resolved here ({basis})."
            return f"{said}; {self.proposed} passes resolve {wanted} ({basis})."
        least = [f"{formatting.span(pct, pct)} % in {figure}" for figure, pct in self.shows.items()]
        said = f"{self.passes} passes show no difference below 100 %"
        if least:
            said = f"{self.passes} passes show differences from {formatting.listed(least)}"
        if self.proposed is None or self.proposed <= self.passes:
            return f"{said} ({basis})."
        return f"{said} ({basis}); {wanted} takes {self.proposed}."
