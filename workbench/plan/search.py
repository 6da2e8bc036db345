"""Searches: find the highest rate at which a server meets its limits with few points.

Near the server's limit, or while the machine has a hiccup, it is partly chance whether a point
meets the limits. No single point is therefore decisive: every step of the grid has a probability
that the limit lies in it, and each point updates these (probabilistic bisection). The next point is
at the median, where it is most informative. The search ends when one step has a probability of 95
%, or two adjacent steps if the limit has proved not to be sharp, and the result is confirmed: two
points met the limits at the rate below, and one missed them at the rate above.

M. Horstein, "Sequential transmission using noiseless feedback", IEEE Trans. Inf. Theory 9, 1963; R.
Waeber, P. Frazier, S. Henderson, "Bisection search with noisy responses", SIAM J. Control Optim.
51, 2013. The width of the zone in which chance plays a part is unknown in advance, and estimated
together with the limit, with a share of lapses, as in psychophysics: L. Kontsevich, C. Tyler,
"Bayesian adaptive estimation of psychometric slope and threshold", Vision Research 39, 1999.
`tests/unit/test_search.py` tests it on servers with known limits.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from workbench.analysis.knee import beyond_client_limit
from workbench.analysis.series import TRUSTED
from workbench.axis import Axis
from workbench.documents import PointStop
from workbench.messages.base import Stated
from workbench.messages.outcomes import Peak
from workbench.messages.reasons import reason
from workbench.plan.model import Plan, Search
from workbench.plan.schedule import PointPlan, Sweep, another, points, warm_up

Floats = NDArray[np.float64]

SURE = 0.95
"""Required probability that the limit lies in the resulting step."""

PATIENCE = 2.5
"""Points per halving of the grid after which two steps with 95 % are enough. A sharp limit needs
two; separating the steps of one that is not sharp takes ever more."""

GROWTH = 2.0
"""No point exceeds the highest rate that met the limits by more than this factor: a server far
beyond its limit recovers slowly, or not at all."""

CONFIRMED = 2
"""Points that must have met the limits at the peak."""

MISSED_BY_CHANCE = 0.1
MET_BY_CHANCE = 0.05
"""Shares of the points below and above the limit whose outcome a hiccup reverses."""

ZONES = ((0.0, 0.6), (0.03, 0.25), (0.12, 0.15))
"""(width as a share of the rate, prior probability) of the zone of chance."""


def exceeded(stop: PointStop, search: Search) -> list[Stated]:
    """Return the limits of a search that a point exceeds."""
    found: list[Stated] = []
    if stop.errors_pct > search.errors_pct:
        limit_pct = search.errors_pct
        found.append(reason("too-many-errors", errors_pct=stop.errors_pct, limit_pct=limit_pct))
    p99_ms = stop.latency_us.p99 / 1000 if stop.latency_us else 0.0
    if search.p99_ms is not None and p99_ms > search.p99_ms:
        found.append(reason("too-slow", p99_ms=p99_ms, limit_ms=search.p99_ms))
    return found


def with_limits(stop: PointStop, search: Search) -> PointStop:
    """Add to a point's reasons which limits it exceeds."""
    found = exceeded(stop, search)
    return msgspec.structs.replace(
        stop,
        reasons=[*stop.reasons, *(limit.text() for limit in found)],
        findings=[*stop.findings, *(limit.record() for limit in found)],
    )


def meets_limits(stop: PointStop, search: Search) -> bool | None:
    """Return whether the server met the limits at a point. None: the point shows nothing about the
    server.

    A server that falls behind meets no limit, even if the point ended too soon to show errors.
    """
    if not stop.complete or stop.verdict not in TRUSTED:
        return None
    codes = {finding.get("code") for finding in stop.findings}
    failed = stop.verdict == "faulty" or "fell-behind" in codes
    return not failed and not exceeded(stop, search)


