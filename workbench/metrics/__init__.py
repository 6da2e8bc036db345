"""Metrics of points beyond the built-in ones: listed here.

A metric says what it is (`documents.Metric`) and what it is for one point. Its figure is recorded
in `PointStop.values`; charts, tables, summary and reports read the description from the session,
so nothing else has to know it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from math import isfinite

from workbench.documents import Metric
from workbench.metrics import cpu, held, memory, replies
from workbench.metrics.base import Measured, PointMetric
from workbench.metrics.requests import of_requests

log = logging.getLogger(__name__)

METRICS: Sequence[PointMetric] = (
    cpu.PerCall(),
    cpu.InKernel(),
    cpu.SwitchesPerCall(),
    memory.Peak(),
    memory.PerConnection(),
    replies.Throughput(),
    held.Reconnects(),
    held.KeptAlive(),
    replies.Resumed(),
)
"""In display order."""

HELD: Sequence[PointMetric] = (
    held.ConnectAll(),
    held.Survivors(),
    held.CpuPerConnection(),
)
"""Of workloads that hold their connections, after the others."""

BESIDE: Sequence[PointMetric] = (cpu.PerCallMargin(),)
"""Recorded with the others, but shown with the figure they belong to."""


def records(
    requests: Sequence[str] = (), *, held: bool = False, statuses: bool = False
) -> list[Metric]:
    """For `RunStart.metrics`. `requests`: labels of the plan's several requests; `held`: whether
    the workload holds its connections; `statuses`: whether its replies have statuses."""
    known = _known(requests, held=held, statuses=statuses)
    return [metric.record for metric in known]


def _known(requests: Sequence[str], *, held: bool, statuses: bool) -> Sequence[PointMetric]:
    of_kind = replies.KINDS if statuses else ()
    return (*of_requests(requests), *METRICS, *of_kind, *(HELD if held else ()))


def values(measured: Measured, requests: Sequence[str] = ()) -> dict[str, float | None]:
    """The values of one point, by key; None where a metric fails, which does not affect the
    point."""
    known = _known(requests, held=measured.held > 0, statuses=measured.statuses)
    return {metric.record.key: _value(metric, measured) for metric in (*known, *BESIDE)}


def _value(metric: PointMetric, measured: Measured) -> float | None:
    try:
        value = metric.of(measured)
        return None if value is None or not isfinite(value) else float(value)
    except Exception:
        log.exception("The metric %s failed", metric.record.key)
        return None
