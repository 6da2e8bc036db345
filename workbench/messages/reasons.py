"""Reasons for a point's verdict, remarks on it, the limits of a search, and why a run ended.

What a client reports (`ClientGone`, `AgentProblem`) is quoted; everything else is a figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from workbench.documents import PointStop
from workbench.formatting import duration
from workbench.messages.base import (
    FORMATS,
    Message,
    Record,
    kinds,
    read,
    share,
)
from workbench.messages.causes import Cause
from workbench.messages.errors import listed_errors, unexpected


class Reason(Message):
    """A reason for a verdict."""


# The clients, or other programs on their cores, are the limit.

Relief: TypeAlias = Literal["", "worker", "machine"]
"""What would relieve the clients; empty: another message says so."""

_RELIEF: dict[Relief, str] = {
    "": "",
    "worker": " Use one more worker per client (workers).",
    "machine": " Add a client machine.",
}
FORMATS["relief"] = _RELIEF.__getitem__


class OutOfPorts(Reason):
    times: int
    template = """The clients ran out of local ports {times:how_often}. Widen their port range, add
        a client, or cool down longer."""


class OutOfDescriptors(Reason):
    times: int
    most_open: int = 0
    """Connections that one worker of the load tool may have open, whatever nofile is; 0: no such
    limit, or nofile is lower."""
    template = """The clients ran out of file descriptors {times:how_often}. {most_open:?The load
        tool has at most {most_open:,} connections open in each worker, whatever nofile is: use more
        workers|Raise nofile}, or shorten the timeout."""


class CallsUnsent(Reason):
    unsent: int
    calls: int
    relief: Relief = ""
    template = "The clients never sent {unsent:,} of {calls:,} calls.{relief:relief}"


class ClientsLate(Reason):
    """More connections were late than a hiccup explains."""

    late_share: float
    """Share of the started connections more than 5 ms behind their scheduled time."""
    p99_us: int | None = None
    """p99 of the lateness."""
    relief: Relief = ""
    template = """The clients started {late_share:percent} of connections over 5 ms
        late{p99_us:known? (p99 {p99_us:ms})}.{relief:relief}"""


class ClientBusy(Reason):
    cpu_pct: float
    """Percent of its core."""
    relief: Relief = ""
    template = "The busiest client worker used {cpu_pct:.0f} % of its core.{relief:relief}"


class BeyondClientLimit(Reason):
    offered_per_s: float
    limit_per_s: float
    relief: Relief = ""
    template = """The clients reached at most {limit_per_s:,.0f}/s against the null server, so
        {offered_per_s:,.0f}/s says nothing about the server.{relief:relief}"""


class NoClientLimit(Reason):
    offered_per_s: float
    relief: Relief = ""
    template = """The clients sustained no rate against the null server, so {offered_per_s:,.0f}/s
        says nothing about the server.{relief:relief}"""


class OfferedLess(Reason):
    """The server sustained what was offered, which was not the plan's rate."""

    offered_per_s: float
    planned_per_s: float
    template = "The load tool offered {offered_per_s:,.0f}/s, not {planned_per_s:,.0f}/s."


class BackgroundLoad(Reason):
    cpu_pct: float
    stolen_pct: float = 0.0
    """The part of it that the host of the virtual machine took."""
    template = """Background load took {cpu_pct:.0f} % of a core from server and
        clients{stolen_pct:by_host}. Repeat on a quiet machine."""


class BackgroundLoadAtCalibration(Reason):
    cpu_pct: float
    template = """Background load took {cpu_pct:.0f} % of a core during calibration; the client
        limit may be higher. Repeat on a quiet machine."""


# The network is the limit.


class Unreachable(Reason):
    failed: int
    calls: int
    template = """The network could not reach the server for {failed:,} of {calls:,} calls. Check
        the route between the machines."""


class _Retransmitted(Reason):
    segments: int
    """Retransmitted TCP segments."""
    calls: int
    by_clients: int = 0
    """Segments of these that clients retransmitted; the target did the others."""

    def who(self) -> str:
        if not self.by_clients:
            return "the target"
        return "the clients" if self.by_clients == self.segments else "target and clients"


