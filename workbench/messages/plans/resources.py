"""Ports and descriptors of the clients."""

from __future__ import annotations

from typing import Literal, TypeAlias

from workbench.messages.base import Message
from workbench.messages.plans.problem import PointProblem, PointWarned, Warned

Resource: TypeAlias = Literal["descriptors", "ports"]
"""A limited resource of a client."""


_RESOURCES = {"descriptors": "file descriptors", "ports": "local ports"}

_FEWER = {"held": "hold fewer", "think-time": "lower the rate", "concurrency": "lower concurrency"}


class NotEnoughPorts(PointProblem, frozen=True, kw_only=True):
    """The client closes connections first, so its ports stay in use for a while."""

    ports: int
    needed: int
    addresses: int = 0
    """Local addresses that would be enough; 0: not recorded."""
    have: int = 1

    def text(self) -> str:
        more = f", give it {self.addresses - self.have} more local addresses" * bool(self.addresses)
        return (
            f"The client has {self.ports:,} free ports and needs {self.needed:,} at {self.at()}, "
            "because it closes first. Widen its range (net.ipv4.ip_local_port_range)"
            f"{more}, or use fewer connections per point."
        )


class SeveralAddresses(Message, frozen=True, kw_only=True):
    """One local address of a client has too few ports for connections open or in TIME_WAIT."""

    keys: tuple[str, ...] = ("nofile",)
    addresses: int
    ports: int
    """Of one address."""

    def text(self) -> str:
        return (
            f"Each client connects from {self.addresses} local addresses in turn, because"
            f" connecting gets slow where more than half of the {self.ports:,} ports of one are"
            " used."
        )


class FewAddresses(PointWarned, frozen=True, kw_only=True):
    """Each client has ports enough, but of too few local addresses to connect quickly."""

    addresses: int
    wanted: int
    needed: int
    """Ports of each client."""
    ports: int
    """Of one address."""

    def text(self) -> str:
        return (
            f"At {self.at()} each client needs {self.wanted} local addresses, and has"
            f" {self.addresses}: {self.needed:,} of its ports are open or in TIME_WAIT at once, and"
            f" connecting gets slow where more than half of the {self.ports:,} ports of one"
            " address are used. Add addresses or clients."
        )


class TooManyOpen(PointProblem, frozen=True, kw_only=True):
    """More connections are open at once, however fast the server answers, than a machine has ports
    or descriptors for."""

    connections: int
    why: Literal["held", "think-time", "concurrency"]
    where: Literal["clients", "target"]
    resource: Resource
    available: int
    per_client: int = 0
    """One client's ports, if those are lacking."""
    addresses: int = 0
    """Local addresses, of all clients together, that have ports enough."""

    def text(self) -> str:
        what = {
            "held": f"{self.connections:,} connections held open",
            "think-time": f"The {self.connections:,} connections that think time keeps open at"
            f" {self.at()}",
            "concurrency": f"{self.connections:,} concurrent connections",
        }[self.why]
        has = (
            f"{what} need as many {_RESOURCES[self.resource]};"
            f" the {self.where} {'has' if self.where == 'target' else 'have'} {self.available:,}."
        )
        if self.resource == "descriptors":
            more = ", use more workers or clients," if self.where == "clients" else ","
            return f"{has} Raise nofile and the machine's hard limit{more} or {_FEWER[self.why]}."
        clients = -(-self.connections // max(1, self.per_client))
        return (
            f"{has} Use {clients:,} clients, {self.addresses:,} local addresses in all, or a wider"
            " net.ipv4.ip_local_port_range."
        )


class HeldToCeiling(Message, frozen=True, kw_only=True):
    """The connections held open end at what the machines have ports and descriptors for."""

    keys: tuple[str, ...] = ("vary",)
    connections: int
    where: Literal["clients", "target"]
    resource: Resource
    available: int

    def text(self) -> str:
        has = f"the {self.where} {'has' if self.where == 'target' else 'have'} {self.available:,}"
        more = (
            "local ports before connecting gets slow"
            if self.resource == "ports"
            else "file descriptors (nofile)"
        )
        return f"The connections end at {self.connections:,}: {has} {more}."


class FewDescriptors(Warned, frozen=True, kw_only=True):
    where: tuple[str, ...] = ("client",)
    """client, target; both where they have the same limit."""
    allowed: int
    wanted: int

    def text(self) -> str:
        who = " and ".join(f"the {each}" for each in self.where).capitalize()
        allow, its = ("allow", "their") if len(self.where) > 1 else ("allows", "its")
        return (
            f"{who} {allow} {self.allowed:,} file descriptors per process, not the "
            f"{self.wanted:,} of the plan. Raise {its} hard limit, or lower nofile."
        )


class TimeoutsFill(PointWarned, frozen=True, kw_only=True):
    """A client's resource would run out if the server stopped answering. `x`: the lowest with too
    many."""

    connections: int
    resource: Resource
    available: int

    def text(self) -> str:
        return (
            f"From {self.at()} on a server that stops answering leaves up to {self.connections:,} "
            f"connections open until the timeout; the client has {self.available:,} "
            f"{_RESOURCES[self.resource]}. Such points count as the client's limit, not the "
            "server's."
        )


class RatesEstimated(Message, frozen=True, kw_only=True):
    """The rates end at the client limit, which is not known yet."""

    keys: tuple[str, ...] = ("rates",)
    ceiling: str
    """With its unit."""

    def text(self) -> str:
        return (
            "The rates end at the client limit, which is measured first: duration, calls and ports"
            f" are estimates for {self.ceiling}."
        )


class RestsForPorts(Message, frozen=True, kw_only=True):
    """Pauses between points are longer than the plan's."""

    keys: tuple[str, ...] = ("cool_down_s",)
    longest_s: float

    def text(self) -> str:
        return (
            f"Rests of up to {self.longest_s:.0f} s between points, until enough local ports are "
            "free again."
        )
