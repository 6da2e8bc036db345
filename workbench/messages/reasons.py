"""Reasons for a point's verdict, remarks on it, and the limits of a search.

What a client reports ("client-gone", "agent-problem") is quoted; everything else is a figure.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.documents import PointStop
from workbench.formatting import duration
from workbench.messages.base import (
    FORMATS,
    Record,
    Said,
    Templates,
    names_of,
    percent,
    recorded,
    share,
)
from workbench.messages.causes import CAUSES
from workbench.messages.errors import listed_errors, unexpected

_RELIEF = {
    "worker": " Use one more worker per client (workers).",
    "machine": " Add a client machine.",
}
"""By what would relieve the clients."""


def _times(p50_us: int, p99_us: int) -> str:
    found = (("p50", p50_us), ("p99", p99_us))
    return " and ".join(f"{duration(us)} of {name}" for name, us in found if us)


def _pct(value: float) -> str:
    return f"{value:.3g} %"


LONGEST_EXAMPLE = 80
"""Longest quoted part of a reply, in characters."""


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


FORMATS |= {
    "does": unexpected,
    "errors": listed_errors,
    "limit_ms": _ms,
    "pct": _pct,
    "percent_of": lambda part, whole: percent(share(part, whole)),
    "relief": _RELIEF.__getitem__,
    "shortened": lambda said: said[:LONGEST_EXAMPLE] + "..." * (len(said) > LONGEST_EXAMPLE),
    "times": _times,
    "whose": lambda own, all_: "the clients" if own == all_ else "target and clients",
}

TEMPLATES = Templates("""
# The clients, or other programs on their cores, are the limit.
out-of-ports:
    The clients ran out of local ports {times:how_often}. Widen their port range, add a client,
    or cool down longer.
out-of-descriptors:
    The clients ran out of file descriptors {times:how_often}. {most_open:?The load tool has at
    most {most_open:,} connections open in each worker, whatever nofile is: use more
    workers|Raise nofile}, or shorten the timeout.
calls-unsent:
    The clients never sent {unsent:,} of {calls:,} calls.{relief:?{relief:relief}}
clients-late:
    The clients started {late_share:percent} of connections over 5 ms late{p99_us:known? (p99
    {p99_us:ms})}.{relief:?{relief:relief}}
client-busy:
    The busiest client worker used {cpu_pct:.0f} % of its core.{relief:?{relief:relief}}
beyond-client-limit:
    The clients reached at most {limit_per_s:,.0f}/s against the null server, so
    {offered_per_s:,.0f}/s says nothing about the server.{relief:?{relief:relief}}
no-client-limit:
    The clients sustained no rate against the null server, so {offered_per_s:,.0f}/s says
    nothing about the server.{relief:?{relief:relief}}
offered-less:
    The load tool offered {offered_per_s:,.0f}/s, not {planned_per_s:,.0f}/s.
background-load:
    Background load took {cpu_pct:.0f} % of a core from server and
    clients{stolen_pct:?{stolen_pct:by_host}}. Repeat on a quiet machine.
background-load-at-calibration:
    Background load took {cpu_pct:.0f} % of a core during calibration; the client limit may be
    higher. Repeat on a quiet machine.
# The network is the limit.
unreachable:
    The network could not reach the server for {failed:,} of {calls:,} calls. Check the route
    between the machines.
lossy-link:
    The link loses packets: {by_clients:?{by_clients:whose $segments}|the target} retransmitted
    {segments:number_of segments} in {calls:,} calls{measured_share:?; before the run it lost
    {measured_share:percent}}, and no accept queue overflowed. Check the network between the
    machines.
sustained-over-lossy-link:
    Sustained, but the link loses packets: {by_clients:?{by_clients:whose $segments}|the target}
    retransmitted {segments:number_of segments} in {calls:,} calls, which waited for
    it{p99_us:known? (p99 {p99_us:ms})}. Check the network between the machines.
client-slower:
    {client} saw service times of {p50_us:thousandths ,.3g} ms, the other clients
    {others_p50_us:thousandths ,.3g} ms (p50): high percentiles are its own. Check its link.
not-established:
    {missing:,} of {connections:,} connections were not established in time, and no accept queue
    overflowed. Check the network between the machines, or raise timeout_s.
slow-connections:
    Connections took {connect_p90_us:ms} (p90) to be established, and no accept queue
    overflowed. Check the network between the machines.
resets-from-elsewhere:
    {failed:,} of {calls:,} calls ended with a reset, and the target sent {sent:number_of
    resets}: something between the machines ends connections. Check firewalls on the way.
# The server is the limit, or faulty. `errors`: by class, and "in flight" (`errors.ERROR_LABELS`);
# `calls`: those that reached the server, or could have.
server-ended:
    The server ended {status:exit} during the point.
calls-failed:
    {failed:,} of {calls:,} calls failed ({failed:percent_of $calls}): {errors:errors}.
# Of the first one, `first_s`: when it came, from the point's start; `received`: bytes, `example`:
# the first of these in Python's notation, or a wrong body; `answered`: calls on its connection
# before it, of those `agreed`; `why`: the parser's reason, if it is malformed.
unexpected-replies:
    The server {error:does $received $answered $agreed}{why:? ({why})}: {failed:,} of {calls:,}
    calls failed ({failed:percent_of $calls}){first_s:known?, first after {first_s:.2f}
    s}.{example:? The first: "{example:shortened}".}{received:?}{answered:?}{agreed:?}
