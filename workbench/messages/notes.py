"""Notes, recorded in a session beside its points.

A note's topic is the code of its message, its data are the parameters (`documents.Note`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, ClassVar, Literal

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.documents import Note, Verdict
from workbench.messages.base import Message, Record, place, read
from workbench.messages.reasons import REASONS, limit_phrase
from workbench.shapes import Rate
from workbench.untrusted import one_line


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


# Machines: their cores, other users, exposure, links and samplers.


class SharedCores(Notice):
    level = Severity.WARNING
    machine: str
    cores: list[int]
    template = """Server and agents share {cores:cores} of '{machine}': the load generator takes CPU
        time from the server, so measured rates are too low. Give them cores of their own."""


class SharedMachine(Notice):
    level = Severity.WARNING
    machine: str
    there: list[str]
    """The processes that hold the machine, as its kernel names them."""
    template = """Another user's run is on '{machine}' ({there:joined ;}): each disturbs the other.
        Agree on who measures when."""


class AnotherRun(Notice):
    level = Severity.WARNING
    title: str
    machines: list[str]
    template = """Another run, '{title}', is on {where} at the same time: each disturbs
        the other. Repeat one of them alone."""

    def where(self) -> str:
        return formatting.listed([f"'{name}'" for name in self.machines])


class Exposed(Notice):
    """Servers without security fixes listen where other machines can reach them."""

    servers: list[str]
    """Names."""
    address: str
    said: str
    """Which servers would listen where."""
    template = "{said}; the user who started the run agreed."


class Confinement(Notice):
    machine: str
    template = """The kernel of {machine} offers no Landlock (Linux 5.13), so the servers may read
        and write what their user may."""


SOUND = 0.01
"""Share of segments; a healthy network loses far less."""


class Link(Notice):
    """The measured properties of the link between a client and the target."""

    client: str
    target: str
    min_us: int
    p50_us: int
    p99_us: int
    bits_per_s: float
    """From the target to the client, the direction of replies, in one TCP stream."""
    to_target_bits_per_s: float = 0.0
    """From the client to the target, measured after the other direction; 0: not recorded."""
    by: str = ""
    """Of older sessions: "iperf3", where that measured the throughput in place of our own probe."""
    needed_bits_per_s: float = 0.0
    """The most that the plan needs; 0: unknown."""
    segments: int = 0
    """Segments sent in both directions to measure round-trip times."""
    resent: int = 0
    """Segments of these that were lost and retransmitted."""
    template = """{client} reaches {target} in {p50_us:duration} (p99
        {p99_us:duration}){throughput}{by:? ({by})}{needed_bits_per_s:?; the plan needs about
        {needed_bits_per_s:bits} at most}.{resent:? It lost {resent:,} of {segments:,} segments.}"""

    def severity(self) -> Severity:
        return Severity.WARNING if self.is_lossy else Severity.INFO

    @property
    def is_lossy(self) -> bool:
        return self.lost_share > SOUND

    @property
    def lost_share(self) -> float:
        """Share of the segments."""
        return self.resent / self.segments if self.segments else 0.0

    def throughput(self) -> str:
        rate = formatting.bits(self.bits_per_s)
        if not self.to_target_bits_per_s:
            return f" and at {rate}"
        to_target = formatting.bits(self.to_target_bits_per_s)
        return f", at {rate} from {self.target} and {to_target} to it"


class LinkUnchecked(Notice):
    """A link could not be measured."""

    client: str
    said: str
    template = "{said}"


class SlowLink(Notice):
    level = Severity.WARNING
    client: str
    target: str
    bits_per_s: float
    needed_bits_per_s: float
    to_target: bool = False
    """The direction of requests."""
    template = """The link from {to_target:?{client} to {target}|{target} to {client}} carries
        {bits_per_s:bits} and the plan needs about {needed_bits_per_s:bits}: at its highest rates
        the link may be the limit, not a server. Lower them, or use a faster link."""


class SamplerLost(Notice):
    level = Severity.WARNING
    said: str
    template = "{said} From here on CPU, memory and counters are missing."


class SamplerRestarted(Notice):
    level = Severity.WARNING
    said: str
    template = "{said} It was started again."


class TargetGone(Notice, tag="target-lost"):
    level = Severity.ALERT
    said: str
    template = "{said} No more load is offered to it."


# Kernel settings changed for the duration of a run.


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel setting, as reported by the tuner."""

    key: str
    old: str | int | None = None
    wanted: str | int | None = None
    got: str | int | None = None
    problem: str = ""
    """Why it was not set; empty: it was."""

    @property
    def changed(self) -> bool:
        return not self.problem and self.old != self.got


