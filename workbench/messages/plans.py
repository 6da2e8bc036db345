"""Problems of and warnings about a plan: messages with the keys concerned."""

from __future__ import annotations

import math
from itertools import chain
from typing import ClassVar, Literal, TypeAlias

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.consent import Exposure
from workbench.messages.base import Message, place
from workbench.messages.notes import Notice, Severity
from workbench.rights import RIGHTS, Right, Stating


class Problem(Message):
    """Prevents a plan from running."""

    keys: tuple[str, ...]
    """Keys of the plan that are invalid or best changed; shown beside the last one."""

    def line(self) -> str:
        """ "connections, seconds: what is wrong; what to do." A name at its beginning stays as it
        is written."""
        text = self.text()
        fields = msgspec.structs.astuple(self)
        texts = chain.from_iterable(each if type(each) is tuple else (each,) for each in fields)
        names = tuple(each for each in texts if each and type(each) is str)
        said = text if text.startswith(names) else formatting.continued(text)
        return f"{', '.join(self.keys)}: {said}"


class PointProblem(Problem):
    """A problem of a point, by its position on the plan's axis."""

    x: float
    suffix: str = RATE.suffix

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


class Warned(Notice):
    """Does not prevent a plan from running; noted in the session."""

    level: ClassVar[Severity] = Severity.WARNING
    keys: tuple[str, ...]
    """As in `Problem`."""


class PointWarned(Warned):
    """A warning about a point, as `PointProblem`."""

    x: float
    suffix: str = RATE.suffix

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


# Servers.


class NoServers(Problem):
    keys: tuple[str, ...] = ("servers",)
    template = "None is listed; name at least one of the catalogue."


class ServerTwice(Problem):
    keys: tuple[str, ...] = ("servers",)
    server: str
    template = "'{server}' is listed twice; for a second measurement use `repeats`."


class NotAmongServers(Problem):
    """Something is said of a running server that the plan does not measure."""

    keys: tuple[str, ...] = ("running",)
    address: str
    template = "{address} is not among `servers`; add it there, or leave it out here."


class ProtocolNotSupported(Problem):
    """Servers that support the same protocols, but not the plan's."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    protocols: list[str]
    wanted: str
    template = """{servers:listed} {servers:1?supports|support} {protocols:joined}, not {wanted}.
        Leave {servers:1?it|them} out of the plan."""


class OneClientOnly(Problem):
    what: str
    """Subject of the sentence: the name of the server, "The transport inproc"."""
    clients: int
    """Connections at once."""
    template = """{what} has one client at a time, here {clients:,}; leave it out, or set {one} to
        1."""

    def one(self) -> str:
        return "concurrency" if "concurrency" in self.keys else "workers and clients"


class MoreRights(Warned):
    keys: tuple[str, ...] = ("servers",)
    server: str
    right: Right
    why: str
    """From its catalogue entry."""
    needs: ClassVar = RIGHTS
    template = "{server} {right:needs}: {why}"


def more_rights(entry: Stating) -> list[Warned]:
    """The rights that only this server has, each with its reason."""
    return [
        MoreRights(server=entry.name, right=right, why=why)
        for right, why in sorted(entry.rights.items())
    ]


class MustBeFetched(Warned):
    """Servers lack something on the target that is fetched with consent only."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    template = """{servers:listed} {servers:1?needs|need} programs or source code that the target
        lacks; the run stops before it begins unless these are fetched: test {servers:1?it|them} on
        the Servers page, or use --install."""


class PackagesOutOfReach(Warned):
    """Servers whose packages are not here, where no package index can be reached."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    ids: tuple[str, ...] = ()
    why: str
    """The part of a sentence about the index, with what to do."""
    template = "The packages of {servers:listed} have not been fetched yet, and {why}."


