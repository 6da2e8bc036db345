"""CPU time and context switches that a call costs the server."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import fsum, sqrt

from workbench.analysis.cost import CPU_PER_CALL, MARGIN
from workbench.analysis.significance import quantile
from workbench.analysis.usage import Reading
from workbench.documents import Metric, Window
from workbench.metrics.base import Measured

LEAST_CALLS = 100
"""With fewer answered calls, the server's own housekeeping would distort the cost of a call."""


class PerCall:
    """CPU time of the server's whole process tree per answered call, over the whole point including
    ramp and drain. The cost of failed calls is included."""

    record = Metric(key=CPU_PER_CALL, label="CPU per call", unit="µs", better="less")

    def of(self, measured: Measured) -> float | None:
        calls = measured.report.counts.succeeded
        if calls < LEAST_CALLS or not measured.usage.cpu_us:
            return None
        return round(measured.usage.cpu_us / calls, 3)


FEWEST_BATCHES = 4
MOST_BATCHES = 20


class PerCallMargin:
    """Half the width of the 95 % interval of the CPU time per call within a point, in microseconds.

    The steady part is cut into batches of equal length between samples, at most `MOST_BATCHES`, so
    that neighbouring batches are nearly independent (batch means; Law, "Simulation modeling and
    analysis", 5th ed., 9.5.3). CPU time per call is the ratio of two sums over them, with the
    variance of a ratio estimator (Cochran, "Sampling techniques", 3rd ed., 2.11) and Student's t.
    """

    record = Metric(key=MARGIN, label="CPU per call, half interval", unit="µs")

    def of(self, measured: Measured) -> float | None:
        cost = PerCall().of(measured)
        batches = _batches(measured.usage.readings, measured.windows)
        calls = fsum(batch[1] for batch in batches)
        if cost is None or len(batches) < FEWEST_BATCHES or not calls:
            return None
        ratio = fsum(batch[0] for batch in batches) / calls
        rest = fsum((cpu - ratio * count) ** 2 for cpu, count in batches)
        error = sqrt(rest * len(batches) / (len(batches) - 1)) / calls
        if not ratio:
            return None
        return round(cost / ratio * error * quantile(0.975, len(batches) - 1), 3)


def _batches(readings: Sequence[Reading], windows: Sequence[Window]) -> list[tuple[float, float]]:
    """(CPU time, answered calls) for each batch of the steady part."""
    measured = [window for window in windows if window.phase == "measure"]
    if not measured:
        return []
    from_us, to_us = measured[0].t_us, measured[-1].t_us + measured[-1].length_us
    inside = [reading for reading in readings if from_us <= reading.t_us <= to_us]
    each = max(1, -(-(len(inside) - 1) // MOST_BATCHES))
    ends = inside[::each]
    return [
        (after.cpu_us - before.cpu_us, _answered(measured, before.t_us, after.t_us))
        for before, after in pairwise(ends)
    ]


def _answered(windows: Sequence[Window], from_us: int, to_us: int) -> float:
    """Answered calls, interpolated linearly within windows."""
    return fsum(
        window.replies * max(0, min(to_us, end_us) - max(from_us, window.t_us)) / window.length_us
        for window in windows
        if (end_us := window.t_us + window.length_us) > from_us and window.t_us < to_us
    )


class InKernel:
    """Share of that CPU time spent in the kernel, to about 5 %, because the kernel counts it in
    ticks."""

    record = Metric(key="cpu_in_kernel_pct", label="CPU in kernel", unit="%")

    def of(self, measured: Measured) -> float | None:
        share = measured.usage.system_share
        return None if share is None else round(100 * share, 1)


class SwitchesPerCall:
    """Context switches of the server's whole process tree, voluntary or not, per answered call.

    Unknown if threads or processes end during a point, because their counts end with them.
    """

    record = Metric(key="switches_per_call", label="Context switches per call", better="less")

    def of(self, measured: Measured) -> float | None:
        calls, switches = measured.report.counts.succeeded, measured.usage.switches
        return None if switches is None or calls < LEAST_CALLS else round(switches / calls, 4)
