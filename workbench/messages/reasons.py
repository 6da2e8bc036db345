"""Why a point has its verdict, and what a reader should know beside it.

What a client says (`ClientGone`, `AgentProblem`) is quoted; everything else is a figure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

from workbench.documents import PointStop
from workbench.messages.base import Figure, Message, Record, each, kinds, read, share
from workbench.messages.causes import Cause
from workbench.messages.errors import listed_errors, unexpected
from workbench.messages.limits import Limit

Relief: TypeAlias = Literal["", "worker", "machine"]
"""What the clients need; empty: another message says so."""

_RELIEF = {
    "": "",
    "worker": " Use one more worker per client (workers).",
    "machine": " Add a client machine.",
}

_LONGER = "Use more connections or more seconds per point."
LONGEST_EXAMPLE = 80
"""Characters of a reply that is quoted."""

_QUIET = "Repeat on a quiet machine."


class Reason(Message, frozen=True, kw_only=True):
    """Of a verdict."""


class Interrupted(Reason, frozen=True, kw_only=True):
    """The run was stopped, or the server skipped, before the point's end."""

    def text(self) -> str:
        return "Interrupted; excluded from results."


class RecordingCut(Reason, frozen=True, kw_only=True):
    """The session ends before the point does."""

    def text(self) -> str:
        return "The recording ends during this point; excluded from results."


class AuditFailed(Reason, frozen=True, kw_only=True):
    """Calls are missing, or counted twice."""

    scheduled: int
    found: int

    def text(self) -> str:
        return (
            f"The audit failed: {self.scheduled:,} calls were scheduled and {self.found:,} are "
            "accounted for. Please report this."
        )


class ClientAuditFailed(Reason, frozen=True, kw_only=True):
    """The sum is right, but not in every worker."""

    def text(self) -> str:
        return "The audit failed: the figures of one client do not add up. Please report this."


class TooFewCalls(Reason, frozen=True, kw_only=True):
    """For a verdict."""

    calls: int
    needed: int

    def text(self) -> str:
        return (
            f"{self.calls:,} calls: too few for a verdict, which takes {self.needed:,}. {_LONGER}"
        )


class TooShort(Reason, frozen=True, kw_only=True):
    """For a verdict."""

    seconds: float
    needed_s: float

    def text(self) -> str:
        return (
            f"{self.seconds:.1f} s: too short for a verdict, which takes {self.needed_s:g} s. "
            f"{_LONGER}"
        )


class OutOfPorts(Reason, frozen=True, kw_only=True):
    """Of the clients."""

    times: int

    def text(self) -> str:
        return (
            f"The clients ran out of local ports {_times(self.times)}. Widen their port range, add "
            "a client, or cool down longer."
        )


class OutOfDescriptors(Reason, frozen=True, kw_only=True):
    """Of the clients: of a process, or of the whole system."""

    times: int

    def text(self) -> str:
        return (
            f"The clients ran out of file descriptors {_times(self.times)}. Raise nofile, or "
            "shorten the timeout."
        )


class CallsUnsent(Reason, frozen=True, kw_only=True):
    """The clients fell too far behind their schedule."""

    unsent: int
    calls: int
    relief: Relief = ""

    def text(self) -> str:
        return (
            f"The clients never sent {self.unsent:,} of {self.calls:,} calls.{_RELIEF[self.relief]}"
        )


class ClientsLate(Reason, frozen=True, kw_only=True):
    """With more of their connections than a hiccup explains."""

    late_share: float
    """Of the connections started: more than 5 ms after their scheduled time."""
    p99_us: int | None = None
    """Of the lateness."""
    relief: Relief = ""

    def text(self) -> str:
        p99 = "" if self.p99_us is None else f" (p99 {_ms(self.p99_us)})"
        return (
            f"The clients started {_percent(self.late_share)} of connections over 5 ms late{p99}."
            f"{_RELIEF[self.relief]}"
        )


class ClientBusy(Reason, frozen=True, kw_only=True):
    """Which may be what slows the replies."""

    cpu_pct: float
    """Of its core."""
    relief: Relief = ""

    def text(self) -> str:
        return (
            f"The busiest client worker used {self.cpu_pct:.0f} % of its core."
            f"{_RELIEF[self.relief]}"
        )


class BeyondClientLimit(Reason, frozen=True, kw_only=True):
    """More was offered than the clients reach against the null server."""

    offered_per_s: float
    limit_per_s: float
    relief: Relief = ""

    def text(self) -> str:
        return (
            f"The clients reached at most {self.limit_per_s:,.0f}/s against the null server, so "
            f"{self.offered_per_s:,.0f}/s says nothing about the server.{_RELIEF[self.relief]}"
        )


