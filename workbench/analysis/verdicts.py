"""The verdict on one point, from evidence alone.

Order of precedence:

1. Interrupted, audit failed, or too short: `inconclusive`.
2. Offered more than the clients' ceiling, and it did not hold: `client-limited`, whatever else is
   seen of the server, because the fastest honest server would have failed too.
3. Both the clients and the server (or the network) show signs, or other programs took CPU that
   the one with signs may have needed: `inconclusive`, with all of them. Such programs come before
   the ceiling, too, at the point or while it was looked for: they lower what clients reach, and
   another client would not cure it.
4. Signs on one side: `ports-limited`, `client-limited`, `network-limited`, `server-limited`.
5. At least 99 % of the calls succeeded: `ok`. Below that without a sign: `inconclusive`.

A high client CPU is no sign while the point holds: a busy client that kept its schedule was not
the limit. Nor are kernel counters: they explain, they do not accuse.
"""

from __future__ import annotations

import math

from workbench.analysis.evidence import HOLDS, Evidence, conserved, share
from workbench.analysis.histogram import percentile_supported
from workbench.documents import WINDOW_US, Counts, Verdict, client_errors, server_errors
from workbench.plans import FEWEST_SAMPLES, SHORTEST_S

LATE_SHARE = 0.05
"""Of connections started over 5 ms late. A client past its limit falls ever further behind and is
late with most; a hiccup of the machine touches a few hundredths."""

LOST_SHARE = 0.005
"""Of calls the clients lost or never started, once a point does not hold: half of what `HOLDS`
allows, so that whoever lost the most of what is missing is named."""

BUSY_PCT = 90.0
"""Of its core: a worker above this may be what slows the replies."""

OTHERS_PCT = 25.0
"""Of a core, taken by other programs on the cores of server and clients: more than a desktop at
rest takes, and enough to move a limit."""

_UNREACHABLE = ("ENETUNREACH", "EHOSTUNREACH", "ENETDOWN", "EHOSTDOWN", "ENONET")

_FATES = {
    "client-timo": "timed out",
    "socket-timo": "timed out while connecting",
    "connrefused": "were refused",
    "connreset": "were reset",
    "protocol": "got a wrong answer",
}


def judge(evidence: Evidence) -> tuple[Verdict, list[str]]:
    """The verdict and its reasons, sentences for people (may be none when it is `ok`)."""
    flaw = _flaw(evidence)
    if flaw:
        return "inconclusive", [flaw]
    ports, clients = _ports_signs(evidence), _client_signs(evidence)
    network, server = _network_signs(evidence), _server_signs(evidence)
    beyond = []
    if ports or clients or network or server or not evidence.held:
        beyond = _beyond_ceiling(evidence)
    others = _others(evidence) if beyond or clients or server else []
    if beyond and not others:
        others = _others_at_ceiling(evidence)
    if others:
        others = [f"{others[0]} Run it again when the machine is quiet."]
    if beyond:
        disturbed = [*others, *(_without_relief(reason, evidence) for reason in beyond)]
        limited = _told_once([*beyond, *ports, *clients], evidence)
        return ("inconclusive", disturbed) if others else ("client-limited", limited)
    if network or server:
        clients += _busy_client(evidence)
    reasons = _told_once([*others, *ports, *clients, *network, *server], evidence)
    if others or ((ports or clients) and (network or server)):
        return "inconclusive", reasons
    verdicts: list[tuple[list[str], Verdict]] = [
        (ports, "ports-limited"),
        (clients, "client-limited"),
        (network, "network-limited"),
        (server, "server-limited"),
    ]
    for signs, verdict in verdicts:
        if signs:
            return verdict, reasons
    if evidence.held:
        return "ok", _remarks(evidence)
    return "inconclusive", [_no_single_cause(evidence)]


