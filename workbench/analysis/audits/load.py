"""Audits of the load: every call is accounted for, and all clients offered what was planned."""

from __future__ import annotations

from collections import defaultdict
from statistics import median_low

from workbench.analysis import evidence
from workbench.analysis.audits.base import Audit, SessionData, codes, numbers
from workbench.analysis.histogram import percentile_supported
from workbench.analysis.significance import ratio
from workbench.analysis.verdicts import unchecked_of_points
from workbench.documents import OUR_AGENT, PointStop
from workbench.messages.audits import finding

TOLERANCE = 0.05
"""Relative difference allowed between calls in flight and rate times service time."""

PER_CALL_S = 50e-6
"""Difference allowed per call: the two counts may place the beginning and end of a call this far
apart, because connections are started, and replies processed, in batches."""

OFF_PLAN = 0.01
"""Relative difference allowed between the offered load and the plan's."""

SLOW = 0.1
"""A client is slow if its median service time is shown to be longer by this share."""

TOGETHER = 0.95
"""Share of a point during which all clients must offer load."""

_LATE = {"clients-late", "calls-unsent"}
_UNTIMED = {"windows-lost"}


def conservation(data: SessionData) -> Audit:
    """Conservation of calls, for every worker as audited when the point ended, and for the sum."""
    reported = [point for point in data.points if point.conserved is not None]
    if not reported:
        return Audit("not-known", finding("not-told-by-tool", tool=data.start.load_tool))
    lost = [p for p in reported if not (p.conserved and evidence.conserved(p.counts))]
    calls = sum(point.counts.scheduled for point in reported)
    found = finding("conservation", **data.places(lost, of=reported), calls=calls)
    return Audit("failed" if lost else "passed", found, numbers(lost))


def littles_law(data: SessionData) -> Audit:
    """Little's law over a whole point: calls in flight, integrated over time, equal the sum of the
    times that calls were in flight. This holds for every point that begins and ends empty, whatever
    the distributions. The two sides are counted independently: how many calls are in flight, and
    how long each one took.

    J. D. C. Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9(3), 1961; for
    a finite time: S. Stidham, "A Last Word on L = λW", Operations Research 22(2), 1974.
    """
    timed = [(p, pending) for p in data.points if (pending := data.pending_s.get(p.point))]
    if not timed:
        if data.start.load_tool != OUR_AGENT:
            return Audit("not-known", finding("not-told-by-tool", tool=data.start.load_tool))
        return Audit("not-known", finding("not-recorded", what="pending"))
    failed: list[tuple[float, PointStop, float, float]] = []
    checked: list[PointStop] = []
    for point, (found_s, within_s) in timed:
        expected = _in_flight_s(point, data)
        if expected is None:
            continue
        checked.append(point)
        low_s, high_s = expected
        allowed_s = TOLERANCE * high_s + PER_CALL_S * point.counts.scheduled
        # A late client counts calls and reads the clock at different times, as far apart.
        calls = int(data.workload.get("calls_per_connection", 1))
        allowed_s += calls * data.sum_s(point, "lateness") + within_s
        excess = max(low_s - found_s, found_s - high_s) - allowed_s
        if excess > 0:
            nearest_s = min(max(found_s, low_s), high_s)
            failed.append((excess / allowed_s, point, found_s, nearest_s))
    if not checked:
        return Audit("not-known", finding("no-littles-law"))
    worst = max(failed, key=lambda each: each[0], default=None)
    points = [point for _, point, _, _ in failed]
    found = finding(
        "littles-law",
        **data.places(points, of=checked),
        tolerance_pct=100 * TOLERANCE,
        in_flight=worst[2] / worst[1].seconds if worst else 0.0,
        expected=worst[3] / worst[1].seconds if worst else 0.0,
    )
    return Audit("failed" if failed else "passed", found, numbers(points))


def _in_flight_s(point: PointStop, data: SessionData) -> tuple[float, float] | None:
    """(least, most) seconds that all calls of a point were in flight together. A call that timed
    out was in flight for the whole timeout; how long other failed calls were is unknown.
    None: the two bounds are too far apart."""
    if not point.histograms.service or not point.seconds or codes(point) & _UNTIMED:
        return None
    timeout_s = float(data.workload.get("timeout_s", 5.0))
    calls = int(data.workload.get("calls_per_connection", 1))
    timed_out = point.counts.errors.get("client-timo", 0)
    otherwise = sum(point.counts.errors.values()) - timed_out + point.counts.in_flight
    answered_s = data.sum_s(point, "service")
    # A lost connection loses all its remaining calls, but only one of them was in flight.
    low_s = answered_s + timed_out / calls * timeout_s
    high_s = answered_s + (timed_out + otherwise) * timeout_s
    return (low_s, high_s) if high_s - low_s <= max(low_s, 1e-9) else None


