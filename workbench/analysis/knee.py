"""The knee: the highest offered rate a server sustains, of sweeps and of searches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from statistics import median_low

from workbench.analysis.intervals import Interval, PassKnee, knee_interval, pass_knees
from workbench.analysis.repeats import is_sustained, last_attempts
from workbench.documents import Counts, PointStop
from workbench.messages.outcomes import Peak


def knee(points: Iterable[PointStop]) -> float | None:
    """The highest rate per second that one server sustained; None: it sustained none.

    In a single pass it is the highest offered rate up to which all rates were sustained. Over
    several passes it is the median of the passes' knees, the lower of two middle ones, so that it
    is always a tested rate and depends neither on a hiccup nor on the number of passes. Only
    complete points of a sweep count, and only the last attempt at each rate. A pass that ended
    before it found a limit (the run was stopped) is left out if another pass went further.
    """
    return median_low([each.sustained for each in pass_knees(points)] or [0.0]) or None


def unknown(points: Iterable[PointStop]) -> PointStop | None:
    """For a server that sustained no rate: its lowest point, if that shows nothing about the server
    because clients, network or other programs were in the way. None: the server was the limit or
    faulty at its lowest rate, it sustained a rate, or nothing was measured."""
    lowest: dict[int, PointStop] = {}
    for point in last_attempts(points):
        if point.purpose == "sweep" and point.complete:
            known = lowest.setdefault(point.pass_number, point)
            if point.x < known.x:
                lowest[point.pass_number] = point
    lost = [point for point in lowest.values() if not is_sustained(point)]
    if not lost or any(point.verdict in ("server-limited", "faulty") for point in lost):
        return None
    return lost[0] if knee(lowest.values()) is None else None


def is_floor(points: Iterable[PointStop], knee_per_s: float | None) -> bool:
    """Whether the server may sustain more: no point at the next rate above the knee shows the
    server's limit."""
    sustained = knee_per_s or 0.0
    above = [p for p in last_attempts(points) if p.complete and p.x > sustained]
    nearest = min((point.x for point in above), default=sustained)
    return not any(p.x == nearest and p.verdict == "server-limited" for p in above)


SILENT_SHARE = 0.01
"""Share of the calls that a server which stopped replying may still answer."""


def stopped_past(points: Iterable[PointStop], ended_at: float | None = None) -> float | None:
    """Return the highest value at which a server still replied; None: it did not stop.

    `points`: complete ones of its sweeps, the last attempt at each value. `ended_at`: the value at
    which its process ended by itself; None: it did not.
    """
    found: defaultdict[float, list[PointStop]] = defaultdict(list)
    for point in points:
        if point.purpose == "sweep":
            found[point.x].append(point)
    silent = False
    for x, stops in sorted(found.items(), reverse=True):
        if any(_replies(stop.counts) >= SILENT_SHARE * stop.counts.scheduled for stop in stops):
            return x if silent or (ended_at is not None and x <= ended_at) else None
        silent = silent or any(stop.verdict in ("server-limited", "faulty") for stop in stops)
    return None


def _replies(counts: Counts) -> int:
    """How many calls were answered, correctly or not."""
    wrong = sum(n for error, n in counts.errors.items() if _is_wrong_reply(error))
    return counts.succeeded + wrong


def _is_wrong_reply(error: str) -> bool:
    """A wrong body or no HTTP ("protocol"), an unexpected status ("protocol-503"), or a reply that
    fails a check of the plan ("check-text"); not a connection that was closed."""
    kind, _, detail = error.partition("-")
    return kind == "check" or (kind == "protocol" and (not detail or detail.isdigit()))


# The same of searches, over the passes of one server, as they recorded it; points are not judged
# again.


def peak_per_s(peaks: Sequence[Peak]) -> float | None:
    """Return the peak; of several passes the median, the lower of two middle ones. None: no tested
    rate met the limits."""
    return median_low(peak.peak_per_s or 0.0 for peak in peaks) or None if peaks else None


def peak_is_floor(peaks: Sequence[Peak]) -> bool:
    """Return whether the server may do better: its limit was not reached."""
    at = peak_per_s(peaks)
    return any(peak.peak_per_s == at and peak.high_per_s is None for peak in peaks)


def pass_peaks(peaks: Sequence[Peak]) -> list[PassKnee]:
    """Return the ends of each pass's interval, as for sweeps."""
    highs = (inf if peak.high_per_s is None else peak.high_per_s for peak in peaks)
    return [
        PassKnee(p.pass_number, p.low_per_s, high) for p, high in zip(peaks, highs, strict=True)
    ]


def peak_interval(peaks: Sequence[Peak]) -> Interval | None:
    """Return the interval of the limit: for one pass as its search found it, for several by ranks,
    as for sweeps. None: there was no search."""
    of_passes = knee_interval(pass_peaks(peaks))
    if of_passes is None or len(peaks) > 1:
        return of_passes
    return Interval(of_passes.low, of_passes.high, 1, peaks[0].confidence)