class Belief:
    """The probability distribution of the limit over the steps between ascending rates (at least
    two).

    Step k lies below rate k and above rate k - 1; the first and the last are unbounded on one side.
    """

    def __init__(self, rates: Sequence[float]) -> None:
        self._rates = np.array(rates, dtype=np.float64)
        middles = (self._rates[1:] + self._rates[:-1]) / 2
        self._limits = np.concatenate(([-np.inf], middles, [np.inf]))
        prior = np.array([[likely] for _, likely in ZONES])
        self._weights: Floats = np.repeat(prior, len(rates) + 1, axis=1) / (len(rates) + 1)
        self.met: Counter[int] = Counter()
        self.missed: Counter[int] = Counter()

    def take(self, place: int, met: bool) -> None:
        """Count a point at the rate of that place."""
        (self.met if met else self.missed)[place] += 1
        share = np.array([self._kept(place, width) for width, _ in ZONES])
        chance = share * (1 - MISSED_BY_CHANCE) + (1 - share) * MET_BY_CHANCE
        self._weights *= chance if met else 1 - chance
        self._weights /= self._weights.sum()

    def _kept(self, place: int, width: float) -> Floats:
        """Return the probability that the rate meets the limits, by the step of the limit."""
        rate = self._rates[place]
        if not width:
            return (np.arange(len(self._limits)) > place).astype(np.float64)
        with np.errstate(over="ignore"):
            kept: Floats = 1 / (1 + np.exp((rate - self._limits) / (width * rate / 4)))
        return kept

    def cut(self, place: int) -> None:
        """Leave out the rates from there on; what was believed of them is now above the last."""
        above = self._weights[:, place:].sum(axis=1, keepdims=True)
        self._weights = np.concatenate((self._weights[:, :place], above), axis=1)
        self._rates = self._rates[:place]
        self._limits = np.concatenate((self._limits[:place], [np.inf]))

    @property
    def steps(self) -> Floats:
        """Probability of each step."""
        return np.asarray(self._weights.sum(axis=0))

    @property
    def best(self) -> int:
        """The most likely step; the rate below it is the peak."""
        return int(np.argmax(self.steps))

    def next(self) -> int | None:
        """Return the place of the rate to measure next; None: it is sure and confirmed."""
        if not len(self._rates):
            return None
        best, last = self.best, len(self._rates)
        first_step, last_step, _ = self.interval()
        if last_step - first_step >= self._wanted:
            above = 1 - np.cumsum(self.steps)[:-1]
            return self._within_reach(int(np.argmin(np.abs(above - 0.5))))
        if best and self.met[best - 1] < CONFIRMED:
            return self._within_reach(best - 1)
        if best < last and self.missed[best] < (1 if best else CONFIRMED):
            return self._within_reach(best)
        return None

    @property
    def _wanted(self) -> int:
        points = self.met.total() + self.missed.total()
        return 1 if points < PATIENCE * np.log2(len(self._rates) + 1) else 2

    def _within_reach(self, place: int) -> int:
        kept = [at for at in self.met if at < len(self._rates)]
        highest = GROWTH * self._rates[max(kept)] if kept else self._rates[0]
        return min(place, int(np.searchsorted(self._rates, highest, side="right")) - 1)

    def interval(self) -> tuple[int, int, float]:
        """Return the shortest run of steps with at least 95 %: first, last, their probability."""
        steps = np.concatenate(([0.0], self.steps, [0.0]))
        first = last = self.best + 1
        while (sure := steps[first : last + 1].sum()) < SURE:
            if steps[first - 1] > steps[last + 1]:
                first -= 1
            else:
                last += 1
        return first - 1, last - 1, float(min(1.0, sure))

    def peak(self) -> int | None:
        """Return the most likely peak that met the limits more often than not; None: none."""
        kept = [at for at in self.met if at < self.best and self.met[at] > self.missed[at]]
        return max(kept, default=None)


class PeakSearch:
    """One server's search in one pass."""

    def __init__(
        self, plan: Plan, server: str, *, name: str = "", seed: int = 0, pass_number: int = 1
    ) -> None:
        assert plan.search is not None
        self._plan, self._search, self._name = plan, plan.search, name
        self._pass = pass_number
        self._warm_up = warm_up(plan, server, seed, pass_number)
        self._points = list(points(plan, server, seed=seed, pass_number=pass_number))
        self._belief = Belief([point.x for point in self._points])
        self._attempts: Counter[int] = Counter()
        self._in_vain: Counter[int] = Counter()
        self._blocked: PointStop | None = None
        self._found: dict[bool | None, list[int]] = {True: [], False: [], None: []}

    @property
    def measured(self) -> int:
        return self._attempts.total()

    def run(self, client_limit: Callable[[], float] = lambda: 0.0) -> Sweep:
        """Yield points, like `schedule.sweep`. `client_limit`: as known by now; 0: unknown."""
        if self._warm_up is not None:
            yield self._warm_up
        while self.measured < self._search.points:
            place = self._belief.next()
            if place is None:
                break
            self._attempts[place] += 1
            stop = yield another(self._points[place], self._attempts[place])
            met = meets_limits(stop, self._search)
            self._found[met].append(stop.point)
            if met is not None:
                self._belief.take(place, met)
                self._in_vain[place] = 0
                continue
            self._in_vain[place] += 1
            hopeless = stop.verdict == "ports-limited" or beyond_client_limit(stop, client_limit())
            if hopeless or self._in_vain[place] >= self._plan.looks:
                self._blocked = stop
                self._belief.cut(place)
        return []

    def answer(self) -> Peak:
        belief = self._belief
        first, last, sure = belief.interval()
        peak, blocked = belief.peak(), self._blocked
        rates = [point.x for point in self._points]
        # The most likely limit may lie above the rates that met the limits.
        first = min(first, 0 if peak is None else peak + 1)
        reached = len(belief.steps) - 1
        return Peak(
            name=self._name,
            pass_number=self._pass,
            passes=self._plan.repeats,
            errors_pct=self._search.errors_pct,
            p99_ms=self._search.p99_ms,
            peak_per_s=None if peak is None else rates[peak],
            low_per_s=rates[first - 1] if first else 0.0,
            high_per_s=rates[last] if last < reached else None,
            confidence=round(sure, 4),
            sure=belief.next() is None and blocked is None,
            met=self._found[True],
            missed=self._found[False],
            unjudged=self._found[None],
            blocked_per_s=blocked.x if blocked else None,
            blocked_by=blocked.verdict if blocked else None,
        )


def example(plan: Plan, server: str = "") -> list[PointPlan]:
    """Return the points of a typical search, for a limit in the middle."""
    assert plan.search is not None
    planned = list(points(plan, server))
    places = _expected(tuple(point.x for point in planned))
    return [planned[place] for place in places[: plan.search.points]]


def expected_points(axis: Axis) -> int:
    """Return the expected number of points for the search of one server in one pass."""
    low, high = axis.bounds
    steps = round((high - low) / axis.step) if axis.step else 1
    return len(_expected(tuple(low + step * axis.step for step in range(min(steps, _MOST) + 1))))


_MOST = 2_000


@functools.cache
def _expected(rates: tuple[float, ...]) -> list[int]:
    """Return the indices of the rates that a search measures without any influence of chance."""
    belief, found = Belief(rates), []
    while (place := belief.next()) is not None:
        belief.take(place, place < len(rates) / 2)
        found.append(place)
    return found
