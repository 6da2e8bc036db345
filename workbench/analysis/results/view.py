"""Which response time is shown, and how it is read from points and windows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import nan
from typing import Literal

from workbench.analysis.histogram import mean, percentile_supported
from workbench.documents import Percentiles, PointStop, Window

Clock = Literal["latency", "service"]
"""`latency` counts from the scheduled time of a call, `service` from when it was sent."""

Percentile = Literal["p50", "p90", "p99", "p999", "max", "mean"]
PERCENTILES: dict[Percentile, float] = {
    "p50": 0.5,
    "p90": 0.9,
    "p99": 0.99,
    "p999": 0.999,
    "max": 1.0,
    "mean": 0.5,
}
"""The quantile of each. The mean is none: it needs as many values as the median."""


@dataclass(frozen=True)
class View:
    """Which response time is shown."""

    percentile: Percentile = "p99"
    clock: Clock = "latency"
    metric: str = ""
    """Key of a metric shown in place of the errors; empty: the errors."""


def window_ms(window: Window, view: View) -> float:
    """The response time in one window; NaN: no reply, or not recorded."""
    latency = view.clock == "latency"
    if view.percentile == "mean":
        found = mean(window.latency if latency else window.service)
        return nan if found is None else found / 1000
    return milliseconds(window.latency_us if latency else window.service_us, view.percentile)


def clock_of(stops: Iterable[PointStop]) -> Clock:
    """Return by which clock the times of all these points are known: "service" where a load tool
    without a schedule measured some of them."""
    unscheduled = any(stop.latency_us is None and stop.service_us is not None for stop in stops)
    return "service" if unscheduled else "latency"


def mean_us(stops: Iterable[PointStop], time: str) -> float | None:
    """Over all replies of the points; `time`: a field of `Histograms`. None: it is empty."""
    return mean(*(getattr(stop.histograms, time) for stop in stops))


def milliseconds(times: Percentiles | None, percentile: Percentile) -> float:
    """NaN: not measured. At least 1 us, so that it has a logarithm."""
    return nan if times is None else max(1, getattr(times, percentile)) / 1000


def supported(times: Percentiles | None, percentile: Percentile) -> bool:
    """Whether there were enough replies for this percentile."""
    share = PERCENTILES[percentile]
    return share == 1 or (times is not None and percentile_supported(times.count, share))


def known_us(times: Percentiles | None, percentile: Percentile) -> float | None:
    """A percentile; None: not measured, or there were too few replies for it."""
    if times is None or not supported(times, percentile):
        return None
    return float(getattr(times, percentile))