def schedule(data: SessionData) -> Audit:
    """The load offered was the load planned, by the verdicts' lateness and unsent calls."""
    if data.workload.get("mode") == "closed":
        return Audit("does-not-apply", finding("no-schedule"))
    reported = [point for point in data.points if point.counts.late is not None]
    if not reported:
        return Audit("not-known", finding("not-told-by-tool", tool=data.start.load_tool))
    if any(len(point.findings) != len(point.reasons) for point in data.points):
        return Audit("not-known", finding("not-recorded", what="codes"))
    late = [p for p in data.points if codes(p) & _LATE or _off_plan(p, data)]
    found = finding("schedule", **data.places(late, of=reported), planned_pct=100 * OFF_PLAN)
    return Audit("failed" if late else "passed", found, numbers(late))


def _off_plan(point: PointStop, data: SessionData) -> bool:
    """Whether the offered load differs from the plan's. One call more or less is rounding."""
    if not data.axis.per_second or not point.seconds:
        return False
    return abs(point.offered_per_s - point.x) > OFF_PLAN * point.x + 1 / point.seconds


def evidence_of_tools(data: SessionData) -> Audit:
    """Verdicts could check everything, whoever generated the load."""
    known = [each.message for each in data.notes("tool-cannot-tell")]
    closed = data.workload.get("mode") == "closed"
    each = unchecked_of_points(data.points, closed=closed, noted=known)
    found = {said.parameters["tool"]: said.parameters["what"] for said in each}
    if found:
        return Audit("not-known", finding("not-all-checked", by_tool=found))
    return Audit("passed", finding("all-checked", points=len(data.points)))


def overlap(data: SessionData) -> Audit:
    clients = data.machines("client")
    if len(clients) < 2:
        return Audit("does-not-apply", finding("one-client"))
    reported = [point for point in data.points if point.clients]
    if not reported:
        return Audit("not-known", finding("not-recorded", what="clients"))
    part = {point.point: {each.machine for each in point.clients} for point in reported}
    alone = [point for point in reported if not part[point.point].issuperset(clients)]
    missing = [name for name in clients if any(name not in part[p.point] for p in alone)]
    apart = [point for point in reported if _overlap_share(point) < TOGETHER]
    failed = alone or apart
    found = finding(
        "overlap",
        **data.places(failed),
        clients=len(clients),
        least_pct=100 * min(map(_overlap_share, reported)),
        missing=missing,
    )
    places = tuple(dict.fromkeys(numbers([*alone, *apart])))
    return Audit("failed" if failed else "passed", found, places)


def _overlap_share(point: PointStop) -> float:
    """The least share of the schedule, by uncertain clocks, in which all clients offered load."""
    unsure_us = max((each.clock_uncertainty_us for each in point.clients), default=0)
    apart_us = abs(point.start_skew_us) + 2 * unsure_us
    return max(0.0, 1 - apart_us / (1e6 * point.seconds)) if point.seconds else 0.0


def clients_alike(data: SessionData) -> Audit:
    """All clients see the same median service time, point by point. Their histograms are merged, so
    beyond the median a slow client would determine the percentiles."""
    if len(data.machines("client")) < 2:
        return Audit("does-not-apply", finding("one-client"))
    own: defaultdict[str, dict[int, float]] = defaultdict(dict)
    others: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for point in data.points:
        p50 = {
            part.machine: float(part.service_us.p50)
            for part in point.clients
            if part.service_us and percentile_supported(part.service_us.count, 0.5)
        }
        if point.verdict != "ok" or len(p50) < 2 or not all(p50.values()):
            continue
        for name, value in p50.items():
            own[name][point.point] = value
            others[name][point.point] = median_low(v for each, v in p50.items() if each != name)
    found = {name: ratio(own[name], others[name], paired=True) for name in own}
    known = {name: change for name, change in found.items() if change}
    if not known:
        return Audit("not-known", finding("not-recorded", what="client times"))
    slow = {name: each for name, each in known.items() if each.low >= SLOW}
    message = finding(
        "clients-alike",
        clients=len(known),
        slow={n: (round(100 * c.low, 1), round(100 * c.high, 1)) for n, c in slow.items()},
    )
    return Audit("failed" if slow else "passed", message)


def client_limit(data: SessionData) -> Audit:
    if not data.axis.calibrated:
        return Audit("does-not-apply", finding("not-calibrated"))
    noted = (each.message.data() for each in data.notes("ceiling"))
    limits = [each for each in noted if each.get("ceiling_per_s") is not None]
    if not limits:
        return Audit("not-known", finding("no-calibration"))
    limit = float(max(each["ceiling_per_s"] for each in limits))
    disturbed = next(
        (each.get("others_cpu_pct", 0.0) for each in limits if each.get("disturbed")), 0.0
    )
    # A server that sustained more has shown that the clients reach it.
    low = disturbed and not limits[-1].get("reached_all")
    message = finding("client-limit", limit_per_s=limit, others_cpu_pct=disturbed if low else 0.0)
    return Audit("passed" if limit and not low else "failed", message)
