"""The distribution of response times: percentiles as far as the number of samples supports them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.analysis import histogram
from workbench.analysis.series import Clock, PointResult
from workbench.documents import SparseHistogram
from workbench.formatting import counted

TABLE = (0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
"""The quantiles that ab (ApacheBench) prints."""

_EACH_DECADE = 24
"""Points of a curve, per decade of 1 / (1 - quantile)."""
_TICKS = 5
"""Steps per half of the remaining distance, in .hgrm files; the default of HdrHistogram's tools."""
_OCTAVES = 20
_EXACT_BUCKETS = 2_048


@dataclass(frozen=True)
class Row:
    quantile: float
    """1: the maximum."""
    us: int
    supported: bool
    """False: too few values lie beyond it, so another run may well give a different figure."""

    @property
    def label(self) -> str:
        """ "p50", "p99.9", "max"."""
        return percentile_text(self.quantile)


@dataclass(frozen=True)
class Distribution:
    """The distribution of one series at one value of the axis, over its passes."""

    sparse: SparseHistogram
    what: str = "replies"

    @classmethod
    def of(cls, point: PointResult, clock: Clock) -> Distribution:
        """Empty if no call was answered, or the load tool reports no histogram."""
        merged = histogram.merge(getattr(stop.histograms, clock) for stop in point.stops)
        return cls(merged, point.axis.replies)

    @cached_property
    def count(self) -> int:
        return sum(self.sparse[1::2])

    @cached_property
    def mean_us(self) -> float | None:
        """None: it is empty."""
        return histogram.mean(self.sparse)

    def at(self, quantile: float) -> int | None:
        """In microseconds; None: it is empty."""
        if quantile <= 0:
            return histogram.bucket_bounds(self.sparse[0])[1] if self.sparse else None
        return histogram.percentile(self.sparse, min(1.0, quantile))

    def table(self, quantiles: Sequence[float] = TABLE) -> list[Row]:
        """Empty: there are no replies."""
        return [
            Row(q, us, q == 1 or histogram.percentile_supported(self.count, q))
            for q in quantiles
            if (us := self.at(q)) is not None
        ]

    def curve(self) -> list[Row]:
        """Evenly spaced over log(1 / (1 - quantile)), up to the maximum, as one of all replies."""
        if not self.count:
            return []
        last = math.log10(self.count)
        steps = max(1, round(last * _EACH_DECADE))
        nines = {float(n) for n in range(1, math.ceil(last))}
        each = {last * n / steps for n in range(steps)} | {math.log10(2)} | nines
        rows = self.table([1 - 10**-place for place in sorted(each) if place < last])
        longest = self.at(1.0)
        assert longest is not None
        return [*rows, Row(1 - 1 / self.count, longest, False)]

    @property
    def sentence(self) -> str:
        """ "Up to p99.9: 12,400 replies.": the range that the samples support."""
        if not self.count:
            return "No response times."
        supported = [q for q in _known(self.count) if histogram.percentile_supported(self.count, q)]
        replies = counted(f"{self.count:,}", f" {self.what}")
        if not supported:
            return f"{replies}: too few for any percentile."
        return f"{replies}, enough up to {percentile_text(supported[-1])}."


def _known(count: int) -> list[float]:
    """p50, then 90, 99, 99.9 and so on, as far as this count can support them."""
    return [0.5, *(1 - 10**-n for n in range(1, max(1, math.ceil(math.log10(count)))))]


def percentile_text(quantile: float) -> str:
    """ "p50", "p99.9", "max": with as many nines as needed."""
    if quantile == 1:
        return "max"
    digits = max(0, math.ceil(-math.log10(max(1 - quantile, 1e-12)) - 1e-6) - 1)
    text = f"{100 * quantile:.{max(digits, 1)}f}"
    return "p" + text.rstrip("0").rstrip(".")


def hgrm(sparse: SparseHistogram) -> str:
    """The text that HdrHistogram's tools print and plot, in milliseconds.

    Percentiles at `_TICKS` steps of each half of the distance to 100 %; see
    `outputPercentileDistribution` of HdrHistogram.
    """
    pairs = np.asarray(sparse, dtype=np.int64).reshape(-1, 2)
    total, reached, level = int(pairs[:, 1].sum()), 0, 0.0
    lines = ["       Value     Percentile TotalCount 1/(1-Percentile)", ""]
    value = 0.0
    for bucket, count in pairs.tolist():
        reached += count
        value = histogram.bucket_bounds(bucket)[1] / 1000
        while count and 100 * reached / total >= level:
            inverse = 1 / (1 - level / 100)
            lines.append(f"{value:12.3f} {level / 100:2.12f} {reached:10d} {inverse:14.2f}")
            half_distances = 2 ** (math.floor(math.log2(100 / (100 - level))) + 1)
            level += 100 / (_TICKS * half_distances)
            if reached == total:
                break
    if total:
        lines.append(f"{value:12.3f} {1:2.12f} {total:10d}")
    times_us, counts = histogram.times_us(sparse)
    mean = (histogram.mean(sparse) or 0.0) / 1000
    variance = float((times_us / 1000 - mean) ** 2 @ counts) / total if total else 0.0
    lines += [
        f"#[Mean    = {mean:12.3f}, StdDeviation   = {math.sqrt(variance):12.3f}]",
        f"#[Max     = {value:12.3f}, Total count    = {total:12d}]",
        f"#[Buckets = {_OCTAVES:12d}, SubBuckets     = {_EXACT_BUCKETS:12d}]",
        "",
    ]
    return "\n".join(lines)
