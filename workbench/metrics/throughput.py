"""Payload that the clients received."""

from __future__ import annotations

from workbench.documents import Metric
from workbench.metrics.base import Measured


class Throughput:
    """Payload received per second of the schedule, without headers, in 10^6 bytes. Known where the
    workload or the server's entry fixes the size of a reply."""

    record = Metric(
        key="throughput_mb_per_s", label="Payload throughput", unit="MB/s", better="more"
    )

    def of(self, measured: Measured) -> float | None:
        report = measured.report
        if measured.payload_bytes is None or not report.schedule_s:
            return None
        received = report.replies_in_schedule * measured.payload_bytes
        return round(received / report.schedule_s / 1e6, 6)
