"""Metrics of points beyond the built-in ones: one file each, listed here.

A metric says what it is (`documents.Metric`) and what it is for one point. Its figure is recorded
in `PointStop.values`; charts, tables, summary and reports read the description from the session,
so nothing else has to know it.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.documents import Metric
from workbench.metrics import cpu, switches
from workbench.metrics.base import Measured, PointMetric

METRICS: Sequence[PointMetric] = (cpu.PerCall(), cpu.InKernel(), switches.PerCall())
"""In the order in which they are shown."""


def records() -> list[Metric]:
    """For `RunStart.metrics`."""
    return [metric.record for metric in METRICS]


def values(measured: Measured) -> dict[str, float | None]:
    """Of one point, by key."""
    return {metric.record.key: metric.of(measured) for metric in METRICS}
