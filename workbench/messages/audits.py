"""What audits of a session found, in sentences; see `analysis.audits`."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.messages.base import Message, places
from workbench.messages.tools import NotChecked, Unchecked


class Finding(Message):
    """The finding of one audit."""


class OfPoints(Finding):
    points: int = 0
    left_out: int = 0
    """Points that could not be checked."""
    at: list[tuple[str, float]] = msgspec.field(default_factory=list)
    """Points that failed: server and position on the axis."""
    suffix: str = RATE.suffix

    def where(self) -> str:
        return places(self.at, self.suffix)

    def left(self) -> str:
        return f"; {self.left_out:,} more cannot be checked" if self.left_out else ""


class NothingYet(Finding):
    template = "No point is complete."


class NotRecorded(Finding):
    """The session was recorded by a version that did not record what the audit needs."""

    what: Literal[
        "pending", "codes", "resources", "backlog", "background", "link", "clients", "client times"
    ]
    before: ClassVar = {
        "pending": "calls in flight were counted",
        "codes": "reasons of verdicts had codes",
        "resources": "processes, cores and limits were read back",
        "backlog": "the backlog was read back",
        "background": "background load was measured",
        "link": "links were checked",
        "clients": "clients were recorded one by one",
        "client times": "each client reported its own response times",
    }
    template = "Recorded before {what:before}."


class NotReportedByTool(Finding, tag="not-told-by-tool"):
    tool: str
    template = "The load tool '{tool}' does not report it."


def counted(states: dict[str, int], failed: list[str]) -> str:
    """ "12 passed, 1 failed (quiet host), 1 not known". `states`: number of audits by state;
    `failed`: labels."""
    said = [f"{states.get('passed', 0)} passed"]
    if failed:
        said.append(f"{len(failed)} failed ({', '.join(failed)})")
    if unknown := states.get("not-known"):
        said.append(f"{unknown} not known")
    return ", ".join(said)


# The load.


class Conservation(OfPoints):
    calls: int
    template = """{at:?Calls are missing or counted twice: {where}. These points are excluded;
        please report this
        |{calls:,} calls at {points:every point}: each is counted once, as answered, failed, unsent
        or open at the end{left}}."""


class LittlesLaw(OfPoints):
    tolerance_pct: float
    """In addition to 50 µs per call and the clients' own lateness."""
    in_flight: float = 0.0
    """Mean number of calls in flight at the worst point."""
    expected: float = 0.0
    """Rate times service time at that point."""
    template = """{at:?Calls in flight contradict rate × service time: {where} (at worst
        {in_flight:,.1f} calls were in flight, not {expected:,.1f}). Do not trust response times
        there
        |Calls in flight equal rate × service time at {points:every point}, within
        {tolerance_pct:g} %, 50 µs per call and the clients' own lateness{left}}."""


class NoLittlesLaw(Finding):
    template = "Too many connections failed, so it is unknown how long they were open."


class Schedule(OfPoints):
    planned_pct: float
    """By how much the two may differ."""
    template = """{at:?The clients did not keep their schedule: {where}. They started late, left
        calls out, or offered another load than was planned
        |The clients kept their schedule at {points:every point}: on time, and within
        {planned_pct:g} % of the planned load{left}}."""


class NoSchedule(Finding):
    template = "Closed loop: the servers set the pace, so there is no schedule to keep."


class AllChecked(OfPoints):
    template = "The load tool reported all that verdicts rest on, at {points:every point}."


class NotAllChecked(Finding):
    by_tool: dict[str, list[Unchecked]]
    template = "{each:sentences}"

    def each(self) -> list[str]:
        return [NotChecked(tool=tool, what=what).text() for tool, what in self.by_tool.items()]


class Overlap(OfPoints):
    clients: int
    least_pct: float
    """Smallest share of any point in which all clients offered load."""
    missing: list[str] = msgspec.field(default_factory=list)
    """Clients that took no part in a point."""
    template = """{missing:?{missing:listed} took no part in some points: {where}. The others
        offered its share, so these points are not comparable with the rest
        |{at:?The clients did not offer load at the same time: {where} (all of them in only
        {least_pct:.1f} % of the point). Check their clocks and links
        |{clients:Every client} offered load together for at least {least_pct:.1f} % of every
        point}}."""


class OneClient(Finding):
    template = "One client offered the whole load."


class ClientsAlike(Finding):
    clients: int
    slow: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    """By name of a slow client: by how many percent its service times are longer (interval)."""
    template = """{slow:?A client sees longer service times than the others: {longer:listed} (p50).
        It is slow or farther away; high percentiles are mostly its own
        |None of {clients} clients sees service times 10 % longer than the others}."""

    def longer(self) -> list[str]:
        return [f"{name} {formatting.span(*by)} % longer" for name, by in self.slow.items()]


