"""Evidence against the network between clients and target, where calls fail or wait.

The target's kernel establishes connections and acknowledges data however slow its server is, unless
an accept queue is full. If none overflowed, the network lost or delayed these packets.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from workbench.analysis.evidence import SUSTAINED_SHARE, Evidence
from workbench.analysis.faults import after_losses, overflows, silent
from workbench.analysis.histogram import percentile_supported
from workbench.documents import Counts, server_errors
from workbench.messages.base import Said, share
from workbench.messages.reasons import reason

RETRANSMITTED_SHARE = 0.01
"""Retransmitted segments per call; a healthy network loses almost none."""

PACKETS = 10
"""Packets of a call with its own connection, both ways."""

SLOW_SHARE = 0.2
"""Share of the timeout, or of the waiting connections, that is due to connecting."""

SLOW_US = 20_000
"""The target's kernel does not take this long to establish a connection."""

MUCH_LATER = 3
"""Connections must be later than the clients themselves by this factor to count."""

FAR_SLOWER = 2.0
FAR_SLOWER_US = 1_000
"""Ratio and difference of medians from which one client is named: all see the same server."""

_UNREACHABLE = ("ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EHOSTDOWN", "ENONET")
UNREACHABLE_ERRORS = frozenset(f"other-{name}" for name in _UNREACHABLE)


def unreachable(counts: Counts) -> int:
    return sum(counts.errors.get(name, 0) for name in UNREACHABLE_ERRORS)


def unreachable_sign(evidence: Evidence) -> Said | None:
    """The network itself reports that the target is unreachable."""
    counts = evidence.counts
    lost = unreachable(counts)
    if lost <= (1 - SUSTAINED_SHARE) * counts.scheduled:
        return None
    return reason("unreachable", failed=lost, calls=counts.scheduled)


def remarks(evidence: Evidence) -> list[Said]:
    """What the network did at a sustained point: response times are not the server's alone."""
    found = slower_clients(evidence)
    again = _retransmitted(evidence)
    if _of_link(evidence) and again > RETRANSMITTED_SHARE * evidence.counts.scheduled:
        times = evidence.latency_us
        supported = times is not None and percentile_supported(times.count, 0.99)
        found.append(
            reason(
                "sustained-over-lossy-link",
                segments=again,
                calls=evidence.counts.scheduled,
                by_clients=evidence.resent_by_clients,
                p99_us=times.p99 if times and supported else None,
            )
        )
    return found


def slower_clients(evidence: Evidence) -> list[Said]:
    """Clients that see far longer service times than the others."""
    found: list[Said] = []
    for name, times in evidence.clients.items():
        others = [each.p50 for other, each in evidence.clients.items() if other != name]
        p50_us = median_low(others) if others else times.p50
        if times.p50 >= max(FAR_SLOWER * p50_us, p50_us + FAR_SLOWER_US):
            found.append(
                reason("client-slower", client=name, p50_us=times.p50, others_p50_us=p50_us)
            )
    return found


def _of_link(evidence: Evidence) -> bool:
    """Whether packets can only be lost on a link."""
    dropped = overflows(evidence) + evidence.counters.get("TCPReqQFullDrop", 0)
    return not evidence.loopback and not dropped


def _retransmitted(evidence: Evidence) -> int:
    return evidence.counters.get("RetransSegs", 0) + evidence.resent_by_clients


def signs_beside_server(evidence: Evidence, server: Sequence[Said]) -> list[Said]:
    """Signs of the network where the server seems to be the limit, by its signs."""
    if slower := _within_limit_of_others(evidence, server):
        return slower
    if not _of_link(evidence):
        return []
    return [*_lossy_link(evidence), *_not_established(evidence), *_slow_link(evidence)]


def _within_limit_of_others(evidence: Evidence, server: Sequence[Said]) -> list[Said]:
    """Clients without which response times would be within the limit, if that is the only sign."""
    slower = slower_clients(evidence)
    names = {each.data()["client"] for each in slower}
    of_others = [times.p99 for name, times in evidence.clients.items() if name not in names]
    limits = [1000 * each.data()["limit_ms"] if each.code == "too-slow" else 0.0 for each in server]
    return slower if slower and max(of_others, default=0) <= min(limits) else []


def _lossy_link(evidence: Evidence) -> list[Said]:
    """Packets that a link loses are retransmitted, or calls time out."""
    counts, by_clients = evidence.counts, evidence.resent_by_clients
    again = _retransmitted(evidence)
    if again <= RETRANSMITTED_SHARE * counts.scheduled and not _measured(evidence):
        return []
    unanswered = silent(counts) + (
        counts.errors.get("connreset", 0) if after_losses(evidence) else 0
    )
    failed = server_errors(counts.errors) + counts.in_flight
    if 2 * unanswered < failed:
        return []
    return [
        reason(
            "lossy-link",
            segments=again,
            calls=counts.scheduled,
            by_clients=by_clients,
            measured_share=round(evidence.link_lost_share, 4) or None,
        )
    ]


def _measured(evidence: Evidence) -> bool:
    """Whether the link was known to lose packets before the run, and that explains the failures. A
    call takes several packets, each of which may be lost."""
    counts, lost = evidence.counts, evidence.link_lost_share
    failed = share(server_errors(counts.errors) + counts.in_flight, counts.scheduled)
    return lost > RETRANSMITTED_SHARE and failed <= PACKETS * lost


def _not_established(evidence: Evidence) -> list[Said]:
    """Connections that were never established, and did not fail with an error either."""
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
    return [reason("not-established", missing=missing, connections=lateness.count)]


def _slow_link(evidence: Evidence) -> list[Said]:
    """Packets queue before a link that is too slow, so connections are established late, by about
    as much as calls wait. If calls wait much longer than that, the server is slow as well."""
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
    return [reason("slow-connections", connect_p90_us=connect.p90)]
