"""The knee: the highest offered rate a server sustains, of sweeps and of searches; which
measurements count for it, and how precisely it is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, inf
from statistics import median, median_low
from typing import Literal

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.significance import CONFIDENCE, MARGIN, finding, mean, means
from workbench.documents import Counts, PointStop
from workbench.messages.outcomes import Peak

# Which measurements count where a rate was measured more than once, and which rates to repeat.
#
# A sweep ends where a rate is not sustained, so one hiccup of a machine could decide its result.
# The deciding rate is therefore repeated: a failure counts only if it happened twice, and a point
# that could not be judged is repeated. A slow spell of a machine outlasts a point, so all other
# servers run between two attempts. All attempts stay in the session; the last one counts.


def is_sustained(point: PointStop) -> bool:
    """Whether the server sustained this rate: 99 % of attempts succeeded, and the verdict is ok."""
    return (
        point.verdict == "ok" and point.counts.succeeded >= SUSTAINED_SHARE * point.counts.scheduled
    )


def last_attempts(points: Iterable[PointStop]) -> list[PointStop]:
    """The last attempt at each value that was not interrupted, in the order of the first."""
    found: dict[tuple[object, ...], PointStop] = {}
    for point in points:
        rate = point.x
        # A search counts every point, even if it returns to a rate.
        attempt = point.look if point.purpose == "search" else 0
        place = (point.series, point.purpose, point.pass_number, rate, attempt)
        if point.complete or place not in found:
            found[place] = point
    return list(found.values())


def undecided(points: Iterable[PointStop], ceiling_per_s: float = 0.0) -> PointStop | None:
    """Of one server's sweep in one pass: the last attempt at the rate where it ends, if another
    attempt may change the result. Interrupted attempts do not count, and a closed loop has no such
    rate. `ceiling_per_s`: the client limit as known by now."""
    attempts_at: defaultdict[float, list[PointStop]] = defaultdict(list)
    for point in points:
        if point.complete:
            attempts_at[point.x].append(point)
    for _, attempts in sorted(attempts_at.items()):
        if in_doubt(attempts, ceiling_per_s):
            return attempts[-1]
        if not is_sustained(attempts[-1]):
            return None
    return None


def in_doubt(attempts: Sequence[PointStop], ceiling_per_s: float = 0.0) -> bool:
    """Whether another attempt at this rate may change the result. All `attempts` are complete. A
    rate judged by a lower client limit than is known by now is in doubt."""
    last = attempts[-1]
    if last.verdict == "ports-limited" or beyond_client_limit(last, ceiling_per_s):
        return False
    sustained = sum(map(is_sustained, attempts))
    lost = sum(attempt.verdict in ("server-limited", "faulty") for attempt in attempts)
    return not (lost >= 2 or sustained > lost)


def beyond_client_limit(point: PointStop, known_per_s: float) -> bool:
    """Whether more was offered than the clients reach. `known_per_s`: their limit as known now."""
    ceiling = max(point.evidence.get("ceiling_per_s", float("inf")), known_per_s)
    return point.verdict == "client-limited" and point.offered_per_s > ceiling


# The precision of a knee: its interval over the passes, and what two intervals say of two servers.
#
# A pass gives two rates: the highest that was sustained, and the next at which the server was shown
# to be the limit. The true limit of that pass lies between them. Over several passes the interval
# runs from a low rank of the sustained rates to the same high rank of the rates not sustained. The
# probability that it covers the median follows from ranks alone and assumes nothing about the
# distribution of passes. A single pass has only the step between its rates: a resolution, not a
# confidence interval.
#
# Two servers are compared by `significance`, separately for the lower bound of their difference
# (sustained rates of the one minus rates the other did not sustain) and the upper one. So the
# interval includes the step between rates as well as the spread of the passes.


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, in the plan's unit per second."""

    low: float
    high: float
    """Infinite: no limit was reached."""
    passes: int
    coverage: float | None
    """Probability that the interval covers the median, 0 to 1; None: a single pass has none."""


@dataclass(frozen=True)
class PassKnee:
    pass_number: int
    sustained: float
    """The highest rate up to which all rates were sustained; 0: none."""
    lost: float
    """The lowest rate above it at which the server was the limit; infinite: none."""


Outcome = Literal["more", "less", "equal", "indistinguishable", "unknown"]


@dataclass(frozen=True)
class Difference:
    """Difference of two knees, first minus second, per second."""

    figure: float
    low: float
    high: float
    """Infinite (`low` may be, too): one of the two reached no limit."""
    outcome: Outcome
    """`equal`: shown to be equal, within `significance.MARGIN`. `unknown`: one of them reached no
    limit, which may lie on either side of the other's."""
    paired: bool = False
    """Taken pass by pass, because the passes were interleaved."""
    passes: int = 1
    """Passes of the server that has fewer."""
    most: float = inf
    """The largest possible difference, as a share of the smaller figure."""


def pass_knees(points: Iterable[PointStop]) -> list[PassKnee]:
    """The passes of one server. As in `knee`, a pass that ended before it found a limit is left out
    if another went further. A closed loop has none."""
    passes: defaultdict[int, list[PointStop]] = defaultdict(list)
    for point in last_attempts(points):
        if point.purpose == "sweep" and point.complete:
            passes[point.pass_number].append(point)
    furthest = max((p.x for points in passes.values() for p in points), default=0.0)
    whole = {
        number: points
        for number, points in passes.items()
        if not all(map(is_sustained, points)) or max(p.x for p in points) == furthest
    }
    return [_pass_knee(number, points) for number, points in sorted((whole or passes).items())]


