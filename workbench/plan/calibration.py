"""Calibration: the rates at which the clients are tried against the null server, one result at a
time, without a clock.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.verdicts import OTHERS_PCT
from workbench.documents import PointStop
from workbench.plan.model import HIGHEST_RATE_PER_S, Plan
from workbench.plan.schedule import (
    PointPlan,
    at_rate,
    fewest_connections,
    open_point,
    point_seed,
    warm_up,
)

CEILING_ATTEMPTS = 2
"""Attempts at the plan's highest rate before the clients are considered unable to reach it."""

IN_TIME = 0.97
"""Share of the offered load that must be answered on time for a rate to count as reached."""

CEILING_HALVINGS = 4
"""Bisection steps: to a 16th of the first rate that was missed."""

CALIBRATIONS = 3
"""Calibrations at most, as long as other programs disturb them."""


@dataclass(frozen=True)
class Ceiling:
    """The client limit, measured against the null server."""

    per_s: float
    """In the plan's unit; 0: no rate was reached."""
    others_pct: float = 0.0
    """The most CPU time, in percent of a core, that other programs used while a higher rate was
    missed."""

    @property
    def disturbed(self) -> bool:
        """Whether other programs may have caused it."""
        return self.others_pct >= OTHERS_PCT


def calibration(
    plan: Plan,
    server: str = "null",
    *,
    seed: int = 0,
    most_per_s: float = math.inf,
    load_tool: str = "",
) -> Generator[PointPlan, PointStop, Ceiling]:
    """Yield points that find the client limit, which is returned.

    The plan's highest rate is tried first: if it is reached, so is every rate of the plan, unless
    they end at the client limit, for which the rate is then doubled, up to `most_per_s`, or halved
    until one is reached. What lies between a rate that was reached and one that was missed is
    bisected. Where other programs
    disturbed that, it is done again, and the highest limit counts.
    """
    if before_it := warm_up(plan, server, seed, 1):
        yield before_it
    found: list[Ceiling] = []
    while len(found) < CALIBRATIONS and (not found or found[-1].disturbed):
        found.append((yield from _find_ceiling(plan, server, seed, most_per_s, load_tool)))
    # A rate that was reached once can be reached.
    return max(found, key=lambda each: (each.per_s, -each.others_pct))


def _find_ceiling(
    plan: Plan, server: str, seed: int, most_per_s: float, load_tool: str
) -> Generator[PointPlan, PointStop, Ceiling]:
    top = min(max(plan.rates_per_s, default=0.0), most_per_s)
    reached = others_pct = 0.0
    while True:
        for _ in range(CEILING_ATTEMPTS):
            stop = yield _ceiling_point(plan, server, top, seed, load_tool)
            if _reached(stop):
                break
            others_pct = max(others_pct, stop.evidence.get("others_cpu_pct", 0.0))
        else:
            break
        if not plan.to_ceiling or top >= min(most_per_s, HIGHEST_RATE_PER_S):
            return Ceiling(top)
        reached, top = top, min(2 * top, most_per_s, HIGHEST_RATE_PER_S)
    missed, lowest, steps = top, min(plan.rates_per_s, default=0.0), CEILING_HALVINGS
    while steps:
        rate = round((reached + missed) / 2, 6)
        stop = yield _ceiling_point(plan, server, rate, seed, load_tool)
        if _reached(stop):
            reached = rate
        else:
            missed = rate
            others_pct = max(others_pct, stop.evidence.get("others_cpu_pct", 0.0))
        # Rates to the client limit begin anywhere above it: each halving only gets nearer.
        if reached or not plan.to_ceiling or missed <= lowest:
            steps -= 1
    return Ceiling(reached, others_pct)


def _reached(stop: PointStop) -> bool:
    """Return whether the clients reached a rate. Answering on time is enough, even if other
    programs delayed the clients."""
    if stop.verdict == "ok":
        return True
    codes = {finding.get("code") for finding in stop.findings}
    if codes & {"fell-behind", "offered-less"}:
        return False
    counts = stop.counts
    answered = counts.succeeded >= SUSTAINED_SHARE * counts.scheduled
    in_time = stop.replies_per_s >= IN_TIME * stop.offered_per_s
    return stop.complete and "background-load" in codes and answered and in_time


def _ceiling_point(plan: Plan, server: str, rate: float, seed: int, tool: str) -> PointPlan:
    load = at_rate(plan, rate)
    more = {"purpose": "ceiling", "seed": point_seed(seed, 0, 0), "load_tool": tool}
    return open_point(plan, server, load, fewest_connections(plan, load), **more)