class LossyLink(_Retransmitted):
    measured_share: float = 0.0
    """Share of segments lost when the link was checked before the run."""
    template = """The link loses packets: {who} retransmitted {segments:number_of segments} in
        {calls:,} calls{measured_share:?; before the run it lost {measured_share:percent}}, and no
        accept queue overflowed. Check the network between the machines."""


class SustainedOverLossyLink(_Retransmitted):
    p99_us: int | None = None
    """Of the latency; None: unknown, or too few calls."""
    template = """Sustained, but the link loses packets: {who} retransmitted {segments:number_of
        segments} in {calls:,} calls, which waited for it{p99_us:known? (p99 {p99_us:ms})}. Check
        the network between the machines."""


class ClientSlower(Reason):
    client: str
    p50_us: int
    others_p50_us: int
    template = """{client} saw service times of {p50_us:thousandths ,.3g} ms, the other clients
        {others_p50_us:thousandths ,.3g} ms (p50): high percentiles are its own. Check its link."""


class NotEstablished(Reason):
    """Connections were not established in time, which does not depend on the server but on the
    target's kernel."""

    missing: int
    connections: int
    template = """{missing:,} of {connections:,} connections were not established in time, and no
        accept queue overflowed. Check the network between the machines, or raise timeout_s."""


class SlowConnections(Reason):
    """Packets queue on the way."""

    connect_p90_us: int
    template = """Connections took {connect_p90_us:ms} (p90) to be established, and no accept queue
        overflowed. Check the network between the machines."""


class ResetsFromElsewhere(Reason):
    failed: int
    calls: int
    sent: int
    """Resets sent by the target's kernel."""
    template = """{failed:,} of {calls:,} calls ended with a reset, and the target sent
        {sent:number_of resets}: something between the machines ends connections. Check firewalls on
        the way."""


# The server is the limit, or faulty.

LONGEST_EXAMPLE = 80
"""Longest quoted part of a reply, in characters."""

FORMATS["errors"] = listed_errors


class ServerEnded(Reason):
    status: int
    """Exit status; negative: the signal."""
    template = "The server ended {status:exit} during the point."


class CallsFailed(Reason):
    failed: int
    calls: int
    """Calls that reached the server, or could have."""
    errors: dict[str, int]
    """By class, and "in flight"; see `errors.ERROR_LABELS`."""
    template = "{failed:,} of {calls:,} calls failed ({failed_share:percent}): {errors:errors}."

    def failed_share(self) -> float:
        return share(self.failed, self.calls)


class UnexpectedReplies(Reason):
    error: str
    """See `documents.ERROR_CLASSES`."""
    failed: int
    calls: int
    """Calls that reached the server, or could have."""
    agreed: int = 1
    """Calls per connection."""
    first_s: float | None = None
    """When the first one came, from the point's start. None: the load tool reports no details."""
    answered: int = 0
    """Calls answered on its connection before it."""
    received: int = 0
    """Bytes received of it."""
    example: str = ""
    """The first of these bytes in Python's notation; for a wrong body, the body."""
    why: str = ""
    """The parser's reason, of a malformed reply; empty: not known."""
    template = """The server {what}{why:? ({why})}: {failed:,} of {calls:,} calls failed
        ({failed_share:percent}){first_s:known?, first after {first_s:.2f} s}.{example:? The first:
        "{shortened}".}"""

    def what(self) -> str:
        """ "answers 500", "ends connections after 3 of 10 calls"."""
        within = self.error == "connreset" and self.received
        error = "protocol-cut" if within else self.error
        return unexpected(error, self.answered, self.agreed)

    def failed_share(self) -> float:
        return share(self.failed, self.calls)

    def shortened(self) -> str:
        longer = len(self.example) > LONGEST_EXAMPLE
        return f"{self.example[:LONGEST_EXAMPLE]}..." if longer else self.example