class OldServersExposed(Warned):
    """Servers without security fixes would listen where other machines can reach them."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    machine: str
    address: str = ""
    template = "{exposure}. The run asks before it begins."

    def exposure(self) -> str:
        return Exposure(self.servers, self.machine, self.address).text


# The values that a plan varies: rates, connections, a field, or the bounds of a search.


class NotInThisLoop(Problem):
    given: Literal["rates", "concurrency"]
    template = """{given:rates?A closed loop offers no rate; give concurrency in their place
        |Beside rates it is one number; to vary it, set workload.mode to closed}."""


class RangeDescends(Problem):
    keys: tuple[str, ...] = ("rates",)
    first: float
    last: float
    template = "They run from {first:g} down to {last:g}; swap the two."


class StepOrPoints(Problem):
    keys: tuple[str, ...] = ("rates",)
    template = "A range has either a step or a number of points; give one of the two."


class CeilingInPoints(Problem):
    """Values up to a limit that is not known yet in steps, of which there would be any number."""

    keys: tuple[str, ...] = ("rates.points",)
    template = "A range up to the ceiling needs a number of points in place of a step."


class CeilingOfField(Problem):
    keys: tuple[str, ...] = ("vary",)
    field: str
    template = "Nothing limits '{field}' before a run; give its highest value."


class CeilingUnknown(Problem):
    keys: tuple[str, ...] = ("rates", "calibrate")
    template = """The rates end at the client limit, which only a calibration finds; set calibrate
        to true, or give the highest rate."""


class SearchInClosedLoop(Problem):
    keys: tuple[str, ...] = ("search",)
    template = """A closed loop offers no rate to search for; remove search, or set workload.mode
        to open."""


class BesideSearch(Problem):
    template = "A search chooses its rates by itself; remove this, or remove search."


class ProfileOutside(Problem):
    keys: tuple[str, ...] = ("profile.at",)
    at: float
    low: float
    high: float
    suffix: str = RATE.suffix
    template = "{at:figure} is outside what the plan measures, {low:figure} to {highest}."

    def highest(self) -> str:
        return place(self.high, self.suffix)


class SearchBoundsDescend(Problem):
    keys: tuple[str, ...] = ("search.to",)
    low: float
    high: float
    template = "It must be above from ({low:g}), and is {high:g}."


class SearchStepTooLarge(Problem):
    keys: tuple[str, ...] = ("search.step",)
    step: float
    low: float
    high: float
    template = """{step:g} is more than lies between {low:g} and {high:g}; use {tenth:.3g} or
        less."""

    def tenth(self) -> float:
        return (self.high - self.low) / 10


class TooManyPoints(Problem):
    points: int
    most: int
    template = "{points:,} points for one server are more than {most:,}; widen the step."


class NoValues(Problem):
    closed: bool = False
    varied: bool = False
    """A field of the workload is to vary."""
    template = """None is given; {varied:?list the values, for example [1, 2, 4]
        |{closed:?a closed loop needs a list, for example [50]
        |give a list, or from, to and step}}."""


class OneFieldOnly(Problem):
    keys: tuple[str, ...] = ("vary",)
    fields: list[str]
    template = "{fields:listed} cannot vary together; keep one of them."


class NotVaried(Problem):
    keys: tuple[str, ...] = ("vary",)
    field: str
    workload: str
    fields: list[str]
    """Fields that can vary."""
    template = """{workload} {fields:?cannot vary '{field}', only {fields:listed}; or
        |has no field that can vary;} give several rates{fields:?| instead}."""


class OneLoadOnly(Problem):
    field: str
    template = "With '{field}' varied, the load stays the same; give a single value."


class InvalidValue(Problem):
    value: float
    said: str
    template = "{value:,.12g} is not possible: {said}"


class NotAscending(Problem):
    earlier: float
    later: float
    template = """{later:g} {is_twice:?is listed twice; list each value once|comes after
        {earlier:g}; list them in ascending order}."""

    def is_twice(self) -> bool:
        return self.later == self.earlier


# Points that are too small or too short, and what a plan's passes can show.


class LengthUnclear(Problem):
    keys: tuple[str, ...] = ("connections", "seconds")
    both: bool
    template = "{both:?Both are|Neither is} given; give exactly one of the two."


class SecondsOnly(Problem):
    keys: tuple[str, ...] = ("connections",)
    workload: str
    template = """Points of {workload} last a number of seconds; give seconds, and
        workload.connections for those held open."""


class RunTooLong(Problem):
    shortest_s: float
    longest_s: float
    limit_s: float
    template = """It takes {lasts}, but a run is ended after {limit_h:.0f} h. Use fewer servers,
        rates or repeats, or shorter points."""

    def lasts(self) -> str:
        return formatting.time_span((self.shortest_s, self.longest_s))

    def limit_h(self) -> float:
        return self.limit_s / 3600


class SmallPoint(PointProblem):
    """A point that cannot be judged."""

    connections: int = 0
    """Number that would be enough; 0: `seconds` are given."""
    may_lengthen: bool = False
    """The plan may set `lengthen`."""
    needed_s: float = 0.0

    def remedy(self) -> str:
        if not self.connections:
            return f"Set seconds to {math.ceil(self.needed_s * 10) / 10:g} or more."
        allow = ", or allow that by `lengthen: true`" if self.may_lengthen else ""
        return f"Set connections to {self.connections:,} or more{allow}."


class PointTooShort(SmallPoint):
    seconds: float
    shortest_s: float
    template = """At {at} a point lasts {seconds:.2g} s: too short for a verdict, which takes
        {shortest_s:g} s. {remedy}"""


class NoSteadyPart(SmallPoint):
    seconds: float
    think_s: float
    template = """At {at} a point lasts {seconds:g} s and think time alone keeps each connection
        open for {think_s:g} s, so nothing is measured at a steady load. {remedy}"""


class PointTooSmall(SmallPoint):
    calls: int
    fewest: int
    template = """At {at} a point has {calls:number_of calls}: too few for a verdict, which takes
        {fewest}. {remedy}"""


class TooFewForLimit(SmallPoint):
    calls: int
    needed: int
    template = """At {at} a point has {calls:,} calls: too few for a p99, which takes {needed:,}.
        {remedy}"""


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

Resource: TypeAlias = Literal["descriptors", "ports"]
"""A limited resource of a machine."""

_RESOURCES: dict[Resource, str] = {"descriptors": "file descriptors", "ports": "local ports"}


class NotEnoughPorts(PointProblem):
    """The client closes connections first, so its ports stay in use for a while."""

    ports: int
    needed: int
    addresses: int = 0
    """Local addresses that would be enough; 0: not recorded."""
    have: int = 1
    template = """The client has {ports:,} free ports and needs {needed:,} at {at}, because it
        closes first. Widen its range (net.ipv4.ip_local_port_range){addresses:?, give it {lacking}
        more local addresses}, or use fewer connections per point."""

    def lacking(self) -> int:
        return self.addresses - self.have


class SeveralAddresses(Message):
    """One local address of a client has too few ports for connections open or in TIME_WAIT."""

    keys: tuple[str, ...] = ("nofile",)
    addresses: int
    ports: int
    """Of one address."""
    template = """Each client connects from {addresses} local addresses in turn, because connecting
        gets slow where more than half of the {ports:,} ports of one are used."""


class FewAddresses(PointWarned):
    """Each client has ports enough, but of too few local addresses to connect quickly."""

    addresses: int
    wanted: int
    needed: int
    """Ports of each client."""
    ports: int
    """Of one address."""
    template = """At {at} each client needs {wanted} local addresses, and has {addresses}:
        {needed:,} of its ports are open or in TIME_WAIT at once, and connecting gets slow where
        more than half of the {ports:,} ports of one address are used. Add addresses or clients."""


class TooManyOpen(PointProblem):
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
    fits_per_s: int = 0
    """The highest rate that there are descriptors for; 0: not recorded, or no rate decides."""
    what: ClassVar = {
        "held": "{connections:,} connections held open",
        "think-time": "The {connections:,} connections that think time keeps open at {at}",
        "concurrency": "{connections:,} concurrent connections",
    }
    fewer: ClassVar = {
        "held": "hold fewer",
        "think-time": "lower the rate{fits_per_s:? to {fits_per_s:,}/s at most}",
        "concurrency": "lower concurrency",
    }
    resources: ClassVar = _RESOURCES
    template = """{why:what} need as many {resource:resources}; the {where} {where:target?has|have}
        {available:,}. {resource:descriptors?Raise nofile and the machine's hard
        limit{where:clients?, use more workers or clients}, or {why:fewer}
        |Use {clients:,} clients, {addresses:,} local addresses in all, or a wider
        net.ipv4.ip_local_port_range}."""

    def clients(self) -> int:
        return -(-self.connections // max(1, self.per_client))


class HeldToCeiling(Message):
    """The connections held open end at what the machines have ports and descriptors for."""

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
    resources: ClassVar = _RESOURCES
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
