"""Plans of tests that run for real."""

from __future__ import annotations

from workbench.plan.model import Plan
from workbench.workloads.registry import workload


def one_point(name: str) -> Plan:
    """The shortest run: one server, one rate, a second."""
    return Plan(
        name=name,
        servers=["asyncio-protocol"],
        rates=[200.0],
        seconds=1.0,
        warm_up=None,
        calibrate=False,
        cool_down_s=0.1,
        looks=1,
        workload=workload(timeout_s=5.0),
    )