class FellBehind(Reason):
    """A queue grows at the server: unanswered calls have not failed yet."""

    replied: int
    calls: int
    """Scheduled calls."""
    waiting: int
    """Waiting connections at the end of the schedule."""
    template = """The server fell behind: {replied:,} of {calls:,} calls were answered while they
        came in, and {waiting:,} connections were waiting at the end."""


class AcceptQueueOverflowed(Reason):
    times: int
    template = "The server's accept queue overflowed {times:how_often}."


# The point is incomplete, too small, or without a single cause.


class Interrupted(Reason):
    """The run was stopped, the server skipped, or the load tool failed during the point."""

    template = "Ended early; excluded from results."


class RecordingCut(Reason):
    template = "The recording ends during this point; excluded from results."


class AuditFailed(Reason):
    scheduled: int
    found: int
    template = """The audit failed: {scheduled:,} calls were scheduled and {found:,} are accounted
        for. Please report this."""


class ClientAuditFailed(Reason):
    template = "The audit failed: the figures of one client do not add up. Please report this."


class TooFewCalls(Reason):
    calls: int
    needed: int
    template = """{calls:number_of calls}: too few for a verdict, which takes {needed:,}. Use more
        connections or more seconds per point."""


class LoadWentElsewhere(Reason):
    share: float
    host: str
    """With its port, the one that most of them went to."""
    template = """{share:percent} of the requests went elsewhere, most of them to {host}, so nothing
        is stated about the server. Use paths without a host in the locustfile."""


class HostsUncounted(Reason):
    """Workers of Locust without our plug-in."""

    workers: int
    template = """{workers:number_of workers} of Locust did not count where requests went, so
        nothing is stated about the server, and response times are rounded as Locust rounds them.
        Start workers with -f -, which gets them what counts."""


class WorkerOfNoUse(Reason):
    """A worker of Locust that could not take part."""

    said: str
    """Without a full stop."""
    template = "{said}."


class WorkersJoined(Reason):
    workers: int
    template = """{workers:number_of workers} of Locust joined within this point, and Locust gave
        users to {workers:1?it|them}."""


class OtherWorkers(Reason):
    workers: int
    expected: int
    template = (
        "{workers:number_of workers} of Locust ran this point, and {expected:,} were expected."
    )


class ShapeDecided(Reason):
    users: int
    planned: int
    template = """The LoadTestShape had up to {users:number_of users} in place of the plan's
        {planned:,}."""


class TooLittleWork(Reason):
    calls: int
    cpu_ms: float
    template = """The server used {cpu_ms:,.0f} ms of CPU time, too little for {calls:,} replies, so
        something else answered. Check what listens on its port."""


class TooShort(Reason):
    seconds: float
    needed_s: float
    template = """{seconds:.1f} s: too short for a verdict, which takes {needed_s:g} s. Use more
        connections or more seconds per point."""


class NoSingleCause(Reason):
    succeeded: int
    calls: int
    clients: int
    """Calls that the clients failed or never sent."""
    server: int
    template = """{succeeded_share:percent} of the calls succeeded: {clients:,} failed at the
        clients and {server:,} at the server, neither enough to be the cause. Repeat the run."""

    def succeeded_share(self) -> float:
        return share(self.succeeded, self.calls)


class ClientGone(Reason):
    client: str
    said: str
    template = "{said}"


class TargetLost(Reason):
    said: str
    template = "{said} Excluded from results."


class TargetSilent(Reason):
    machine: str
    within_s: float
    template = """The machine '{machine}' did not answer within {within_s:.0f} s after this point.
        Excluded from results."""


class ServerChanged(Reason):
    name: str
    said: str
    """The end of a sentence."""
    template = "During this point {name} changed: {said}. Excluded from results."


class ComputerSlept(Reason):
    seconds: float
    template = """This computer slept for {seconds:.0f} s during this point. Excluded from
        results."""


class PointOverdue(Reason):
    client: str
    allowed_s: float
    template = """The load agent on {client} had not finished after {allowed_s:.0f} s and was
        stopped: it had too little CPU time, or too many calls to end at once."""


