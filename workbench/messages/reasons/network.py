"""The network is the limit."""

from __future__ import annotations

from workbench.messages.reasons.reason import Reason, ms, percent


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
        before = f"; before the run it lost {percent(self.measured_share)}"
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
            f"Connections took {ms(self.connect_p90_us)} (p90) to be "
            "established, and no accept queue overflowed. Check the network between the machines."
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
