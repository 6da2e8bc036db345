"""The findings of audits: what was checked, and the result."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.messages.base import Message
from workbench.messages.places import places


class Finding(Message, frozen=True, kw_only=True):
    """The finding of one audit."""


class OfPoints(Finding, frozen=True, kw_only=True):
    """The finding of an audit that checks single points."""

    points: int = 0
    """Number of points that were checked."""
    at: list[tuple[str, float]] = msgspec.field(default_factory=list)
    """Points that failed: server and position on the axis."""
    suffix: str = RATE.suffix
    """Suffix of a position; see `Axis`."""

    def where(self) -> str:
        """The points that failed."""
        return places(self.at, self.suffix)

    def all(self) -> str:
        return _all(self.points, "point")


class NothingYet(Finding, frozen=True, kw_only=True):
    """There is nothing to check yet."""

    def text(self) -> str:
        return "No point has been measured yet."


class NotRecorded(Finding, frozen=True, kw_only=True):
    """The session was recorded by a version that did not record what the audit needs."""

    what: Literal[
        "pending", "codes", "resources", "backlog", "background", "link", "clients", "client times"
    ]

    def text(self) -> str:
        what = {
            "pending": "calls in flight were counted apart from response times",
            "codes": "reasons of verdicts had codes",
            "resources": "processes, cores and limits were read back",
            "backlog": "the backlog was read back",
            "background": "background load was measured",
            "link": "links were checked",
            "clients": "clients were recorded one by one",
            "client times": "clients told their response times one by one",
        }[self.what]
        return f"Recorded before {what}."


class NotToldByTool(Finding, frozen=True, kw_only=True):
    """The load tool does not report what the audit needs."""

    tool: str

    def text(self) -> str:
        return f"The load tool '{self.tool}' does not report it."


class Conservation(OfPoints, frozen=True, kw_only=True):
    """Each scheduled call is unsent, answered, failed or open, exactly once."""

    calls: int

    def text(self) -> str:
        if self.at:
            return (
                f"Calls are missing or counted twice: {self.where()}. These points are excluded;"
                " please report this."
            )
        return (
            f"{self.calls:,} calls at {self.all()}: each is counted once, as answered, failed,"
            " unsent or open at the end."
        )


class LittlesLaw(OfPoints, frozen=True, kw_only=True):
    """Calls in flight equal rate times service time."""

    tolerance_pct: float
    """In addition to 50 µs per call and the clients' own lateness."""
    in_flight: float = 0.0
    """Mean number of calls in flight at the worst point."""
    expected: float = 0.0
    """Rate times service time at that point."""
    left_out: int = 0
    """Points that cannot be checked: connections failed in ways that hide how long they were
    open."""

    def text(self) -> str:
        if self.at:
            worst = f"{self.in_flight:,.1f} calls were in flight, not {self.expected:,.1f}"
            return (
                f"Calls in flight contradict rate × service time: {self.where()} (at worst"
                f" {worst}). Do not trust response times there."
            )
        left = f"; {self.left_out:,} more cannot be checked" if self.left_out else ""
        return (
            f"Calls in flight equal rate × service time at {self.all()}, within"
            f" {self.tolerance_pct:g} %, 50 µs per call and the clients' own lateness{left}."
        )


class ClientsAlike(Finding, frozen=True, kw_only=True):
    """All clients see the same service times."""

    clients: int
    """Number of clients compared."""
    slow: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    """By name of a slow client: by how many percent its service times are longer (interval)."""

    def text(self) -> str:
        if not self.slow:
            return f"None of {self.clients} clients sees service times 10 % longer than the others."
        said = [
            f"{name} {formatting.span(low, high)} % longer"
            for name, (low, high) in self.slow.items()
        ]
        return (
            f"A client sees longer service times than the others: {formatting.listed(said)} (p50)."
            " It is slow or farther away; high percentiles are mostly its own."
        )


class TooFewWindows(Finding, frozen=True, kw_only=True):
    """Too few windows of sustained points."""

    needed: int

    def text(self) -> str:
        return (
            f"A server needs {self.needed} windows of 200 ms at points it sustains, with 20 replies"
            " each; lengthen the points or add passes."
        )


