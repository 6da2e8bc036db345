"""Response times by when calls began.

A window has the calls that ended in it. Of calls that take longer than a window the short ones end
first, so that response times seem to rise at the beginning of every point. By when they began they
do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.analysis.histogram import percentile_supported, times_us
from workbench.documents import SparseHistogram

Values: TypeAlias = NDArray[np.float64]

SURE = 3.0
"""Standard deviations by which the ranks of two samples must differ."""

PARTS = 10
"""Parts of a point in which response times must rise."""

THROUGHOUT = 0.8
"""Kendall's tau of the medians of these parts from which response times rise throughout."""

NOTABLE = 1.5
"""Ratio of the last median to the first from which a rise is named."""


@dataclass(frozen=True)
class Started:
    """Calls by when they began; an entry of each array is `counts` alike calls."""

    at_s: Values
    """From the point's start, within half a window."""
    took_s: Values
    counts: Values

    @classmethod
    def of(cls, ended: Iterable[tuple[float, SparseHistogram]]) -> Started:
        """`ended`: windows, as the middle of each, in seconds from the point's start, and the times
        of the calls that ended in it."""
        parts = [(middle_s, *times_us(times)) for middle_s, times in ended if times]
        took_s = np.concatenate([us / 1e6 for _, us, _ in parts] or [np.empty(0)])
        end_s = np.concatenate([np.full(len(us), at) for at, us, _ in parts] or [np.empty(0)])
        counts = np.concatenate([n.astype(np.float64) for *_, n in parts] or [np.empty(0)])
        return cls(np.maximum(0.0, end_s - took_s), took_s, counts)

    def within(self, from_s: float, to_s: float) -> Started:
        """Those that began then."""
        inside = (self.at_s >= from_s) & (self.at_s < to_s)
        return Started(self.at_s[inside], self.took_s[inside], self.counts[inside])

    @property
    def total(self) -> int:
        """The number of calls."""
        return int(self.counts.sum())

    @property
    def mean_s(self) -> float:
        """NaN: there are none."""
        return float(self.took_s @ self.counts) / self.total if self.total else nan

    def percentile_s(self, q: float) -> float:
        """NaN: there are none."""
        order = np.argsort(self.took_s)
        ranks = np.cumsum(self.counts[order])
        return (
            float(self.took_s[order][np.searchsorted(ranks, q * ranks[-1])]) if self.total else nan
        )

    def medians_s(self, from_s: float, to_s: float, parts: int) -> list[float]:
        """The medians of equal parts of a time; NaN: too few calls began in it."""
        edges = np.linspace(from_s, to_s, parts + 1)
        each = [self.within(a, b) for a, b in pairwise(edges)]
        return [p.percentile_s(0.5) if percentile_supported(p.total, 0.5) else nan for p in each]


def alike(earlier: Started, later: Started) -> bool:
    """Whether calls take as long in both samples, by the rank statistic of Mann and Whitney with
    its correction for ties ("On a test of whether one of two random variables is stochastically
    larger than the other", Annals of Mathematical Statistics 18, 1947)."""
    m, n = earlier.total, later.total
    if not (percentile_supported(m, 0.5) and percentile_supported(n, 0.5)):
        return False
    values, place = np.unique(np.concatenate((earlier.took_s, later.took_s)), return_inverse=True)
    of_each = np.zeros((2, len(values)))
    split = len(earlier.took_s)
    np.add.at(of_each[0], place[:split], earlier.counts)
    np.add.at(of_each[1], place[split:], later.counts)
    ties = of_each.sum(axis=0)
    middle_ranks = np.cumsum(ties) - (ties - 1) / 2
    total = m + n
    excess = float(of_each[1] @ middle_ranks) - n * (total + 1) / 2
    variance = m * n / 12 * (total + 1 - float((ties**3 - ties).sum()) / total / (total - 1))
    return abs(excess) <= SURE * sqrt(max(variance, 0.0))


def rise_s(started: Started, from_s: float, to_s: float) -> tuple[float, float] | None:
    """The medians of the first and the last tenth of that time, if response times rise notably
    throughout it. None: they do not, or it has too few calls."""
    medians = started.medians_s(from_s, to_s, PARTS)
    if any(map(isnan, medians)) or medians[-1] < NOTABLE * medians[0]:
        return None
    later, earlier = np.tril_indices(PARTS, -1)
    values = np.array(medians)
    tau = float(np.sign(values[later] - values[earlier]).mean())
    return (medians[0], medians[-1]) if tau >= THROUGHOUT else None
