"""Whether a server's response times are steady within its points, and its windows independent.

A window's value is the logarithm of its median service time. Many points have only five windows,
too few to judge each point separately, so the points of a server are judged together, by sums of
rank statistics and of their variances:

- *Warm-up*: the first fifth of a point against the rest, by Mann and Whitney's statistic, as van
  Elteren combined it ("On the combination of independent two sample tests of Wilcoxon", Bulletin de
  l'Institut International de Statistique 37, 1960).
- *Drift*: a trend in the rest, by the regional Kendall test (Helsel and Frans, "Regional Kendall
  test for trend", Environmental Science and Technology 40, 2006); its size is Sen's slope
  ("Estimates of the regression coefficient based on Kendall's tau", J. American Statistical
  Association 63, 1968) over the point's length.
- *Dependence*: von Neumann's ratio ("Distribution of the ratio of the mean square successive
  difference to the variance", Annals of Mathematical Statistics 12, 1941). One minus half of it is
  an estimate of the autocorrelation that has no bias for few independent windows. Both variances
  above are inflated by it (after Hamed and Rao, "A modified Mann-Kendall trend test for
  autocorrelated data", J. Hydrology 204, 1998).
- *No steady state*: levels that come and go more slowly than windows, by 10 % or more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]
"""Points of one length, one row each."""

FEWEST = 20
"""The fewest windows of a server, over all its points, that can be judged."""

SHORTEST = 4
"""The fewest windows of a point."""

NOTABLE = 0.05
"""Changes below this share are ignored, however significant."""

WANDERING = 0.1
"""Standard deviation within points from which dependent windows count as no steady state."""

DEPENDENT = 0.5
"""Autocorrelation from which two windows are worth less than one independent window."""

Kind = Literal["steady", "warm-up", "drift", "no-steady-state"]


@dataclass(frozen=True)
class Steadiness:
    kind: Kind
    change: float
    """As a share: for a warm-up the first fifth against the rest, for a drift the end of a point
    against its beginning; otherwise 0."""
    autocorrelation: float
    """Of successive windows; a lower bound where points are short."""
    dependent: bool
    """The autocorrelation is significant, and at least `DEPENDENT`."""

    @property
    def worth(self) -> float:
        """The number of independent windows that one window is worth."""
        r = max(0.0, self.autocorrelation)
        return (1 - r) / (1 + r)


def steadiness(points: Iterable[Sequence[float]], *, alarms: float = 0.01) -> Steadiness | None:
    """Judge a server's points, each as the logarithms of its windows in order. `alarms`: share of
    steady servers that may be reported. None: there are too few windows."""
    tables = _by_length(points)
    windows = sum(table.size for table in tables)
    if windows < FEWEST:
        return None
    # Two tests: for a warm-up and for a drift.
    sure = NormalDist().inv_cdf(1 - alarms / 4)
    settled = [table[:, _first(table) :] for table in tables]
    drift = float(np.median(np.concatenate([_changes(table) for table in settled])))
    warm_up = float(np.median(np.concatenate([_beginning(table) for table in tables])))
    level = [table - np.linspace(0, drift, table.shape[1]) for table in settled]
    r, freedom = _autocorrelation(level), sum(table.size - len(table) for table in level)
    related = r * sqrt(windows) > sure
    inflation = (1 + r) / (1 - r) if related else 1.0
    kind: Kind = "steady"
    change = 0.0
    if _notable(drift) and _trend(settled, inflation) > sure:
        kind, change = "drift", exp(drift) - 1
    elif _notable(warm_up) and _step(tables, inflation) > sure:
        kind, change = "warm-up", exp(warm_up) - 1
    elif related and r >= DEPENDENT and sqrt(_squares(level) / freedom) >= WANDERING:
        kind = "no-steady-state"
    return Steadiness(kind, change, r, related and r >= DEPENDENT)


def _by_length(points: Iterable[Sequence[float]]) -> list[Values]:
    found: defaultdict[int, list[Sequence[float]]] = defaultdict(list)
    for values in points:
        if len(values) >= SHORTEST:
            found[len(values)].append(values)
    return [np.array(each, dtype=np.float64) for each in found.values()]


def _first(table: Values) -> int:
    """Number of windows that may be a warm-up."""
    return -(-int(table.shape[1]) // 5)


def _notable(change: float) -> bool:
    return abs(exp(change) - 1) >= NOTABLE


def _changes(table: Values) -> Values:
    """Sen's slope of each point, times its length."""
    later, earlier = np.tril_indices(table.shape[1], -1)
    slopes = np.median((table[:, later] - table[:, earlier]) / (later - earlier), axis=1)
    changes: Values = slopes * (table.shape[1] - 1)
    return changes


def _trend(tables: Sequence[Values], inflation: float) -> float:
    """Kendall's sum, in standard deviations from 0."""
    total = variance = 0.0
    for table in tables:
        count, n = table.shape
        later, earlier = np.tril_indices(n, -1)
        total += float(np.sign(table[:, later] - table[:, earlier]).sum())
        variance += count * n * (n - 1) * (2 * n + 5) / 18
    # Minus one, because the sum changes in steps of two.
    return (abs(total) - 1) / sqrt(variance * inflation)


def _step(tables: Sequence[Values], inflation: float) -> float:
    """Mann and Whitney's sum, in standard deviations from 0."""
    total = variance = 0.0
    for table in tables:
        count, n = table.shape
        first = _first(table)
        apart = table[:, :first, None] - table[:, None, first:]
        total += float(np.sign(apart).sum())
        variance += count * first * (n - first) * (n + 1) / 3
    return (abs(total) - 1) / sqrt(variance * inflation)


def _beginning(table: Values) -> Values:
    """The first fifth of each point against the rest."""
    first = _first(table)
    apart: Values = np.median(table[:, :first], axis=1) - np.median(table[:, first:], axis=1)
    return apart


def _autocorrelation(tables: Sequence[Values]) -> float:
    successive = sum(float((np.diff(table) ** 2).sum()) for table in tables)
    around = _squares(tables)
    return min(0.99, 1 - successive / around / 2) if around else 0.0


def _squares(tables: Sequence[Values]) -> float:
    return sum(float(((t - t.mean(axis=1, keepdims=True)) ** 2).sum()) for t in tables)