class SteadyState(Finding, frozen=True, kw_only=True):
    """Response times are steady within points."""

    servers: int
    """Number of servers checked."""
    unsteady: dict[str, tuple[str, float]] = msgspec.field(default_factory=dict)
    """By name: kind and change in percent (see `analysis.steadiness`)."""

    def text(self) -> str:
        if not self.unsteady:
            what = "the server" if self.servers == 1 else f"all {self.servers} servers"
            return f"Response times of {what} are steady within points."
        said = [_unsteady(name, *what) for name, what in self.unsteady.items()]
        return f"Not steady within points: {'; '.join(said)}. Lengthen the warm-up or the points."


def _unsteady(name: str, kind: str, change_pct: float) -> str:
    pct = f"{formatting.span(abs(change_pct), abs(change_pct))} %"
    word = "slower" if change_pct > 0 else "faster"
    if kind == "warm-up":
        return f"{name} warms up, {pct} {word} in its first windows than in the rest"
    if kind == "drift":
        return f"{name} drifts, {pct} {word} at the end of a point than at its beginning"
    return f"{name} has no steady state"


class IndependentWindows(Finding, frozen=True, kw_only=True):
    """The windows of a point are independent of each other."""

    servers: int
    """Number of servers checked."""
    dependent: dict[str, float] = msgspec.field(default_factory=dict)
    """By name: the number of independent windows that one window is worth."""

    def text(self) -> str:
        if not self.dependent:
            return "Windows of a point are independent enough for intervals from a single pass."
        said = [
            f"one of {name} tells as much as {worth:.2g} would"
            for name, worth in self.dependent.items()
        ]
        return (
            f"Windows depend on one another: {formatting.listed(said)}. Intervals from a"
            " single pass are too narrow; compare passes."
        )


class NoLittlesLaw(Finding, frozen=True, kw_only=True):
    """Little's law can be checked at no point."""

    def text(self) -> str:
        return "So many connections failed that how long they were open cannot be told."


class Schedule(OfPoints, frozen=True, kw_only=True):
    """The offered load is the planned load."""

    planned_pct: float
    """By how much the two may differ."""

    def text(self) -> str:
        if self.at:
            return (
                f"The clients did not keep their schedule: {self.where()}. They started late, left"
                " calls out, or offered another load than was planned."
            )
        return (
            f"The clients kept their schedule at {self.all()}: on time, and within"
            f" {self.planned_pct:g} % of the planned load."
        )


class NoSchedule(Finding, frozen=True, kw_only=True):
    """There is no schedule in a closed loop."""

    def text(self) -> str:
        return "Closed loop: the servers set the pace, so there is no schedule to keep."


class Overlap(OfPoints, frozen=True, kw_only=True):
    """Several clients offered load at the same time."""

    clients: int
    least_pct: float
    """Smallest share of any point in which all clients offered load."""
    missing: list[str] = msgspec.field(default_factory=list)
    """Clients that took no part in a point."""

    def text(self) -> str:
        if self.missing:
            return (
                f"{formatting.listed(self.missing)} had no part in some points: {self.where()}."
                " The others offered its share, so these points are not like the others."
            )
        if self.at:
            return (
                f"The clients did not offer load at the same time: {self.where()} (all of them in"
                f" only {self.least_pct:.1f} % of the point). Check their clocks and links."
            )
        return (
            f"{_capital(_all(self.clients, 'client'))} offered load together for at least"
            f" {self.least_pct:.1f} % of every point."
        )


class OneClient(Finding, frozen=True, kw_only=True):
    """A single client cannot overlap with another."""

    def text(self) -> str:
        return "One client offered the whole load."


class ClientLimit(Finding, frozen=True, kw_only=True):
    """The rate the clients themselves can reach."""

    limit_per_s: float
    others_cpu_pct: float = 0.0
    """Background load during calibration in percent of one core, if high enough to lower the
    limit."""

    def text(self) -> str:
        if not self.limit_per_s:
            return "The clients sustained no rate against the null server: no point can be trusted."
        limit = f"{formatting.rate(self.limit_per_s)}/s"
        if self.others_cpu_pct:
            return (
                f"The client limit, {limit}, was measured while background load took"
                f" {self.others_cpu_pct:.0f} % of a core; it may be higher. Repeat on a quiet"
                " machine."
            )
        return (
            f"The clients reach {limit} by themselves; failures beyond that are not counted against"
            " a server."
        )


