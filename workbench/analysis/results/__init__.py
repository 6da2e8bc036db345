"""The results of one series, point by point and over its passes.

This is the one model of results for charts, tables, summary, comparison and reports. It takes
points as they come, so a running and a recorded session give the same results.
"""

from workbench.analysis.results.point import TRUSTED, PointResult
from workbench.analysis.results.series import SeriesResult
from workbench.analysis.results.view import (
    PERCENTILES,
    Clock,
    Percentile,
    View,
    clock_of,
    known_us,
    mean_us,
    supported,
    window_ms,
)

__all__ = [
    "PERCENTILES",
    "TRUSTED",
    "Clock",
    "Percentile",
    "PointResult",
    "SeriesResult",
    "View",
    "clock_of",
    "known_us",
    "mean_us",
    "supported",
    "window_ms",
]
