"""The clients, or other programs on their cores, are the limit."""

from __future__ import annotations

from typing import Literal, TypeAlias

from workbench.messages.reasons.reason import QUIET, Reason, by_host, how_often, ms, percent

Relief: TypeAlias = Literal["", "worker", "machine"]
"""What would relieve the clients; empty: another message says so."""


_RELIEF = {
    "": "",
    "worker": " Use one more worker per client (workers).",
    "machine": " Add a client machine.",
}


class OutOfPorts(Reason, frozen=True, kw_only=True):
    """The clients ran out of local ports."""

    times: int

    def text(self) -> str:
        return (
            f"The clients ran out of local ports {how_often(self.times)}. Widen their port range, "
            "add a client, or cool down longer."
        )


class OutOfDescriptors(Reason, frozen=True, kw_only=True):
    """The clients ran out of descriptors, in one process or the whole system."""

    times: int
    most_open: int = 0
    """Connections that one worker of the load tool may have open, whatever nofile is; 0: no such
    limit, or nofile is lower."""

    def text(self) -> str:
        how = "Raise nofile"
        if self.most_open:
            how = (
                f"The load tool has at most {self.most_open:,} connections open in each worker,"
                " whatever nofile is: use more workers"
            )
        return (
            f"The clients ran out of file descriptors {how_often(self.times)}. {how}, or shorten"
            " the timeout."
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
    """More connections were late than a hiccup explains."""

    late_share: float
    """Share of the started connections more than 5 ms behind their scheduled time."""
    p99_us: int | None = None
    """p99 of the lateness."""
    relief: Relief = ""

    def text(self) -> str:
        p99 = "" if self.p99_us is None else f" (p99 {ms(self.p99_us)})"
        return (
            f"The clients started {percent(self.late_share)} of connections over 5 ms late{p99}."
            f"{_RELIEF[self.relief]}"
        )


class ClientBusy(Reason, frozen=True, kw_only=True):
    """A busy client may delay the replies."""

    cpu_pct: float
    """Percent of its core."""
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


class OfferedLess(Reason, frozen=True, kw_only=True):
    """The server sustained what was offered, which was not the plan's rate."""

    offered_per_s: float
    planned_per_s: float

    def text(self) -> str:
        return (
            f"The load tool offered {self.offered_per_s:,.0f}/s, not {self.planned_per_s:,.0f}/s."
        )


class BackgroundLoad(Reason, frozen=True, kw_only=True):
    """Other programs took CPU on the cores of server and clients."""

    cpu_pct: float
    """Percent of one core."""
    stolen_pct: float = 0.0
    """The part of it that the host of the virtual machine took."""

    def text(self) -> str:
        return (
            f"Background load took {self.cpu_pct:.0f} % of a core from server and clients"
            f"{by_host(self.stolen_pct)}. {QUIET}"
        )


class BackgroundLoadAtCalibration(Reason, frozen=True, kw_only=True):
    """Background load during calibration: the clients may reach more than was found."""

    cpu_pct: float
    """Percent of one core."""

    def text(self) -> str:
        return (
            f"Background load took {self.cpu_pct:.0f} % of a core during calibration; the client "
            f"limit may be higher. {QUIET}"
        )
