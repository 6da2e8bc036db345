"""Remarks on points that are ok."""

from __future__ import annotations

from workbench.formatting import duration
from workbench.messages.base import each, most, share
from workbench.messages.reasons.reason import Reason, by_host, how_often, ms


class SustainedUnderBackgroundLoad(Reason, frozen=True, kw_only=True):
    """Background load took CPU, and the point was sustained all the same."""

    cpu_pct: float
    """Percent of one core."""
    stolen_pct: float = 0.0
    """The part of it that the host of the virtual machine took."""

    def text(self) -> str:
        return (
            f"Sustained although background load took {self.cpu_pct:.0f} % of a core"
            f"{by_host(self.stolen_pct)}; response times may be longer for it."
        )


class SustainedWithOverflows(Reason, frozen=True, kw_only=True):
    """The accept queue overflowed, and the point was sustained all the same."""

    times: int
    """Number of overflows."""

    def text(self) -> str:
        return (
            f"Sustained, but the server's accept queue overflowed {how_often(self.times)}; those "
            "clients waited a second or more."
        )


class TooShortForQueue(Reason, frozen=True, kw_only=True):
    """The point was sustained, but too short for its response times to show whether a queue
    grows."""

    stay_s: float
    """Time for which the replies kept a connection open: the median, or p99 where they scatter."""
    seconds: float
    needed_s: float = 0.0
    """Length of a point that would show it; 0: not recorded."""

    def text(self) -> str:
        use = f"points of at least {self.needed_s:,.0f} s" if self.needed_s else "longer points"
        return (
            f"Sustained, but {self.seconds:.1f} s are too short for these response times to show "
            f"whether the server falls behind: connections stay open for {self.stay_s:.1f} s. "
            f"Use {use}."
        )


class ResponseTimesRose(Reason, frozen=True, kw_only=True):
    """Response times rose throughout a sustained point."""

    first_us: int
    """Median service time of its first tenth."""
    last_us: int
    """Of its last."""

    def text(self) -> str:
        first, last = (share(us, 1000) for us in (self.first_us, self.last_us))
        return (
            f"Response times rose throughout the point, from {first:,.3g} to {last:,.3g} ms (median"
            " of its first and last tenth): its percentiles depend on its length."
        )


class ClientLimitedTimes(Reason, frozen=True, kw_only=True):
    """Replies waited until a worker of the clients read them; 0: not as long as that matters."""

    p50_us: int
    p99_us: int

    def text(self) -> str:
        found = (("p50", self.p50_us), ("p99", self.p99_us))
        up_to = " and ".join(f"{each(us, duration)} of {name}" for name, us in found if most(us))
        return f"Response times are client-limited: up to {up_to} may be the clients' own."


class LatencyIncludesLateness(Reason, frozen=True, kw_only=True):
    """The clients' lateness is part of the latency."""

    p99_us: int

    def text(self) -> str:
        return (
            f"The latency includes the clients' own lateness (p99 {ms(self.p99_us)}); "
            "the service time does not."
        )
