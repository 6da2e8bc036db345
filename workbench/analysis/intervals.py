"""The precision of a knee: its interval over the passes, and what two intervals say of two servers.

A pass gives two rates: the highest that was sustained, and the next at which the server was shown
to be the limit. The true limit of that pass lies between them. Over several passes the interval
runs from a low rank of the sustained rates to the same high rank of the rates not sustained. The
probability that it covers the median follows from ranks alone and assumes nothing about the
distribution of passes. A single pass has only the step between its rates: a resolution, not a
confidence interval.

Two servers are compared by `significance`, separately for the lower bound of their difference
(sustained rates of the one minus rates the other did not sustain) and the upper one. So the
interval includes the step between rates as well as the spread of the passes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, inf
from statistics import median
from typing import Literal

from workbench.analysis.repeats import is_sustained, last_attempts
from workbench.analysis.significance import CONFIDENCE, MARGIN, finding, mean, means
from workbench.documents import PointStop


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, in the plan's unit per second."""

    low: float
    high: float
    """Infinite: no limit was reached."""
    passes: int
    coverage: float | None
    """Probability that the interval covers the median, 0 to 1; None: a single pass has none."""


@dataclass(frozen=True)
class PassKnee:
    pass_number: int
    sustained: float
    """The highest rate up to which all rates were sustained; 0: none."""
    lost: float
    """The lowest rate above it at which the server was the limit; infinite: none."""


Outcome = Literal["more", "less", "equal", "indistinguishable", "unknown"]


@dataclass(frozen=True)
class Difference:
    """Difference of two knees, first minus second, per second."""

    figure: float
    low: float
    high: float
    """Infinite (`low` may be, too): one of the two reached no limit."""
    outcome: Outcome
    """`equal`: shown to be equal, within `significance.MARGIN`. `unknown`: one of them reached no
    limit, which may lie on either side of the other's."""
    paired: bool = False
    """Taken pass by pass, because the passes were interleaved."""
    passes: int = 1
    """Passes of the server that has fewer."""
    most: float = inf
    """The largest possible difference, as a share of the smaller figure."""


def pass_knees(points: Iterable[PointStop]) -> list[PassKnee]:
    """The passes of one server. As in `knee`, a pass that ended before it found a limit is left out
    if another went further. A closed loop has none."""
    passes: defaultdict[int, list[PointStop]] = defaultdict(list)
    for point in last_attempts(points):
        if point.purpose == "sweep" and point.complete:
            passes[point.pass_number].append(point)
    furthest = max((p.x for points in passes.values() for p in points), default=0.0)
    whole = {
        number: points
        for number, points in passes.items()
        if not all(map(is_sustained, points)) or max(p.x for p in points) == furthest
    }
    return [_pass_knee(number, points) for number, points in sorted((whole or passes).items())]


def knee_interval(knees: Sequence[PassKnee]) -> Interval | None:
    """The interval of the limit; None: nothing was measured."""
    if not knees:
        return None
    rank, coverage = ranks(len(knees))
    low = sorted(knee.sustained for knee in knees)[rank]
    high = sorted(knee.lost for knee in knees)[-1 - rank]
    return Interval(low, high, len(knees), coverage)


def ranks(passes: int) -> tuple[int, float | None]:
    """(number of lowest and highest values to leave out, probability that the rest covers the
    median). The interval is as narrow as `CONFIDENCE` allows, otherwise the whole range."""
    if passes < 2:
        return 0, None
    rank, coverage = 0, _coverage(passes, 0)
    while (narrower := _coverage(passes, rank + 1)) >= CONFIDENCE:
        rank, coverage = rank + 1, narrower
    return rank, coverage


def difference(
    first: Sequence[PassKnee], second: Sequence[PassKnee], *, paired: bool = False
) -> Difference | None:
    """Compare two servers' knees. `paired`: their passes were interleaved in one run, so passes of
    the same number are subtracted from each other, which removes drift. None: one of them was not
    measured."""
    if not first or not second:
        return None
    figure = _middle(first) - _middle(second)
    by_number = {knee.pass_number: knee for knee in second}
    both = [(knee, by_number[knee.pass_number]) for knee in first if knee.pass_number in by_number]
    # Rounding to steps adds a twelfth of their square to the variance of each (Sheppard, 1898). A
    # few passes may hide this by falling on the same step.
    steps = [knee.lost - knee.sustained for knee in (*first, *second) if knee.lost != inf]
    least = median(steps or [0.0]) ** 2 / 12
    if paired and len(both) > 1:
        low = _bound([x.sustained - y.lost for x, y in both], -1, 2 * least)
        high = _bound([x.lost - y.sustained for x, y in both], +1, 2 * least)
        passes = len(both)
    else:
        low = _bound_apart([x.sustained for x in first], [y.lost for y in second], -1, least)
        high = _bound_apart([x.lost for x in first], [y.sustained for y in second], +1, least)
        passes, paired = min(len(first), len(second)), False
    smaller = min(_middle(first), _middle(second))
    most = max(-low, high) / smaller if smaller else inf
    return Difference(figure, low, high, _outcome(low, high, smaller, passes), paired, passes, most)


def _bound(differences: Sequence[float], side: int, least: float) -> float:
    """The end of the interval on that side; `least`: see `significance.mean`."""
    if inf in differences or -inf in differences:
        return side * inf
    middle, half = mean(differences, least=least)
    return middle + side * half


def _bound_apart(first: Sequence[float], second: Sequence[float], side: int, least: float) -> float:
    """The same for passes that were not interleaved; with a single pass, only its step counts."""
    if inf in (*first, *second):
        return side * inf
    if min(len(first), len(second)) < 2:
        return min(first) - max(second) if side < 0 else max(first) - min(second)
    middle, half = means(first, second, least=least)
    return middle + side * half


def _outcome(low: float, high: float, smaller: float, passes: int) -> Outcome:
    if passes == 1:
        found: Outcome = "more" if low >= 0 else "less" if high <= 0 else "indistinguishable"
    else:
        found = finding(low, high, MARGIN * smaller)
    return "unknown" if found == "indistinguishable" and inf in (-low, high) else found


def _middle(knees: Sequence[PassKnee]) -> float:
    """The lower median, as in `knee`."""
    return sorted(knee.sustained for knee in knees)[(len(knees) - 1) // 2]


def _pass_knee(number: int, points: list[PointStop]) -> PassKnee:
    sustained = 0.0
    ordered = sorted(points, key=lambda point: point.x)
    for point in ordered:
        if not is_sustained(point):
            break
        sustained = point.x
    shown = (p.x for p in ordered if p.x > sustained and p.verdict == "server-limited")
    return PassKnee(number, sustained, next(shown, inf))


def _coverage(passes: int, rank: int) -> float:
    """Probability that the median lies between the values of ranks `rank` and `passes - 1 - rank`,
    from 0."""
    if 2 * rank >= passes - 1:
        return 0.0
    return 1 - 2 * sum(comb(passes, k) for k in range(rank + 1)) / float(2**passes)
