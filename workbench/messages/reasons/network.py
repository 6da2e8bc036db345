"""The network is the limit."""

from __future__ import annotations

from workbench.formatting import number_of
from workbench.messages.base import share
from workbench.messages.reasons.reason import Reason, ms, percent


class Unreachable(Reason, frozen=True, kw_only=True):
    """The network reported the server as unreachable."""

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
    """Retransmitted TCP segments."""
    calls: int
    by_clients: int = 0
    """Segments of these that clients retransmitted; the target did the others."""
    measured_share: float = 0.0
    """Share of segments lost when the link was checked before the run."""

    def text(self) -> str:
        before = f"; before the run it lost {percent(self.measured_share)}"
        return (
            f"The link loses packets: {_retransmitted(self.segments, self.by_clients)}"
            f" in {self.calls:,} calls{before * bool(self.measured_share)}, and no accept queue"
            " overflowed. Check the network between the machines."
        )


class SustainedOverLossyLink(Reason, frozen=True, kw_only=True):
    """Packets were lost between the machines, and the point was sustained all the same."""

    segments: int
    """Retransmitted TCP segments."""
    calls: int
    by_clients: int = 0
    """As in `LossyLink`."""
    p99_us: int | None = None
    """Of the latency; None: unknown, or too few calls."""

    def text(self) -> str:
        times = "" if self.p99_us is None else f" (p99 {ms(self.p99_us)})"
        return (
            "Sustained, but the link loses packets: "
            f"{_retransmitted(self.segments, self.by_clients)} in {self.calls:,} calls, which"
            f" waited for it{times}. Check the network between the machines."
        )


class ClientSlower(Reason, frozen=True, kw_only=True):
    """One client sees far longer service times than the others, from the same server."""

    client: str
    p50_us: int
    others_p50_us: int

    def text(self) -> str:
        return (
            f"{self.client} saw service times of {share(self.p50_us, 1000):,.3g} ms, the other"
            f" clients {share(self.others_p50_us, 1000):,.3g} ms (p50): high percentiles are its"
            " own. Check its link."
        )


def _retransmitted(segments: int, by_clients: int) -> str:
    who = "the target"
    if by_clients:
        who = "the clients" if by_clients == segments else "target and clients"
    return f"{who} retransmitted {number_of(segments, 'segments')}"


class NotEstablished(Reason, frozen=True, kw_only=True):
    """Connections were not established in time, which does not depend on the server but on the
    target's kernel."""

    missing: int
    connections: int

    def text(self) -> str:
        return (
            f"{self.missing:,} of {self.connections:,} connections were not established in time, "
            "and no accept queue overflowed. Check the network between the machines, or raise "
            "timeout_s."
        )


class SlowConnections(Reason, frozen=True, kw_only=True):
    """Connections were established slowly: packets queue on the way."""

    connect_p90_us: int

    def text(self) -> str:
        return (
            f"Connections took {ms(self.connect_p90_us)} (p90) to be "
            "established, and no accept queue overflowed. Check the network between the machines."
        )


class ResetsFromElsewhere(Reason, frozen=True, kw_only=True):
    """Something between the machines resets connections."""

    failed: int
    calls: int
    sent: int
    """Resets sent by the target's kernel."""

    def text(self) -> str:
        return (
            f"{self.failed:,} of {self.calls:,} calls ended with a reset, and the target sent "
            f"{number_of(self.sent, 'resets')}: something between the machines ends connections."
            " Check firewalls on the way."
        )
