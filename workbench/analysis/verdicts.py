"""The verdict on one point, from its evidence alone.

`SIGNS` lists what each side may show, `PRECEDENCE` the verdicts with their conditions, of which the
first that holds is the point's. A point that is interrupted, too short or not counted right has no
other verdict than `inconclusive`.

Lateness of the clients explains only effects of its own size. If the signs of the server are far
larger, the lateness is reported as a remark. If everything was answered, and no more connections
waited than late clients cause, the signs of the server are dropped.

A high client CPU is no sign if the point was sustained: a busy client that kept its schedule was
not the limit. Kernel counters are no signs either, they only explain. But where a server seems to
be the limit, retransmissions and connections that were not established in time are signs of the
network (`analysis.network`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from workbench.analysis.evidence import (
    FEWEST_SAMPLES,
    OFFERED_SHARE,
    SHORTEST_S,
    SUSTAINED_SHARE,
    Evidence,
    conserved,
)
from workbench.analysis.faults import arrived as calls_arrived
from workbench.analysis.faults import faults, overflows, resets_from_elsewhere
from workbench.analysis.histogram import percentile_supported
from workbench.analysis.network import (
    UNREACHABLE_ERRORS,
    signs_beside_server,
    unreachable,
    unreachable_sign,
)
from workbench.analysis.network import remarks as network_remarks
from workbench.documents import (
    SERVER_ERRORS,
    WINDOW_US,
    Counts,
    PointStop,
    Verdict,
    client_errors,
    error_class,
    server_errors,
)
from workbench.messages.audits import Unchecked, finding
from workbench.messages.base import Said, Stated, share
from workbench.messages.reasons import RELIEVED, reason

LATE_SHARE = 0.05
"""Share of the connections started more than 5 ms late. Clients past their limit fall ever further
behind and are late with most; a hiccup of the machine affects a few percent."""

MOST = 0.5
LATE_BY_US = 20_000
"""The p99 of the lateness from which a share below `MOST` is a sign. Shorter delays are usual on a
busy machine, and a client that can keep its schedule catches up."""

LOST_SHARE = 0.005
"""Share of calls that the clients lost or never started, at a rate that was not sustained: half of
what `SUSTAINED_SHARE` allows, so that the cause of most of the losses is named."""

BUSY_PCT = 90.0
"""Percent of its core: a busier worker may delay the replies."""

OTHERS_PCT = 25.0
"""Percent of one core, taken by other programs on the cores of server and clients: more than an
idle desktop takes, and enough to move a limit."""

ELSEWHERE_SHARE = 0.01
"""Of the requests: where more went to another server, nothing is stated about this one."""

CPU_UNSEEN_S = 0.05
"""CPU time is counted in ticks of 10 ms, for each process."""

MUCH_MORE = 3
"""Factor between the connections waiting and those that the clients' lateness explains: below it,
late replies say nothing against the server."""

MUCH_LESS = 0.1
"""Share of the timeout, or of waiting connections, below which late clients are not the cause."""


def _flaw(evidence: Evidence) -> Said | None:  # noqa: PLR0911  a table in order
    counts = evidence.counts
    if not evidence.complete:
        return reason("interrupted")
    if evidence.conserved is not None and not conserved(counts):
        found = counts.unsent + counts.succeeded + counts.in_flight + sum(counts.errors.values())
        return reason("audit-failed", scheduled=counts.scheduled, found=found)
    if evidence.conserved is False:
        return reason("client-audit-failed")
    if other := _other_server(evidence):
        return other
    if counts.scheduled < FEWEST_SAMPLES:
        return reason("too-few-calls", calls=counts.scheduled, needed=FEWEST_SAMPLES)
    # Poisson arrivals may end a window early.
    if evidence.seconds < SHORTEST_S - WINDOW_US / 1e6:
        return reason("too-short", seconds=evidence.seconds, needed_s=SHORTEST_S)
    return None


def _other_server(evidence: Evidence) -> Said | None:
    """Signs that another server got the load."""
    if evidence.uncounted:
        return reason("hosts-uncounted", workers=evidence.uncounted)
    elsewhere = share(sum(evidence.elsewhere.values()), evidence.requests)
    if elsewhere > ELSEWHERE_SHARE:
        host = max(evidence.elsewhere, key=lambda each: evidence.elsewhere[each])
        return reason("load-went-elsewhere", share=round(elsewhere, 4), host=host)
    if evidence.server_cpu_pct is None:
        return None
    cpu_s = evidence.server_cpu_pct / 100 * evidence.seconds
    if cpu_s + CPU_UNSEEN_S >= evidence.least_cpu_s:
        return None
    calls = evidence.counts.succeeded
    return reason("too-little-work", calls=calls, cpu_ms=round(1000 * cpu_s, 1))


def _ports_sign(evidence: Evidence) -> Said | None:
    lost = evidence.counts.errors.get("addrunavail", 0)
    return reason("out-of-ports", times=lost) if _lost_many(lost, evidence) else None


def _descriptors_sign(evidence: Evidence) -> Said | None:
    errors = evidence.counts.errors
    lost = errors.get("fd-unavail", 0) + errors.get("ftab-full", 0)
    if not _lost_many(lost, evidence):
        return None
    return reason("out-of-descriptors", times=lost, most_open=evidence.most_open)


def _unsent_sign(evidence: Evidence) -> Said | None:
    unsent, calls = evidence.counts.unsent, evidence.counts.scheduled
    return (
        reason("calls-unsent", unsent=unsent, calls=calls) if _lost_many(unsent, evidence) else None
    )


def _lost_many(lost: int, evidence: Evidence) -> bool:
    return not evidence.sustained and lost > LOST_SHARE * evidence.counts.scheduled


def _late_sign(evidence: Evidence) -> Said | None:
    p99_us = evidence.lateness_us.p99 if evidence.lateness_us else None
    late_share = evidence.late_share or 0.0
    if late_share <= (LATE_SHARE if p99_us is None or p99_us >= LATE_BY_US else MOST):
        return None
    return reason("clients-late", late_share=round(late_share, 6), p99_us=p99_us)


def _only_shortage(evidence: Evidence) -> bool:
    """Whether the point failed for lack of ports and descriptors alone."""
    counts = evidence.counts
    short = client_errors(counts.errors)
    return not evidence.sustained and counts.succeeded + short >= SUSTAINED_SHARE * counts.scheduled


def _lateness_weighed(
    evidence: Evidence, clients: list[Said], server: list[Said]
) -> tuple[list[Said], list[Said], list[Said]]:
    """(signs of the clients, of the server, remarks) where both late clients and the server show
    signs: lateness explains only effects of its own size."""
    late = [sign for sign in clients if sign.code == "clients-late"]
    lateness, queue = evidence.lateness_us, evidence.queue
    if not late or not server or lateness is None:
        return clients, server, []
    late_s = lateness.p99 / 1e6
    waiting = queue.open_at_end if queue is not None and queue.growing else 0
    by_lateness = late_s * queue.connections / evidence.seconds if queue is not None else 0.0
    if evidence.sustained and waiting <= MUCH_MORE * by_lateness:
        return clients, [], []
    timeouts = MUCH_LESS * evidence.timeout_s
    if (not evidence.sustained and late_s < timeouts) or waiting > by_lateness / MUCH_LESS:
        return [sign for sign in clients if sign not in late], server, late
    return clients, server, []


def _busy_client(evidence: Evidence) -> list[Said]:
    if evidence.client_cpu_pct is None or evidence.client_cpu_pct < BUSY_PCT:
        return []
    return [reason("client-busy", cpu_pct=round(evidence.client_cpu_pct, 2))]


def _background_load(evidence: Evidence, *, sustained: bool = False) -> list[Said]:
    cpu_pct = evidence.others_cpu_pct
    if cpu_pct is None or cpu_pct < OTHERS_PCT:
        return []
    return [
        reason(
            "sustained-under-background-load" if sustained else "background-load",
            cpu_pct=round(cpu_pct, 2),
            stolen_pct=round(evidence.stolen_cpu_pct, 2) or None,
        )
    ]


def _background_load_at_calibration(evidence: Evidence) -> list[Said]:
    if evidence.ceiling_others_pct < OTHERS_PCT:
        return []
    cpu_pct = round(evidence.ceiling_others_pct, 2)
    return [reason("background-load-at-calibration", cpu_pct=cpu_pct)]


def _beyond_client_limit(evidence: Evidence) -> list[Said]:
    ceiling, offered = evidence.ceiling_per_s, evidence.offered_per_s
    # The rate really offered differs from the plan's by rounding.
    if ceiling is None or offered <= ceiling * 1.005:
        return []
    if not ceiling:
        return [reason("no-client-limit", offered_per_s=offered)]
    return [reason("beyond-client-limit", offered_per_s=offered, limit_per_s=ceiling)]


def _failed_sign(evidence: Evidence) -> Said | None:
    counts = evidence.counts
    arrived = calls_arrived(counts)
    lost = server_errors(counts.errors) - unreachable(counts) + counts.in_flight
    if lost <= (1 - SUSTAINED_SHARE) * arrived:
        return None
    return reason("calls-failed", failed=lost, calls=arrived, errors=_errors_of_server(counts))


def _queue_sign(evidence: Evidence) -> Said | None:
    queue = evidence.queue
    if queue is None or not queue.growing:
        return None
    return reason("fell-behind", replied=queue.replied, calls=queue.due, waiting=queue.open_at_end)


def _slow_sign(evidence: Evidence) -> Said | None:
    times, limit_ms = evidence.latency_us, evidence.p99_limit_ms
    if limit_ms is None or times is None or times.p99 <= 1000 * limit_ms:
        return None
    return reason("too-slow", p99_ms=times.p99 / 1000, limit_ms=limit_ms)


def _remarks(evidence: Evidence) -> list[Said]:
    """What a reader should know about a sustained point."""
    remarks = _background_load(evidence, sustained=True)
    if times := overflows(evidence):
        remarks.append(reason("sustained-with-overflows", times=times))
    if stay_s := evidence.too_short_for:
        needed_s = evidence.queue.needed_s if evidence.queue else 2 * stay_s
        remarks.append(
            reason(
                "too-short-for-queue",
                stay_s=round(stay_s, 3),
                seconds=evidence.seconds,
                needed_s=float(math.ceil(needed_s)),
            )
        )
    remarks += network_remarks(evidence)
    if evidence.rise_s:
        first_us, last_us = (round(1e6 * median_s) for median_s in evidence.rise_s)
        remarks.append(reason("response-times-rose", first_us=first_us, last_us=last_us))
    lateness = evidence.lateness_us
    if lateness and percentile_supported(lateness.count, 0.99) and lateness.p99 > 5_000:
        remarks.append(reason("latency-includes-lateness", p99_us=lateness.p99))
    return remarks


def _no_single_cause(evidence: Evidence) -> Said:
    counts = evidence.counts
    own = counts.unsent + client_errors(counts.errors)
    return reason(
        "no-single-cause",
        succeeded=counts.succeeded,
        calls=counts.scheduled,
        clients=own,
        server=counts.scheduled - counts.succeeded - own,
    )


def _errors_of_server(counts: Counts) -> dict[str, int]:
    """By class with its detail, most frequent first."""
    found = {
        name: n
        for name, n in counts.errors.items()
        if error_class(name) in SERVER_ERRORS and name not in UNREACHABLE_ERRORS
    }
    found["in flight"] = counts.in_flight
    return {name: n for name, n in sorted(found.items(), key=lambda item: -item[1]) if n}


Side: TypeAlias = Literal["ports", "clients", "network", "server"]

SIGNS: tuple[tuple[Side, Callable[[Evidence], Said | None]], ...] = (
    ("ports", _ports_sign),
    ("clients", _descriptors_sign),
    ("clients", _unsent_sign),
    ("clients", _late_sign),
    ("network", unreachable_sign),
    ("server", _failed_sign),
    ("server", _queue_sign),
    ("server", _slow_sign),
)
"""What a side may show by itself. Beside a sign of the server its accept queue and the network are
looked at, too (`network.signs_beside_server`), and how busy the clients were."""


def _shown(side: Side, evidence: Evidence) -> list[Said]:
    return [sign for of, test in SIGNS if of == side and (sign := test(evidence))]


def judge(evidence: Evidence) -> tuple[Verdict, list[Said]]:
    """The verdict and its reasons (possibly none if it is `ok`); see `messages.reasons`."""
    if flaw := _flaw(evidence):
        return "inconclusive", [flaw]
    point = _Point(evidence)
    return next((verdict, reasons(point)) for verdict, holds, reasons in PRECEDENCE if holds(point))


class _Point:
    """What a point shows: the signs of each side, and what else its verdict depends on."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        status, arrived = evidence.exit_status, calls_arrived(evidence.counts)
        self.ended = [] if status is None else [reason("server-ended", status=status)]
        shown = {side: _shown(side, evidence) for side in get_args(Side)}
        if shown["server"] and (overflowed := overflows(evidence)):
            shown["server"].append(reason("accept-queue-overflowed", times=overflowed))
        self.ports, self.server_shows = shown["ports"], shown["server"]
        self.clients, self.server, self.remarks = _lateness_weighed(
            evidence, shown["clients"], shown["server"]
        )
        beside = signs_beside_server(evidence, self.server) if self.server else []
        self.network = [*shown["network"], *beside, *resets_from_elsewhere(evidence, arrived)]
        self.own = [*self.ports, *self.clients]
        self.theirs = [*self.network, *self.server]
        self.busy = _busy_client(evidence) if self.theirs else []
        shows = self.own or self.theirs or not evidence.sustained
        self.beyond = _beyond_client_limit(evidence) if shows else []
        self.background = _background_load(evidence)
        # Only these may have needed the CPU that other programs took.
        self.others = self.background if self.beyond or self.clients or self.server else []
        if self.beyond and not self.others:
            self.others = _background_load_at_calibration(evidence)
        ran_out = [sign for sign in self.clients if sign.code == "out-of-descriptors"]
        only = not self.theirs and _only_shortage(evidence)
        self.shortage = [*self.ports, *ran_out] if only else []
        self.faults = faults(evidence, arrived, busy=bool(self.background))

    def signs(self) -> list[Said]:
        """Of all sides, with what would relieve the clients."""
        return [*self.relieved([*self.others, *self.own, *self.busy, *self.theirs]), *self.remarks]

    def relieved(self, reasons: list[Said]) -> list[Said]:
        """If several signs of the clients call for the same relief, only the last one says so."""
        asking = [n for n, sign in enumerate(reasons) if sign.code in RELIEVED]
        more = "worker" if self.evidence.workers < self.evidence.client_cores else "machine"
        for n in asking[-1:]:
            reasons[n] = reason(reasons[n].code, **reasons[n].data(), relief=more)
        return reasons

    def offered_less(self) -> list[Said]:
        """The load tool offered less than was planned, and that was sustained."""
        offered, planned = self.evidence.offered_per_s, self.evidence.planned_per_s
        if not self.evidence.sustained or offered >= OFFERED_SHARE * planned:
            return []
        return [reason("offered-less", offered_per_s=offered, planned_per_s=planned)]


