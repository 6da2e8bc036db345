"""What a call costs the server in CPU time."""

from __future__ import annotations

from workbench.analysis.cost import CPU_PER_CALL
from workbench.documents import Metric
from workbench.metrics.base import Measured

LEAST_CALLS = 100
"""Answered calls below which the server's own housekeeping would be told as the price of a call."""


class PerCall:
    """CPU time of the server's whole process tree, per call that was answered, over the whole
    point: its ramp and its end are in both. Lost calls cost, too, and are paid by the answered."""

    record = Metric(key=CPU_PER_CALL, label="CPU per call", unit="µs", better="less")

    def of(self, measured: Measured) -> float | None:
        calls = measured.report.counts.succeeded
        if calls < LEAST_CALLS or not measured.usage.cpu_us:
            return None
        return round(measured.usage.cpu_us / calls, 3)


class InKernel:
    """Share of that CPU time spent in the kernel, to about 5 %: the kernel counts it in ticks."""

    record = Metric(key="cpu_in_kernel_pct", label="CPU in kernel", unit="%")

    def of(self, measured: Measured) -> float | None:
        share = measured.usage.system_share
        return None if share is None else round(100 * share, 1)
