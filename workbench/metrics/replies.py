"""What came back: payload, resumed handshakes of TLS, and errors of HTTP by their kind, as wrk and
the macro-benchmark of 2015 split them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.documents import Metric, error_class
from workbench.metrics.base import Measured

_STATUSES = ("protocol-status", "protocol-3xx", "protocol-4xx", "protocol-5xx")
"""Of load tools that do not tell one status from another."""
_SOCKETS = ("connrefused", "connreset", "other")
_ENDED = ("protocol-closed", "protocol-cut", "protocol-idle", "protocol-connreset")
"""The connection ended before the whole reply came."""


def is_timeout(error: str) -> bool:
    return error in ("client-timo", "socket-timo")


def is_of_socket(error: str) -> bool:
    return error_class(error) in _SOCKETS or error in _ENDED


def is_status(error: str) -> bool:
    """Whether the reply had a status that was not expected, mostly a 5xx."""
    known = error_class(error) in ("protocol", "check") and error.partition("-")[2].isdigit()
    return known or error in _STATUSES


@dataclass(frozen=True)
class OfKind:
    """Calls that failed in one way, in percent of the attempts. None: no call failed, so that there
    is nothing to split."""

    record: Metric
    counts: Callable[[str], bool]

    def of(self, measured: Measured) -> float | None:
        counts = measured.report.counts
        if not counts.scheduled or not any(counts.errors.values()):
            return None
        failed = sum(count for error, count in counts.errors.items() if self.counts(error))
        return round(100 * failed / counts.scheduled, 4)


KINDS = (
    OfKind(Metric(key="timeouts_pct", label="Timeouts", unit="%", better="less"), is_timeout),
    OfKind(
        Metric(key="socket_errors_pct", label="Socket errors", unit="%", better="less"),
        is_of_socket,
    ),
    OfKind(
        Metric(key="status_errors_pct", label="5xx and other statuses", unit="%", better="less"),
        is_status,
    ),
)


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


class Resumed:
    """Handshakes that resumed an earlier session of TLS, in percent of all. None: no TLS, or no
    handshake was made in the point."""

    record = Metric(key="tls_resumed_pct", label="Resumed handshakes", unit="%")

    def of(self, measured: Measured) -> float | None:
        tls = measured.report.tls
        if tls is None or not tls.handshakes:
            return None
        return round(100 * tls.resumed / tls.handshakes, 2)
