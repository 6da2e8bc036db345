"""Results of each of several requests of a plan (weighted paths)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from workbench.analysis import histogram
from workbench.documents import Metric
from workbench.load.base import RequestPart
from workbench.metrics.base import Measured, PointMetric


def _replies_per_s(measured: Measured, part: RequestPart) -> float | None:
    """Per call that was answered; a call of a locustfile, which is a task, may have several."""
    calls = measured.report.counts.succeeded
    return round(measured.answered_per_s * part.replies / calls, 3) if calls else None


def _percentile_ms(q: float, measured: Measured, part: RequestPart) -> float | None:
    """Latency from the scheduled time; unknown of too few replies."""
    if not histogram.percentile_supported(part.replies, q):
        return None
    us = histogram.percentile(part.latency, q)
    return None if us is None else us / 1000


def _mean_ms(measured: Measured, part: RequestPart) -> float | None:
    us = histogram.mean(part.latency)
    return None if us is None else round(us / 1000, 4)


def _errors_pct(measured: Measured, part: RequestPart) -> float | None:
    """Of the calls of it that were sent and ended."""
    ended = part.replies + part.failed
    return round(100 * part.failed / ended, 4) if ended else None


_SHOWN: tuple[tuple[Metric, Callable[[Measured, RequestPart], float | None]], ...] = (
    (Metric(key="replies_per_s", label="Replies", unit="1/s", better="more"), _replies_per_s),
    (Metric(key="p50_ms", label="p50", unit="ms", better="less"), partial(_percentile_ms, 0.5)),
    (Metric(key="p99_ms", label="p99", unit="ms", better="less"), partial(_percentile_ms, 0.99)),
    (Metric(key="mean_ms", label="Mean", unit="ms", better="less"), _mean_ms),
    (Metric(key="errors_pct", label="Errors", unit="%", better="less"), _errors_pct),
)


@dataclass(frozen=True)
class OfRequest:
    """One figure of one request."""

    record: Metric
    number: int
    """Of the request, in the plan's order, from 0."""
    figure: Callable[[Measured, RequestPart], float | None]

    def of(self, measured: Measured) -> float | None:
        parts = measured.report.requests
        return self.figure(measured, parts[self.number]) if self.number < len(parts) else None


def of_requests(labels: Sequence[str]) -> list[PointMetric]:
    """Return the metrics of several requests, by their labels."""
    return [
        OfRequest(_of(shown, number, label), number, figure)
        for shown, figure in _SHOWN
        for number, label in enumerate(labels)
    ]


def _of(shown: Metric, number: int, label: str) -> Metric:
    key = f"request_{number + 1}_{shown.key}"
    return replace(shown, key=key, label=f"{shown.label} of {label}", of=label)
