"""The verdict on one point, from evidence alone.

Order of precedence:

1. Interrupted, audit failed, or too short: `inconclusive`.
2. Offered more than the clients' ceiling, and it did not hold: `client-limited`, whatever else is
   seen of the server, because the fastest honest server would have failed too. Where the network
   shows signs it was in the way of the null server as well: `network-limited`.
3. The server answers wrongly: `faulty`, whatever the clients or other programs show beside it.
   `analysis.faults` says what is a fault, and what is load that a server sheds.
4. Both the clients and the server (or the network) show signs, or other programs took CPU that
   the one with signs may have needed: `inconclusive`, with all of them. Such programs come before
   the ceiling, too, at the point or while it was looked for: they lower what clients reach, and
   another client would not cure it. Ports and descriptors that ran out, where nothing else failed,
   are named all the same: no CPU time would have replaced them.
5. Signs on one side: `ports-limited`, `client-limited`, `network-limited`, `server-limited`.
6. At least 99 % of the calls succeeded: `ok`. Below that without a sign: `inconclusive`.

Lateness of the clients explains as much as it is long: where the server shows signs that are
far larger, it is told as a remark; where everything was answered and no more connections waited
than late clients keep waiting, the server shows none.

A high client CPU is no sign while the point holds: a busy client that kept its schedule was not
the limit. Nor are kernel counters: they explain, they do not accuse; but where a server seems to be
the limit, what was sent again and connections that were not established in time speak against the
network (`analysis.network`).
"""

from __future__ import annotations

import msgspec

from workbench.analysis.evidence import (
    FEWEST_SAMPLES,
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

LATE_SHARE = 0.05
"""Of connections started over 5 ms late. A client past its limit falls ever further behind and is
late with most; a hiccup of the machine touches a few hundredths."""

MOST = 0.5
LATE_BY_US = 20_000
"""At p99, for lateness with less than `MOST` to be a sign: what stays below is how long a busy
machine lets a program wait, of which a client that can keep its schedule catches up."""

LOST_SHARE = 0.005
"""Share of calls that the clients lost or never started, where the rate is not sustained: half
of what `SUSTAINED_SHARE` allows, so that the cause of most of the losses is named.
"""

BUSY_PCT = 90.0
"""Of its core: a worker above this may be what slows the replies."""

OTHERS_PCT = 25.0
"""Of a core, taken by other programs on the cores of server and clients: more than a desktop at
rest takes, and enough to move a limit."""

MUCH_MORE = 3
"""Times as many connections waiting as clients that are late keep waiting themselves: until then
what was answered, if late, says nothing against the server."""

MUCH_LESS = 0.1
"""Of the timeout, by which connections were late; of the connections waiting, those that waited for
the clients: no cause."""


def judge(evidence: Evidence) -> tuple[Verdict, list[Message]]:
    """The verdict and its reasons (may be none when it is `ok`); see `messages.reasons`."""
    flaw = _flaw(evidence)
    if flaw:
        return "inconclusive", [flaw]
    ports, clients = _ports_signs(evidence), _client_signs(evidence)
    network, server = unreachable_sign(evidence), _server_signs(evidence)
    clients, server, remarks = _lateness_weighed(evidence, clients, server)
    if server:
        network += signs_beside_server(evidence)
    arrived = calls_arrived(evidence.counts)
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
    """More was offered than the clients reach. `own`: their signs; `of_network`: its signs, and
    what the server showed because of it."""
    if others:
        # Another client would not cure it.
        return "inconclusive", [*others, *_relieved(limit, "")]
    if of_network and not own:
        # It was in the way when the limit was looked for, too; nor would another client cure it.
        return "network-limited", [*of_network, *_relieved(limit, "")]
    return "client-limited", _relieved([*limit, *own], _relief(evidence))


def _unsigned(evidence: Evidence) -> tuple[Verdict, list[Message]]:
    """Nobody shows a sign."""
    if evidence.sustained:
        return "ok", _remarks(evidence)
    return "inconclusive", [_no_single_cause(evidence)]


def _flaw(evidence: Evidence) -> Message | None:
    counts = evidence.counts
    if not evidence.complete:
        return messages.Interrupted()
    if evidence.conserved is not None and not conserved(counts):
        found = counts.unsent + counts.succeeded + counts.in_flight + sum(counts.errors.values())
        return messages.AuditFailed(scheduled=counts.scheduled, found=found)
    if evidence.conserved is False:
        return messages.ClientAuditFailed()
    if counts.scheduled < FEWEST_SAMPLES:
        return messages.TooFewCalls(calls=counts.scheduled, needed=FEWEST_SAMPLES)
    # Poisson arrivals may end a window early.
    if evidence.seconds < SHORTEST_S - WINDOW_US / 1e6:
        return messages.TooShort(seconds=evidence.seconds, needed_s=SHORTEST_S)
    return None


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
    return [messages.OutOfDescriptors(times=lost)]


def _only_shortage(evidence: Evidence) -> bool:
    """Did the point fail for want of ports and descriptors alone?"""
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
    """(signs of the clients, of the server, remarks), where clients that were late and the server
    both show signs: lateness explains what is of its own size, and no more."""
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
    return [messages.BackgroundLoad(cpu_pct=round(evidence.others_cpu_pct, 2))]


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
    if signs and (times := overflows(evidence)):
        signs.append(messages.AcceptQueueOverflowed(times=times))
    return signs


def _remarks(evidence: Evidence) -> list[Message]:
    """What a reader of a point that held should know."""
    remarks: list[Message] = []
    if evidence.others_cpu_pct is not None and evidence.others_cpu_pct >= OTHERS_PCT:
        cpu_pct = round(evidence.others_cpu_pct, 2)
        remarks.append(messages.SustainedUnderBackgroundLoad(cpu_pct=cpu_pct))
    if times := overflows(evidence):
        remarks.append(messages.SustainedWithOverflows(times=times))
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
    """Several signs of the clients ask for the same relief: the last of them says so."""
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