fell-behind:
    The server fell behind: {replied:,} of {calls:,} calls were answered while they came in, and
    {waiting:,} connections were waiting at the end.
accept-queue-overflowed:
    The server's accept queue overflowed {times:how_often}.
# The point is incomplete, too small, or without a single cause.
interrupted:
    Ended early; excluded from results.
recording-cut:
    The recording ends during this point; excluded from results.
audit-failed:
    The audit failed: {scheduled:,} calls were scheduled and {found:,} are accounted for. Please
    report this.
client-audit-failed:
    The audit failed: the figures of one client do not add up. Please report this.
too-few-calls:
    {calls:number_of calls}: too few for a verdict, which takes {needed:,}. Use more connections
    or more seconds per point.
load-went-elsewhere:
    {share:percent} of the requests went elsewhere, most of them to {host}, so nothing is stated
    about the server. Use paths without a host in the locustfile.
hosts-uncounted:
    {workers:number_of workers} of Locust did not count where requests went, so nothing is
    stated about the server, and response times are rounded as Locust rounds them. Start workers
    with -f -, which gets them what counts.
worker-of-no-use:
    {said}.
workers-joined:
    {workers:number_of workers} of Locust joined within this point, and Locust gave users to
    {workers:1?it|them}.
other-workers:
    {workers:number_of workers} of Locust ran this point, and {expected:,} were expected.
shape-decided:
    The LoadTestShape had up to {users:number_of users} in place of the plan's {planned:,}.
too-little-work:
    The server used {cpu_ms:,.0f} ms of CPU time, too little for {calls:,} replies, so something
    else answered. Check what listens on its port.
too-short:
    {seconds:.1f} s: too short for a verdict, which takes {needed_s:g} s. Use more connections
    or more seconds per point.
no-single-cause:
    {succeeded:percent_of $calls} of the calls succeeded: {clients:,} failed at the clients and
    {server:,} at the server, neither enough to be the cause. Repeat the run.
client-gone:
    {said}{client:?}
target-lost:
    {said} Excluded from results.
target-silent:
    The machine '{machine}' did not answer within {within_s:.0f} s after this point. Excluded
    from results.
server-changed:
    During this point {name} changed: {said}. Excluded from results.
computer-slept:
    This computer slept for {seconds:.0f} s during this point. Excluded from results.
point-overdue:
    The load agent on {client} had not finished after {allowed_s:.0f} s and was stopped: it had
    too little CPU time, or too many calls to end at once.
agent-problem:
    The load agent on {client}: {said}.
tool-failed:
    {tool} on {client} {said}.
tool-interrupted:
    {tool} on {client} did not end by itself and was interrupted; calls without a result count
    as in flight.
windows-lost:
    The clients' link lost {count:number_of reports} of 200 ms; the windows have gaps, the
    point's figures are complete.
# Remarks on points that are ok.
sustained-under-background-load:
    Sustained although background load took {cpu_pct:.0f} % of a
    core{stolen_pct:?{stolen_pct:by_host}}; response times may be longer for it.
sustained-with-overflows:
    Sustained, but the server's accept queue overflowed {times:how_often}; those clients waited
    a second or more.
too-short-for-queue:
    Sustained, but {seconds:.1f} s are too short for these response times to show whether the
    server falls behind: connections stay open for {stay_s:.1f} s. Use {needed_s:?points of at
    least {needed_s:,.0f} s|longer points}.
response-times-rose:
    Response times rose throughout the point, from {first_us:thousandths ,.3g} to
    {last_us:thousandths ,.3g} ms (median of its first and last tenth): its percentiles depend
    on its length.
client-limited-times:
    Response times are client-limited: up to {p50_us:times $p99_us} may be the clients' own.
latency-includes-lateness:
    The latency includes the clients' own lateness (p99 {p99_us:ms}); the service time does not.
# The limits of a search or a workload, which a point exceeds.
too-many-errors:
    {errors_pct:pct} errors, more than the {limit_pct:pct} allowed.
too-slow:
    p99 {p99_ms:limit_ms}, above the limit of {limit_ms:limit_ms}.
""")

LIMITS = ("too-many-errors", "too-slow")

RELIEVED = tuple(code for code, (_, text) in TEMPLATES.items() if "relief" in names_of(text)[1])
"""Those that say what would relieve the clients, unless another one does."""

reason = TEMPLATES.stated


def limit_phrase(errors_pct: float, p99_ms: float | None) -> str:
    """Return the limits as part of a sentence: "at most 1 % errors and a p99 of at most 50 ms"."""
    slow = "" if p99_ms is None else f" and a p99 of at most {_ms(p99_ms)}"
    return f"at most {_pct(errors_pct)} errors{slow}" if errors_pct else f"no errors{slow}"


def what_fails(said: Said) -> str:
    """Return what a faulty server does: "answers 500"; empty: this reason is another."""
    if said.code != "unexpected-replies":
        return ""
    found = said.data()
    return unexpected(found["error"], *map(found.get, ("received", "answered", "agreed")))


def reasons_of(stop: PointStop) -> list[Said]:
    """The reasons of a recorded point; `recorded` where the code is missing or unknown."""
    findings: Sequence[Record] = stop.findings
    if len(findings) != len(stop.reasons):
        findings = [{}] * len(stop.reasons)
    return [
        TEMPLATES.read(finding) or CAUSES.read(finding) or recorded(sentence)
        for finding, sentence in zip(findings, stop.reasons, strict=True)
    ]
