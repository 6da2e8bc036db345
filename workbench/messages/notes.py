"""Notes, recorded in a session beside its points.

A note's topic is the code of its message, its data are the parameters (`documents.Note`).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.documents import Note, Verdict
from workbench.messages.base import Message, place
from workbench.shapes import Rate


class Severity(IntEnum):
    """How much a note matters to a reader of the figures."""

    QUIET = 0
    """The same in every pass; not printed in the terminal."""
    INFO = 1
    WARNING = 2
    """Changes what figures mean."""
    SERIOUS = 3
    """Figures are missing."""
    ALERT = 4
    """Unexpected and needs attention: shown at once, above the charts."""


class Notice(Message):
    """A message that becomes a note."""

    level: ClassVar[Severity] = Severity.INFO
    names_server: ClassVar[bool] = True
    """The sentence contains the name of the server it is about, if there is one."""

    def severity(self) -> Severity:
        return self.level

    def note(self, t_us: int, *, server: str = "", machine: str = "") -> Note:
        """The document that records it."""
        return Note(
            t_us=t_us,
            topic=self.code,
            text=self.text(),
            server=server,
            machine=machine,
            data=self.data(),
        )


class Point(Notice):
    """A notice about a point, by its position on the plan's axis."""

    x: float
    suffix: str = RATE.suffix

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


# Clients: their limit, and clients that are lost and recovered.


class Ceiling(Notice):
    """The rate that the clients themselves reach, against the null server or any other."""

    ceiling_per_s: float
    """0: the clients reached no rate."""
    reached_all: bool = False
    """They reached the highest rate of the plan."""
    others_cpu_pct: float = 0.0
    """Background load during calibration, in percent of one core."""
    disturbed: bool = False
    """The background load is high enough that the clients may reach more."""
    name: str = ""
    """The server that sustained a higher rate than the null server; empty: calibration."""
    before_per_s: float = 0.0
    """With `name`: the limit known before; 0: no rate."""
    load_tool: str = ""
    """Where the run has several: with which; empty: it has one."""
    confirmed: bool = False
    """An earlier run found it, and this one reached it again at once."""
    template = """{name:?{name} sustained {ceiling_per_s:rate}/s, so the client limit is at least
        that (before: {before_per_s:?{before_per_s:rate}/s|none}).
        |{ceiling_per_s:?The clients reach {ceiling_per_s:,.0f}/s against the null
        server{load_tool:? with {load_tool}}{confirmed:?, as in an earlier
        run}{reached_all:?: all that the plan asks for
        |. Above this rate the clients are the limit}.
        |The clients sustained no rate against the null server: no point can be
        trusted.}{disturbed:? Background load took {others_cpu_pct:.0f} % of a core meanwhile, so
        they may reach more. Repeat on a quiet machine.}}"""

    def severity(self) -> Severity:
        # All charts are hatched in that case.
        return Severity.INFO if self.ceiling_per_s else Severity.ALERT


class ClientLimitUnknown(Notice):
    level = Severity.WARNING
    protocol: str = ""
    """A protocol that the null server does not support; empty: calibration was interrupted or
    failed."""
    template = """{protocol:?The null server does not support {protocol}, so the client limit was
        not measured|The client limit was not measured}."""


_OFFERING = "{left:1?1 client offers the whole rate|{left} clients offer the rate}"


class ClientLost(Notice):
    level = Severity.ALERT
    clients: list[str]
    left: int
    """Number of clients left."""
    limit_void: bool = False
    """A known client limit no longer applies."""
    template = f"""{{clients:joined}} was lost; from here on {_OFFERING}{{limit_void:?, and the
        client limit found before no longer applies}}."""


class ClientNotBack(Notice):
    level = Severity.WARNING
    clients: list[str]
    said: str
    template = "{clients:joined} did not come back: {said}"


class ClientBack(Notice):
    level = Severity.WARNING
    clients: list[str]
    left: int
    """Number of clients now."""
    limit_valid: bool = False
    """The client limit measured with all of them applies again."""
    changed: list[str] = msgspec.field(default_factory=list)
    """Facts of its machine."""
    said: list[str] = msgspec.field(default_factory=list)
    """The state of its tuning, as complete sentences."""
    template = f"""{{clients:joined}} is back; from here on {_OFFERING}{{limit_valid:?, and the
        client limit found with all of them applies again}}.{{changed:? Its facts changed meanwhile:
        {{changed:joined}}.}}{{said:? {{said:sentences}}}}"""


