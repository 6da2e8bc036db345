"""Remarks on points that are ok."""

from __future__ import annotations

from workbench.messages.reasons.reason import Reason, how_often, ms


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
            f"Sustained, but the server's accept queue overflowed {how_often(self.times)}; those "
            "clients waited a second or more."
        )


class LatencyIncludesLateness(Reason, frozen=True, kw_only=True):
    """A remark on a point that is ok."""

    p99_us: int

    def text(self) -> str:
        return (
            f"The latency includes the clients' own lateness (p99 {ms(self.p99_us)}); "
            "the service time does not."
        )