class NoCalibration(Finding, frozen=True, kw_only=True):
    """The client limit was not measured."""

    def text(self) -> str:
        return "The clients were not calibrated, so a limit may be theirs. Use calibrate: true."


class NotCalibrated(Finding, frozen=True, kw_only=True):
    """The axis is not a rate."""

    def text(self) -> str:
        return "The plan does not vary a rate, so the clients' limit is not sought."


class Alike(Finding, frozen=True, kw_only=True):
    """Something that must be the same for all servers."""

    servers: int
    differing: dict[str, str] = msgspec.field(default_factory=dict)
    """By name of a server: its value as text. Empty: all servers have the same."""

    def whose(self) -> str:
        return _all(self.servers, "server")

    def each(self) -> str:
        """ "gevent 128, Tornado 512"."""
        return ", ".join(f"{name} {has}" for name, has in self.differing.items())


class SameBacklog(Alike, frozen=True, kw_only=True):
    """The backlog in force in the kernel."""

    backlog: int = 0
    asked: int = 0

    def text(self) -> str:
        if self.differing:
            return (
                f"Servers listened with other backlogs than the {self.asked:,} asked for:"
                f" {self.each()}. The smaller one alone can cause resets and refusals."
            )
        other = "" if self.backlog == self.asked else f", not the {self.asked:,} asked for"
        return f"A backlog of {self.backlog:,} was in force for {self.whose()}{other}."


class SameProcesses(Alike, frozen=True, kw_only=True):
    """The number of processes in every pass; how many is a server's own choice."""

    several: dict[str, int] = msgspec.field(default_factory=dict)
    """Servers with more than one."""

    def text(self) -> str:
        if self.differing:
            return f"The number of processes differed between passes: {self.each()}."
        if not self.several:
            return f"One process for {self.whose()}."
        each = ", ".join(f"{name} {n:,}" for name, n in self.several.items())
        others = "; the others one" * (len(self.several) < self.servers)
        return f"Processes, the same in every pass: {each}{others}."


class SameCores(Alike, frozen=True, kw_only=True):
    """The cores that servers may use, and clients do not."""

    cores: list[int] = msgspec.field(default_factory=list)
    shared: list[int] = msgspec.field(default_factory=list)
    """Cores shared with the clients."""
    own: bool = False
    """The clients are on the same machine, on other cores."""

    def text(self) -> str:
        if self.differing:
            each = ", ".join(f"{name} on {has}" for name, has in self.differing.items())
            return (
                f"Servers ran on different cores: {each}, the others on"
                f" {formatting.cores(self.cores)}. Their figures cannot be compared."
            )
        if self.shared:
            return (
                f"Servers and clients shared {formatting.cores(self.shared)}: the load takes time"
                " from the server, and rates come out lower than they are."
            )
        apart = ", and the clients on others" * self.own
        where = formatting.cores(self.cores) or "cores that were not read back"
        return f"{_capital(self.whose())} ran on {where}{apart}."


class SameDescriptors(Alike, frozen=True, kw_only=True):
    """The descriptor limit in force."""

    limit: int = 0
    asked: int = 0

    def text(self) -> str:
        if self.differing:
            return (
                f"Servers had other descriptor limits than the {self.asked:,} asked for:"
                f" {self.each()}."
            )
        return f"A limit of {self.limit:,} descriptors was in force for {self.whose()}."


class SameVersions(Alike, frozen=True, kw_only=True):
    """Versions and checksums identify what was measured."""

    runtimes: list[str] = msgspec.field(default_factory=list)

    def text(self) -> str:
        if self.differing:
            return f"Not recorded of {formatting.listed([*self.differing])}: version or files."
        runtimes = f" ({', '.join(self.runtimes)})" if self.runtimes else ""
        return f"Versions and checksums of {self.whose()} are recorded{runtimes}."


