"""What a session notes beside its points.

A note's topic is the code of its message, its data are the parameters (`documents.Note`).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar, Literal

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.documents import Note, Verdict
from workbench.messages.base import Message, Record, place, read
from workbench.messages.reasons import REASONS


class Severity(IntEnum):
    """How much a note matters to a reader of the figures."""

    QUIET = 0
    """The same in every turn: no line in the terminal."""
    INFO = 1
    WARNING = 2
    """Figures mean something else for it."""
    SERIOUS = 3
    """Figures are missing for it."""
    SUDDEN = 4
    """Nobody expected it: shown at once, above the charts."""


class Notice(Message, frozen=True, kw_only=True):
    """What becomes a note."""

    level: ClassVar[Severity] = Severity.INFO
    names_server: ClassVar[bool] = True
    """The sentence names the server it is about, if it is about one."""

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


class Point(Notice, frozen=True, kw_only=True):
    """Of a point, by its place on the plan's axis."""

    x: float
    suffix: str = RATE.suffix
    """Behind the figure; see `Axis`."""

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


# Of the plan and its machines, before anything is measured.


class SharedCores(Notice, frozen=True, kw_only=True):
    """Server and load agents run on the same cores."""

    level = Severity.WARNING

    machine: str
    cores: list[int]

    def text(self) -> str:
        cores = f"core{'s' * (len(self.cores) > 1)} {', '.join(map(str, self.cores))}"
        return (
            f"Server and agents share {cores} of '{self.machine}': the load generator takes time "
            "from the server, and rates come out lower than they are. Give them cores of their own."
        )


class Exposed(Notice, frozen=True, kw_only=True):
    """Servers without security fixes listen where other machines reach them."""

    servers: list[str]
    """By name."""
    address: str
    said: str
    """Who would listen where."""

    def text(self) -> str:
        return f"{self.said}; whoever began the run agreed to that."


class Confinement(Notice, frozen=True, kw_only=True):
    """The kernel cannot keep servers from the files of their user."""

    machine: str

    def text(self) -> str:
        return (
            f"The kernel of {self.machine} offers no Landlock (Linux 5.13), so the servers may "
            "read and write what their user may."
        )


class Link(Notice, frozen=True, kw_only=True):
    """What was measured between a client and the target."""

    client: str
    target: str
    min_us: int
    p50_us: int
    p99_us: int
    bits_per_s: float
    """From the target to the client, as replies go, in one TCP stream."""
    by: str = ""
    """What measured that: "iperf3", or our own probe."""
    needed_bits_per_s: float = 0.0
    """By the plan, at most; 0: not known."""

    def text(self) -> str:
        by = f" ({self.by})" if self.by else ""
        needed = f"; the plan needs about {formatting.bits(self.needed_bits_per_s)} at most"
        return (
            f"{self.client} reaches {self.target} in {formatting.duration(self.p50_us)} (p99 "
            f"{formatting.duration(self.p99_us)}) and at {formatting.bits(self.bits_per_s)}{by}"
            f"{needed * bool(self.needed_bits_per_s)}."
        )


class LinkUnchecked(Notice, frozen=True, kw_only=True):
    """It was not measured."""

    client: str
    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return self.said