def _flaw(evidence: Evidence) -> str:
    counts = evidence.counts
    if not evidence.complete:
        return "The point was interrupted; its figures count for nothing."
    if not conserved(counts):
        found = counts.unsent + counts.succeeded + counts.in_flight + sum(counts.errors.values())
        return (
            f"The audit failed: {counts.scheduled:,} calls were scheduled and {found:,} are "
            "accounted for. Please report this."
        )
    if not evidence.conserved:
        return "The audit failed: a client's own figures do not add up. Please report this."
    if counts.scheduled < FEWEST_SAMPLES:
        return (
            f"The point holds {counts.scheduled:,} calls; a verdict needs {FEWEST_SAMPLES}. "
            "Give it more connections or more seconds."
        )
    # Poisson arrivals may end a window early.
    if evidence.seconds < SHORTEST_S - WINDOW_US / 1e6:
        return (
            f"The point lasted {evidence.seconds:.1f} s; a verdict needs {SHORTEST_S:g} s. "
            "Give it more connections or more seconds."
        )
    return ""


def _ports_signs(evidence: Evidence) -> list[str]:
    counts = evidence.counts
    lost = counts.errors.get("addrunavail", 0)
    if evidence.held or lost <= LOST_SHARE * counts.scheduled:
        return []
    return [
        f"The clients ran out of local ports {_times(lost)}. Widen their port range, add a client, "
        "or cool down longer."
    ]


def _client_signs(evidence: Evidence) -> list[str]:
    counts, signs = evidence.counts, []
    lost = counts.errors.get("fd-unavail", 0) + counts.errors.get("ftab-full", 0)
    if not evidence.held and lost > LOST_SHARE * counts.scheduled:
        signs.append(
            f"The clients ran out of descriptors {_times(lost)}. Raise nofile, or shorten the "
            "timeout."
        )
    if not evidence.held and counts.unsent > LOST_SHARE * counts.scheduled:
        signs.append(
            f"The clients never started {counts.unsent:,} of {counts.scheduled:,} calls. "
            f"{_relief(evidence)}"
        )
    if evidence.late_share > LATE_SHARE:
        signs.append(
            f"The clients started {_pct(evidence.late_share)} of their connections more than 5 ms "
            f"late{_worst_lateness(evidence)}. {_relief(evidence)}"
        )
    return signs


def _busy_client(evidence: Evidence) -> list[str]:
    if evidence.client_cpu_pct < BUSY_PCT:
        return []
    return [
        f"The busiest client worker used {evidence.client_cpu_pct:.0f} % of its core. "
        f"{_relief(evidence)}"
    ]


def _others(evidence: Evidence) -> list[str]:
    if evidence.others_cpu_pct < OTHERS_PCT:
        return []
    return [
        f"Other programs took {evidence.others_cpu_pct:.0f} % of a core from server and clients."
    ]


def _others_at_ceiling(evidence: Evidence) -> list[str]:
    if evidence.ceiling_others_pct < OTHERS_PCT:
        return []
    return [
        f"Other programs took {evidence.ceiling_others_pct:.0f} % of a core while the clients' own"
        " ceiling was looked for; it may be higher."
    ]


def _beyond_ceiling(evidence: Evidence) -> list[str]:
    ceiling = evidence.ceiling_per_s
    # The rate really offered differs from the plan's by rounding.
    if ceiling is None or evidence.offered_per_s <= ceiling * 1.005:
        return []
    reach = f"reached no more than {ceiling:,.0f}/s" if ceiling else "held no rate"
    return [
        f"The clients {reach} against the null server, so "
        f"{evidence.offered_per_s:,.0f}/s says nothing about {evidence.server}. "
        f"{_relief(evidence)}"
    ]


def _network_signs(evidence: Evidence) -> list[str]:
    counts = evidence.counts
    lost = _unreachable(counts)
    if lost <= (1 - HOLDS) * counts.scheduled:
        return []
    return [
        f"The network could not reach {evidence.server} for {lost:,} of {counts.scheduled:,} "
        "calls. Check the route between the machines."
    ]


