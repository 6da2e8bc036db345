"""How much two servers differ, by their passes: an interval, and what it allows to say.

The unit is the pass. Points of one pass share a server process and a state of the machine, so only
passes repeat a measurement independently (Kalibera and Jones, "Rigorous benchmarking in reasonable
time", ISMM 2013; Hoefler and Belli, "Scientific benchmarking of parallel computing systems", SC15).

Passes that took turns are compared one by one, by Student's t of their differences ("The probable
error of a mean", Biometrika 6, 1908), others by Welch's ("The generalization of 'Student's'
problem", Biometrika 34, 1947). Ratios are differences of logarithms, so that twice as much and half
as much are equally far from equal (Fleming and Wallace, "How not to lie with statistics", CACM 29,
1986).

Equal is what was shown to be equal, not what could not be told apart: the whole interval lies
within a margin. That is Schuirmann's two one-sided tests (J. Pharmacokinetics and Biopharmaceutics
15, 1987), each at 2.5 % in place of his 5 %, so that the interval that is shown is the one that
decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, fsum, inf, log, sqrt
from typing import Literal

from workbench.analysis.student import quantile

CONFIDENCE = 0.95
"""Of every interval."""

MARGIN = 0.05
"""Servers whose difference is shown to be smaller are called equal."""

FINEST = 0.005
"""Ratios closer to 1 are never called different: the layout of memory and code alone shifts figures
by as much, in all passes alike (Mytkowicz et al., "Producing wrong data without doing anything
obviously wrong!", ASPLOS 2009). So every interval of a ratio is that much wider on both sides."""

Finding = Literal["more", "less", "equal", "indistinguishable"]


@dataclass(frozen=True)
class Change:
    """From the second to the first, with its interval; of a ratio as a share: 0.1 is 10 % more."""

    figure: float
    low: float
    high: float
    passes: int
    """Pairs, or those of the one that has fewer."""
    paired: bool

    def found(self, margin: float = MARGIN) -> Finding:
        return finding(self.low, self.high, margin)

    @property
    def most(self) -> float:
        """How far from equal it may be, either way."""
        return max(abs(self.low), abs(self.high))


def finding(low: float, high: float, margin: float) -> Finding:
    """What an interval of a difference allows to say."""
    if -margin <= low and high <= margin:
        return "equal"
    if low >= 0:
        return "more"
    return "less" if high <= 0 else "indistinguishable"


def ratio(
    first: Mapping[int, float],
    second: Mapping[int, float],
    *,
    paired: bool,
    resolution: float = 0.0,
) -> Change | None:
    """First over second, less one. By pass number, each above 0; `paired`: the passes took turns.
    `resolution`: how finely they are measured, as a share, where that is worse than `FINEST`.

    None: fewer than two passes of one of them, or a figure that has no logarithm.
    """
    if min([*first.values(), *second.values()], default=0.0) <= 0:
        return None
    a, b = ({k: log(v) for k, v in each.items()} for each in (first, second))
    found = difference(a, b, paired=paired)
    if found is None:
        return None
    finest = max(FINEST, resolution)
    low, high = found.low - finest, found.high + finest
    return Change(exp(found.figure) - 1, _growth(low), _growth(high), found.passes, found.paired)


def difference(
    first: Mapping[int, float], second: Mapping[int, float], *, paired: bool
) -> Change | None:
    """First minus second, otherwise as `ratio`."""
    both = sorted(first.keys() & second.keys()) if paired else []
    if len(both) > 1:
        apart = [first[k] - second[k] for k in both]
        middle, half = mean(apart)
        return Change(middle, middle - half, middle + half, len(both), True)
    if min(len(first), len(second)) < 2:
        return None
    middle, half = means(list(first.values()), list(second.values()))
    passes = min(len(first), len(second))
    return Change(middle, middle - half, middle + half, passes, False)


def mean(values: Sequence[float], *, least: float = 0.0) -> tuple[float, float]:
    """(mean, half of its interval) of two values or more. `least`: their variance at least, because
    they are rounded."""
    middle, variance = _moments(values)
    return middle, _t(len(values) - 1) * sqrt(max(variance, least) / len(values))


def means(
    first: Sequence[float], second: Sequence[float], *, least: float = 0.0
) -> tuple[float, float]:
    """(first mean minus second, half of the interval) by Welch, of two values or more each; `least`
    as in `mean`."""
    (x, vx), (y, vy) = _moments(first), _moments(second)
    a, b = max(vx, least) / len(first), max(vy, least) / len(second)
    if not a + b:
        return x - y, 0.0
    freedom = (a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1))
    # Rounded down: an interval too wide rather than too narrow.
    return x - y, _t(max(1, floor(freedom + 1e-9))) * sqrt(a + b)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """(mean, variance)"""
    middle = fsum(values) / len(values)
    return middle, fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def _t(freedom: int) -> float:
    return quantile((1 + CONFIDENCE) / 2, freedom)


def _growth(logarithm: float) -> float:
    """As a share; what is beyond a factor of e^700 is infinite."""
    return exp(logarithm) - 1 if logarithm < 700 else inf