class SlowLink(Notice, frozen=True, kw_only=True):
    """It may be the limit at the highest rates."""

    level = Severity.WARNING

    client: str
    target: str
    bits_per_s: float
    needed_bits_per_s: float

    def text(self) -> str:
        return (
            f"The link from {self.target} to {self.client} carries"
            f" {formatting.bits(self.bits_per_s)} and the plan needs about"
            f" {formatting.bits(self.needed_bits_per_s)}: at its highest rates the link"
            " may be the limit, not a server. Lower them, or use a faster link."
        )


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel setting, as the tuner answers."""

    key: str
    old: str | int | None = None
    wanted: str | int | None = None
    got: str | int | None = None
    problem: str = ""
    """Why it was not set; empty: it was."""

    @property
    def changed(self) -> bool:
        return not self.problem and self.old != self.got


class Tuned(Notice, frozen=True, kw_only=True):
    """Kernel settings of a machine, for the length of the run."""

    machine: str = ""
    set: str = ""
    """Its name."""
    settings: list[Setting]

    def before(self) -> list[str]:
        """What was changed, as it was: "net.core.somaxconn 4096"."""
        return [f"{s.key} {s.old}" for s in self.settings if s.changed]

    def text(self) -> str:
        return " ".join(self.sentences()) or f"{self.machine} needed no tuning for this run."

    def sentences(self) -> list[str]:
        """What was changed, and what could not be."""
        changed = [f"{s.key} {s.old} -> {s.got}" for s in self.settings if s.changed]
        tuned = f"{self.machine} is tuned for this run: {', '.join(changed)}."
        kept = [
            f"{s.key} stays as it is on {self.machine}: {s.problem}."
            for s in self.settings
            if s.problem
        ]
        clamped = [
            f"The kernel of {self.machine} set {s.key} to {s.got}, not {s.wanted} as asked."
            for s in self.settings
            if not s.problem and s.got != s.wanted
        ]
        return [*([tuned] if changed else []), *kept, *clamped]


class Untuned(Notice, frozen=True, kw_only=True):
    """Kernel settings stay as they are."""

    machine: str
    why: Literal["profile", "sudo", "declined", "failed"]
    said: str = ""
    """How it failed, as a sentence of its own."""

    def text(self) -> str:
        if self.why == "failed":
            return self.said
        return {
            "profile": f"{self.machine} is not tuned: its profile does not allow it (tuning).",
            "sudo": f"{self.machine} is not tuned: its profile allows no root privileges (sudo).",
            "declined": f"{self.machine} is not tuned: the run was started without tuning.",
        }[self.why]


class Restored(Notice, frozen=True, kw_only=True):
    """The settings of a machine are its own again."""

    machine: str
    settings: list[str]
    """ "net.core.somaxconn 4096"."""

    def text(self) -> str:
        listed = ", ".join(self.settings)
        return f"{self.machine} has its own kernel settings again: {listed}."


class CrashRestored(Notice, frozen=True, kw_only=True):
    """A run that crashed had left a machine tuned."""

    machine: str
    said: list[str]
    """A sentence for every setting that was restored or not."""

    def text(self) -> str:
        return f"A crashed run had left {self.machine} tuned: {' '.join(self.said)}"


class NotRestored(Notice, frozen=True, kw_only=True):
    """A setting that was changed for the run is not as it was before."""

    level = Severity.WARNING

    machine: str
    said: str
    """Which and why, as a sentence of its own."""

    def text(self) -> str:
        return self.said


class StillTuned(Notice, frozen=True, kw_only=True):
    """By another run, or by one that crashed; figures come from a tuned machine."""

    level = Severity.WARNING

    machine: str
    said: str
    """Why it could not be restored, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.machine} is still tuned by another run, or by one that crashed: {self.said}"


# Of servers, as they are deployed.


class Gate(Notice, frozen=True, kw_only=True):
    """What a server puts on the wire."""

    level = Severity.QUIET
    names_server = False

    gate: dict[str, Any]
    """`servers.gate.GateResult`."""

    def findings(self) -> tuple[str, ...]:
        """As the gate tells them; of servers that are alike the same."""
        found = self.gate.get("sentences")
        return tuple(map(str, found)) if isinstance(found, list) else ()

    def text(self) -> str:
        return " ".join(self.findings())


class Unequal(Notice, frozen=True, kw_only=True):
    """A server could not be made equal to the others in something."""

    name: str = ""
    said: str

    def text(self) -> str:
        return f"{self.name}: {self.said}"


class Backlog(Notice, frozen=True, kw_only=True):
    """In force in the kernel."""

    level = Severity.QUIET

    name: str = ""
    backlog: int
    asked: int

    def text(self) -> str:
        other = "" if self.backlog == self.asked else f", not the {self.asked:,} asked for"
        return f"{self.name} listens with a backlog of {self.backlog:,}{other}."

    def of_all(self) -> str:
        """Without a name."""
        if self.backlog == self.asked:
            return f"A backlog of {self.backlog:,} is in force, as asked."
        return f"A backlog of {self.backlog:,} is in force, not the {self.asked:,} asked for."


class WarmUp(Notice, frozen=True, kw_only=True):
    """Of its own, for a server that gets faster while it runs."""

    name: str = ""
    seconds: float = 0.0
    calls: int

    def text(self) -> str:
        return f"{self.name} gets faster while it runs, so it was warmed up for {self.seconds:g} s."


class Deploy(Notice, frozen=True, kw_only=True):
    """A server could not be started."""

    level = Severity.SUDDEN

    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return self.said


# The client limit.


