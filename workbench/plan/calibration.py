"""Calibration: the rates at which clients are tried against the null server, without a clock."""

from __future__ import annotations

import math
from collections.abc import Generator

import msgspec

from workbench.analysis.evidence import SHORTEST_S, SUSTAINED_SHARE
from workbench.analysis.verdicts import OTHERS_PCT
from workbench.documents import PointStop
from workbench.plan import schedule
from workbench.plan.model import HIGHEST_RATE_PER_S, Plan

CEILING_ATTEMPTS = 2
"""Attempts at the plan's highest rate; one where it is no rate of the plan."""

IN_TIME = 0.97
"""Share of the offered load that must be answered on time for a rate to count as reached."""

CEILING_HALVINGS = 4
"""Bisection steps: to a 16th of the first rate that was missed."""

CALIBRATIONS = 3
"""Calibrations at most, as long as other programs disturb them."""

LEAST_PATIENCE_S, PATIENCE = 5.0, 0.1
"""How long the limit is refined once a rate was reached: so long, or this share of all points."""

NARROW = 1.15
"""So near above a reached rate a missed one makes an earlier limit well known."""

ANSWERED = 0.95, 0.25, 0.9
"""After a rate that was missed comes this share of what was answered, between these shares of the
rate: overloaded clients may answer next to nothing."""


class Ceiling(msgspec.Struct, frozen=True):
    """The client limit, measured against the null server. That of an earlier run says where to
    begin; what counts is measured again."""

    per_s: float
    """In the plan's unit; 0: no rate was reached."""
    others_pct: float = 0.0
    """CPU time of other programs while a higher rate was missed, in percent of a core."""
    missed_per_s: float | None = None
    """The lowest rate that was missed; None: none was, so the clients may reach more."""
    confirmed: bool = False
    """It is that of an earlier run, and was reached again."""

    @property
    def disturbed(self) -> bool:
        """Whether other programs may have caused it."""
        return self.others_pct >= OTHERS_PCT

    @property
    def is_narrow(self) -> bool:
        """Whether it is known so well that it need only be confirmed."""
        return (self.missed_per_s or math.inf) <= NARROW * self.per_s


def patience_s(plan: Plan) -> float:
    """Return the seconds after which a calibration ends with the rate that was reached."""
    points = len(plan.servers) * plan.repeats * len(plan.rates_per_s)
    return max(LEAST_PATIENCE_S, PATIENCE * points * (plan.seconds or SHORTEST_S))


def calibration(
    plan: Plan,
    server: str = "null",
    *,
    seed: int = 0,
    most_per_s: float = math.inf,
    load_tool: str = "",
    known: Ceiling | None = None,
) -> Generator[schedule.PointPlan, PointStop, Ceiling]:
    """Yield points that find the client limit, which is returned.

    The plan's highest rate is tried first: if it is reached, so is every rate of the plan, unless
    they end at the client limit, for which the rate is then doubled, up to `most_per_s`. After a
    rate that was missed comes what was answered, until one is reached; what lies between the two is
    bisected. A limit that is `known` is tried in place of the first, and if it is reached, counts.
    Where other programs disturbed that, it is done again, and the highest limit counts. Refining
    and repeating end with `patience_s`.
    """
    more = {"purpose": "ceiling", "seed": schedule.point_seed(seed, 0, 0), "load_tool": load_tool}
    until_us, over = 0.0, False

    def is_over(stop: PointStop) -> bool:
        """Return whether there is no time for another point, with the rest after it."""
        nonlocal until_us, over
        until_us = until_us or stop.t_us + 1e6 * (patience_s(plan) - stop.seconds)
        over = stop.t_us + 1e6 * 1.5 * SHORTEST_S > until_us
        return over

    if before_it := schedule.warm_up(plan, server, seed, 1):
        is_over((yield before_it))
    found: list[Ceiling] = []
    while len(found) < CALIBRATIONS and (not found or (found[-1].disturbed and not over)):
        search = _Search(plan, most_per_s, known)
        while search.rate is not None:
            load = schedule.at_rate(plan, search.rate)
            connections = schedule.fewest_connections(plan, load)
            stop = yield schedule.open_point(plan, server, load, connections, **more)
            search.take(stop, hurry=is_over(stop))
        found.append(search.found)
    # A rate that was reached once can be reached.
    return max(found, key=lambda each: (each.per_s, -each.others_pct))


