"""Whether a server is faulty: it answers incorrectly where it could answer correctly.

A fault is an unexpected reply: a wrong status or body, a truncated reply, something other than
HTTP, a connection closed before all its calls were made, a reset, a failure of TLS. Silence and
refused connections are not faults: that is how an overloaded server behaves. Beyond the clients'
own limit no server is called faulty. Background load below that limit does not make a server
answer incorrectly, so it is no excuse by itself.

How faults are distinguished from load shedding, which is a limit of capacity:

1. A wrong body, a malformed or truncated response, or a status unrelated to load (404) are faults
   at any rate, however the connection ended.
2. A 5xx, a connection closed or reset in place of a reply, also during a handshake, may be load
   shedding. They count as such if there is a sign of saturation at the same time: the server's CPU
   fills a core (or its share of a core that other programs use, too), its accept queue overflows,
   calls time out, or connections pile up.
3. A server may shed load by a limit of its own without being busy. If it rejects calls (503, 429, a
   closed or reset connection), the next lower rate was clean, and it answers as many calls per
   second as there, the rejections count as that limit.
4. Neither excuses an error that the same server showed at a lower rate without such signs.

So a server that rejects calls from the lowest rate on, without any load to justify it, is faulty.
Its faults are compared with its right replies: calls without any reply, or excused ones, do not
make wrong replies fewer.

Three things are not the server's fault: resets that the target's kernel did not send, which came
from between the machines; resets that may have followed a lost reply, where the target
retransmitted about as many segments; rejections no more frequent than the lateness of the clients,
which may have caused bursts.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.analysis.evidence import SUSTAINED_SHARE, Evidence
from workbench.documents import Counts, client_errors, timed_out
from workbench.messages.base import Said, share
from workbench.messages.reasons import reason

FULL_PCT = 80.0
"""Percent of one core, mean over a point including ramp and drain: the core is full."""

FULL_BESIDE_OTHERS_PCT = 20.0
"""The same under background load: what the scheduler leaves of a shared core."""

SILENT_SHARE = 0.005
"""Share of the calls that arrived: more timeouts or overflows of the queue show saturation."""

STEADY = 0.9
"""Share of the replies at the next lower rate with which rejections are a limit, no fault."""

BURST = 10
"""Connections that late clients start at once; a server with room easily accepts fewer."""

LOST_PER_RETRANSMISSION = 2
"""Failed calls that one retransmitted segment may explain."""

MOST_KINDS = 3
"""The most kinds of faults that a point reports."""

_SHED = (
    "connreset",
    "protocol",
    "protocol-closed",
    "protocol-408",
    "protocol-429",
    "tls-closed",
    "tls-tlsv1-alert-internal-error",
)
"""Errors that a healthy server may show when it sheds load; any 5xx is another."""

_REFUSED = ("connreset", "protocol-closed", "protocol-429", "protocol-503", "tls-closed")


def is_fault(error: str) -> bool:
    """Whether an error is an unexpected reply. It is correct to close a connection that has been
    idle for long ("protocol-idle"), or to drop messages beyond the high-water mark, as PUB does
    ("protocol-lost")."""
    correct = error in ("protocol-idle", "protocol-lost")
    return error.startswith(("protocol", "check", "connreset", "tls")) and not correct


def faults(evidence: Evidence, arrived: int, *, busy: bool) -> list[Said]:
    """The server's faults, most frequent first; empty: it is not faulty. `arrived`: calls that
    reached the server or could have; `busy`: under background load."""
    found = {name: n for name, n in evidence.counts.errors.items() if is_fault(name)}
    # What a server that ended had begun is cut off.
    saturated = evidence.exit_status is not None or _saturated(evidence, arrived, busy=busy)
    refused_by_limit = _as_many_as_below(evidence)
    own: dict[str, int] = {}
    for name, n in found.items():
        excused = (saturated and _is_shed(name)) or (refused_by_limit and name in _REFUSED)
        if name in evidence.faulty_before or not excused or _is_cut(name, evidence):
            own[name] = n
    if own.get("connreset", 0) and (_from_elsewhere(evidence) or after_losses(evidence)):
        del own["connreset"]
    refused = [name for name in own if name in _REFUSED and not _is_cut(name, evidence)]
    if sum(own[name] for name in refused) <= _in_bursts(evidence) * arrived:
        own = {name: n for name, n in own.items() if name not in refused}
    wrong = sum(own.values())
    if wrong <= (1 - SUSTAINED_SHARE) * (evidence.counts.succeeded + wrong):
        return []
    _ended_as_one(own, evidence)
    ranked = sorted(own.items(), key=lambda item: -item[1])[:MOST_KINDS]
    return [_unexpected_replies(evidence, name, n, arrived) for name, n in ranked]


def _ended_as_one(own: dict[str, int], evidence: Evidence) -> None:
    """A server that ends connections too early causes a reset if the next request is already under
    way: both are counted as the more frequent one."""
    ways = [
        name
        for name in ("protocol-closed", "connreset")
        if name in own and name in evidence.faults and evidence.faults[name].answered
    ]
    if len(ways) > 1:
        rarer = min(ways, key=lambda name: own[name])
        (other,) = (name for name in ways if name != rarer)
        own[other] += own.pop(rarer)


def resets_from_elsewhere(evidence: Evidence, arrived: int) -> list[Said]:
    """A sign of the network: connections reset by something between the machines."""
    lost = evidence.counts.errors.get("connreset", 0)
    if lost <= (1 - SUSTAINED_SHARE) * arrived or not _from_elsewhere(evidence):
        return []
    return [
        reason(
            "resets-from-elsewhere",
            failed=lost,
            calls=arrived,
            sent=evidence.counters.get("OutRsts", 0),
        )
    ]


def overflows(evidence: Evidence) -> int:
    counters = evidence.counters
    return max(counters.get("ListenOverflows", 0), counters.get("ListenDrops", 0))


def silent(counts: Counts) -> int:
    """Calls without any reply or error from the server."""
    return counts.in_flight + timed_out(counts.errors)


def arrived(counts: Counts) -> int:
    """Calls that reached the server, or could have."""
    return counts.scheduled - counts.unsent - client_errors(counts.errors)


def _is_shed(error: str) -> bool:
    return error in _SHED or error.startswith(("protocol-5", "protocol-close-", "check-5"))


def _is_cut(error: str, evidence: Evidence) -> bool:
    """Whether the connection was reset within a reply."""
    return error == "connreset" and error in evidence.faults and evidence.faults[error].received > 0


def _saturated(evidence: Evidence, arrived: int, *, busy: bool) -> bool:
    cpu_pct = evidence.server_cpu_pct
    full = cpu_pct is not None and cpu_pct >= (FULL_BESIDE_OTHERS_PCT if busy else FULL_PCT)
    # The share of calls answered in time already shows in the faults; here the connections count.
    queue = evidence.queue and replace(evidence.queue, steady_share=1.0)
    piling_up = queue is not None and queue.growing
    without_room = max(silent(evidence.counts), overflows(evidence)) > SILENT_SHARE * arrived
    return full or piling_up or without_room


def _as_many_as_below(evidence: Evidence) -> bool:
    if evidence.clean_per_s is None or evidence.seconds <= 0:
        return False
    return evidence.counts.succeeded / evidence.seconds >= STEADY * evidence.clean_per_s


def _in_bursts(evidence: Evidence) -> float:
    """Share of the calls that late clients may have sent in bursts, or never sent."""
    counts, lateness = evidence.counts, evidence.lateness_us
    share_of = share(counts.unsent, counts.scheduled)
    if lateness is None or evidence.seconds <= 0:
        return share_of
    at_once = lateness.count / evidence.seconds * lateness.p99 / 1e6
    return share_of + (evidence.late_share or 0.0) * (at_once >= BURST)


def _from_elsewhere(evidence: Evidence) -> bool:
    """Whether the target's kernel sent fewer than half as many resets, of any cause, as arrived."""
    fault = evidence.faults.get("connreset")
    if fault is None or evidence.server_cpu_pct is None:
        return False
    return 2 * evidence.counters.get("OutRsts", 0) < fault.connections


def after_losses(evidence: Evidence) -> bool:
    """Whether lost packets explain the resets: a server that closes with unread data resets the
    connection, and if its reply was lost, only the reset arrives."""
    again: float = evidence.counters.get("RetransSegs", 0)
    lost, scheduled = evidence.counts.errors.get("connreset", 0), evidence.counts.scheduled
    again = max(again, evidence.link_lost_share * scheduled)
    return not evidence.loopback and lost <= LOST_PER_RETRANSMISSION * again


def _unexpected_replies(evidence: Evidence, error: str, failed: int, arrived: int) -> Said:
    fault, more = evidence.faults.get(error), {}
    if fault is not None:
        more = {
            "first_s": round(fault.first_us / 1e6, 3),
            "answered": fault.answered,
            "received": fault.received,
            "example": _written(fault.example),
            "why": "".join(each if each.isprintable() else "?" for each in fault.why),
        }
    agreed = evidence.calls_per_connection
    return reason(
        "unexpected-replies", error=error, failed=failed, calls=arrived, agreed=agreed, **more
    )


def _written(example: str) -> str:
    """Bytes in Python's notation, so that control characters have no effect."""
    return repr(example.encode("latin-1", "replace"))[2:-1]
