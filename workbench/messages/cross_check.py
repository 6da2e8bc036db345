"""Why two load tools report different figures of the same point."""

from __future__ import annotations

from workbench import formatting
from workbench.messages.base import Message


class Differs(Message, frozen=True, kw_only=True):
    """A known cause of a difference between two load tools."""

    tool: str


class OffersOtherLoad(Differs, frozen=True, kw_only=True):
    """Schedule: a tool offered another load than the other."""

    offered_per_s: float
    other: str
    other_per_s: float

    def text(self) -> str:
        return (
            f"schedule: {self.tool} offered {formatting.rate(self.offered_per_s)}/s, {self.other}"
            f" {formatting.rate(self.other_per_s)}/s"
        )


class CountsToTheEnd(Differs, frozen=True, kw_only=True):
    """Its reply rate is that of the whole test, in which calls failed."""

    def text(self) -> str:
        return f"schedule: {self.tool} counts until its last timeout"


class LeavesConnectOut(Differs, frozen=True, kw_only=True):
    """Its times begin with the request, those of the other with the connect."""

    def text(self) -> str:
        return f"connect: times of {self.tool} begin with the request"


class KeepsConnections(Differs, frozen=True, kw_only=True):
    """It keeps connections for as long as the server does; the other replaces them."""

    def text(self) -> str:
        return f"keep-alive: {self.tool} does not replace connections"


class Resolves(Differs, frozen=True, kw_only=True):
    """Its times are no finer than the difference."""

    resolution_us: int

    def text(self) -> str:
        return f"resolution of {self.tool}: {formatting.duration(self.resolution_us)}"


class DelaysItself(Differs, frozen=True, kw_only=True):
    """Its times include delays of its own."""

    def text(self) -> str:
        return f"delays within {self.tool}, which are in its times"


class OmitsStalls(Differs, frozen=True, kw_only=True):
    """It measures from the send, so that a stall counts for few calls."""

    timed_by: str
    """The tool that measures from the scheduled time, too."""
    latency_p99_us: int
    service_p99_us: int

    def text(self) -> str:
        return (
            f"coordinated omission: from the scheduled time p99 is"
            f" {formatting.duration(self.latency_p99_us)} ({self.timed_by}), which {self.tool} does"
            " not measure"
        )
