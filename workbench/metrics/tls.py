"""What TLS cost: whether handshakes were full or resumed an earlier one."""

from __future__ import annotations

from workbench.documents import Metric
from workbench.metrics.base import Measured


class Resumed:
    """Handshakes that resumed an earlier session of TLS, in percent of all. None: no TLS, or no
    handshake was made in the point."""

    record = Metric(key="tls_resumed_pct", label="Resumed handshakes", unit="%")

    def of(self, measured: Measured) -> float | None:
        tls = measured.report.tls
        if tls is None or not tls.handshakes:
            return None
        return round(100 * tls.resumed / tls.handshakes, 2)
