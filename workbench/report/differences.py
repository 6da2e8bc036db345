"""What a run's plan changes against another, such as the full preset of its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench import axis as axes
from workbench.formatting import continued, listed
from workbench.report.setup import WORKLOAD, count


def differences(plan: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return what differs in what clients do, both plans as data: "think time 0.75 s, not 5 s"."""
    return [
        f"{continued(what)} {here}, not {there}"
        for (what, here), (_, there) in zip(_stated(plan), _stated(other), strict=True)
        if here and there and here != there
    ]


def _stated(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What and how, in the same order for all plans; empty: not recorded."""
    workload = plan.get("workload", {})
    for key, what, write, default in WORKLOAD:
        yield what, write(workload.get(key, default))
    yield "Tested at", _load(plan)
    yield "Point length", _size(plan)
    yield "Backlog", count(plan.get("backlog", ""))


def _load(plan: Mapping[str, Any]) -> str:
    """ "100, 300 and 500 users/s", "87 values from 400 to 9,000 connections/s"."""
    axis = axes.of_plan(plan)
    figures = [axis.figure(x) for x in axis.values]
    if len(figures) > 3:
        return f"{len(figures)} values from {figures[0]} to {figures[-1]} {axis.unit}"
    return f"{listed(figures)} {axis.unit}" if figures else ""


def _size(plan: Mapping[str, Any]) -> str:
    """ "20 s", "10,000 calls"; empty: not stated."""
    seconds, connections = plan.get("seconds"), plan.get("connections")
    if connections:
        return f"{connections * plan.get('workload', {}).get('calls_per_connection', 1):,} calls"
    return f"{seconds:g} s" if seconds else ""
