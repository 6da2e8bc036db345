"""Warnings about a plan and its workload, and what it costs: messages with the keys concerned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, TypeAlias

from workbench import formatting
from workbench.axis import RATE
from workbench.consent import Exposure
from workbench.messages.base import Message, place
from workbench.messages.notes import Notice, Severity
from workbench.messages.problems import RESOURCES, Resource


class Warned(Notice):
    """Does not prevent a plan from running; noted in the session."""

    level: ClassVar[Severity] = Severity.WARNING
    keys: tuple[str, ...]
    """As in `problems.Problem`."""


class PointWarned(Warned):
    """A warning about a point, by its position on the plan's axis."""

    x: float
    suffix: str = RATE.suffix

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


# Servers.

Right: TypeAlias = Literal["root", "files", "shared-memory"]

RIGHTS: Mapping[Right, str] = {
    "root": "runs as root where root runs it",
    "files": "may read and write what its user may",
    "shared-memory": "may read and write its user's shared memory",
}
"""The additional privileges of a server, as the rest of a sentence."""


class MoreRights(Warned):
    keys: tuple[str, ...] = ("servers",)
    server: str
    right: Right
    why: str
    """From its catalogue entry."""
    needs: ClassVar = RIGHTS
    template = "{server} {right:needs}: {why}"


def more_rights(server: str, rights: Mapping[Right, str]) -> list[Warned]:
    """The rights that only this server has, each with its reason."""
    each = sorted(rights.items())
    return [MoreRights(server=server, right=right, why=why) for right, why in each]


class MustBeFetched(Warned):
    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    template = """{servers:listed} {servers:1?needs|need} programs or source code that the target
        lacks; the run stops before it begins unless these are fetched: test {servers:1?it|them} on
        the Servers page, or use --install."""


class PackagesOutOfReach(Warned):
    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    ids: tuple[str, ...] = ()
    why: str
    """The part of a sentence about the index, with what to do."""
    template = "The packages of {servers:listed} have not been fetched yet, and {why}."


class OldServersExposed(Warned):
    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    machine: str
    address: str = ""
    template = "{exposure}. The run asks before it begins."

    def exposure(self) -> str:
        return Exposure(self.servers, self.machine, self.address).text


# Points that are too small or too short, and what a plan's passes can show.


class WarmUpAboveRates(Warned):
    keys: tuple[str, ...] = ("warm_up.rate_per_s",)
    warm_up: str
    """ "500/s"."""
    highest: str
    template = """The warm-up at {warm_up} loads servers more than the plan's highest rate,
        {highest}."""


class PointsLengthened(Warned):
    lengthened: int
    points: int
    connections: int
    """As given in the plan."""
    most: int
    template = """{connections:,} connections are too few at {lengthened} of {points} points; these
        get up to {most:,}."""


class FewSamples(PointWarned):
    """`x`: the highest with too few calls."""

    needed: int
    template = "Up to {at} a point has fewer than {needed:,} calls: too few for a steady p99."


class Sensitivity(Message):
    """The smallest differences between two servers that a plan's passes can show, 9 times in 10."""

    keys: tuple[str, ...] = ("repeats",)
    passes: int
    shows: dict[str, float]
    """Percent, by figure; differences beyond 100 % are left out."""
    figure: str
    """The figure for which a number of passes is proposed."""
    wanted_pct: float
    proposed: int | None
    """Passes that show a difference of `wanted_pct`; None: too many."""
    session: str
    """Where the spread of passes was measured; empty: a typical one is assumed."""

    def text(self) -> str:
        basis = f"spread of passes as in {self.session}" if self.session else "typical spread"
        wanted = f"{self.wanted_pct:g} % in {self.figure}"
        if self.passes == 1:
            said = "One pass cannot show significance"
            if self.proposed is None:
                return f"{said}; {wanted} cannot be resolved here ({basis})."
            return f"{said}; {self.proposed} passes resolve {wanted} ({basis})."
        least = [f"{formatting.span(pct, pct)} % in {figure}" for figure, pct in self.shows.items()]
        said = f"{self.passes} passes show no difference below 100 %"
        if least:
            said = f"{self.passes} passes show differences from {formatting.listed(least)}"
        if self.proposed is None or self.proposed <= self.passes:
            return f"{said} ({basis})."
        return f"{said} ({basis}); {wanted} takes {self.proposed}."


# Ports and descriptors of the clients and the target.


class SeveralAddresses(Message):
    keys: tuple[str, ...] = ("nofile",)
    addresses: int
    ports: int
    """Of one address."""
    template = """Each client connects from {addresses} local addresses in turn, because connecting
        gets slow where more than half of the {ports:,} ports of one are used."""


class FewAddresses(PointWarned):
    addresses: int
    wanted: int
    needed: int
    """Ports of each client."""
    ports: int
    """Of one address."""
    template = """At {at} each client needs {wanted} local addresses, and has {addresses}:
        {needed:,} of its ports are open or in TIME_WAIT at once, and connecting gets slow where
        more than half of the {ports:,} ports of one address are used. Add addresses or clients."""


class HeldToCeiling(Message):
    keys: tuple[str, ...] = ("vary",)
    connections: int
    where: Literal["clients", "target"]
    resource: Resource
    available: int
    template = """The connections end at {connections:,}: the {where} {where:target?has|have}
        {available:,} {resource:ports?local ports before connecting gets slow|file descriptors
        (nofile)}."""


class FewDescriptors(Warned):
    where: tuple[str, ...] = ("client",)
    """client, target; both where they have the same limit."""
    allowed: int
    wanted: int
    template = """{who} {where:1?allows|allow} {allowed:,} file descriptors per process, not the
        {wanted:,} of the plan. Raise {where:1?its|their} hard limit, or lower nofile."""

    def who(self) -> str:
        return " and ".join(f"the {each}" for each in self.where).capitalize()


class TimeoutsFill(PointWarned):
    """A client's resource would run out if the server stopped answering. `x`: the lowest with too
    many."""

    # Where it comes to that, the points say so.
    level = Severity.QUIET
    connections: int
    resource: Resource
    available: int
    resources: ClassVar = RESOURCES
    template = """From {at} on a server that stops answering leaves up to {connections:,}
        connections open until the timeout; the client has {available:,} {resource:resources}. Such
        points count as the client's limit, not the server's."""


class RatesEstimated(Message):
    keys: tuple[str, ...] = ("rates",)
    ceiling: str
    """With its unit."""
    template = """The rates end at the client limit, which is measured first: duration, calls and
        ports are estimates for {ceiling}."""


class RestsForPorts(Message):
    keys: tuple[str, ...] = ("cool_down_s",)
    longest_s: float
    template = """Rests of up to {longest_s:.0f} s between points, until enough local ports are free
        again."""


# A workload.


class UnusableSecret(Warned):
    keys: tuple[str, ...] = ("workload.headers",)
    secret: str
    missing: bool = True
    template = """The secret {secret}{missing:? is missing; set the environment variable
        PONGBENCH_SECRET_{secret}, or store it with: keyring set pongbench {secret}| has line breaks
        or other characters that a header cannot have; store it again without them}."""


class MasterListens(Warned):
    keys: tuple[str, ...] = ("workload.master",)
    workers: int
    address: str
    port: int
    file: str
    template = """{workers:number_of workers} of Locust {workers:1?has|have} to join by
        {workers:1?itself|themselves}: locust --worker --master-host {address} --master-port
        {port} -f -. This port has no password: whoever reaches it gets {file}, and may report
        anything."""
