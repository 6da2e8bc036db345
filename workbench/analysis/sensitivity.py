"""The smallest difference that a number of passes can show, and the number of passes that a
difference takes.

The power of the t test is that of the noncentral t distribution (Johnson and Welch, "Applications
of the non-central t-distribution", Biometrika 31, 1940). Earlier sessions give only a rough
estimate of the spread of passes, so its upper 80 % confidence limit is used; otherwise half of all
plans would be too small (Browne, "On the use of a pilot sample for sample size determination",
Statistics in Medicine 14, 1995).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import erfc, exp, fsum, inf, lgamma, log, sqrt
from statistics import NormalDist

from workbench.analysis.cost import CPU_PER_CALL
from workbench.analysis.series import SeriesResult, known_us
from workbench.analysis.significance import CONFIDENCE, FINEST, quantile
from workbench.documents import PointStop

POWER = 0.9
"""Probability with which a plan is to show a difference of that size."""

WANTED = 0.1
"""The difference for which a number of passes is proposed."""

MOST_PASSES = 1_000

_SURE = 0.8
"""Confidence of the upper limit of a spread."""

_STEPS = 400
_FINE = 1e-5
"""Resolution of the logarithm of a ratio."""


@dataclass(frozen=True)
class Spread:
    """Spread of one server's passes: the standard deviation of a figure's logarithm."""

    deviation: float
    freedom: float = inf
    """Degrees of freedom of the estimate; infinite: assumed."""

    @property
    def limit(self) -> float:
        """Upper confidence limit of the deviation, at `_SURE`."""
        if self.freedom == inf:
            return self.deviation
        # Wilson and Hilferty's quantile of chi square, PNAS 17, 1931.
        part = 2 / (9 * self.freedom)
        cube = 1 - part + NormalDist().inv_cdf(1 - _SURE) * sqrt(part)
        return self.deviation / sqrt(max(cube, 0.05) ** 3)


@cache
def detectable(spread: Spread, passes: int) -> float | None:
    """The least ratio, minus one, shown with probability `POWER`. None: one pass, or over 100."""
    if passes < 2:
        return None
    logarithms = range(1, int(log(100) / _FINE) + 1)
    at = bisect_left(
        logarithms, POWER, key=lambda each: power(exp(each * _FINE) - 1, spread, passes)
    )
    return None if at == len(logarithms) else exp(logarithms[at] * _FINE) - 1


@cache
def passes_for(change: float, spread: Spread) -> int | None:
    """The fewest passes that show a ratio of 1 + `change`. None: more than `MOST_PASSES`."""
    numbers = range(2, MOST_PASSES + 1)
    at = bisect_left(numbers, POWER, key=lambda passes: power(change, spread, passes))
    return None if at == len(numbers) else numbers[at]


def power(change: float, spread: Spread, passes: int) -> float:
    """Probability of showing that the ratio of two servers is not 1: exact if their passes are
    interleaved, a lower bound for Welch's test, which has more degrees of freedom."""
    freedom = passes - 1
    if not spread.limit:
        return float(log(1 + change) > FINEST)
    shift = (log(1 + change) - FINEST) / (spread.limit * sqrt(2 / passes))
    return beyond(quantile((1 + CONFIDENCE) / 2, freedom), freedom, shift)


@cache
def beyond(t: float, freedom: int, shift: float) -> float:
    """Probability that noncentral t exceeds `t`: the tail of the normal distribution, integrated
    over the estimated standard deviation, which has a chi distribution."""
    reach = 8 / sqrt(2 * freedom)
    first, last = max(0.0, 1 - reach), 1 + reach
    width = (last - first) / _STEPS
    scale = log(2) + freedom / 2 * log(freedom / 2) - lgamma(freedom / 2)
    parts = []
    for step in range(_STEPS):
        s = first + (step + 0.5) * width
        density = exp(scale + (freedom - 1) * log(s) - freedom * s * s / 2)
        parts.append(density * erfc((t * s - shift) / sqrt(2)) / 2)
    return width * fsum(parts)


@dataclass(frozen=True)
class Figure:
    name: str
    of: Callable[[PointStop], float | None]
    typical: Spread
    """Assumed where nothing was measured."""


FIGURES = (
    Figure("CPU per call", lambda stop: stop.values.get(CPU_PER_CALL), Spread(0.03)),
    Figure("p50", lambda stop: known_us(stop.latency_us, "p50"), Spread(0.05)),
    Figure("p99", lambda stop: known_us(stop.latency_us, "p99"), Spread(0.2)),
)


@dataclass(frozen=True)
class Spreads:
    """The spread of each figure, by its name."""

    by_figure: Mapping[str, Spread]
    session: str = ""
    """Where they were measured; empty: assumed."""


TYPICAL = Spreads({figure.name: figure.typical for figure in FIGURES})


def spreads(servers: Iterable[SeriesResult], *, interleaved: bool, session: str) -> Spreads | None:
    """The spreads in a session. None: no server has two passes."""
    servers = list(servers)
    found = {figure.name: spread(servers, figure, interleaved=interleaved) for figure in FIGURES}
    known = {name: each for name, each in found.items() if each is not None}
    return Spreads(known, session) if known else None


def spread(servers: Iterable[SeriesResult], figure: Figure, *, interleaved: bool) -> Spread | None:
    """The spread between passes of one session: what remains after subtracting the mean of each
    server and, for interleaved passes, of each pass. Only sustained rates count. None: no server
    has two passes."""
    tables: defaultdict[float, dict[str, dict[int, float]]] = defaultdict(dict)
    for server in servers:
        for stop in server.counted:
            value = figure.of(stop)
            if stop.verdict == "ok" and value:
                tables[stop.x].setdefault(server.key, {})[stop.pass_number] = log(value)
    parts = [_residuals(list(table.values()), interleaved) for table in tables.values()]
    freedom = sum(count for _, count in parts)
    if not freedom:
        return None
    squares = fsum(part for part, _ in parts)
    # Points of one pass are not independent of each other.
    return Spread(sqrt(squares / freedom), max(count for _, count in parts))


def _residuals(rows: Sequence[Mapping[int, float]], interleaved: bool) -> tuple[float, int]:
    """(sum of squares, degrees of freedom) of residuals from the means of servers and passes."""
    rows = [row for row in rows if len(row) > 1]
    shared = set.intersection(*(set(row) for row in rows)) if rows else set()
    by_pass = dict.fromkeys(shared, 0.0)
    if interleaved and len(rows) > 1 and len(shared) > 1:
        rows = [{number: row[number] for number in shared} for row in rows]
        means = [fsum(row.values()) / len(row) for row in rows]
        for number in shared:
            by_pass[number] = fsum(
                row[number] - middle for row, middle in zip(rows, means, strict=True)
            ) / len(rows)
        freedom = (len(rows) - 1) * (len(shared) - 1)
    else:
        freedom = sum(len(row) - 1 for row in rows)
    squares = 0.0
    for row in rows:
        middle = fsum(row.values()) / len(row)
        squares += fsum((value - middle - by_pass.get(n, 0.0)) ** 2 for n, value in row.items())
    return squares, freedom
