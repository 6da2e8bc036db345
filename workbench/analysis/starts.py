"""Response times by when calls began.

A window has the calls that ended in it. Of calls that take longer than a window the short ones end
first, so that response times seem to rise at the beginning of every point. By when they began they
do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.analysis.histogram import percentile_supported, times_us
from workbench.documents import Histogram

Values: TypeAlias = NDArray[np.float64]

GROUPS = 4
"""Parts of a time in which response times are compared."""

CERTAIN = 16.27
"""What these groups exceed of Kruskal and Wallis's statistic by chance, once in a thousand."""

SLIGHT = 0.1
"""Share of the variance of the ranks that differences between groups must explain to count."""

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
    def of(cls, ended: Iterable[tuple[float, Histogram]]) -> Started:
        """`ended`: the middle of windows, in seconds, and the times of calls that ended in each."""
        parts = [(middle_s, *times_us(times)) for middle_s, times in ended if times]
        took_s = np.concatenate([us / 1e6 for _, us, _ in parts] or [np.empty(0)])
        end_s = np.concatenate([np.full(len(us), at) for at, us, _ in parts] or [np.empty(0)])
        counts = np.concatenate([n.astype(np.float64) for *_, n in parts] or [np.empty(0)])
        return cls(np.maximum(0.0, end_s - took_s), took_s, counts)

    def within(self, from_s: float, to_s: float) -> Started:
        inside = (self.at_s >= from_s) & (self.at_s < to_s)
        return Started(self.at_s[inside], self.took_s[inside], self.counts[inside])

    @property
    def total(self) -> int:
        return int(self.counts.sum())

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


def alike(started: Started, from_s: float, to_s: float) -> bool:
    """Whether calls that began in that time take as long, whenever they did: in equal parts of it,
    by the rank statistic of Kruskal and Wallis with its correction for ties ("Use of ranks in
    one-criterion variance analysis", J. American Statistical Association 47, 1952). Differences
    that explain next to nothing of the scatter are ignored, however certain."""
    edges = pairwise(np.linspace(from_s, to_s, GROUPS + 1))
    groups = [group for group in (started.within(a, b) for a, b in edges) if group.total]
    total = sum(group.total for group in groups)
    if not percentile_supported(total, 0.5):
        return False
    took_s = np.concatenate([group.took_s for group in groups])
    counts = np.concatenate([group.counts for group in groups])
    values, place = np.unique(took_s, return_inverse=True)
    ties = np.zeros(len(values))
    np.add.at(ties, place, counts)
    if len(values) == 1:
        return True
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place] * counts
    sums = [part.sum() for part in np.split(ranks, np.cumsum([len(g.counts) for g in groups])[:-1])]
    between = sum(float(sum_) ** 2 / g.total for sum_, g in zip(sums, groups, strict=True))
    h = 12 / total / (total + 1) * between - 3 * (total + 1)
    h /= 1 - float((ties**3 - ties).sum()) / (total**3 - total)
    return h <= CERTAIN or h <= SLIGHT * (total - 1)


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
