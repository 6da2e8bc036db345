"""Points that are incomplete, too small, or without a single cause."""

from __future__ import annotations

from workbench.formatting import number_of
from workbench.messages.base import share
from workbench.messages.reasons.reason import Reason, percent


class Interrupted(Reason, frozen=True, kw_only=True):
    """The run was stopped, the server skipped, or the load tool failed during the point."""

    def text(self) -> str:
        return "Ended early; excluded from results."


class RecordingCut(Reason, frozen=True, kw_only=True):
    """The session ends during the point."""

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


_LONGER = "Use more connections or more seconds per point."


class TooFewCalls(Reason, frozen=True, kw_only=True):
    """The point has too few calls for a verdict."""

    calls: int
    needed: int

    def text(self) -> str:
        calls = number_of(self.calls, "calls")
        return f"{calls}: too few for a verdict, which takes {self.needed:,}. {_LONGER}"


class LoadWentElsewhere(Reason, frozen=True, kw_only=True):
    """Requests of a locustfile with absolute URLs went to another server."""

    share: float
    host: str
    """With its port, the one that most of them went to."""

    def text(self) -> str:
        return (
            f"{percent(self.share)} of the requests went elsewhere, most of them to {self.host}, so"
            " nothing is stated about the server. Use paths without a host in the locustfile."
        )


class TooLittleWork(Reason, frozen=True, kw_only=True):
    """The server cannot have answered that many calls in so little CPU time."""

    calls: int
    cpu_ms: float

    def text(self) -> str:
        return (
            f"The server used {self.cpu_ms:,.0f} ms of CPU time, too little for {self.calls:,}"
            " replies, so something else answered. Check what listens on its port."
        )


class TooShort(Reason, frozen=True, kw_only=True):
    """The point is too short for a verdict."""

    seconds: float
    needed_s: float

    def text(self) -> str:
        return (
            f"{self.seconds:.1f} s: too short for a verdict, which takes {self.needed_s:g} s. "
            f"{_LONGER}"
        )


class NoSingleCause(Reason, frozen=True, kw_only=True):
    """Too many calls failed, but neither side caused enough of the failures."""

    succeeded: int
    calls: int
    clients: int
    """Calls that the clients failed or never sent."""
    server: int

    def text(self) -> str:
        return (
            f"{percent(share(self.succeeded, self.calls))} of the calls succeeded: "
            f"{self.clients:,} failed at the clients and {self.server:,} at the server, neither "
            "enough to be the cause. Repeat the run."
        )


class ClientGone(Reason, frozen=True, kw_only=True):
    """A client was lost during the point, which is therefore incomplete."""

    client: str
    said: str
    """The reason, as a complete sentence."""

    def text(self) -> str:
        return self.said


class TargetLost(Reason, frozen=True, kw_only=True):
    """The target, its runner or its sampler was lost during the point."""

    said: str

    def text(self) -> str:
        return f"{self.said} Excluded from results."


class TargetSilent(Reason, frozen=True, kw_only=True):
    """The target did not answer when it was checked after a bad point."""

    machine: str
    within_s: float

    def text(self) -> str:
        return (
            f"The machine '{self.machine}' did not answer within {self.within_s:.0f} s after this"
            " point. Excluded from results."
        )


class ComputerSlept(Reason, frozen=True, kw_only=True):
    """The computer that runs Pongbench slept during this point."""

    seconds: float

    def text(self) -> str:
        slept = f"This computer slept for {self.seconds:.0f} s"
        return f"{slept} during this point. Excluded from results."


class PointOverdue(Reason, frozen=True, kw_only=True):
    """A load agent had not ended the point in the time that all its calls may take, and was
    stopped."""

    client: str
    allowed_s: float

    def text(self) -> str:
        return (
            f"The load agent on {self.client} had not finished after {self.allowed_s:.0f} s and "
            "was stopped: it had too little CPU time, or too many calls to end at once."
        )


class AgentProblem(Reason, frozen=True, kw_only=True):
    """A load agent could not do what was requested."""

    client: str
    said: str

    def text(self) -> str:
        return f"The load agent on {self.client}: {self.said}."


class ToolFailed(Reason, frozen=True, kw_only=True):
    """A load tool that is a program did not give the result of a point."""

    tool: str
    client: str
    said: str
    """ "ended with status 1 (cannot connect)"."""

    def text(self) -> str:
        return f"{self.tool} on {self.client} {self.said}."


class ToolInterrupted(Reason, frozen=True, kw_only=True):
    """A load tool that is a program did not end by itself, and printed its result when it was
    interrupted."""

    tool: str
    client: str

    def text(self) -> str:
        return (
            f"{self.tool} on {self.client} did not end by itself and was interrupted; calls without"
            " a result count as in flight."
        )


class WindowsLost(Reason, frozen=True, kw_only=True):
    """Windows were lost on their way from the clients."""

    count: int

    def text(self) -> str:
        return (
            f"The clients' link lost {number_of(self.count, 'reports')} of 200 ms; the windows"
            " have gaps, the point's figures are complete."
        )
