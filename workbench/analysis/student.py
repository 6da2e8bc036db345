"""Student's t distribution.

Abramowitz and Stegun, "Handbook of mathematical functions" (1964), 26.7.3 and 26.7.4: for whole
degrees of freedom the distribution is a finite sum. docs/decisions.md says why this is not SciPy,
whose values the tests compare it with.
"""

from __future__ import annotations

from functools import cache
from math import atan, cos, pi, sin, sqrt


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
