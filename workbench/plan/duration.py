"""How long a plan takes: if every server answers at once, and if every point waits for timeouts."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.evidence import SHORTEST_S
from workbench.plan.calibration import (
    CALIBRATIONS,
    CEILING_ATTEMPTS,
    CEILING_HALVINGS,
    patience_s,
)
from workbench.plan.model import Plan
from workbench.plan.schedule import PROFILE_LEAD_S, PointPlan
from workbench.plan.search import example

DEPLOY_S = (0.5, 3.0)
"""Seconds to start a server with a ready runtime, gate and stop it."""


def of_sweeps(
    plan: Plan, planned: Sequence[PointPlan], servers: Sequence[tuple[float, Sequence[float]]]
) -> tuple[float, float]:
    """Return the duration. `servers`: seconds of warm-up calls before every turn, and the rests, of
    each."""
    tools = len(plan.load_tools)
    timeouts = tools * sum(point.workload.timeout_s for point in planned)
    warm_up = _warm_up_s(plan)
    schedules = sum(point.seconds + point.after_s for point in planned)
    low, high = calibration_s(plan)
    for own_warm_up, rest in servers:
        sweeps = plan.repeats * (own_warm_up + warm_up + tools * (schedules + sum(rest)))
        profile = _profile_s(plan, own_warm_up + warm_up + max(rest))
        low += sweeps + plan.repeats * DEPLOY_S[0] + profile[0]
        high += sweeps + plan.repeats * (DEPLOY_S[1] + timeouts) + profile[1]
        if plan.looks > 1 and plan.axis.has_limit:
            # One more turn of each server, up to the point after the one in doubt.
            longest = max(point.seconds + point.after_s for point in planned)
            turn = DEPLOY_S[1] + own_warm_up + warm_up + 2 * (longest + max(rest))
            high += plan.repeats * turn
    return low, high


def of_searches(
    plan: Plan, planned: Sequence[PointPlan], servers: Sequence[tuple[float, Sequence[float]]]
) -> tuple[tuple[float, float], tuple[int, int]]:
    """Return the duration and the number of points of each search: expected, and at most."""
    assert plan.search is not None
    found = example(plan)
    stay = max(point.longest_stay_s for point in planned)
    warm_up = _warm_up_s(plan)
    low, high = calibration_s(plan)
    place = {point.x: n for n, point in enumerate(planned)}
    for own_warm_up, rests in servers:
        expected = sum(point.seconds + stay + rests[place[point.x]] for point in found)
        longest = max(point.seconds for point in planned) + stay + max(rests)
        at_most = plan.search.points * (longest + plan.workload.timeout_s)
        profile = _profile_s(plan, own_warm_up + warm_up + max(rests))
        low += plan.repeats * (DEPLOY_S[0] + own_warm_up + warm_up + expected) + profile[0]
        high += plan.repeats * (DEPLOY_S[1] + own_warm_up + warm_up + at_most) + profile[1]
    return (low, high), (len(found), plan.search.points)


def _warm_up_s(plan: Plan) -> float:
    return plan.warming.seconds + plan.cool_down_s if plan.warming else 0.0


def _profile_s(plan: Plan, before_s: float) -> tuple[float, float]:
    """Return how long one server's profile takes, after this time of warm-up and rest."""
    if plan.profiled is None:
        return 0.0, 0.0
    load_s = before_s + plan.profiled.seconds + 2 * PROFILE_LEAD_S
    return load_s + DEPLOY_S[0], load_s + DEPLOY_S[1] + plan.workload.timeout_s


def calibration_s(plan: Plan) -> tuple[float, float]:
    """Return how long the calibration of the clients takes."""
    if not (plan.calibrate and plan.axis.calibrated):
        return 0.0, 0.0
    warm_up = _warm_up_s(plan)
    most = CALIBRATIONS * (CEILING_ATTEMPTS + CEILING_HALVINGS)
    tools = len(plan.load_tools)
    point = SHORTEST_S + plan.cool_down_s
    missed = point + plan.workload.timeout_s
    refining = min(most * missed, patience_s(plan) + CEILING_ATTEMPTS * missed)
    return (
        tools * (DEPLOY_S[0] + warm_up + point),
        tools * (DEPLOY_S[1] + warm_up + refining),
    )