class Ceiling(Notice, frozen=True, kw_only=True):
    """The rate that the clients themselves reach, against the null server or any other."""

    ceiling_per_s: float
    """0: none."""
    reached_all: bool = False
    """All the plan asks for."""
    others_cpu_pct: float = 0.0
    """Of a core: what other programs took during calibration."""
    disturbed: bool = False
    """Enough that the clients may reach more."""
    name: str = ""
    """Of the server that sustained a higher rate than the null server; empty: calibration."""
    before_per_s: float = 0.0
    """With `name`: what was known before; 0: no rate."""

    def severity(self) -> Severity:
        # Every chart is hatched then.
        return Severity.INFO if self.ceiling_per_s else Severity.SUDDEN

    def text(self) -> str:
        if self.name:
            before = f"{formatting.rate(self.before_per_s)}/s" if self.before_per_s else "none"
            return (
                f"{self.name} sustained {formatting.rate(self.ceiling_per_s)}/s, so the client "
                f"limit is at least that; before, {before} was known."
            )
        return f"{self._found()}{self._disturbed()}"

    def _found(self) -> str:
        if not self.ceiling_per_s:
            return "The clients sustained no rate against the null server: no point can be trusted."
        reached = f"The clients reach {self.ceiling_per_s:,.0f}/s against the null server"
        if self.reached_all:
            return f"{reached}: all that the plan asks for."
        return f"{reached}; beyond that a point says more about them than about a server."

    def _disturbed(self) -> str:
        if not self.disturbed:
            return ""
        return (
            f" Background load took {self.others_cpu_pct:.0f} % of a core meanwhile, so they may "
            "reach more. Repeat on a quiet machine."
        )


class ClientLimitUnknown(Notice, frozen=True, kw_only=True):
    """It was not measured."""

    level = Severity.WARNING

    protocol: str = ""
    """Which the null server does not support; empty: it was interrupted, or did not start."""

    def text(self) -> str:
        if self.protocol:
            return (
                f"The null server does not support {self.protocol}, so the client limit was not "
                "measured."
            )
        return "The client limit was not measured."


# In a server's turn.


class Died(Point, frozen=True, kw_only=True):
    """A server ended by itself."""

    level = Severity.SUDDEN

    name: str
    status: int
    """Of its exit; below 0 the signal."""
    warming_up: bool = False
    said: str = ""
    """Its last line of output."""

    def text(self) -> str:
        how = f"by signal {-self.status}" if self.status < 0 else f"with status {self.status}"
        when = f"during its warm-up at {self.at()}" if self.warming_up else f"at {self.at()}"
        ended = f"{self.name} ended {how} {when}; its sweep ends here."
        return f"{ended} Last output: {self.said}" if self.said else ended


class GaveUp(Point, frozen=True, kw_only=True):
    """A server is gone, so that the rest of its sweep was left out."""

    level = Severity.SERIOUS
    names_server = False

    success_below_pct: float
    points: int
    """In a row."""
    left_out: int

    def text(self) -> str:
        points = "at this point" if self.points == 1 else f"at {self.points} points in a row"
        left = "1 higher one was" if self.left_out == 1 else f"{self.left_out:,} higher ones were"
        return (
            f"The sweep ended early at {self.at()}: fewer than {self.success_below_pct:g} % of the "
            f"calls succeeded {points}; {left} left out."
        )


class Skipped(Notice, frozen=True, kw_only=True):
    """By a person."""

    name: str

    def text(self) -> str:
        return f"{self.name} was skipped."


class CoolDown(Notice, frozen=True, kw_only=True):
    """A long one."""

    names_server = False

    seconds: float

    def text(self) -> str:
        return f"Waiting {self.seconds:.0f} s until the client's local ports are free again."


class Settle(Notice, frozen=True, kw_only=True):
    """It did not."""

    level = Severity.WARNING

    name: str
    seconds: float

    def text(self) -> str:
        return (
            f"{self.name} still had connections waiting {self.seconds:.0f} s after the last point; "
            "the next one meets them, too."
        )


class Memory(Notice, frozen=True, kw_only=True):
    """That a server took under load and kept."""

    name: str = ""
    before_bytes: int
    after_bytes: int

    def text(self) -> str:
        return (
            f"{self.name} grew from {formatting.megabytes(self.before_bytes)} to "
            f"{formatting.megabytes(self.after_bytes)} and kept that after its last point: "
            "it leaks memory, or does not give it back."
        )


