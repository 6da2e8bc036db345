"""What speaks against the network between clients and target, where calls fail or wait.

The target's kernel establishes connections and acknowledges data, however slow its server is, until
an accept queue is full; where none overflowed, what is lost or late of that is the network's.
"""

from __future__ import annotations

from workbench.analysis.evidence import SUSTAINED_SHARE, Evidence, share
from workbench.analysis.faults import after_losses, overflows, silent
from workbench.documents import Counts, server_errors
from workbench.messages.base import Message
from workbench.messages.reasons import LossyLink, NotEstablished, SlowConnections, Unreachable

RETRANSMITTED_SHARE = 0.01
"""Segments that were sent again, for every call: a sound network loses next to none."""

PACKETS = 10
"""Of a call with its connection, both ways."""

SLOW_SHARE = 0.2
"""Of the timeout, or of the connections waiting, that establishing connections takes."""

SLOW_US = 20_000
"""A connection takes the target's kernel so long only where the network does."""

MUCH_LATER = 3
"""Times as long as clients are late, for what they saw late not to be their own lateness."""

_UNREACHABLE = ("ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EHOSTDOWN", "ENONET")
UNREACHABLE_ERRORS = frozenset(f"other-{name}" for name in _UNREACHABLE)


def unreachable(counts: Counts) -> int:
    """Calls of which the network said so."""
    return sum(counts.errors.get(name, 0) for name in UNREACHABLE_ERRORS)


def unreachable_sign(evidence: Evidence) -> list[Message]:
    """Where the network says so itself."""
    counts = evidence.counts
    lost = unreachable(counts)
    if lost <= (1 - SUSTAINED_SHARE) * counts.scheduled:
        return []
    return [Unreachable(failed=lost, calls=counts.scheduled)]


def signs_beside_server(evidence: Evidence) -> list[Message]:
    """Where the server seems to be the limit."""
    dropped = overflows(evidence) + evidence.counters.get("TCPReqQFullDrop", 0)
    if evidence.loopback or dropped:
        return []
    return [*_lossy_link(evidence), *_not_established(evidence), *_slow_link(evidence)]


def _lossy_link(evidence: Evidence) -> list[Message]:
    """What a link loses is sent again, or times out."""
    counts, by_clients = evidence.counts, evidence.resent_by_clients
    again = evidence.counters.get("RetransSegs", 0) + by_clients
    if again <= RETRANSMITTED_SHARE * counts.scheduled and not _measured(evidence):
        return []
    gone = silent(counts) + (counts.errors.get("connreset", 0) if after_losses(evidence) else 0)
    failed = server_errors(counts.errors) + counts.in_flight
    if 2 * gone < failed:
        return []
    return [
        LossyLink(
            segments=again,
            calls=counts.scheduled,
            by_clients=by_clients,
            measured_share=round(evidence.link_lost_share, 4),
        )
    ]


def _measured(evidence: Evidence) -> bool:
    """Was the link known to lose packets before the run, and does that explain what failed? A call
    is some packets, each of which may be lost."""
    counts, lost = evidence.counts, evidence.link_lost_share
    failed = share(server_errors(counts.errors) + counts.in_flight, counts.scheduled)
    return lost > RETRANSMITTED_SHARE and failed <= PACKETS * lost


def _not_established(evidence: Evidence) -> list[Message]:
    """Connections that fail with an error are counted by that error."""
    counts, lateness = evidence.counts, evidence.lateness_us
    if counts.established is None or lateness is None:
        return []
    missing = min(lateness.count - counts.established, silent(counts))
    otherwise = sum(counts.errors.values()) + counts.in_flight - silent(counts)
    if missing <= (1 - SUSTAINED_SHARE) * lateness.count + otherwise:
        return []
    failed = share(server_errors(counts.errors) + counts.in_flight, counts.scheduled)
    if 2 * share(missing, lateness.count) < failed:
        return []
    return [NotEstablished(missing=missing, connections=lateness.count)]


def _slow_link(evidence: Evidence) -> list[Message]:
    """Packets queue before a link that is too slow: connections are established late, by about as
    much as calls wait. The server, which has nothing to do with it, is slow besides where far more
    waits than that."""
    connect, lateness, queue = evidence.connect_us, evidence.lateness_us, evidence.queue
    if connect is None or connect.p90 < SLOW_US:
        return []
    if lateness and connect.p90 < MUCH_LATER * lateness.p99:
        return []
    of_timeout = connect.p90 / 1e6 >= SLOW_SHARE * evidence.timeout_s > 0
    of_queue = False
    if queue is not None and queue.growing and evidence.seconds:
        connecting = connect.p90 / 1e6 * queue.connections / evidence.seconds
        of_queue = connecting >= SLOW_SHARE * queue.open_at_end
    if not (of_queue if evidence.sustained else of_timeout):
        return []
    return [SlowConnections(connect_p90_us=connect.p90)]