PRECEDENCE: tuple[
    tuple[Verdict, Callable[[_Point], object], Callable[[_Point], list[Said]]], ...
] = (
    # Whoever else was busy.
    ("faulty", lambda p: p.ended and p.faults, lambda p: [*p.ended, *p.faults]),
    ("server-limited", lambda p: p.ended, lambda p: [*p.ended, *p.server_shows]),
    # Nothing failed but for what ran out, which CPU time would not have replaced.
    ("ports-limited", lambda p: p.others and p.shortage and p.ports, lambda p: p.shortage),
    ("client-limited", lambda p: p.others and p.shortage, lambda p: p.shortage),
    # Beyond the client limit, whatever the server shows: no server could have sustained it.
    # Background load lowers what clients reach, and more clients would not help; a network that
    # shows signs held up the null server, too.
    ("inconclusive", lambda p: p.beyond and p.others, lambda p: [*p.others, *p.beyond]),
    (
        "network-limited",
        lambda p: p.beyond and p.network and not p.own,
        lambda p: [*p.theirs, *p.beyond],
    ),
    ("client-limited", lambda p: p.beyond, lambda p: p.relieved([*p.beyond, *p.own])),
    # Whatever signs there are of clients or other programs; `faults` tells them from load shedding.
    ("faulty", lambda p: p.faults, lambda p: p.faults),
    # Other programs took CPU that the side with signs may have needed, or both sides show signs.
    ("inconclusive", lambda p: p.others or ((p.own or p.busy) and p.theirs), _Point.signs),
    ("ports-limited", lambda p: p.ports, _Point.signs),
    ("client-limited", lambda p: p.clients, _Point.signs),
    ("network-limited", lambda p: p.network, _Point.signs),
    ("server-limited", lambda p: p.server, _Point.signs),
    # No side shows a sign.
    (
        "inconclusive",
        lambda p: p.background and p.offered_less(),
        lambda p: [*p.background, *p.offered_less()],
    ),
    ("client-limited", _Point.offered_less, _Point.offered_less),
    ("ok", lambda p: p.evidence.sustained, lambda p: _remarks(p.evidence)),
    ("inconclusive", lambda p: True, lambda p: [_no_single_cause(p.evidence)]),
)
"""Verdicts with their conditions and their reasons, the first that holds first."""


