"""What is wrong with a plan, and what to know before it runs: messages with the keys concerned."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, TypeAlias

from workbench import formatting
from workbench.axis import RATE
from workbench.exposure import Exposure
from workbench.messages.base import Message, place
from workbench.messages.notes import Notice, Severity
from workbench.rights import RIGHTS, Right, Stating

Resource: TypeAlias = Literal["descriptors", "ports"]
"""Of a client."""

_RESOURCES = {"descriptors": "file descriptors", "ports": "local ports"}


class Problem(Message, frozen=True, kw_only=True):
    """Keeps a plan from running."""

    keys: tuple[str, ...]
    """Of the plan: what is wrong, or what is best changed. The last is where it is shown."""

    def line(self) -> str:
        """ "connections, seconds: what is wrong; what to do."."""
        text = self.text()
        return f"{', '.join(self.keys)}: {text[:1].lower()}{text[1:]}"


class PointProblem(Problem, frozen=True, kw_only=True):
    """Of a point, by its place on the plan's axis."""

    x: float
    suffix: str = RATE.suffix
    """Behind the figure; see `Axis`."""

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


class Warned(Notice, frozen=True, kw_only=True):
    """Lets a plan run; noted in the session."""

    level: ClassVar[Severity] = Severity.WARNING

    keys: tuple[str, ...]
    """As of a `Problem`."""


class MoreRights(Warned, frozen=True, kw_only=True):
    """A server cannot do without a right that others do not have."""

    keys: tuple[str, ...] = ("servers",)
    server: str
    right: Right
    why: str
    """As its entry says."""

    def text(self) -> str:
        return f"{self.server} {RIGHTS[self.right]}: {self.why}"


def more_rights(entry: Stating) -> list[Warned]:
    """What a server may that others may not, and why."""
    return [
        MoreRights(server=entry.name, right=right, why=why)
        for right, why in sorted(entry.rights.items())
    ]