class _Search:
    """A calibration: it takes the result of each rate, and names the next."""

    def __init__(self, plan: Plan, most_per_s: float, known: Ceiling | None) -> None:
        self._to_ceiling, self._known = plan.to_ceiling, known
        highest = max(plan.rates_per_s, default=0.0)
        top = min(highest, most_per_s)
        self._top = min(most_per_s, HIGHEST_RATE_PER_S) if self._to_ceiling else top
        self._lowest = min(plan.rates_per_s, default=0.0)
        self._attempts = 1 if self._to_ceiling else CEILING_ATTEMPTS
        self._steps = CEILING_HALVINGS
        self._reached, self._missed, self._others_pct = 0.0, math.inf, 0.0
        self._confirmed = False
        begin = known.per_s if known else top
        if known and not known.is_narrow:
            begin = (known.per_s + (known.missed_per_s or known.per_s)) / 2
        self.rate: float | None = min(begin, self._top if self._to_ceiling else top)
        """The next rate; None: the limit is found."""

    @property
    def found(self) -> Ceiling:
        missed = None if self._missed == math.inf else self._missed
        return Ceiling(self._reached, self._others_pct, missed, self._confirmed)

    def take(self, stop: PointStop, *, hurry: bool) -> None:
        """Take the result of `rate`. `hurry`: a rate that was reached is good enough."""
        assert self.rate is not None
        rate, known = self.rate, self._known
        if _reached(stop):
            self._reached = rate
            self._confirmed = bool(known and known.is_narrow and rate == known.per_s)
        else:
            self._others_pct = max(self._others_pct, stop.evidence.get("others_cpu_pct", 0.0))
            self._attempts -= 1
            if self._attempts and rate >= self._top:
                return
            self._missed = rate
        # Rates to the client limit begin anywhere above it: until one is reached, none is refined.
        if self._missed < math.inf and (
            self._reached or not self._to_ceiling or self._missed <= self._lowest
        ):
            self._steps -= 1
        self.rate = None if self._is_found(hurry) else self._next(stop)

    def _is_found(self, hurry: bool) -> bool:
        enough = self._confirmed or hurry
        return self._reached >= self._top or self._steps < 0 or bool(self._reached and enough)

    def _next(self, stop: PointStop) -> float:
        reached, missed, known = self._reached, self._missed, self._known
        if missed == math.inf:
            expected = (known.missed_per_s if known else None) or 0.0
            higher = (reached + expected) / 2 if expected > reached else 2 * reached
            return min(round(higher, 6), self._top)
        share, least, most = ANSWERED
        if reached:
            answered = share * stop.replies_per_s if self.rate == missed else 0.0
            middle = (reached + missed) / 2
            # Far above the limit most was answered there: the middle would be missed, too.
            return round(answered if reached < answered < middle else middle, 6)
        if known and known.per_s < missed:
            return known.per_s
        return round(min(max(share * stop.replies_per_s, least * missed), most * missed), 6)


def _reached(stop: PointStop) -> bool:
    """Return whether the clients answered on time, even if other programs delayed them."""
    if stop.verdict == "ok":
        return True
    codes = {finding.get("code") for finding in stop.findings}
    if codes & {"fell-behind", "offered-less"}:
        return False
    counts = stop.counts
    answered = counts.succeeded >= SUSTAINED_SHARE * counts.scheduled
    in_time = stop.replies_per_s >= IN_TIME * stop.offered_per_s
    return stop.complete and "background-load" in codes and answered and in_time