class NoClientLimit(Reason, frozen=True, kw_only=True):
    """The clients sustained no rate against the null server."""

    offered_per_s: float
    relief: Relief = ""

    def text(self) -> str:
        return (
            "The clients sustained no rate against the null server, so "
            f"{self.offered_per_s:,.0f}/s says nothing about the server.{_RELIEF[self.relief]}"
        )


class BackgroundLoad(Reason, frozen=True, kw_only=True):
    """Other programs took CPU on the cores of server and clients."""

    cpu_pct: float
    """Of one core."""

    def text(self) -> str:
        return (
            f"Background load took {self.cpu_pct:.0f} % of a core from server and clients. {_QUIET}"
        )


class BackgroundLoadAtCalibration(Reason, frozen=True, kw_only=True):
    """So that the clients may reach more than was found."""

    cpu_pct: float
    """Of one core."""

    def text(self) -> str:
        return (
            f"Background load took {self.cpu_pct:.0f} % of a core during calibration; the client "
            f"limit may be higher. {_QUIET}"
        )


class Unreachable(Reason, frozen=True, kw_only=True):
    """The network says so."""

    failed: int
    calls: int

    def text(self) -> str:
        return (
            f"The network could not reach the server for {self.failed:,} of {self.calls:,} calls. "
            "Check the route between the machines."
        )


class LossyLink(Reason, frozen=True, kw_only=True):
    """Packets are lost between the machines."""

    segments: int
    """Of TCP, that were retransmitted."""
    calls: int
    by_clients: int = 0
    """Of the segments; the others were the target's."""
    measured_share: float = 0.0
    """Of segments, lost when the link was checked before the run."""

    def text(self) -> str:
        who = "the target"
        if self.by_clients:
            who = "the clients" if self.by_clients == self.segments else "target and clients"
        before = f"; before the run it lost {_percent(self.measured_share)}"
        return (
            f"The link loses packets: {who} retransmitted {self.segments:,} segments in "
            f"{self.calls:,} calls{before * bool(self.measured_share)}, and no accept queue"
            " overflowed. Check the network between the machines."
        )


class NotEstablished(Reason, frozen=True, kw_only=True):
    """The target's kernel answers for a server that is slow; its answer did not come in time."""

    missing: int
    connections: int

    def text(self) -> str:
        return (
            f"{self.missing:,} of {self.connections:,} connections were not established in time, "
            "and no accept queue overflowed. Check the network between the machines, or raise "
            "timeout_s."
        )


class SlowConnections(Reason, frozen=True, kw_only=True):
    """Packets wait on their way."""

    connect_p90_us: int

    def text(self) -> str:
        return (
            f"Connections took {_ms(self.connect_p90_us)} (p90) to be "
            "established, and no accept queue overflowed. Check the network between the machines."
        )


class CallsFailed(Reason, frozen=True, kw_only=True):
    """By the server's fault."""

    failed: int
    calls: int
    """That reached the server, or could have."""
    errors: dict[str, int]
    """By class, and "in flight"; see `errors.ERROR_LABELS`."""

    def text(self) -> str:
        return (
            f"{self.failed:,} of {self.calls:,} calls failed "
            f"({_percent(share(self.failed, self.calls))}): {listed_errors(self.errors)}."
        )


class UnexpectedReplies(Reason, frozen=True, kw_only=True):
    """Of a server that is faulty: what came in place of its replies, of one kind."""

    same = ("example",)

    error: str
    """See `documents.ERROR_CLASSES`."""
    failed: int
    """Calls."""
    calls: int
    """That reached the server, or could have."""
    agreed: int = 1
    """Calls per connection."""
    first_s: float | None = None
    """Of the first, from the point's start. None: the load tool tells no details."""
    answered: int = 0
    """Calls of its connection before it."""
    received: int = 0
    """Bytes of it."""
    example: str = ""
    """They, or the first of them, as Python writes bytes; of a wrong body, the body."""

    def what(self) -> str:
        """ "answers 500", "ends connections after 3 of 10 calls"."""
        return unexpected(self.error, self.answered, self.agreed)

    def text(self) -> str:
        what, first = self.what(), ""
        if self.first_s is not None:
            first = f", first after {self.first_s:.2f} s"
        quoted = f' The first: "{_shortened(self.example)}".' if self.example else ""
        return (
            f"The server {what}: {self.failed:,} of {self.calls:,} calls failed "
            f"({_percent(share(self.failed, self.calls))}){first}.{quoted}"
        )


