"""What the searches of one server found, over its passes, as they recorded it; points are not
judged again."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import median_low

from workbench.analysis.intervals import Interval, PassKnee, knee_interval
from workbench.messages.notes import Peak


def peak_per_s(peaks: Sequence[Peak]) -> float | None:
    """Return the peak; of several passes the median, the lower of two middle ones. None: no tested
    rate met the limits."""
    return median_low(peak.peak_per_s or 0.0 for peak in peaks) or None if peaks else None


def is_floor(peaks: Sequence[Peak]) -> bool:
    """Return whether the server may do better: its limit was not reached."""
    at = peak_per_s(peaks)
    return any(peak.peak_per_s == at and peak.high_per_s is None for peak in peaks)


def pass_peaks(peaks: Sequence[Peak]) -> list[PassKnee]:
    """Return the ends of each pass's interval, as for sweeps."""
    highs = (inf if peak.high_per_s is None else peak.high_per_s for peak in peaks)
    return [
        PassKnee(p.pass_number, p.low_per_s, high) for p, high in zip(peaks, highs, strict=True)
    ]


def interval(peaks: Sequence[Peak]) -> Interval | None:
    """Return the interval of the limit: for one pass as its search found it, for several by ranks,
    as for sweeps. None: there was no search."""
    of_passes = knee_interval(pass_peaks(peaks))
    if of_passes is None or len(peaks) > 1:
        return of_passes
    return Interval(of_passes.low, of_passes.high, 1, peaks[0].confidence)