class AgentProblem(Reason):
    client: str
    said: str
    """Without a full stop."""
    template = "The load agent on {client}: {said}."


class ToolFailed(Reason):
    tool: str
    client: str
    said: str
    """ "ended with status 1 (cannot connect)"."""
    template = "{tool} on {client} {said}."


class ToolInterrupted(Reason):
    tool: str
    client: str
    template = """{tool} on {client} did not end by itself and was interrupted; calls without a
        result count as in flight."""


class WindowsLost(Reason):
    count: int
    template = """The clients' link lost {count:number_of reports} of 200 ms; the windows have gaps,
        the point's figures are complete."""


# Remarks on points that are ok.


class SustainedUnderBackgroundLoad(Reason):
    cpu_pct: float
    stolen_pct: float = 0.0
    """The part of it that the host of the virtual machine took."""
    template = """Sustained although background load took {cpu_pct:.0f} % of a
        core{stolen_pct:by_host}; response times may be longer for it."""


class SustainedWithOverflows(Reason):
    times: int
    template = """Sustained, but the server's accept queue overflowed {times:how_often}; those
        clients waited a second or more."""


class TooShortForQueue(Reason):
    stay_s: float
    """Time for which the replies kept a connection open: the median, or p99 where they scatter."""
    seconds: float
    needed_s: float = 0.0
    """Length of a point that would show it; 0: not recorded."""
    template = """Sustained, but {seconds:.1f} s are too short for these response times to show
        whether the server falls behind: connections stay open for {stay_s:.1f} s. Use
        {needed_s:?points of at least {needed_s:,.0f} s|longer points}."""


class ResponseTimesRose(Reason):
    first_us: int
    """Median service time of its first tenth."""
    last_us: int
    """Of its last."""
    template = """Response times rose throughout the point, from {first_us:thousandths ,.3g} to
        {last_us:thousandths ,.3g} ms (median of its first and last tenth): its percentiles
        depend on its length."""


class ClientLimitedTimes(Reason):
    """Replies waited until a worker of the clients read them; 0: not as long as that matters."""

    p50_us: int
    p99_us: int
    template = "Response times are client-limited: up to {up_to} may be the clients' own."

    def up_to(self) -> str:
        found = (("p50", self.p50_us), ("p99", self.p99_us))
        return " and ".join(f"{duration(us)} of {name}" for name, us in found if us)


class LatencyIncludesLateness(Reason):
    p99_us: int
    template = """The latency includes the clients' own lateness (p99 {p99_us:ms}); the service time
        does not."""


# The limits of a search, which a point meets or exceeds.


class Limit(Message):
    """A point exceeded a limit."""


def _pct(value: float) -> str:
    return f"{value:.3g} %"


def _ms(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


FORMATS |= {"pct": _pct, "limit_ms": _ms}


class TooManyErrors(Limit):
    errors_pct: float
    limit_pct: float
    template = "{errors_pct:pct} errors, more than the {limit_pct:pct} allowed."


class TooSlow(Limit):
    p99_ms: float
    limit_ms: float
    template = "p99 {p99_ms:limit_ms}, above the limit of {limit_ms:limit_ms}."


def limit_phrase(errors_pct: float, p99_ms: float | None) -> str:
    """Return the limits as part of a sentence: "at most 1 % errors and a p99 of at most 50 ms"."""
    slow = "" if p99_ms is None else f" and a p99 of at most {_ms(p99_ms)}"
    return f"at most {_pct(errors_pct)} errors{slow}" if errors_pct else f"no errors{slow}"


REASONS: dict[str, type[Message]] = {**kinds(Reason), **kinds(Cause), **kinds(Limit)}
"""By code."""


def reasons_of(stop: PointStop) -> list[Message]:
    """The reasons of a recorded point; `Recorded` where the code is missing or of a later
    version."""
    findings: Sequence[Record] = stop.findings
    if len(findings) != len(stop.reasons):
        findings = [{}] * len(stop.reasons)
    return [
        read(REASONS, finding.get("code"), finding, sentence)
        for finding, sentence in zip(findings, stop.reasons, strict=True)
    ]