class ResetsFromElsewhere(Reason, frozen=True, kw_only=True):
    """Between the machines something ends connections."""

    failed: int
    calls: int
    sent: int
    """Resets, by the target's kernel."""

    def text(self) -> str:
        return (
            f"{self.failed:,} of {self.calls:,} calls ended with a reset, and the target sent "
            f"{self.sent:,} resets: something between the machines ends connections. Check "
            "firewalls on the way."
        )


class FellBehind(Reason, frozen=True, kw_only=True):
    """A queue grows at the server: what it has not answered yet has not failed yet."""

    replied: int
    calls: int
    """Scheduled."""
    waiting: int
    """Connections, at the schedule's end."""

    def text(self) -> str:
        return (
            f"The server fell behind: {self.replied:,} of {self.calls:,} calls were answered while "
            f"they came in, and {self.waiting:,} connections were waiting at the end."
        )


class AcceptQueueOverflowed(Reason, frozen=True, kw_only=True):
    """Beside other signs of the server."""

    times: int

    def text(self) -> str:
        return f"The server's accept queue overflowed {_times(self.times)}."


class NoSingleCause(Reason, frozen=True, kw_only=True):
    """Too many calls failed, and neither side failed enough of them."""

    succeeded: int
    calls: int
    clients: int
    """Failed by the clients' fault, or were never sent."""
    server: int

    def text(self) -> str:
        return (
            f"{_percent(share(self.succeeded, self.calls))} of the calls succeeded: "
            f"{self.clients:,} failed at the clients and {self.server:,} at the server, neither "
            "enough to be the cause. Repeat the run."
        )


class SustainedUnderBackgroundLoad(Reason, frozen=True, kw_only=True):
    """A remark on a point that is ok."""

    cpu_pct: float
    """Of one core."""

    def text(self) -> str:
        return (
            f"Sustained although background load took {self.cpu_pct:.0f} % of a core; response "
            "times may be longer for it."
        )


class SustainedWithOverflows(Reason, frozen=True, kw_only=True):
    """A remark on a point that is ok."""

    times: int
    """The accept queue overflowed."""

    def text(self) -> str:
        return (
            f"Sustained, but the server's accept queue overflowed {_times(self.times)}; those "
            "clients waited a second or more."
        )


class LatencyIncludesLateness(Reason, frozen=True, kw_only=True):
    """A remark on a point that is ok."""

    p99_us: int

    def text(self) -> str:
        return (
            f"The latency includes the clients' own lateness (p99 {_ms(self.p99_us)}); "
            "the service time does not."
        )


class ClientGone(Reason, frozen=True, kw_only=True):
    """During the point, which is incomplete for it."""

    client: str
    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return self.said


class TargetLost(Reason, frozen=True, kw_only=True):
    """The target, its runner or its sampler went away during the point."""

    said: str

    def text(self) -> str:
        return f"{self.said} Excluded from results."


class TargetSilent(Reason, frozen=True, kw_only=True):
    """After a bad point the target was asked whether it is there, and did not answer."""

    machine: str
    within_s: float

    def text(self) -> str:
        return (
            f"The machine '{self.machine}' did not answer within {self.within_s:.0f} s after this"
            " point. Excluded from results."
        )


class AgentProblem(Reason, frozen=True, kw_only=True):
    """A load agent could not do what it was told."""

    client: str
    said: str

    def text(self) -> str:
        return f"The load agent on {self.client}: {self.said}."


class WindowsLost(Reason, frozen=True, kw_only=True):
    """On their way from the clients."""

    count: int

    def text(self) -> str:
        return (
            f"{self.count:,} reports of 200 ms from the clients were lost; the windows have gaps, "
            "the point's figures are complete."
        )


REASONS: dict[str, type[Message]] = {**kinds(Reason), **kinds(Cause), **kinds(Limit)}
"""By code."""


def reasons_of(stop: PointStop) -> list[Message]:
    """A recorded point's reasons; `Recorded` what has no code, or one of a later version."""
    findings: Sequence[Record] = stop.findings
    if len(findings) != len(stop.reasons):
        findings = [{}] * len(stop.reasons)
    return [
        read(REASONS, finding.get("code"), finding, sentence)
        for finding, sentence in zip(findings, stop.reasons, strict=True)
    ]


def _percent(share: Figure) -> str:
    # 98.96 % must not be written as 99 %, the very limit it missed.
    return f"{each(share, lambda part: f'{math.floor(part * 1000) / 10:.1f}')} %"


def _ms(us: Figure) -> str:
    return f"{share(us, 1000):,.0f} ms"


def _shortened(example: str) -> str:
    return example if len(example) <= LONGEST_EXAMPLE else f"{example[:LONGEST_EXAMPLE]}..."


def _times(count: Figure) -> str:
    return "once" if count == 1 else f"{count:,} times"