class OldServersExposed(Warned, frozen=True, kw_only=True):
    """Servers without security fixes would listen where other machines reach them."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    machine: str
    address: str = ""

    def text(self) -> str:
        found = Exposure(self.servers, self.machine, self.address)
        return f"{found.text}. The run asks before it begins."


class PointWarned(Warned, frozen=True, kw_only=True):
    """As a `PointProblem`."""

    x: float
    suffix: str = RATE.suffix

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


class NoServers(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("servers",)

    def text(self) -> str:
        return "None is listed; name at least one of the catalogue."


class ServerTwice(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("servers",)
    server: str

    def text(self) -> str:
        return f"'{self.server}' is listed twice; for a second measurement use `repeats`."


class NotInThisLoop(Problem, frozen=True, kw_only=True):
    """Rates in a closed loop, or a concurrency in an open one."""

    given: Literal["rates", "concurrency"]

    def text(self) -> str:
        if self.given == "rates":
            return "A closed loop offers no rate; give concurrency in their place."
        return "Only a closed loop has one; give rates, or set workload.mode to closed."


class RangeDescends(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("rates",)
    first: float
    last: float

    def text(self) -> str:
        return f"They run from {self.first:g} down to {self.last:g}; swap the two."


class SearchInClosedLoop(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("search",)

    def text(self) -> str:
        return (
            "A closed loop offers no rate to search for; remove search, or set workload.mode to "
            "open."
        )


class BesideSearch(Problem, frozen=True, kw_only=True):
    """Values, which a search chooses by itself."""

    def text(self) -> str:
        return "A search chooses its rates by itself; remove this, or remove search."


class SearchBoundsDescend(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("search.to",)
    low: float
    high: float

    def text(self) -> str:
        return f"It must be above from ({self.low:g}), and is {self.high:g}."


class SearchStepTooLarge(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("search.step",)
    step: float
    low: float
    high: float

    def text(self) -> str:
        return (
            f"{self.step:g} is more than lies between {self.low:g} and {self.high:g}; use "
            f"{(self.high - self.low) / 10:.3g} or less."
        )


class TooManyPoints(Problem, frozen=True, kw_only=True):
    points: int
    most: int

    def text(self) -> str:
        return f"{self.points:,} points for one server are more than {self.most:,}; widen the step."


class NoValues(Problem, frozen=True, kw_only=True):
    """Nothing to vary."""

    closed: bool = False
    varied: bool = False
    """Of a field of the workload."""

    def text(self) -> str:
        if self.varied:
            return "None is given; list the values, for example [1, 2, 4]."
        if self.closed:
            return "None is given; a closed loop needs a list, for example [50]."
        return "None is given; give a list, or from, to and step."


class OneFieldOnly(Problem, frozen=True, kw_only=True):
    """More than one is to vary."""

    keys: tuple[str, ...] = ("vary",)
    fields: list[str]

    def text(self) -> str:
        return f"{formatting.listed(self.fields)} cannot vary together; keep one of them."


class NotVaried(Problem, frozen=True, kw_only=True):
    """The workload declares no such axis."""

    keys: tuple[str, ...] = ("vary",)
    field: str
    workload: str
    fields: list[str]
    """That can vary."""

    def text(self) -> str:
        if not self.fields:
            return f"{self.workload} has no field that can vary; give several rates instead."
        known = formatting.listed(self.fields)
        return f"{self.workload} cannot vary '{self.field}', only {known}; or give several rates."


class OneLoadOnly(Problem, frozen=True, kw_only=True):
    """Something else is to vary."""

    field: str

    def text(self) -> str:
        return f"With '{self.field}' varied, the load stays the same; give a single value."


class InvalidValue(Problem, frozen=True, kw_only=True):
    """Of a field that varies."""

    value: float
    said: str

    def text(self) -> str:
        return f"{self.value:g} is not possible: {self.said}"


class NotAscending(Problem, frozen=True, kw_only=True):
    earlier: float
    later: float

    def text(self) -> str:
        if self.later == self.earlier:
            return f"{self.later:g} is listed twice; list each value once."
        return (
            f"{self.later:g} comes after {self.earlier:g}; list them in ascending order, each once."
        )


class LengthUnclear(Problem, frozen=True, kw_only=True):
    """Of a point."""

    keys: tuple[str, ...] = ("connections", "seconds")
    both: bool

    def text(self) -> str:
        return f"{'Both are' if self.both else 'Neither is'} given; give exactly one of the two."


class InvalidPath(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.path",)

    def text(self) -> str:
        return "It must begin with / and have no spaces or control characters."


class OneCallOnly(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.calls_per_connection",)
    protocol: str

    def text(self) -> str:
        return f"{self.protocol} ends after one reply; use http/1.1."


class PipelineTooDeep(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.pipeline",)
    pipeline: int

    def text(self) -> str:
        return f"{self.pipeline} calls at once need as many calls_per_connection."


class RunTooLong(Problem, frozen=True, kw_only=True):
    shortest_s: float
    longest_s: float
    limit_s: float

    def text(self) -> str:
        lasts = formatting.time_span((self.shortest_s, self.longest_s))
        return (
            f"It takes {lasts}, but a run is ended after {self.limit_s / 3600:.0f} h. Use fewer "
            "servers, rates or repeats, or shorter points."
        )


class ProtocolNotSupported(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("servers",)
    name: str
    protocols: list[str]
    wanted: str

    def text(self) -> str:
        supported = ", ".join(self.protocols)
        return f"{self.name} supports {supported}, not {self.wanted}. Leave it out of the plan."


class SmallPoint(PointProblem, frozen=True, kw_only=True):
    """A point that cannot be judged."""

    connections: int = 0
    """That are enough; 0: `seconds` are given."""
    may_lengthen: bool = False
    """The plan could allow that."""
    needed_s: float = 0.0

    def remedy(self) -> str:
        if not self.connections:
            return f"Set seconds to {math.ceil(self.needed_s * 10) / 10:g} or more."
        allow = ", or allow that by `lengthen: true`" if self.may_lengthen else ""
        return f"Set connections to {self.connections:,} or more{allow}."


class PointTooShort(SmallPoint, frozen=True, kw_only=True):
    seconds: float
    shortest_s: float

    def text(self) -> str:
        return (
            f"At {self.at()} a point lasts {self.seconds:.2g} s: too short for a verdict, which "
            f"takes {self.shortest_s:g} s. {self.remedy()}"
        )


class NoSteadyPart(SmallPoint, frozen=True, kw_only=True):
    """The first connections are still thinking when the schedule ends."""

    seconds: float
    think_s: float

    def text(self) -> str:
        return (
            f"At {self.at()} a point lasts {self.seconds:g} s and think time alone keeps each "
            f"connection open for {self.think_s:g} s, so nothing is measured at a steady load. "
            f"{self.remedy()}"
        )


class PointTooSmall(SmallPoint, frozen=True, kw_only=True):
    calls: int
    fewest: int

    def text(self) -> str:
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        return (
            f"At {self.at()} a point has {calls}: too few for a verdict, which takes "
            f"{self.fewest}. {self.remedy()}"
        )


class TooFewForLimit(SmallPoint, frozen=True, kw_only=True):
    """The limit of a search is on a percentile that so few replies cannot tell."""

    calls: int
    needed: int

    def text(self) -> str:
        return (
            f"At {self.at()} a point has {self.calls:,} calls: too few for a p99, which takes "
            f"{self.needed:,}. {self.remedy()}"
        )


class NotEnoughPorts(PointProblem, frozen=True, kw_only=True):
    """The client closes first, so its ports stay taken."""

    ports: int
    needed: int

    def text(self) -> str:
        return (
            f"The client has {self.ports:,} free ports and needs {self.needed:,} at {self.at()}, "
            "because it closes first. Widen its range (net.ipv4.ip_local_port_range), or use fewer "
            "connections per point."
        )


class PointsLengthened(Warned, frozen=True, kw_only=True):
    lengthened: int
    points: int
    connections: int
    """Asked for."""
    most: int

    def text(self) -> str:
        return (
            f"{self.lengthened} of {self.points} points get more than {self.connections:,} "
            f"connections, up to {self.most:,}, to be long enough."
        )


class FewSamples(PointWarned, frozen=True, kw_only=True):
    """`x`: the highest with too few."""

    needed: int

    def text(self) -> str:
        return (
            f"Up to {self.at()} a point has fewer than {self.needed:,} calls: too few for a steady "
            "p99."
        )


class FewDescriptors(Warned, frozen=True, kw_only=True):
    allowed: int
    wanted: int

    def text(self) -> str:
        return (
            f"The client allows {self.allowed:,} file descriptors per process, not the "
            f"{self.wanted:,} of the plan. Raise its hard limit, or lower nofile."
        )


class ThinkTimeFills(PointWarned, frozen=True, kw_only=True):
    """A client's resource, by connections that wait. `x`: the lowest with too many."""

    connections: int
    think_s: float
    resource: Resource
    available: int

    def text(self) -> str:
        return (
            f"From {self.at()} on up to {self.connections:,} connections are open at once, because "
            f"think time keeps each open for {self.think_s:g} s; the client has {self.available:,} "
            f"{_RESOURCES[self.resource]}. Such points count as the client's limit, not the "
            "server's."
        )