def unchecked(stop: PointStop, *, closed: bool, noted: Iterable[Said] = ()) -> list[Unchecked]:
    """Return what the verdict of a point could not check, most important first.

    `closed`: in a closed loop there is no schedule to keep, and no queue grows. `noted`: what the
    load tools of the session do not report ("tool-cannot-tell"). Sessions of the agent, of any
    version, checked all.
    """
    if stop.counts.late is not None and stop.conserved is not None:
        return []
    told = (each.data() for each in noted)
    untold = {what for of in told if of["tool"] == stop.load_tool for what in of["untold"]}
    found: dict[Unchecked, bool] = {
        "schedule": stop.counts.late is None and not closed,
        "queue": "open_at_end" not in stop.evidence and not closed,
        "client-cpu": stop.client_cpu_pct is None,
        "background-load": "others_cpu_pct" not in stop.evidence,
        "conservation": stop.conserved is None,
        "replies": "replies" in untold,
    }
    return [what for what, unknown in found.items() if unknown]


def unchecked_of_points(
    stops: Iterable[PointStop], *, closed: bool, noted: Iterable[Said] = ()
) -> Iterator[Stated]:
    """Return what could not be checked at any of these points, by load tool."""
    noted = list(noted)
    by_tool: dict[str, dict[Unchecked, None]] = {}
    for stop in stops:
        found = unchecked(stop, closed=closed, noted=noted)
        by_tool.setdefault(stop.load_tool, {}).update(dict.fromkeys(found))
    for tool, what in by_tool.items():
        if what:
            yield finding("not-checked", tool=tool, what=list(what))


_FEW = 0.1
"""A set-up counts as disturbed if more than this share of its points is."""


@dataclass(frozen=True)
class BackgroundLoad:
    """Background load over several points, in percent of one core."""

    measured: Sequence[float]
    """One value per point where it was measured."""
    disturbing: Sequence[float]
    """The values of `measured` that are high enough to move a limit."""

    @classmethod
    def at(cls, points: Iterable[PointStop]) -> BackgroundLoad:
        known = (point.evidence.get("others_cpu_pct") for point in points)
        measured = [pct for pct in known if pct is not None]
        return cls(measured, [pct for pct in measured if pct >= OTHERS_PCT])

    @property
    def is_frequent(self) -> bool:
        """Whether more than a few points were disturbed."""
        return len(self.disturbing) > _FEW * len(self.measured)

    @property
    def text(self) -> str:
        """For people, to follow "Background load"; empty: not measured."""
        if not self.disturbing:
            return "took next to no CPU" if self.measured else ""
        return (
            f"took up to {max(self.disturbing):.0f} % of a core, at {len(self.disturbing):,} of"
            f" {len(self.measured):,} points"
        )