class ClientLimit(Finding):
    limit_per_s: float
    others_cpu_pct: float = 0.0
    """Background load during calibration in percent of one core, if high enough to lower the
    limit."""
    template = """{limit_per_s:?{others_cpu_pct:?The client limit, {limit_per_s:rate}/s, was
        measured while background load took {others_cpu_pct:.0f} % of a core; it may be higher.
        Repeat on a quiet machine
        |The clients reach {limit_per_s:rate}/s by themselves; failures beyond that are not counted
        against a server}
        |The clients sustained no rate against the null server: no point can be trusted}."""


class NoCalibration(Finding):
    template = "The clients were not calibrated, so a limit may be theirs. Use calibrate: true."


class NotCalibrated(Finding):
    template = "The plan does not vary a rate, so the clients were not calibrated."


# Fairness: what must be the same for all servers.


class Alike(Finding):
    """Something that must be the same for all servers."""

    servers: int
    differing: dict[str, str] = msgspec.field(default_factory=dict)
    """By name of a server: its value as text. Empty: all servers have the same."""

    def each(self) -> str:
        """ "gevent 128, Tornado 512"."""
        return ", ".join(f"{name} {has}" for name, has in self.differing.items())


class SameBacklog(Alike):
    backlog: int = 0
    asked: int = 0
    template = """{differing:?Servers listened with backlogs other than the {asked:,} asked for:
        {each}. The smaller one alone can cause resets and refusals
        |A backlog of {backlog:,} was in force for {servers:every server}{other}}."""

    def other(self) -> str:
        return "" if self.asked in (0, self.backlog) else f", not the {self.asked:,} asked for"


class SameProcesses(Alike):
    """The number of processes in every pass; how many is a server's own choice."""

    several: dict[str, int] = msgspec.field(default_factory=dict)
    """Servers with more than one."""
    template = """{differing:?The number of processes differed between passes: {each}
        |{several:?Processes, the same in every pass: {numbers}
        |One process for {servers:every server}}}."""

    def numbers(self) -> str:
        others = "; the others one" * (len(self.several) < self.servers)
        return f"{', '.join(f'{name} {n:,}' for name, n in self.several.items())}{others}"


class SameCores(Alike):
    """The cores that servers may use, and clients do not."""

    cores: list[int] = msgspec.field(default_factory=list)
    shared: list[int] = msgspec.field(default_factory=list)
    """Cores shared with the clients."""
    own: bool = False
    """The clients are on the same machine, on other cores."""
    template = """{differing:?Servers ran on different cores: {each_on}, the others on
        {cores:cores}. Their figures cannot be compared
        |{shared:?Servers and clients shared {shared:cores}: the load takes CPU time from the
        server, so measured rates are too low
        |{servers:Every server} ran on {cores:?{cores:cores}|cores that were not read
        back}{own:?, and the clients on others}}}."""

    def each_on(self) -> str:
        return ", ".join(f"{name} on {has}" for name, has in self.differing.items())


class SameDescriptors(Alike):
    limit: int = 0
    asked: int = 0
    template = """{differing:?Servers had descriptor limits other than the {asked:,} asked for:
        {each}|A limit of {limit:,} descriptors was in force for {servers:every server}}."""


class SameVersions(Alike):
    runtimes: list[str] = msgspec.field(default_factory=list)
    template = """{differing:?Not recorded for {differing:listed}: version or files
        |Versions and checksums of {servers:every server} are recorded{runtimes:?
        ({runtimes:joined})}}."""


class SameSetUp(Alike):
    said: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """Sentences of the catalogue, each with the servers it applies to."""
    template = """{said:?{unequal:sentences}
        |No differences are known in the set-up of {servers:every server}.}"""

    def unequal(self) -> list[str]:
        return [f"{formatting.listed(of)}: {said}" for said, of in self.said.items()]


# The surroundings.


class QuietHost(OfPoints):
    most_pct: float = 0.0
    """Percent of one core: the highest at any point."""
    limit_pct: float
    stolen_pct: float = 0.0
    """The most that the host of a virtual machine took."""
    others: list[str] = msgspec.field(default_factory=list)
    """Machines with another user's run."""
    template = """{others:?Another run was on {others:listed}: each disturbs the other. Agree on who
        measures when
        |{at:?Background load took up to {most_pct:.0f} % of a core{stolen_pct:by_host}: {where}.
        Repeat on a quiet machine
        |Background load took less than {limit_pct:.0f} % of a core at {points:every point} (at most
        {most_pct:.0f} %)}}."""