class Again(Notice, frozen=True, kw_only=True):
    """The rate that decides what a server sustains is in doubt, and measured once more."""

    apart = ("look", "pass_number")

    name: str = ""
    look: int
    """So far."""
    pass_number: int
    rates_per_s: list[float]
    """On the plan's axis."""
    suffix: str = RATE.suffix
    verdict: Verdict = "inconclusive"
    held: bool = False
    passes: int = 1

    def text(self) -> str:
        found = {
            "server-limited": "did not sustain",
            "client-limited": "could not be offered",
            "network-limited": "could not be reached at",
        }.get(self.verdict, "could not be judged at")
        found = "sustained" if self.held else found
        where = f", pass {self.pass_number}" if self.passes > 1 else ""
        rates = formatting.listed([RATE.figure(rate) for rate in self.rates_per_s])
        return (
            f"{self.name} {found} {rates}{self.suffix} ({formatting.ordinal(self.look)} "
            f"try{where}): repeating, because its limit is decided there."
        )


class Paused(Notice, frozen=True, kw_only=True):
    """By a person."""

    names_server = False

    x: float | None = None
    """Of the last point; None: before the first."""
    suffix: str = RATE.suffix

    def text(self) -> str:
        if self.x is None:
            return "Paused after the servers were tested."
        return f"Paused after {place(self.x, self.suffix)}."


class Resumed(Notice, frozen=True, kw_only=True):
    """By a person."""

    names_server = False

    def text(self) -> str:
        return "Resumed."


class SamplerLost(Notice, frozen=True, kw_only=True):
    """The target goes on without being watched."""

    level = Severity.WARNING

    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.said} From here on CPU, memory and counters are missing."


class SamplerRestarted(Notice, frozen=True, kw_only=True):
    """It was lost in the last point."""

    level = Severity.WARNING

    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.said} It was started again."


class TargetGone(Notice, frozen=True, kw_only=True, tag="target-lost"):
    """The run ends."""

    level = Severity.SUDDEN

    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{self.said} No more load is offered to it."


# Of clients.


class ClientLost(Notice, frozen=True, kw_only=True):
    """The others offer its share from here on."""

    level = Severity.SUDDEN

    clients: list[str]
    left: int
    """Clients that are still there."""
    limit_void: bool = False
    """The client limit was known."""

    def text(self) -> str:
        void = ", and the client limit found before no longer applies" * self.limit_void
        return f"{', '.join(self.clients)} is gone; from here on {_offering(self.left)}{void}."


class ClientNotBack(Notice, frozen=True, kw_only=True):
    """It was tried."""

    level = Severity.WARNING

    clients: list[str]
    said: str
    """Why, as a sentence of its own."""

    def text(self) -> str:
        return f"{', '.join(self.clients)} did not come back: {self.said}"


class ClientBack(Notice, frozen=True, kw_only=True):
    """It offers its share again."""

    level = Severity.WARNING

    clients: list[str]
    left: int
    """Clients that are there."""
    limit_valid: bool = False
    """The client limit found with all of them applies again."""
    changed: list[str] = msgspec.field(default_factory=list)
    """Facts of its machine."""
    said: list[str] = msgspec.field(default_factory=list)
    """What became of its tuning, in sentences."""

    def text(self) -> str:
        valid = ", and the client limit found with all of them applies again" * self.limit_valid
        back = f"{', '.join(self.clients)} is back; from here on {_offering(self.left)}{valid}."
        changed = [f"Its facts changed meanwhile: {', '.join(self.changed)}."]
        return " ".join([back, *(changed * bool(self.changed)), *self.said])


def _offering(clients: int) -> str:
    return "1 client offers the whole rate" if clients == 1 else f"{clients} clients offer the rate"


# Not recorded: what a reader finds in the documents.


class WindowsMissing(Notice, frozen=True, kw_only=True):
    """Clients could not deliver them."""

    level = Severity.SUDDEN

    seconds: float

    def text(self) -> str:
        return (
            f"{self.seconds:.1f} s of this point's windows never arrived from the clients. Its "
            "totals are complete; only its course has a gap."
        )


class NotJudged(Point, frozen=True, kw_only=True):
    """A server's first point that is not to be trusted, or the first after a good one."""

    level = Severity.WARNING

    name: str
    first: bool = False
    """Of the run, at a server's lowest rate: what that server sustains stays unknown."""
    cause: str
    """Its reason, as a sentence of its own."""
    finding: Record = msgspec.field(default_factory=dict)
    """The reason as it is recorded; see `messages.reasons`."""

    def severity(self) -> Severity:
        return Severity.SUDDEN if self.first else Severity.WARNING

    def reason(self) -> Message:
        return read(REASONS, self.finding.get("code"), self.finding, self.cause)

    def text(self) -> str:
        return f"{self.name} at {self.at()} cannot be judged. {self.cause}"
