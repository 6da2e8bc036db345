"""The figures of a comparison as a table for spreadsheets, by view."""

from __future__ import annotations

from typing import Literal

from workbench.analysis.over_time import OverTime
from workbench.analysis.results import Clock
from workbench.comparison import table
from workbench.comparison.sides import Comparison
from workbench.report.moments import percentiles_as_csv, windows_as_csv


def as_csv(
    comparison: Comparison, view: Literal["sweep", "time", "distribution"], clock: Clock
) -> str:
    """Return RFC 4180: a line for each server, for every window of each, or for every percentile.
    The last two have only what is comparable with the first session."""
    if view == "sweep":
        return table.as_csv(comparison)
    results = {each.key: each.result for each in comparison.comparable()}
    if view == "distribution":
        return percentiles_as_csv(results, clock)
    sides = {side.tag: side.over_time for side in comparison.sides}
    return windows_as_csv(OverTime.joined(comparison.axis, sides, results))