class LinkAudit(Finding):
    links: int = 0
    lossy: dict[str, float] = msgspec.field(default_factory=dict)
    """By client: share of segments that were lost."""
    both_ways: bool = False
    """Their capacity is known in both directions."""
    slow: list[str] = msgspec.field(default_factory=list)
    """Clients whose link has less capacity than the plan needs."""
    template = """{lossy:?Links lost packets before the run: {losses:joined}. Check the network
        |{slow:?The link to {slow:listed} carries less than the plan needs at its highest values:
        there the link may be the limit, not a server
        |Packet loss and capacity of {links:every link} were measured{both_ways:? in both
        directions} before the run, and suffice}}."""

    def losses(self) -> list[str]:
        return [f"{name} {100 * lost:.1f} %" for name, lost in self.lossy.items()]


class NoLink(Finding):
    template = "Servers and clients share a machine: no network lies between them."


class LinkNotChecked(Finding):
    clients: list[str]
    template = "The link of {clients:listed} could not be measured."


class Recording(OfPoints):
    end: Literal["done", "stopped", "aborted", "failed", "interrupted"] = "done"
    unwatched: bool = False
    """The sampler of the target was lost."""
    ended: ClassVar = {
        "interrupted": "The recording was cut off before the run ended",
        "stopped": "The run was stopped early",
        "aborted": "The run was aborted",
        "failed": "The run failed",
    }
    template = """{at:?{unwatched:?CPU, memory and counters|Some windows} are missing: {where}
        |{end:done?The run completed, and no window or sample is missing
        |{end:ended}: not all planned points were measured}}."""


class UnderWay(Finding):
    template = "The run has not ended."


# Within points.


class TooFewWindows(Finding):
    needed: int
    template = """A server needs {needed} windows of 200 ms at points it sustains, with 20 answered
        calls each; lengthen the points or add passes."""


class OfNetwork(Finding):
    template = """Response times depended on the network or on one client at the points that could
        be checked; see these points."""


class SteadyState(Finding):
    servers: int
    unsteady: dict[str, tuple[str, float]] = msgspec.field(default_factory=dict)
    """By name: kind and change in percent (see `analysis.steadiness`)."""
    template = """{unsteady:?Not steady within points: {each:joined ;}. Lengthen the warm-up or the
        points|Response times of {servers:number_of servers} that could be checked are steady within
        points}."""

    def each(self) -> list[str]:
        return [_unsteady(name, *what) for name, what in self.unsteady.items()]


def _unsteady(name: str, kind: str, change_pct: float) -> str:
    pct = f"{formatting.span(abs(change_pct), abs(change_pct))} %"
    word = "slower" if change_pct > 0 else "faster"
    if kind == "warm-up":
        return f"{name} warms up, {pct} {word} in its first windows than in the rest"
    if kind == "drift":
        return f"{name} drifts, {pct} {word} at the end of a point than at its beginning"
    return f"{name} has no steady state"


class TooShortForGrowth(Finding):
    template = "Points are too short to tell whether memory grows; it takes 10 s at one rate."


class MemoryGrowth(Finding):
    servers: int
    growth: dict[str, tuple[float, float, float, bool]]
    """By name: bytes per hour, the ends of their 95 % interval, and whether it is a leak."""
    seconds: float
    """For which the longest point was watched."""
    template = """{leaks:?Memory grows under constant load, within {watched}: {leaks:joined ;}. It
        leaks, or fills a cache; a longer point shows which
        |Memory does not grow within {watched}; most by {most}}."""

    def watched(self) -> str:
        return formatting.time_span((self.seconds, self.seconds))

    def leaks(self) -> list[str]:
        return [f"{name} by {_growth(each)}" for name, each in self.growth.items() if each[3]]

    def most(self) -> str:
        most, each = max(self.growth.items(), key=lambda item: item[1][0])
        return f"{_growth(each)} ({most})"


def _growth(each: tuple[float, float, float, bool]) -> str:
    """ "120 MB per hour (110 to 130)"."""
    figures = [f"{float(f'{bytes_ / 1e6:.3g}'):,.10g}" for bytes_ in each[:3]]
    return f"{figures[0]} MB per hour ({figures[1]} to {figures[2]})"


class IndependentWindows(Finding):
    servers: int
    dependent: dict[str, float] = msgspec.field(default_factory=dict)
    """By name: the number of independent windows that one window is worth."""
    template = """{dependent:?Windows depend on one another: {worth:listed}. Intervals from a single
        pass are too narrow; compare passes
        |Windows of a point are independent enough for intervals from a single pass}."""

    def worth(self) -> list[str]:
        return [
            f"one of {name} is worth {worth:.2g} independent ones"
            for name, worth in self.dependent.items()
        ]