# Servers: how they were deployed, and how they ended.


class Gate(Notice):
    level = Severity.QUIET
    names_server = False
    gate: dict[str, Any]
    """A `workloads.gating.GateResult`."""
    template = "{findings:sentences}"

    def findings(self) -> tuple[str, ...]:
        """The sentences of the gate; equal for servers that behave alike."""
        found = self.gate.get("sentences")
        return tuple(map(str, found)) if isinstance(found, list) else ()


class Database(Notice):
    level = Severity.QUIET
    names_server = False
    settings: dict[str, str]
    """By name, as PostgreSQL reads them."""
    template = """It has a PostgreSQL of its own, set as in the benchmark of 2015, the same for all:
        {stated:joined}."""

    def stated(self) -> list[str]:
        return [f"{name} = {value}" for name, value in self.settings.items()]


class Unequal(Notice):
    name: str = ""
    said: str
    template = "{name}: {said}"


class Backlog(Notice):
    level = Severity.QUIET
    name: str = ""
    backlog: int
    asked: int
    """0: none was, because the server was running already."""
    template = "{name} listens with a backlog of {backlog:,}{other}."

    def other(self) -> str:
        return "" if self.asked in (0, self.backlog) else f", not the {self.asked:,} asked for"

    def of_all(self) -> str:
        """Without a name."""
        asked = self.other() or ", as requested" * bool(self.asked)
        return f"A backlog of {self.backlog:,} is in force{asked}."


class Resources(Notice):
    """What a server runs on, according to the kernel, before its first point."""

    level = Severity.QUIET
    name: str = ""
    processes: int
    threads: int
    cores: list[int]
    """Empty: unknown."""
    nofile: int
    """Descriptor limit of each of its processes; 0: unknown."""
    asked_nofile: int = 0
    template = "{name} runs in {of_all}"

    def of_all(self) -> str:
        """Without a name."""
        where = formatting.cores(self.cores) or "unknown cores"
        each = " each" * (self.processes > 1)
        limit = f", with at most {self.nofile:,} descriptors{each}" * bool(self.nofile)
        return f"{formatting.number_of(self.processes, 'processes')} on {where}{limit}."


class WarmUp(Notice):
    name: str = ""
    seconds: float = 0.0
    calls: int
    more_pct: int = 0
    """Calls that it answered more in the last third of the time than in the second."""
    steady_pct: ClassVar = 5
    template = """{name} gets faster while it runs, so it was warmed up for {seconds:g} s with
        {calls:,} calls{rising:?, and was still getting faster: {more_pct} % more in the last third
        of them than in the one before}."""

    def rising(self) -> bool:
        return self.more_pct > self.steady_pct


class Deploy(Notice):
    level = Severity.ALERT
    said: str
    template = "{said}"


class Died(Point):
    level = Severity.ALERT
    name: str
    status: int
    """Exit status; negative: the signal."""
    warming_up: bool = False
    said: str = ""
    """Its last line of output."""
    template = """{name} ended {status:exit} {warming_up:?during its warm-up }at {at}; its sweep
        ends here.{said:? Last output: {said}}"""


class ServerChanged(Notice):
    level = Severity.ALERT
    name: str
    said: str
    """The end of a sentence."""
    between: bool = False
    """Two points, so that neither is excluded."""
    template = "{name} changed {between:?between two points|during the run}: {said}."


class CpuTimeLost(Notice):
    name: str
    template = """{name} ignores SIGCHLD, so the kernel drops the CPU time of the processes it
        starts: its CPU time is unknown, and so is background load on its cores. Let it wait for
        them (waitpid)."""


