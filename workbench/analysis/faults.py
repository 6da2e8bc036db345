"""Is a server faulty: does it answer wrongly where it could answer rightly?

A fault is a reply that came and was not as wanted: another status or body, a reply cut short, no
HTTP, a connection closed before the calls agreed upon, a reset. Silence and refusal are none: they
are how a server without room looks. Beyond the clients' own limit nobody is judged; below it other
programs on the CPU do not make a server answer wrongly, so they excuse nothing by themselves.

What tells a fault from a server that sheds load, which is a limit of its capacity:

1. A wrong body, no HTTP, or a status that says nothing of load (404) are faults at any rate.
2. A 5xx, a reply cut short, a closed or reset connection may be load that is shed, and are so taken
   where there is a sign of saturation at the same time: the server's CPU fills a core (or what a
   core has left where other programs take it), its accept queue overflows, calls time out, or
   connections pile up.
3. A server may shed by a limit of its own without being busy. Where it refuses (503, 429, a closed
   or reset connection), the next lower rate was clean, and it answers as many calls a second as it
   did there, the refusals are taken for that limit.
4. Neither excuses an error that the same server showed at a lower rate without such signs.

So a server that refuses from the lowest rate on, unasked and unstressed, counts as faulty: at that
rate nothing speaks for it.

What is not the server's: resets that the target's kernel did not send came from between the
machines; a reset may follow a reply that was lost on its way, where the target had to send about as
much again; refusals that are no more than what the clients were late with may come from bursts that
they made.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from workbench.analysis.evidence import SUSTAINED_SHARE, Evidence, share
from workbench.documents import Counts, client_errors
from workbench.messages.base import Message
from workbench.messages.reasons import ResetsFromElsewhere, UnexpectedReplies

FULL_PCT = 80.0
"""Of a core, mean over a point with its beginning and end: nothing is left."""

FULL_BESIDE_OTHERS_PCT = 20.0
"""While other programs take CPU: what the scheduler leaves of a core that several share."""

SILENT_SHARE = 0.005
"""Of the calls that arrived: timed out, or overflowed the accept queue, so that it is a sign."""

STEADY = 0.9
"""Of what was answered at the next lower rate, for refusals to be a limit and no fault."""

BURST = 10
"""Connections begun at once because clients were late; a server with room takes fewer easily."""

LOST_PER_RETRANSMISSION = 2
"""Calls that one segment sent again may explain."""

MOST_KINDS = 3
"""The most that a point reports."""

_SHED = ("connreset", "protocol", "protocol-cut", "protocol-closed", "protocol-408", "protocol-429")
"""What a healthy server may do with load that it has no room for, and any 5xx."""

_REFUSED = ("connreset", "protocol-closed", "protocol-429", "protocol-503")


def is_fault(error: str) -> bool:
    """Of an error's name: did something come that was not wanted? A server that closes a
    connection on which nothing was asked for long ("protocol-idle") keeps its word."""
    return error.startswith(("protocol", "connreset")) and error != "protocol-idle"


def faults(evidence: Evidence, arrived: int, *, busy: bool) -> list[Message]:
    """The server's, most calls first; empty: it is not faulty. `arrived`: calls that reached the
    server or could have, `busy`: other programs took CPU."""
    found = {name: n for name, n in evidence.counts.errors.items() if is_fault(name)}
    if not evidence.reply_known:
        found = {name: n for name, n in found.items() if not name.startswith("protocol-4")}
    saturated = _saturated(evidence, arrived, busy=busy)
    refused_by_limit = _as_many_as_below(evidence)
    own: dict[str, int] = {}
    for name, n in found.items():
        excused = (saturated and _is_shed(name)) or (refused_by_limit and name in _REFUSED)
        if name in evidence.faulty_before or not excused:
            own[name] = n
    if own.get("connreset", 0) and (_from_elsewhere(evidence) or after_losses(evidence)):
        del own["connreset"]
    shed = sum(n for name, n in own.items() if name in _REFUSED)
    if shed <= _in_bursts(evidence) * arrived:
        own = {name: n for name, n in own.items() if name not in _REFUSED}
    if sum(own.values()) <= (1 - SUSTAINED_SHARE) * arrived:
        return []
    _ended_as_one(own, evidence)
    ranked = sorted(own.items(), key=lambda item: -item[1])[:MOST_KINDS]
    return [_unexpected_replies(evidence, name, n, arrived) for name, n in ranked]


def _ended_as_one(own: dict[str, int], evidence: Evidence) -> None:
    """A server that ends connections too early does so with a reset where the next request is under
    way already: counted as what it did more often."""
    ways = [
        name
        for name in ("protocol-closed", "connreset")
        if name in own and name in evidence.faults and evidence.faults[name].answered
    ]
    if len(ways) > 1:
        rarer = min(ways, key=lambda name: own[name])
        (other,) = (name for name in ways if name != rarer)
        own[other] += own.pop(rarer)


def resets_from_elsewhere(evidence: Evidence, arrived: int) -> list[Message]:
    """A sign of the network: connections that somebody between the machines has reset."""
    lost = evidence.counts.errors.get("connreset", 0)
    if lost <= (1 - SUSTAINED_SHARE) * arrived or not _from_elsewhere(evidence):
        return []
    return [
        ResetsFromElsewhere(failed=lost, calls=arrived, sent=evidence.counters.get("OutRsts", 0))
    ]


def overflows(evidence: Evidence) -> int:
    """Of accept queues on the target."""
    counters = evidence.counters
    return max(counters.get("ListenOverflows", 0), counters.get("ListenDrops", 0))


def silent(counts: Counts) -> int:
    """Calls that nothing came of."""
    return counts.in_flight + sum(counts.errors.get(n, 0) for n in ("client-timo", "socket-timo"))


def arrived(counts: Counts) -> int:
    """Calls that reached the server, or could have."""
    return counts.scheduled - counts.unsent - client_errors(counts.errors)


def _is_shed(error: str) -> bool:
    return error in _SHED or error.startswith("protocol-5")


def _saturated(evidence: Evidence, arrived: int, *, busy: bool) -> bool:
    cpu_pct = evidence.server_cpu_pct
    full = cpu_pct is not None and cpu_pct >= (FULL_BESIDE_OTHERS_PCT if busy else FULL_PCT)
    # That few calls are answered in time is what the faults say; the connections must say it.
    queue = evidence.queue and replace(evidence.queue, steady_share=1.0)
    piling_up = queue is not None and queue.growing
    without_room = max(silent(evidence.counts), overflows(evidence)) > SILENT_SHARE * arrived
    return full or piling_up or without_room


def _as_many_as_below(evidence: Evidence) -> bool:
    if evidence.clean_per_s is None or evidence.seconds <= 0:
        return False
    return evidence.counts.succeeded / evidence.seconds >= STEADY * evidence.clean_per_s


def _in_bursts(evidence: Evidence) -> float:
    """Share of the calls that clients, being late, may have sent all at once, or not at all."""
    counts, lateness = evidence.counts, evidence.lateness_us
    share_of = share(counts.unsent, counts.scheduled)
    if lateness is None or evidence.seconds <= 0:
        return share_of
    at_once = lateness.count / evidence.seconds * lateness.p99 / 1e6
    return share_of + (evidence.late_share or 0.0) * (at_once >= BURST)


def _from_elsewhere(evidence: Evidence) -> bool:
    """Did the target's kernel send fewer resets than half of those that came? Every other reset
    that it sends counts for it."""
    fault = evidence.faults.get("connreset")
    if fault is None or evidence.server_cpu_pct is None:
        return False
    return 2 * evidence.counters.get("OutRsts", 0) < fault.connections


def after_losses(evidence: Evidence) -> bool:
    """A server that closes with a request unread resets the connection; where its reply was lost,
    the reset is all that comes."""
    again: float = evidence.counters.get("RetransSegs", 0)
    lost, scheduled = evidence.counts.errors.get("connreset", 0), evidence.counts.scheduled
    again = max(again, evidence.link_lost_share * scheduled)
    return not evidence.loopback and lost <= LOST_PER_RETRANSMISSION * again


def _unexpected_replies(evidence: Evidence, error: str, failed: int, arrived: int) -> Message:
    message = UnexpectedReplies(
        error=error, failed=failed, calls=arrived, agreed=evidence.calls_per_connection
    )
    fault = evidence.faults.get(error)
    if fault is None:
        return message
    return msgspec.structs.replace(
        message,
        first_s=round(fault.first_us / 1e6, 3),
        answered=fault.answered,
        received=fault.received,
        example=_written(fault.example),
    )


def _written(example: str) -> str:
    """Bytes as Python writes them, so that nothing in them is obeyed."""
    return repr(example.encode("latin-1", "replace"))[2:-1]