class Tuned(Notice):
    """Kernel settings of a machine were changed for the duration of the run."""

    machine: str = ""
    set: str = ""
    """The name of the set."""
    settings: list[Setting]

    def before(self) -> list[str]:
        """The changed settings with their previous values: "net.core.somaxconn 4096"."""
        return [f"{s.key} {s.old}" for s in self.settings if s.changed]

    def text(self) -> str:
        return " ".join(self.sentences()) or f"{self.machine} needed no tuning for this run."

    def sentences(self) -> list[str]:
        """What was changed, and what could not be."""
        changed = [f"{s.key} {s.old} -> {s.got}" for s in self.settings if s.changed]
        tuned = f"{self.machine} is tuned for this run: {', '.join(changed)}."
        kept = [
            f"{s.key} is unchanged on {self.machine}: {s.problem}."
            for s in self.settings
            if s.problem
        ]
        clamped = [
            f"The kernel of {self.machine} set {s.key} to {s.got}, not {s.wanted} as asked."
            for s in self.settings
            if not s.problem and s.got != s.wanted
        ]
        return [*([tuned] if changed else []), *kept, *clamped]


class Untuned(Notice):
    """Kernel settings were not changed."""

    machine: str
    why: Literal["profile", "sudo", "declined", "failed"]
    said: str = ""
    says: ClassVar = {
        "profile": "{machine} is not tuned: its profile does not allow it (tuning).",
        "sudo": "{machine} is not tuned: its profile allows no root privileges (sudo).",
        "declined": "{machine} is not tuned: the run was started without tuning.",
        "failed": "{said}",
    }
    template = "{why:says}"


class Restored(Notice):
    machine: str
    settings: list[str]
    """ "net.core.somaxconn 4096"."""
    template = "Kernel settings of {machine} are restored: {settings:joined}."


class CrashRestored(Notice):
    machine: str
    said: list[str]
    """One sentence per setting, restored or not."""
    template = "A crashed run had left {machine} tuned: {said:sentences}"


class NotRestored(Notice):
    """A setting that was changed for the run could not be restored."""

    level = Severity.WARNING
    machine: str
    said: str
    template = "{said}"


class StillTuned(Notice):
    """A machine is still tuned by another run, or by a crashed one, so its figures are those of a
    tuned machine."""

    level = Severity.WARNING
    machine: str
    said: str
    template = "{machine} is still tuned by another run, or by one that crashed: {said}"


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
    """Clients were lost; the others offer their share from here on."""

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
    """What a server sends on the wire."""

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
    template = """It has a PostgreSQL of its own, set as for production, the same for all:
        {stated:joined}."""

    def stated(self) -> list[str]:
        return [f"{name} = {value}" for name, value in self.settings.items()]


class Unequal(Notice):
    """Something about a server could not be made equal to the others."""

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
    template = "{name} gets faster while it runs, so it was warmed up for {seconds:g} s."


class Deploy(Notice):
    """A server could not be started."""

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
    """A server that this program did not start was restarted, scaled or ended by others."""

    level = Severity.ALERT
    name: str
    said: str
    """The end of a sentence."""
    template = "{name} changed during the run: {said}."


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
    """Points in a row."""
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

    apart = ("look", "pass_number")
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


# The result of a search.


class Peak(Notice):
    """The highest tested rate at which a server met the limits of the search, in one pass."""

    apart = ("pass_number",)
    name: str
    pass_number: int = 1
    passes: int = 1
    """Number of passes of the run."""
    errors_pct: float
    """Limit: percent of the attempts."""
    p99_ms: float | None = None
    """Limit; None: not limited."""
    peak_per_s: float | None
    """None: no tested rate met the limits."""
    low_per_s: float
    """Lower bound of the server's limit; 0: no rate is known to meet the limits."""
    high_per_s: float | None
    """Upper bound; None: the limit was not reached."""
    confidence: float
    """Probability that the limit lies between these bounds, at least 0.95."""
    sure: bool
    """It was located to within one step and confirmed before the search ran out of points."""
    met: list[int]
    """Numbers of the points that met the limits, in the order of measurement."""
    missed: list[int]
    """Numbers of the points that did not."""
    unjudged: list[int] = msgspec.field(default_factory=list)
    """Numbers of the points that showed nothing about the server; not counted."""
    blocked_per_s: float | None = None
    """The rate from which nothing could be judged."""
    blocked_by: Verdict | None = None
    template = """{peak_per_s:known?{name}: peak {figure} with {limits_text} (95 % interval
        {interval}; {points})
        |{missed:?{name} met the limits at no tested rate ({limits_text}; {points})
        |The peak of {name} is unknown ({points})}}.{why}"""

    def severity(self) -> Severity:
        return Severity.INFO if self.sure else Severity.WARNING

    @property
    def limits_text(self) -> str:
        """ "at most 1 % errors and a p99 of at most 50 ms"."""
        return limit_phrase(self.errors_pct, self.p99_ms)

    @property
    def tests(self) -> int:
        return len(self.met) + len(self.missed) + len(self.unjudged)

    @property
    def figure(self) -> str:
        """ "14,250/s"; "≥ 20,000/s" if the server's limit was not reached; empty: none."""
        if self.peak_per_s is None:
            return ""
        return f"{'≥ ' * (self.high_per_s is None)}{RATE.at(self.peak_per_s)}"

    @property
    def interval(self) -> str:
        """ "14,250 to 14,500/s", "above 14,250/s"."""
        if self.high_per_s is None:
            return f"above {RATE.at(self.low_per_s)}"
        return f"{RATE.figure(self.low_per_s)} to {RATE.at(self.high_per_s)}"

    def points(self) -> str:
        where = f", pass {self.pass_number}" if self.passes > 1 else ""
        return f"{self.tests} point{'s' * (self.tests != 1)}{where}"

    def why(self) -> str:
        """Why the peak is not known more precisely."""
        if self.blocked_per_s is not None:
            how = {
                "client-limited": "the clients are the limit",
                "ports-limited": "the clients run out of local ports",
                "network-limited": "the network is the limit",
            }.get(str(self.blocked_by), "no point could be judged")
            return f" From {RATE.at(self.blocked_per_s)} on {how}."
        return "" if self.sure else " The search ended before the peak was certain."


