"""Context switches that a call costs the server."""

from __future__ import annotations

from workbench.documents import Metric
from workbench.metrics.base import Measured
from workbench.metrics.cpu import LEAST_CALLS


class PerCall:
    """Context switches of the server's whole process tree, voluntary or not, per answered call.

    Unknown if threads or processes end during a point, because their counts end with them.
    """

    record = Metric(key="switches_per_call", label="Context switches per call", better="less")

    def of(self, measured: Measured) -> float | None:
        calls, switches = measured.report.counts.succeeded, measured.usage.switches
        return None if switches is None or calls < LEAST_CALLS else round(switches / calls, 4)
