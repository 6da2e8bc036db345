"""How sure a knee is: intervals from the passes, and what they say of two servers.

A pass tells two rates: the highest it held, and the next at which the server was shown to be the
limit. The true limit of that pass lies between. Over several passes the interval runs from a low
rank of the rates held to the same high rank of the rates lost; how often such an interval covers
the median is arithmetic on ranks and assumes nothing about how passes are distributed. Of one pass
there is only the step between its rates: its resolution, not a confidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, inf
from typing import Literal

from workbench.analysis.repeats import is_sustained, last_attempts
from workbench.documents import PointStop

CONFIDENCE = 0.95
"""The coverage wanted. Fewer than six passes cannot give it; their whole range is given instead."""


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, in the plan's unit per second."""

    low: float
    high: float
    """Infinite: no limit was shown."""
    passes: int
    coverage: float | None
    """How often such an interval covers the median, 0 to 1; None: one pass, it has none."""


@dataclass(frozen=True)
class PassKnee:
    """The result of one pass."""

    pass_number: int
    held: float
    """Highest rate held, and so was every lower one; 0: none."""
    lost: float
    """Lowest higher rate at which the server was the limit; infinite: none showed that."""


Outcome = Literal["more", "less", "indistinguishable", "unknown"]


@dataclass(frozen=True)
class Difference:
    """Of two knees, first minus second, per second."""

    figure: float
    low: float
    high: float
    """Infinite, either: one of the two showed no limit."""
    outcome: Outcome
    """`unknown`: one showed no limit, and it may lie on either side of the other's."""
    paired: bool = False
    """Taken pass by pass, because the passes took turns."""
    passes: int = 1
    """Of the one that has fewer."""


def pass_knees(points: Iterable[PointStop]) -> list[PassKnee]:
    """Of one server, by pass. A pass cut short before it found a limit is left out when another
    went further, as in `knee`. A closed loop has none."""
    passes: defaultdict[int, list[PointStop]] = defaultdict(list)
    for point in last_attempts(points):
        if point.purpose == "sweep" and point.complete:
            passes[point.pass_number].append(point)
    furthest = max((p.x for tried in passes.values() for p in tried), default=0.0)
    whole = {
        number: tried
        for number, tried in passes.items()
        if not all(map(is_sustained, tried)) or max(p.x for p in tried) == furthest
    }
    return [_pass_knee(number, tried) for number, tried in sorted((whole or passes).items())]


def knee_interval(knees: Sequence[PassKnee]) -> Interval | None:
    """Where the limit lies; None: nothing was measured."""
    if not knees:
        return None
    rank, coverage = ranks(len(knees))
    low = sorted(knee.held for knee in knees)[rank]
    high = sorted(knee.lost for knee in knees)[-1 - rank]
    return Interval(low, high, len(knees), coverage)


def ranks(passes: int) -> tuple[int, float | None]:
    """(how many of the lowest and of the highest are left out, how often what remains covers the
    median). As narrow as `CONFIDENCE` allows, else the whole range."""
    if passes < 2:
        return 0, None
    rank, coverage = 0, _coverage(passes, 0)
    while (narrower := _coverage(passes, rank + 1)) >= CONFIDENCE:
        rank, coverage = rank + 1, narrower
    return rank, coverage


def difference(
    first: Sequence[PassKnee], second: Sequence[PassKnee], *, paired: bool = False
) -> Difference | None:
    """Of two servers' knees. `paired`: their passes took turns in one run, so the passes of one
    number are subtracted from each other and what drifts falls out. None: one was not measured."""
    a, b = knee_interval(first), knee_interval(second)
    if a is None or b is None:
        return None
    figure = _middle(first) - _middle(second)
    by_number = {knee.pass_number: knee for knee in second}
    both = [(knee, by_number[knee.pass_number]) for knee in first if knee.pass_number in by_number]
    if paired and len(both) > 1:
        rank, _ = ranks(len(both))
        low = sorted(x.held - y.lost for x, y in both)[rank]
        high = sorted(x.lost - y.held for x, y in both)[-1 - rank]
        return Difference(figure, low, high, _outcome(low, high), True, len(both))
    low, high = a.low - b.high, a.high - b.low
    return Difference(figure, low, high, _outcome(low, high), passes=min(a.passes, b.passes))


def _outcome(low: float, high: float) -> Outcome:
    if low >= 0:
        return "more"
    if high <= 0:
        return "less"
    return "unknown" if inf in (-low, high) else "indistinguishable"


def _middle(knees: Sequence[PassKnee]) -> float:
    """The lower median, as `knee` has it."""
    return sorted(knee.held for knee in knees)[(len(knees) - 1) // 2]


def _pass_knee(number: int, tried: list[PointStop]) -> PassKnee:
    held = 0.0
    ordered = sorted(tried, key=lambda point: point.x)
    for point in ordered:
        if not is_sustained(point):
            break
        held = point.x
    shown = (p.x for p in ordered if p.x > held and p.verdict == "server-limited")
    return PassKnee(number, held, next(shown, inf))


def _coverage(passes: int, rank: int) -> float:
    """That the median lies between the values of ranks `rank` and `passes - 1 - rank`, from 0."""
    if 2 * rank >= passes - 1:
        return 0.0
    return 1 - 2 * sum(comb(passes, k) for k in range(rank + 1)) / float(2**passes)