def knee_interval(knees: Sequence[PassKnee]) -> Interval | None:
    """The interval of the limit; None: nothing was measured."""
    if not knees:
        return None
    rank, coverage = ranks(len(knees))
    low = sorted(knee.sustained for knee in knees)[rank]
    high = sorted(knee.lost for knee in knees)[-1 - rank]
    return Interval(low, high, len(knees), coverage)


def ranks(passes: int) -> tuple[int, float | None]:
    """(number of lowest and highest values to leave out, probability that the rest covers the
    median). The interval is as narrow as `CONFIDENCE` allows, otherwise the whole range."""
    if passes < 2:
        return 0, None
    rank, coverage = 0, _coverage(passes, 0)
    while (narrower := _coverage(passes, rank + 1)) >= CONFIDENCE:
        rank, coverage = rank + 1, narrower
    return rank, coverage


def difference(
    first: Sequence[PassKnee], second: Sequence[PassKnee], *, paired: bool = False
) -> Difference | None:
    """Compare two servers' knees. `paired`: their passes were interleaved in one run, so passes of
    the same number are subtracted from each other, which removes drift. None: one of them was not
    measured."""
    if not first or not second:
        return None
    figure = _middle(first) - _middle(second)
    by_number = {knee.pass_number: knee for knee in second}
    both = [(knee, by_number[knee.pass_number]) for knee in first if knee.pass_number in by_number]
    # Rounding to steps adds a twelfth of their square to the variance of each (Sheppard, 1898). A
    # few passes may hide this by falling on the same step.
    steps = [knee.lost - knee.sustained for knee in (*first, *second) if knee.lost != inf]
    least = median(steps or [0.0]) ** 2 / 12
    if paired and len(both) > 1:
        low = _bound([x.sustained - y.lost for x, y in both], -1, 2 * least)
        high = _bound([x.lost - y.sustained for x, y in both], +1, 2 * least)
        passes = len(both)
    else:
        low = _bound_apart([x.sustained for x in first], [y.lost for y in second], -1, least)
        high = _bound_apart([x.lost for x in first], [y.sustained for y in second], +1, least)
        passes, paired = min(len(first), len(second)), False
    smaller = min(_middle(first), _middle(second))
    most = max(-low, high) / smaller if smaller else inf
    return Difference(figure, low, high, _outcome(low, high, smaller, passes), paired, passes, most)


def _bound(differences: Sequence[float], side: int, least: float) -> float:
    """The end of the interval on that side; `least`: see `significance.mean`."""
    if inf in differences or -inf in differences:
        return side * inf
    middle, half = mean(differences, least=least)
    return middle + side * half


def _bound_apart(first: Sequence[float], second: Sequence[float], side: int, least: float) -> float:
    """The same for passes that were not interleaved; with a single pass, only its step counts."""
    if inf in (*first, *second):
        return side * inf
    if min(len(first), len(second)) < 2:
        return min(first) - max(second) if side < 0 else max(first) - min(second)
    middle, half = means(first, second, least=least)
    return middle + side * half


def _outcome(low: float, high: float, smaller: float, passes: int) -> Outcome:
    if passes == 1:
        found: Outcome = "more" if low >= 0 else "less" if high <= 0 else "indistinguishable"
    else:
        found = finding(low, high, MARGIN * smaller)
    return "unknown" if found == "indistinguishable" and inf in (-low, high) else found


def _middle(knees: Sequence[PassKnee]) -> float:
    """The lower median, as in `knee`."""
    return sorted(knee.sustained for knee in knees)[(len(knees) - 1) // 2]


def _pass_knee(number: int, points: list[PointStop]) -> PassKnee:
    sustained = 0.0
    ordered = sorted(points, key=lambda point: point.x)
    for point in ordered:
        if not is_sustained(point):
            break
        sustained = point.x
    shown = (p.x for p in ordered if p.x > sustained and p.verdict == "server-limited")
    return PassKnee(number, sustained, next(shown, inf))


def _coverage(passes: int, rank: int) -> float:
    """Probability that the median lies between ranks `rank` and `passes - 1 - rank`, from 0."""
    if 2 * rank >= passes - 1:
        return 0.0
    return 1 - 2 * sum(comb(passes, k) for k in range(rank + 1)) / float(2**passes)


# The knee itself.


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
    """Whether the server may sustain more: the next rate above the knee does not show its limit."""
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
    """How many calls were answered, correctly or not: with a wrong body or no HTTP ("protocol"), an
    unexpected status ("protocol-503"), or a reply that fails a check of the plan ("check-text");
    connections that were closed do not count."""
    found = counts.succeeded
    for error, count in counts.errors.items():
        kind, _, detail = error.partition("-")
        if kind == "check" or (kind == "protocol" and (not detail or detail.isdigit())):
            found += count
    return found


# The same of searches, over the passes of one server, as they recorded it; points are not judged
# again.


def peak_per_s(peaks: Sequence[Peak]) -> float | None:
    """Return the peak; of several passes the lower median. None: no tested rate met the limits."""
    return median_low(peak.peak_per_s or 0.0 for peak in peaks) or None if peaks else None


def pass_peaks(peaks: Sequence[Peak]) -> list[PassKnee]:
    """Return the ends of each pass's interval, as for sweeps."""
    return [
        PassKnee(p.pass_number, p.low_per_s, inf if p.high_per_s is None else p.high_per_s)
        for p in peaks
    ]