class SameSetUp(Alike, frozen=True, kw_only=True):
    """What could not be made equal between servers."""

    said: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """Sentences of the catalogue, each with the servers it applies to."""

    def text(self) -> str:
        if self.said:
            return " ".join(f"{formatting.listed(of)}: {said}" for said, of in self.said.items())
        return f"Nothing is known that could not be made equal for {self.whose()}."


class QuietHost(OfPoints, frozen=True, kw_only=True):
    """Other programs on the cores of server and clients."""

    most_pct: float = 0.0
    """Percent of one core: the highest at any point."""
    limit_pct: float
    others: list[str] = msgspec.field(default_factory=list)
    """Machines with another user's run."""

    def text(self) -> str:
        if self.others:
            return (
                f"Another user's run was on {formatting.listed(self.others)}: each disturbs the"
                " other. Agree on who measures when."
            )
        if self.at:
            return (
                f"Background load took up to {self.most_pct:.0f} % of a core: {self.where()}."
                " Repeat on a quiet machine."
            )
        return (
            f"Background load took less than {self.limit_pct:.0f} % of a core at {self.all()}"
            f" (at most {self.most_pct:.0f} %)."
        )


class LinkAudit(Finding, frozen=True, kw_only=True):
    """The links between clients and target, before anything was measured."""

    links: int = 0
    lossy: dict[str, float] = msgspec.field(default_factory=dict)
    """By client: share of segments that were lost."""
    slow: list[str] = msgspec.field(default_factory=list)
    """Clients whose link has less capacity than the plan needs."""

    def text(self) -> str:
        if self.lossy:
            each = ", ".join(f"{name} {100 * lost:.1f} %" for name, lost in self.lossy.items())
            return f"Links lost packets before the run: {each}. Check the network."
        if self.slow:
            return (
                f"The link to {formatting.listed(self.slow)} carries less than the plan needs at"
                " its highest values: there the link may be the limit, not a server."
            )
        links = _all(self.links, "link")
        return f"Packet loss and capacity of {links} were measured before the run, and suffice."


class NoLink(Finding, frozen=True, kw_only=True):
    """Servers and clients share a machine."""

    def text(self) -> str:
        return "Servers and clients share a machine: no network lies between them."


class LinkNotChecked(Finding, frozen=True, kw_only=True):
    """A link could not be measured."""

    clients: list[str]

    def text(self) -> str:
        return f"The link of {formatting.listed(self.clients)} could not be measured."


class Recording(OfPoints, frozen=True, kw_only=True):
    """The recording is complete."""

    end: Literal["done", "stopped", "aborted", "failed", "interrupted"] = "done"
    unwatched: bool = False
    """The sampler of the target was lost."""

    def text(self) -> str:
        if self.at:
            what = "CPU, memory and counters" if self.unwatched else "Some windows"
            return f"{what} are missing: {self.where()}."
        ended = {
            "done": "",
            "interrupted": "The recording was cut off before the run ended",
            "stopped": "The run was stopped early",
            "aborted": "The run was aborted",
            "failed": "The run failed",
        }[self.end]
        if ended:
            return f"{ended}: not all planned points were measured."
        return "The run came to its end, and no window or sample is missing."


class UnderWay(Finding, frozen=True, kw_only=True):
    """The run has not ended."""

    def text(self) -> str:
        return "The run has not ended."


def _capital(phrase: str) -> str:
    return f"{phrase[:1].upper()}{phrase[1:]}"


def _all(count: int, noun: str) -> str:
    """ "all 7 servers", "both servers", "the server"."""
    if count == 1:
        return f"the {noun}"
    return f"both {noun}s" if count == 2 else f"all {count:,} {noun}s"


def counted(states: dict[str, int], failed: list[str]) -> str:
    """ "12 passed, 1 failed (quiet host), 1 not known". `states`: number of audits by state;
    `failed`: labels."""
    said = [f"{states.get('passed', 0)} passed"]
    if failed:
        said.append(f"{len(failed)} failed ({', '.join(failed)})")
    if unknown := states.get("not-known"):
        said.append(f"{unknown} not known")
    return ", ".join(said)
