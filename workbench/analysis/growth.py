"""Whether a server's memory grows under constant load, and how fast.

The measured part of a point is cut into equal parts. The values are what memory grew from one part
to the next, and their mean over time is the growth, with an interval from Student's t. Increments
are used because levels of memory depend on one another: the increments of a random walk with a
drift are independent, and those of noise around a level cancel each other, so that the interval is
too wide and never too narrow. The first fifth of a point is left out, because servers fill pools
and caches at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import fmean, stdev

from workbench.analysis.student import quantile

SHORTEST_S = 8.0
"""The shortest time that shows a trend, after a point's first fifth."""

PARTS = 12
"""Of a point; each needs two samples or more."""

NOTABLE = 0.01
"""Growth below this share of the memory, over a point, is ignored, however certain."""

HOUR_S = 3_600.0


@dataclass(frozen=True)
class Growth:
    """Growth of a server's memory at one point, in bytes per hour."""

    per_hour: float
    low: float
    high: float
    """Ends of the 95 % interval."""
    leaks: bool
    """It grows for certain, and notably."""
    seconds: float
    """For which it was watched."""


def growth(samples: Sequence[tuple[float, int]], *, alarms: float = 0.01) -> Growth | None:
    """Judge a point's samples: (seconds, bytes), in order, of the part under constant load.
    `alarms`: share of the points without a leak that may be reported. None: there are too few."""
    settled = samples[-(-len(samples) // 5) :]
    if len(settled) < 2 * PARTS or settled[-1][0] - settled[0][0] < SHORTEST_S:
        return None
    levels = [_mean(settled, n) for n in range(PARTS)]
    rates = [
        (after - before) / (later - earlier) * HOUR_S
        for (earlier, before), (later, after) in pairwise(levels)
    ]
    mean, error = fmean(rates), stdev(rates) / sqrt(len(rates))
    freedom = len(rates) - 1
    beside = quantile(0.975, freedom) * error
    seconds = settled[-1][0] - settled[0][0]
    certain = mean > quantile(1 - alarms, freedom) * error
    notable = mean * seconds / HOUR_S >= NOTABLE * levels[0][1]
    return Growth(mean, mean - beside, mean + beside, certain and notable, seconds)


def _mean(samples: Sequence[tuple[float, int]], part: int) -> tuple[float, float]:
    """Return the mean time and the mean memory of a part."""
    first, end = (len(samples) * n // PARTS for n in (part, part + 1))
    return fmean(at for at, _ in samples[first:end]), fmean(b for _, b in samples[first:end])