def _server_signs(evidence: Evidence) -> list[str]:
    counts, signs = evidence.counts, []
    arrived = counts.scheduled - counts.unsent - client_errors(counts.errors)
    lost = server_errors(counts.errors) - _unreachable(counts) + counts.in_flight
    if lost > (1 - HOLDS) * arrived:
        signs.append(
            f"{evidence.server} lost {lost:,} of {arrived:,} calls ({_pct(lost / arrived)}): "
            f"{_fates(counts)}."
        )
    queue = evidence.queue
    if queue is not None and queue.growing:
        signs.append(
            f"{evidence.server} fell behind: it answered {queue.replied:,} of {queue.due:,} calls "
            f"while they came in, and {queue.open_at_end:,} connections were waiting at the end."
        )
    overflows = _overflows(evidence)
    if signs and overflows:
        signs.append(f"Its accept queue overflowed {_times(overflows)}.")
    return signs


def _remarks(evidence: Evidence) -> list[str]:
    """What a reader of a point that held should know."""
    remarks = [
        f"{evidence.server} held this although other programs took"
        f" {evidence.others_cpu_pct:.0f} % of a core; response times may be longer for it."
        for _ in _others(evidence)
    ]
    overflows = _overflows(evidence)
    if overflows:
        remarks.append(
            f"{evidence.server} held, but its accept queue overflowed {_times(overflows)}; "
            "those clients waited a second or more."
        )
    lateness = evidence.lateness_us
    if lateness and percentile_supported(lateness.count, 0.99) and lateness.p99 > 5_000:
        remarks.append(
            f"The latency includes the clients' own lateness (p99 {lateness.p99 / 1000:,.0f} ms), "
            "the service time does not."
        )
    return remarks


def _no_single_cause(evidence: Evidence) -> str:
    counts = evidence.counts
    own = counts.unsent + client_errors(counts.errors)
    theirs = counts.scheduled - counts.succeeded - own
    return (
        f"{_pct(share(counts.succeeded, counts.scheduled))} of the calls succeeded: the clients "
        f"lost {own:,}, {evidence.server} {theirs:,}, neither enough to be called the cause. "
        "Run it again."
    )


def _told_once(reasons: list[str], evidence: Evidence) -> list[str]:
    """Several signs of the clients ask for the same relief: the last of them says so."""
    bare = [_without_relief(reason, evidence) for reason in reasons]
    asking = [n for n, reason in enumerate(reasons) if reason != bare[n]]
    return [bare[n] if n in asking[:-1] else reason for n, reason in enumerate(reasons)]


def _without_relief(reason: str, evidence: Evidence) -> str:
    return reason.removesuffix(f" {_relief(evidence)}")


def _relief(evidence: Evidence) -> str:
    if evidence.workers < evidence.client_cores:
        return "Give them another worker."
    return "Add a client machine."


def _worst_lateness(evidence: Evidence) -> str:
    lateness = evidence.lateness_us
    return f" (p99 {lateness.p99 / 1000:,.0f} ms)" if lateness else ""


def _fates(counts: Counts) -> str:
    others = sum(n for name, n in counts.errors.items() if name.startswith("other"))
    fates = [(counts.errors.get(name, 0), words) for name, words in _FATES.items()]
    fates += [(others - _unreachable(counts), "failed otherwise")]
    fates += [(counts.in_flight, "were never answered")]
    return ", ".join(f"{n:,} {words}" for n, words in sorted(fates, reverse=True) if n)


def _unreachable(counts: Counts) -> int:
    return sum(counts.errors.get(f"other-{name}", 0) for name in _UNREACHABLE)


def _overflows(evidence: Evidence) -> int:
    counters = evidence.counters
    return max(counters.get("ListenOverflows", 0), counters.get("ListenDrops", 0))


def _pct(part: float) -> str:
    # 98.96 % must not be told as 99 %, the very limit it missed.
    return f"{math.floor(part * 1000) / 10:.1f} %"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"
