"""The verdict on one point, from its evidence alone.

Order of precedence:

1. Interrupted, audit failed, or too short: `inconclusive`.
2. The server's process ended: `server-limited`, or `faulty` if it had given unexpected responses,
   whoever else was busy.
3. Not sustained, and offered more than the client limit: `client-limited`, whatever the server
   shows, because no server could have sustained it. If the network shows signs, it also held up the
   null server: `network-limited`.
4. The server gives unexpected responses: `faulty`, whatever signs there are of clients or other
   programs. `analysis.faults` distinguishes faults from load shedding.
5. Both the clients and the server (or the network) show signs, or other programs took CPU that the
   side with signs may have needed: `inconclusive`, with all signs. Background load, at the point or
   during calibration, comes before the client limit, too: it lowers what clients reach, and more
   clients would not help. Ports and descriptors that ran out are named all the same if nothing else
   failed: CPU time would not have replaced them.
6. Signs on one side: `ports-limited`, `client-limited`, `network-limited`, `server-limited`.
7. At least 99 % of the calls succeeded: `ok`. Fewer, without a sign: `inconclusive`.

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

import msgspec

from workbench.analysis.evidence import (
    FEWEST_SAMPLES,
    OFFERED_SHARE,
    SHORTEST_S,
    SUSTAINED_SHARE,
    Evidence,
    conserved,
    share,
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
    Verdict,
    client_errors,
    error_class,
    server_errors,
)
from workbench.messages import reasons as messages
from workbench.messages.base import Message
from workbench.messages.reasons import TooSlow

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
"""Below this share of the timeout, or of the waiting connections, the clients' lateness is not the
cause."""


def judge(evidence: Evidence) -> tuple[Verdict, list[Message]]:
    """The verdict and its reasons (possibly none if it is `ok`); see `messages.reasons`."""
    if decided := _flawed(evidence) or _ended(evidence):
        return decided
    arrived = calls_arrived(evidence.counts)
    server = _server_signs(evidence)
    ports, clients = _ports_signs(evidence), _client_signs(evidence)
    network = unreachable_sign(evidence)
    clients, server, remarks = _lateness_weighed(evidence, clients, server)
    if server:
        network += signs_beside_server(evidence, server)
    network += resets_from_elsewhere(evidence, arrived)
    beyond: list[Message] = []
    if ports or clients or network or server or not evidence.sustained:
        beyond = _beyond_client_limit(evidence)
    others = _background_load(evidence) if beyond or clients or server else []
    if beyond and not others:
        others = _background_load_at_calibration(evidence)
    short = [*ports, *_descriptors_signs(evidence)]
    if others and short and not (network or server) and _only_shortage(evidence):
        return ("ports-limited" if ports else "client-limited"), short
    if beyond:
        of_network = [*network, *server] if network else []
        return _beyond(evidence, beyond, others, [*ports, *clients], of_network)
    if found := faults(evidence, arrived, busy=bool(_background_load(evidence))):
        return "faulty", found
    relief = _relief(evidence)
    if network or server:
        clients += _busy_client(evidence)
    reasons = [*_relieved([*others, *ports, *clients, *network, *server], relief), *remarks]
    if others or ((ports or clients) and (network or server)):
        return "inconclusive", reasons
    signs: dict[Verdict, list[Message]] = {
        "ports-limited": ports,
        "client-limited": clients,
        "network-limited": network,
        "server-limited": server,
    }
    verdict = next((verdict for verdict, found in signs.items() if found), None)
    return (verdict, reasons) if verdict else _unsigned(evidence)


def _beyond(
    evidence: Evidence,
    limit: list[Message],
    others: list[Message],
    own: list[Message],
    of_network: list[Message],
) -> tuple[Verdict, list[Message]]:
    """More was offered than the clients reach. `own`: signs of the clients; `of_network`: signs of
    the network, and what the server showed as a result."""
    if others:
        # Another client would not help.
        return "inconclusive", [*others, *_relieved(limit, "")]
    if of_network and not own:
        # The network was in the way during calibration, too, and another client would not help.
        return "network-limited", [*of_network, *_relieved(limit, "")]
    return "client-limited", _relieved([*limit, *own], _relief(evidence))


def _unsigned(evidence: Evidence) -> tuple[Verdict, list[Message]]:
    """There are no signs."""
    if evidence.sustained and evidence.offered_per_s < OFFERED_SHARE * evidence.planned_per_s:
        less = messages.OfferedLess(
            offered_per_s=evidence.offered_per_s, planned_per_s=evidence.planned_per_s
        )
        others = _background_load(evidence)
        return ("inconclusive" if others else "client-limited"), [*others, less]
    if evidence.sustained:
        return "ok", _remarks(evidence)
    return "inconclusive", [_no_single_cause(evidence)]


def _flawed(evidence: Evidence) -> tuple[Verdict, list[Message]] | None:
    flaw = _flaw(evidence)
    return ("inconclusive", [flaw]) if flaw else None


def _ended(evidence: Evidence) -> tuple[Verdict, list[Message]] | None:
    if evidence.exit_status is None:
        return None
    ended = messages.ServerEnded(status=evidence.exit_status)
    found = faults(evidence, calls_arrived(evidence.counts), busy=False)
    return ("faulty" if found else "server-limited"), [ended, *(found or _server_signs(evidence))]


def _flaw(evidence: Evidence) -> Message | None:  # noqa: PLR0911  a table in order
    counts = evidence.counts
    if not evidence.complete:
        return messages.Interrupted()
    if evidence.conserved is not None and not conserved(counts):
        found = counts.unsent + counts.succeeded + counts.in_flight + sum(counts.errors.values())
        return messages.AuditFailed(scheduled=counts.scheduled, found=found)
    if evidence.conserved is False:
        return messages.ClientAuditFailed()
    if other := _other_server(evidence):
        return other
    if counts.scheduled < FEWEST_SAMPLES:
        return messages.TooFewCalls(calls=counts.scheduled, needed=FEWEST_SAMPLES)
    # Poisson arrivals may end a window early.
    if evidence.seconds < SHORTEST_S - WINDOW_US / 1e6:
        return messages.TooShort(seconds=evidence.seconds, needed_s=SHORTEST_S)
    return None


def _other_server(evidence: Evidence) -> Message | None:
    """Signs that another server got the load."""
    elsewhere = share(sum(evidence.elsewhere.values()), evidence.requests)
    if elsewhere > ELSEWHERE_SHARE:
        host = max(evidence.elsewhere, key=lambda each: evidence.elsewhere[each])
        return messages.LoadWentElsewhere(share=round(elsewhere, 4), host=host)
    if evidence.server_cpu_pct is None:
        return None
    cpu_s = evidence.server_cpu_pct / 100 * evidence.seconds
    if cpu_s + CPU_UNSEEN_S >= evidence.least_cpu_s:
        return None
    calls = evidence.counts.succeeded
    return messages.TooLittleWork(calls=calls, cpu_ms=round(1000 * cpu_s, 1))


def _ports_signs(evidence: Evidence) -> list[Message]:
    counts = evidence.counts
    lost = counts.errors.get("addrunavail", 0)
    if evidence.sustained or lost <= LOST_SHARE * counts.scheduled:
        return []
    return [messages.OutOfPorts(times=lost)]


def _descriptors_signs(evidence: Evidence) -> list[Message]:
    counts = evidence.counts
    lost = counts.errors.get("fd-unavail", 0) + counts.errors.get("ftab-full", 0)
    if evidence.sustained or lost <= LOST_SHARE * counts.scheduled:
        return []
    return [messages.OutOfDescriptors(times=lost, most_open=evidence.most_open)]


def _only_shortage(evidence: Evidence) -> bool:
    """Whether the point failed for lack of ports and descriptors alone."""
    counts = evidence.counts
    short = client_errors(counts.errors)
    return not evidence.sustained and counts.succeeded + short >= SUSTAINED_SHARE * counts.scheduled


def _client_signs(evidence: Evidence) -> list[Message]:
    counts = evidence.counts
    signs = _descriptors_signs(evidence)
    if not evidence.sustained and counts.unsent > LOST_SHARE * counts.scheduled:
        signs.append(messages.CallsUnsent(unsent=counts.unsent, calls=counts.scheduled))
    p99_us = evidence.lateness_us.p99 if evidence.lateness_us else None
    late_share = evidence.late_share or 0.0
    if late_share > (LATE_SHARE if p99_us is None or p99_us >= LATE_BY_US else MOST):
        signs.append(messages.ClientsLate(late_share=round(late_share, 6), p99_us=p99_us))
    return signs


def _lateness_weighed(
    evidence: Evidence, clients: list[Message], server: list[Message]
) -> tuple[list[Message], list[Message], list[Message]]:
    """(signs of the clients, of the server, remarks) where both late clients and the server show
    signs: lateness explains only effects of its own size."""
    late = [sign for sign in clients if isinstance(sign, messages.ClientsLate)]
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
        remarks = [msgspec.structs.replace(sign, relief="") for sign in late]
        return [sign for sign in clients if sign not in late], server, list(remarks)
    return clients, server, []


def _busy_client(evidence: Evidence) -> list[Message]:
    if evidence.client_cpu_pct is None or evidence.client_cpu_pct < BUSY_PCT:
        return []
    return [messages.ClientBusy(cpu_pct=round(evidence.client_cpu_pct, 2))]


def _background_load(evidence: Evidence) -> list[Message]:
    if evidence.others_cpu_pct is None or evidence.others_cpu_pct < OTHERS_PCT:
        return []
    return [messages.BackgroundLoad(**_taken(evidence.others_cpu_pct, evidence))]


def _taken(cpu_pct: float, evidence: Evidence) -> dict[str, float]:
    return {"cpu_pct": round(cpu_pct, 2), "stolen_pct": round(evidence.stolen_cpu_pct, 2)}


def _background_load_at_calibration(evidence: Evidence) -> list[Message]:
    if evidence.ceiling_others_pct < OTHERS_PCT:
        return []
    cpu_pct = round(evidence.ceiling_others_pct, 2)
    return [messages.BackgroundLoadAtCalibration(cpu_pct=cpu_pct)]


def _beyond_client_limit(evidence: Evidence) -> list[Message]:
    ceiling, offered = evidence.ceiling_per_s, evidence.offered_per_s
    # The rate really offered differs from the plan's by rounding.
    if ceiling is None or offered <= ceiling * 1.005:
        return []
    if not ceiling:
        return [messages.NoClientLimit(offered_per_s=offered)]
    return [messages.BeyondClientLimit(offered_per_s=offered, limit_per_s=ceiling)]


def _server_signs(evidence: Evidence) -> list[Message]:
    counts = evidence.counts
    signs: list[Message] = []
    arrived = calls_arrived(counts)
    lost = server_errors(counts.errors) - unreachable(counts) + counts.in_flight
    if lost > (1 - SUSTAINED_SHARE) * arrived:
        signs.append(
            messages.CallsFailed(failed=lost, calls=arrived, errors=_errors_of_server(counts))
        )
    queue = evidence.queue
    if queue is not None and queue.growing:
        signs.append(
            messages.FellBehind(replied=queue.replied, calls=queue.due, waiting=queue.open_at_end)
        )
    times, limit_ms = evidence.latency_us, evidence.p99_limit_ms
    if limit_ms is not None and times is not None and times.p99 > 1000 * limit_ms:
        signs.append(TooSlow(p99_ms=times.p99 / 1000, limit_ms=limit_ms))
    if signs and (overflowed := overflows(evidence)):
        signs.append(messages.AcceptQueueOverflowed(times=overflowed))
    return signs


def _remarks(evidence: Evidence) -> list[Message]:
    """What a reader should know about a sustained point."""
    remarks: list[Message] = []
    if evidence.others_cpu_pct is not None and evidence.others_cpu_pct >= OTHERS_PCT:
        taken = _taken(evidence.others_cpu_pct, evidence)
        remarks.append(messages.SustainedUnderBackgroundLoad(**taken))
    if times := overflows(evidence):
        remarks.append(messages.SustainedWithOverflows(times=times))
    if stay_s := evidence.too_short_for:
        needed_s = evidence.queue.needed_s if evidence.queue else 2 * stay_s
        remarks.append(
            messages.TooShortForQueue(
                stay_s=round(stay_s, 3),
                seconds=evidence.seconds,
                needed_s=float(math.ceil(needed_s)),
            )
        )
    remarks += network_remarks(evidence)
    if evidence.rise_s:
        first_us, last_us = (round(1e6 * median_s) for median_s in evidence.rise_s)
        remarks.append(messages.ResponseTimesRose(first_us=first_us, last_us=last_us))
    lateness = evidence.lateness_us
    if lateness and percentile_supported(lateness.count, 0.99) and lateness.p99 > 5_000:
        remarks.append(messages.LatencyIncludesLateness(p99_us=lateness.p99))
    return remarks


def _no_single_cause(evidence: Evidence) -> Message:
    counts = evidence.counts
    own = counts.unsent + client_errors(counts.errors)
    return messages.NoSingleCause(
        succeeded=counts.succeeded,
        calls=counts.scheduled,
        clients=own,
        server=counts.scheduled - counts.succeeded - own,
    )


def _relieved(reasons: list[Message], relief: messages.Relief) -> list[Message]:
    """If several signs of the clients call for the same relief, only the last one says so."""
    asking = [n for n, reason in enumerate(reasons) if "relief" in reason.__struct_fields__]
    for n in asking[-1:]:
        reasons[n] = msgspec.structs.replace(reasons[n], relief=relief)
    return reasons


def _relief(evidence: Evidence) -> messages.Relief:
    return "worker" if evidence.workers < evidence.client_cores else "machine"


def _errors_of_server(counts: Counts) -> dict[str, int]:
    """By class with its detail, most frequent first."""
    found = {
        name: n
        for name, n in counts.errors.items()
        if error_class(name) in SERVER_ERRORS and name not in UNREACHABLE_ERRORS
    }
    found["in flight"] = counts.in_flight
    return {name: n for name, n in sorted(found.items(), key=lambda item: -item[1]) if n}