# Where a server's CPU time goes, as a profiler saw it.

FEWEST_SAMPLES = 100
"""With which a share of a half is known to 10 points (95 %)."""

_MOST_NAMED = 3
"""Functions that the sentence names."""


class Profile(Point):
    """Of one server, in a pass that is left out of the results."""

    same = ("frames", "stacks")
    name: str
    tool: str
    """With its version: "py-spy 0.4.3"."""
    seconds: float
    """For which it was sampled."""
    samples: int
    """How often it was seen running; see `docs/profiling.md`."""
    frames: list[str]
    """The names of functions; to show them use `names`."""
    stacks: list[int]
    """One after another: how often it was seen, how many calls it has, and as many places in
    `frames`, from the outermost call to the innermost."""
    other: int = 0
    """Samples of stacks that are left out, the rarest of them."""
    template = """CPU time of {name} at {at}: {shares} ({samples:,} samples{few:? are too few to
        rely on}, {tool})."""

    def severity(self) -> Severity:
        return Severity.WARNING if self.few else Severity.INFO

    @property
    def few(self) -> bool:
        """Too few samples to rely on."""
        return self.samples < FEWEST_SAMPLES

    @property
    def names(self) -> list[str]:
        """`frames` on one line each: they come from a server, or from anybody's file."""
        return [one_line(name) for name in self.frames]

    def each(self) -> Iterator[tuple[int, list[int]]]:
        """Every stack: how often it was seen, its calls as places in `frames`."""
        at = 0
        while at < len(self.stacks):
            count, depth = self.stacks[at : at + 2]
            yield count, self.stacks[at + 2 : at + 2 + depth]
            at += 2 + depth

    def folded(self) -> Iterator[str]:
        """Every stack as "main;send 12"."""
        names = [name.replace(";", ",") for name in self.names]
        for count, calls in self.each():
            yield f"{';'.join(names[at] for at in calls)} {count}"
        if self.other:
            yield f"(other) {self.other}"

    def hottest(self) -> list[tuple[str, int]]:
        """The functions by the samples that saw them work themselves, the most first."""
        own: Counter[str] = Counter()
        names = self.names
        for count, calls in self.each():
            own[names[calls[-1]]] += count
        return own.most_common()

    def shares(self) -> str:
        """ "41 % in send (socket.py), 12 % in recv (socket.py)"."""
        named = self.hottest()[:_MOST_NAMED]
        return ", ".join(f"{100 * n / self.samples:.0f} % in {name}" for name, n in named)


class NotProfiled(Notice):
    """A server that could not be profiled; the run went on."""

    name: str
    tool: str
    """The profiler."""
    machine: str = ""
    why: str
    """ "denied", "denied-to-root", "absent", "missing", "empty", "start", "failed", "slow" or
    "lost"."""
    detail: str = ""
    """What the profiler printed, the program that is absent, or a sentence."""
    template = "{name} was not profiled: {because}"

    def because(self) -> str:
        if self.why in ("missing", "start"):
            return self.detail
        if self.why == "empty":
            return f"{self.tool} saw it do nothing."
        if self.why == "absent" and self.detail == "jfr":
            return f"jfr, a part of the JDK, is not on {self.machine}; install a JDK there."
        if self.why == "absent":
            return (
                f"its runtime has no profiler that is known here, and {self.detail} is not on"
                f" {self.machine}; install it there (Debian: linux-perf)."
            )
        if self.why in ("denied", "denied-to-root"):
            return f"{self.tool} is not permitted on {self.machine}{self._remedy()}"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.tool} failed{detail}."

    def _remedy(self) -> str:
        perf = self.tool == "perf"
        if self.why == "denied-to-root":
            capability = "PERFMON" if perf else "SYS_PTRACE"
            return f", not even to root, as in a container; give it the capability {capability}."
        setting = "perf_event_paranoid to 2 or less" if perf else "yama.ptrace_scope to 0"
        return f"; run as root there, or set kernel.{setting}."


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
    finding: Record = msgspec.field(default_factory=dict)
    """The reason as recorded; see `messages.reasons`."""
    template = "{name} at {at} cannot be judged. {cause}"

    def severity(self) -> Severity:
        return Severity.ALERT if self.first else Severity.WARNING

    def reason(self) -> Message:
        return read(REASONS, self.finding.get("code"), self.finding, self.cause)
