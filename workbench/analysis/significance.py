"""Differences between two servers over their passes: an interval, and what it allows to conclude.

The unit is the pass. Points of one pass share a server process and a state of the machine, so only
passes repeat a measurement independently (Kalibera and Jones, "Rigorous benchmarking in reasonable
time", ISMM 2013; Hoefler and Belli, "Scientific benchmarking of parallel computing systems", SC15).

Interleaved passes are compared pairwise by Student's t of their differences ("The probable error of
a mean", Biometrika 6, 1908), others by Welch's t ("The generalization of 'Student's' problem",
Biometrika 34, 1947). Ratios are differences of logarithms, so that twice as much and half as much
are equally far from equal (Fleming and Wallace, "How not to lie with statistics", CACM 29, 1986).

Servers are equal only if they were shown to be: the whole interval lies within a margin. Failing to
find a difference is not enough. This is Schuirmann's pair of one-sided tests (J. Pharmacokinetics
and Biopharmaceutics 15, 1987), each at 2.5 % in place of his 5 %, so that the interval shown is the
one that decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import atan, cos, exp, floor, fsum, inf, log, pi, sin, sqrt
from typing import Literal


def cumulative(t: float, freedom: int) -> float:
    """The cumulative distribution at t."""
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term, total = cos(angle) if odd else 1.0, 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cos(angle) ** 2 * (k - 1) / k
    between = sin(angle) * total
    if odd:
        between = 2 / pi * (angle + between)
    return (1 + between) / 2


@cache
def quantile(share: float, freedom: int) -> float:
    """The value below which that share of the distribution lies; `share` between 0.5 and 1."""
    low, high = 0.0, 1.0
    while cumulative(high, freedom) < share:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if cumulative(middle, freedom) < share:
            low = middle
        else:
            high = middle
    return high


CONFIDENCE = 0.95
"""Of every interval, unless a comparison is looked at more than once."""


def at_each_look(looks: int) -> float:
    """The confidence of an interval that is judged this many times while passes are added, so that
    all looks together have `CONFIDENCE` (Bonferroni's inequality: Dunn, "Multiple comparisons among
    means", J. Am. Stat. Assoc. 56, 1961; it needs no normal distribution as Pocock's levels do)."""
    return 1 - (1 - CONFIDENCE) / looks


MARGIN = 0.05
"""Servers whose difference is shown to be smaller are called equal."""

FINEST = 0.005
"""Ratios closer to 1 are never called different: the layout of memory and code alone shifts figures
by as much, in all passes alike (Mytkowicz et al., "Producing wrong data without doing anything
obviously wrong!", ASPLOS 2009). So every interval of a ratio is widened by this on both sides."""

Finding = Literal["more", "less", "equal", "indistinguishable"]


@dataclass(frozen=True)
class Change:
    """Change from the second to the first, with its interval; of a ratio: 0.1 is 10 % more."""

    figure: float
    low: float
    high: float
    passes: int
    """Pairs, or passes of the server that has fewer."""
    paired: bool

    def found(self, margin: float = MARGIN) -> Finding:
        return finding(self.low, self.high, margin)

    @property
    def most(self) -> float:
        """The largest possible difference, in either direction."""
        return max(abs(self.low), abs(self.high))


def finding(low: float, high: float, margin: float) -> Finding:
    """The conclusion that an interval of a difference allows."""
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
    confidence: float = CONFIDENCE,
) -> Change | None:
    """First over second, minus one. Both map pass numbers to values above 0. `paired`: the passes
    were interleaved. `resolution`: of the measurement, as a share, if coarser than `FINEST`.

    None: one of them has fewer than two passes, or a figure that has no logarithm.
    """
    if min([*first.values(), *second.values()], default=0.0) <= 0:
        return None
    a, b = ({k: log(v) for k, v in each.items()} for each in (first, second))
    found = difference(a, b, paired=paired, confidence=confidence)
    if found is None:
        return None
    finest = max(FINEST, resolution)
    low, high = found.low - finest, found.high + finest
    return Change(exp(found.figure) - 1, _growth(low), _growth(high), found.passes, found.paired)


def difference(
    first: Mapping[int, float],
    second: Mapping[int, float],
    *,
    paired: bool,
    confidence: float = CONFIDENCE,
) -> Change | None:
    """First minus second, otherwise as `ratio`."""
    both = sorted(first.keys() & second.keys()) if paired else []
    if len(both) > 1:
        apart = [first[k] - second[k] for k in both]
        middle, half = mean(apart, confidence=confidence)
        return Change(middle, middle - half, middle + half, len(both), True)
    if min(len(first), len(second)) < 2:
        return None
    values = [*first.values()], [*second.values()]
    middle, half = means(*values, confidence=confidence)
    passes = min(len(first), len(second))
    return Change(middle, middle - half, middle + half, passes, False)


def mean(
    values: Sequence[float], *, least: float = 0.0, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """(mean, half of its interval) of two values or more. `least`: variance of their rounding."""
    middle, variance = _moments(values)
    t = quantile((1 + confidence) / 2, len(values) - 1)
    return middle, t * sqrt(max(variance, least) / len(values))


def means(
    first: Sequence[float],
    second: Sequence[float],
    *,
    least: float = 0.0,
    confidence: float = CONFIDENCE,
) -> tuple[float, float]:
    """(first mean minus second, half of the interval) by Welch; parameters as of `mean`."""
    (x, vx), (y, vy) = _moments(first), _moments(second)
    a, b = max(vx, least) / len(first), max(vy, least) / len(second)
    if not a + b:
        return x - y, 0.0
    freedom = (a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1))
    # Rounding down makes the interval too wide rather than too narrow.
    t = quantile((1 + confidence) / 2, max(1, floor(freedom + 1e-9)))
    return x - y, t * sqrt(a + b)


def _moments(values: Sequence[float]) -> tuple[float, float]:
    """(mean, variance)"""
    middle = fsum(values) / len(values)
    return middle, fsum((value - middle) ** 2 for value in values) / (len(values) - 1)


def _growth(logarithm: float) -> float:
    """As a share; infinite beyond a factor of e^700."""
    return exp(logarithm) - 1 if logarithm < 700 else inf