class Memory(Notice):
    name: str = ""
    before_bytes: int
    after_bytes: int
    processes: int = 1
    """Of its tree, whose memory is added up."""
    shared_once: bool = False
    """Whether it is their PSS, in which shared memory counts once; otherwise their RSS."""
    held: int = 0
    """The most connections that the plan kept open at once; 0: each ended as soon as it could."""
    template = """{name} grew from {before_bytes:megabytes} to {after_bytes:megabytes} and did not
        shrink after its last point{several}: {held:?it had up to {held:number_of connections} open
        at once|it keeps the memory for later, or leaks it}."""

    def several(self) -> str:
        if self.processes <= 1:
            return ""
        if self.shared_once:
            return f" (PSS of {self.processes:,} processes)"
        return f" (RSS of {self.processes:,} processes; memory they share counts in each)"


# The course of a run: points left out, repeated or waited for.


class GaveUp(Point):
    level = Severity.SERIOUS
    names_server = False
    success_below_pct: float
    points: int
    left_out: int
    template = """The sweep ended early at {at}: fewer than {success_below_pct:g} % of the calls
        succeeded at {points:1?this point|{points} points in a row}; {left_out:1?1 higher one was
        |{left_out:,} higher ones were} left out."""


class Skipped(Notice):
    name: str
    template = "{name} was skipped."


class WrittenAgain(Notice):
    level = Severity.WARNING
    lost: str
    path: str
    """The file that holds the whole session now."""
    template = "The session file {lost} was deleted or moved; the session {now}."

    def now(self) -> str:
        return "was written again" if self.path == self.lost else f"is now in {self.path}"


class CoolDown(Notice):
    names_server = False
    seconds: float
    template = "Waiting {seconds:.0f} s until the client's local ports are free again."


class Settle(Notice):
    level = Severity.WARNING
    name: str
    seconds: float
    template = """{name} still had connections waiting {seconds:.0f} s after the last point; they
        carry over into the next one."""


class Rates(Notice):
    values: list[Rate]
    suffix: str = RATE.suffix
    template = "{number} rates up to the client limit: {low:figure} to {high}."

    def number(self) -> int:
        return len(self.values)

    def low(self) -> Rate:
        return self.values[0]

    def high(self) -> str:
        return place(self.values[-1], self.suffix)


class Again(Notice):
    """The rate that decides what a server sustains is in doubt, so it is repeated."""

    name: str = ""
    look: int
    """Attempts so far."""
    pass_number: int
    rates_per_s: list[float]
    """Values on the plan's axis."""
    suffix: str = RATE.suffix
    verdict: Verdict = "inconclusive"
    held: bool = False
    passes: int = 1

    def text(self) -> str:
        found = {
            "server-limited": "did not sustain",
            "client-limited": "could not be offered",
            "network-limited": "was limited by the network at",
            "faulty": "gave unexpected responses at",
        }.get(self.verdict, "could not be judged at")
        found = "sustained" if self.held else found
        where = f", pass {self.pass_number}" if self.passes > 1 else ""
        rates = formatting.listed([RATE.figure(rate) for rate in self.rates_per_s])
        return (
            f"{self.name} {found} {formatting.counted(rates, self.suffix)}"
            f" ({formatting.ordinal(self.look)} "
            f"try{where}): repeating, because its limit is decided there."
        )


class Paused(Notice):
    names_server = False
    x: float | None = None
    """Position of the last point; None: before the first."""
    suffix: str = RATE.suffix

    def text(self) -> str:
        if self.x is None:
            return "Paused after the servers were tested."
        return f"Paused after {place(self.x, self.suffix)}."


class Resumed(Notice):
    names_server = False
    template = "Resumed."


# Notices that are not recorded, but derived from the documents.


class WindowsMissing(Notice):
    level = Severity.ALERT
    seconds: float
    template = """{seconds:.1f} s of samples from the clients are missing at this point. Its totals
        are complete; its time series has a gap."""


class Faulty(Point):
    """The first point at which a server is faulty."""

    level = Severity.WARNING
    name: str
    cause: str
    template = "{name} is faulty at {at}. {cause}"


class NotJudged(Point):
    """A server's first point that cannot be trusted, or the first after a trusted one."""

    level = Severity.WARNING
    name: str
    first: bool = False
    """The first of the run, and at a server's lowest rate: what this server sustains stays
    unknown."""
    cause: str
    template = "{name} at {at} cannot be judged. {cause}"

    def severity(self) -> Severity:
        return Severity.ALERT if self.first else Severity.WARNING
