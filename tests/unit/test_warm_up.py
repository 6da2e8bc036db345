"""The load before a server's first point: no more than the points have, unless the plan says so."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.machines.facts import Limits
from workbench.plan.model import Plan, Range, Search, WarmUp
from workbench.plan.needs import Needs
from workbench.plan.reading import plan_of_session, recorded, with_set
from workbench.plan.schedule import warm_up
from workbench.workloads.registry import workload

CLOSED = workload(protocol="http/1.1", mode="closed")


def plan(**changes: Any) -> Plan:
    return Plan(**{"servers": ["cheroot"], "seconds": 2.0, **changes})


@pytest.mark.parametrize(
    ("changes", "at_per_s"),
    [
        ({"rates": [20.0, 100.0]}, 100.0),
        ({"rates": [2_000.0]}, 500.0),
        ({"rates": Range(from_=10, to=60, step=10)}, 60.0),
        ({"rates": Range(from_=10, to="ceiling", points=5)}, 500.0),
        ({"search": Search(from_=50, to=250, step=50)}, 250.0),
        ({"rates": [100.0], "warm_up": WarmUp(seconds=3)}, 100.0),
        ({"rates": [100.0], "warm_up": WarmUp(rate_per_s=300)}, 300.0),
        ({"concurrency": [5], "workload": CLOSED}, None),
        ({"concurrency": [5], "workload": CLOSED, "warm_up": WarmUp(rate_per_s=9)}, 9.0),
    ],
)
def test_a_server_is_warmed_up_with_no_more_than_it_gets_from_the_points(
    changes: dict[str, Any], at_per_s: float | None
) -> None:
    """Unless the plan says at what rate."""
    made = plan(**changes)
    point = warm_up(made, "cheroot", 1, 1)
    assert (point and point.connection_rate_per_s) == at_per_s
    # A session says at what rate, and its plan can be run again.
    again = plan_of_session(recorded(made), name="again")
    assert again.warming == made.warming
    # Where the client limit is lower, so is the warm-up.
    assert not made.to_ceiling or made.ending_at(80).warming == (80.0, 1.0)


@pytest.mark.parametrize(("given", "at_per_s"), [(None, 40.0), (90.0, 90.0)])
def test_the_warm_up_of_a_session_that_is_run_again_follows_its_changed_rates(
    given: float | None, at_per_s: float
) -> None:
    """Unless the plan of the session said at what rate."""
    made = plan(rates=[100.0, 2_000.0], warm_up=WarmUp(rate_per_s=given))
    again = with_set(plan_of_session(recorded(made), name="again"), ["rates=[10, 40]"])
    assert again.warming == (at_per_s, 1.0)


def test_a_warm_up_above_the_rates_is_pointed_out() -> None:
    def said(warm_up: WarmUp | None) -> list[str]:
        made = plan(rates=[200.0], warm_up=warm_up)
        return [each.text() for each in Needs(made, [], Limits()).warnings()]

    higher = "The warm-up at 500/s loads servers more than the plan's highest rate, 200/s."
    assert higher in said(WarmUp(rate_per_s=500))
    assert higher not in [*said(WarmUp()), *said(WarmUp(rate_per_s=200)), *said(None)]