class TimeoutsFill(PointWarned, frozen=True, kw_only=True):
    """A client's resource, should the server stop answering. `x`: the lowest with too many."""

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


class Sensitivity(Message, frozen=True, kw_only=True):
    """How small a difference between two servers a plan's passes can show, 9 times in 10."""

    keys: tuple[str, ...] = ("repeats",)
    passes: int
    shows: dict[str, float]
    """Percent, by figure; without those beyond 100 %."""
    figure: str
    """The one for which passes are proposed."""
    wanted_pct: float
    proposed: int | None
    """Passes that show a difference of `wanted_pct`; None: too many."""
    session: str
    """In which the spread of passes was measured; empty: a typical one is assumed."""

    def text(self) -> str:
        basis = f"spread of passes as in {self.session}" if self.session else "typical spread"
        wanted = f"{self.wanted_pct:g} % in {self.figure}"
        if self.passes == 1:
            said = "One pass shows no difference between servers"
            if self.proposed is None:
                return f"{said}; {wanted} cannot be shown here ({basis})."
            return f"{said}; {self.proposed} passes show {wanted} ({basis})."
        least = [f"{formatting.span(pct, pct)} % in {figure}" for figure, pct in self.shows.items()]
        said = f"{self.passes} passes show no difference below 100 %"
        if least:
            said = f"{self.passes} passes show differences from {formatting.listed(least)}"
        if self.proposed is None or self.proposed <= self.passes:
            return f"{said} ({basis})."
        return f"{said} ({basis}); {wanted} takes {self.proposed}."


class RestsForPorts(Message, frozen=True, kw_only=True):
    """Points rest longer than the plan asks for."""

    keys: tuple[str, ...] = ("cool_down_s",)
    longest_s: float

    def text(self) -> str:
        return (
            f"Rests of up to {self.longest_s:.0f} s between points, until enough local ports are "
            "free again."
        )
