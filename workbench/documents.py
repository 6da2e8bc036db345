"""The documents of a session: emitted by the engine, recorded, replayed, drawn, judged.

Every time is in integer microseconds on the session's monotonic axis, which begins at 0 when
`RunStart` is emitted; the calendar appears once, in `RunStart.started_utc`. A session is exactly
one `RunStart`, then points (`PointStart`, `Window`..., `PointStop`) with `HostSample` and `Note`
in between, then one `RunStop`. Points never overlap.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta
from msgspec.structs import force_setattr

from workbench import axis as axes
from workbench.axis import Axis
from workbench.shapes import Number, Positive, Rate, Signed, Whole, check_plan

WINDOW_US = 200_000

OUR_AGENT = "agent"

Errors: TypeAlias = dict[str, Whole]
"""Calls lost, by error class; see `ERROR_CLASSES`. Absent classes are zero."""

SparseHistogram: TypeAlias = list[Annotated[int, Meta(ge=0, le=10**10)]]
"""[bucket, count, bucket, count, ...], buckets ascending; see `analysis.histogram`."""

PackedHistogram: TypeAlias = Annotated[str, Meta(max_length=1 << 20)]
"""A histogram as text; empty: no times. See `analysis.packing`."""

Histogram: TypeAlias = PackedHistogram | SparseHistogram
"""As documents have it: packed, up to version 6 sparse. Functions of `analysis.histogram` take
both, so that a packed one is unpacked only when somebody looks."""


class Document(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Base of all documents."""


class Percentiles(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Percentiles of a time in microseconds, over `count` values."""

    count: Whole
    p50: Whole
    p90: Whole
    p99: Whole
    p999: Whole
    max: Whole


# Classes of failed calls: whose fault each is.

SERVER_ERRORS = (
    "client-timo",
    "socket-timo",
    "connrefused",
    "connreset",
    "protocol",
    "check",
    "tls",
    "other",
)
"""Error classes counted against the server (names and meanings are httperf's, but for `check`, a
reply that fails a check of the plan, and `tls`, a failed handshake or failure of TLS after it)."""

CLIENT_ERRORS = ("fd-unavail", "addrunavail", "ftab-full")
"""Error classes caused by the client itself; they never count against a server."""

ERROR_CLASSES = SERVER_ERRORS + CLIENT_ERRORS
"""`other` may carry its errno (`other-ENETUNREACH`), `protocol` the status (`protocol-503`) or what
else came in place of the reply (`messages.errors`), `check` the status or what the check is about,
`tls` OpenSSL's reason; see `error_class`."""


def error_class(name: str) -> str:
    """Return the class of an error: `other-ENETUNREACH` is `other`, `protocol-503` `protocol`."""
    head, _, _ = name.partition("-")
    return head if head in ("other", "protocol", "check", "tls") else name


def timed_out(errors: Errors) -> int:
    return errors.get("client-timo", 0) + errors.get("socket-timo", 0)


def server_errors(errors: Errors) -> int:
    """Return the calls lost that count against the server."""
    return sum(n for name, n in errors.items() if error_class(name) in SERVER_ERRORS)


def client_errors(errors: Errors) -> int:
    """Return the calls lost through the client's own fault."""
    return sum(n for name, n in errors.items() if name in CLIENT_ERRORS)


# The first and the last document of a session: the conditions of the run, and how it ended.

VERSION = 8
"""The version of the document format, which every run records. A reader opens all versions up to
its own.

2: figures that a load tool cannot measure are null, the axis is a field of the workload, or points
are faulty. 3: a search. 4: profiles. 5: rates that end at the client limit, or error classes that
are not httperf's. 6: several load tools run every point. 7: histograms are packed.
8: windows and samples are in columns.
"""

Status: TypeAlias = Literal["done", "stopped", "aborted", "failed"]


class MachineRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as it was during the run; never contains a secret."""

    name: str
    roles: list[str]
    """"target", "client" or both."""
    facts: dict[str, Any] = {}
    """Kernel, CPU model and count, memory, limits, sysctls; see `machines.facts`."""
    clock_offset_us: Signed = 0
    """Add this to the machine's monotonic clock to get this workstation's."""
    clock_uncertainty_us: Whole = 0


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The confinement in force when a server ran. In any case it could not gain privileges, had no
    capabilities (except as root) and did not see its user's environment."""

    user: str = ""
    """The user it ran as; empty: not recorded."""
    landlock: int = 0
    """Version of the kernel's Landlock that kept it to files of the system and its own; 0: none."""
    rights: list[str] = []
    """The privileges that its entry requires."""

    @property
    def text(self) -> str:
        """ "nobody, Landlock, shared-memory"; empty: not recorded."""
        kept = "Landlock" if self.landlock else "no Landlock"
        return ", ".join([self.user, kept, *self.rights]) if self.user else ""


class ServerRecord(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    family: str
    version: str = ""
    """The framework's version, for example "tornado 6.6.1"."""
    runtime: str = ""
    """For example "CPython 3.11.7"."""
    files: dict[str, str] = {}
    """Relative path to SHA-256 of every file deployed."""
    gate: dict[str, Any] = {}
    """Its behaviour before the run; see `workloads.gating.GateResult`."""
    confinement: dict[str, Any] = {}
    """The privileges it ran with; see `confined`."""
    running: dict[str, Any] = {}
    """Of a server that ran already: its address, where connections went, its processes, or that it
    ran elsewhere, and whether its certificate was not checked. Empty: it was deployed."""

    @property
    def confined(self) -> Confinement:
        try:
            return msgspec.convert(self.confinement, Confinement)
        except msgspec.ValidationError:
            return Confinement()

    @property
    def elsewhere(self) -> bool:
        """Whether it ran on none of the session's machines."""
        return bool(self.running.get("elsewhere"))

    @property
    def tls(self) -> str:
        """ "TLSv1.3, TLS_AES_256_GCM_SHA384"; empty: without TLS, or not recorded."""
        agreed = self.gate.get("tls")
        return agreed if isinstance(agreed, str) else ""


class SeriesRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the charts: measured at every value of the axis and judged as one."""

    key: str
    server: str
    """Its id; several series may be of one server."""
    label: str
    params: dict[str, str] = {}
    """How it differs from others of its server, for display."""


class Metric(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A figure of points beyond the built-in ones, as charts, tables and reports show it."""

    key: str
    """Its key in `PointStop.values`."""
    label: str
    unit: str = ""
    better: Literal["more", "less", ""] = ""
    of: str = ""
    """Which of several requests it describes; empty: the whole point."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the order of the run: one server's sweep in one pass."""

    server: str
    pass_number: Whole
    rates_per_s: list[Rate]


class RunStart(Document, frozen=True, kw_only=True, tag="run_start"):
    """The conditions of the run: everything a reader needs to judge or repeat it."""

    v: int = 1
    recorded_v: int = 0
    """The version in which it was recorded, where `compact` has written it again; 0: `v`."""
    session: str
    started_utc: str
    """ISO 8601 with a trailing Z."""
    pongbench: str
    plan: dict[str, Any]
    """The plan as plain data, complete with defaults (`plan.reading.to_data`)."""
    machines: list[MachineRecord]
    servers: list[ServerRecord]
    order: list[Block]
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    axis: Axis | None = None
    """What the plan varies; derived from the plan in sessions that do not record it."""
    series: list[SeriesRecord] = []
    """In the plan's order; one per server in sessions that do not record them."""
    metrics: list[Metric] = []
    load_versions: dict[str, dict[str, str]] = {}
    """Of load tools that are programs: the version on each client, "wrk 4.1.0"."""

    def __post_init__(self) -> None:
        check_plan(self.plan)
        if self.axis is None:
            force_setattr(self, "axis", axes.of_plan(self.plan))
        else:
            force_setattr(self, "axis", axes.completed(self.axis, self.plan))
        if not self.series:
            each = [SeriesRecord(key=s.id, server=s.id, label=s.name) for s in self.servers]
            force_setattr(self, "series", each)

    @property
    def load_tools(self) -> list[str]:
        """The plan's load tools, which run every point in turns; see `load.registry`."""
        further = self.plan.get("with")
        named = further if isinstance(further, list) else []
        first = str(self.plan.get("load_tool") or OUR_AGENT)
        return list(dict.fromkeys([first, *map(str, named)]))

    @property
    def load_tool(self) -> str:
        """Their names: "wrk", "wrk and agent"."""
        return " and ".join(self.load_tools)


class RunStop(Document, frozen=True, kw_only=True, tag="run_stop"):
    """The last document of a session that was closed properly, however the run ended."""

    t_us: Signed
    status: Status
    reason: str = ""
    code: str = ""
    """Of the reason: "lease-expired" (the program was suspended, or cut off), "time-limit",
    "machine-gone", "servers-left-out", "no-result" (at any point); empty: another one, or none."""


# A point: how it began, what was seen in each window, and its result.

NOT_RECORDED = -1.0
"""A value outside every axis; replaced when a document of version 1 is read."""

Purpose: TypeAlias = Literal["sweep", "search", "warm_up", "ceiling", "profile"]
"""Purpose of a point: one of a sweep or of a search, both judged; to warm up the server, to
calibrate the clients, or to profile the server."""

JUDGED = ("sweep", "search")
"""Purposes of points that are results of a server."""

Phase: TypeAlias = Literal["ramp", "measure", "drain"]
"""Phases of a point: load rises, load is steady, pending calls end."""

Verdict: TypeAlias = Literal[
    "ok",
    "server-limited",
    "client-limited",
    "ports-limited",
    "network-limited",
    "faulty",
    "inconclusive",
]


class Point(Document, frozen=True, kw_only=True):
    t_us: Signed
    point: Whole
    """Unique in the session."""
    server: str
    rate_per_s: Rate = 0.0
    """`x` on an axis of rates, as in version 1; see `workbench.axis`."""
    x: Number = NOT_RECORDED
    series: str = ""
    """Key of its series; the server's id if not recorded."""
    purpose: Purpose = "sweep"
    pass_number: Whole = 1
    look: Whole = 1
    """Number of the attempt at this rate in this pass; the last one counts (`analysis.knee`)."""
    concurrency: Whole = 0
    """`x` on an axis of concurrency, as in version 1."""
    load_tool: str = OUR_AGENT
    """The load tool; see `load.registry`. From version 6 on the last document names it, too."""

    def __post_init__(self) -> None:
        if self.x < 0:
            force_setattr(self, "x", float(self.concurrency or self.rate_per_s))
        if not self.series:
            force_setattr(self, "series", self.server)

    @property
    def judged(self) -> bool:
        return self.purpose in JUDGED

    @property
    def identity(self) -> dict[str, Any]:
        """The fields of `Point`, without the time."""
        names = Point.__struct_fields__
        return {name: getattr(self, name) for name in names if name != "t_us"}


class PointStart(Point, frozen=True, kw_only=True, tag="point_start"):
    connections: Whole = 0
    """Connections in the schedule; 0 in a closed loop."""
    calls_per_connection: Positive = 1
    seconds: Number = 0.0
    """Length of the schedule."""


class Window(Document, frozen=True, kw_only=True, tag="window"):
    """200 ms of a point, or several such windows in one, merged by count over all clients and
    workers. Calls, not connections, unless said otherwise. Windows continue after the schedule has
    ended until nothing is in flight."""

    t_us: Signed
    """Time of the window's start."""
    point: Whole
    index: Whole
    """Of 200 ms in the point; the last one's where several are in one."""
    due: Whole
    sent: Whole
    late: Whole
    established: Whole
    """Connections."""
    replies: Whole
    """Calls that succeeded."""
    errors: Errors = {}
    in_flight: Signed = 0
    """Connections open at the window's end."""
    pending: Number | None = None
    """Calls sent and not answered yet, mean over the window, counted independently of response
    times. None: unknown."""
    pending_within: Number = 0.0
    """Largest error of `pending`, because the number changes while a client handles calls."""
    latency_us: Percentiles | None = None
    """Latency from the scheduled time. None: no reply in this window."""
    service_us: Percentiles | None = None
    """Service time, from the actual send."""
    latency: Histogram = ""
    """Coarse (`analysis.histogram.coarse`); windows merge by adding these, not percentiles."""
    service: Histogram = ""
    length_us: Positive = WINDOW_US
    phase: Phase = "measure"
    values: dict[str, Number | None] = {}
    """Metrics without a field of their own, by key; None: unknown."""

    @property
    def middle_s(self) -> float:
        """Its middle, in seconds from the point's start."""
        return ((self.index + 1) * WINDOW_US - self.length_us / 2) / 1e6


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of a whole point. Always: scheduled = unsent + succeeded + sum(errors) + in_flight."""

    scheduled: Whole
    unsent: Whole
    """Calls never started: the client was too far behind."""
    sent: Whole
    late: Whole | None
    """Started more than 5 ms after the scheduled time. None: the load tool cannot report it."""
    established: Whole | None
    """Connections. None: as above."""
    succeeded: Whole
    errors: Errors = {}
    in_flight: Signed = 0
    """Neither answered nor failed when the point ended."""


class Histograms(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Merged over all clients and workers; replies only."""

    latency: Histogram = ""
    service: Histogram = ""
    connect: Histogram = ""
    first_byte: Histogram = ""
    """Service time, from the send."""
    lateness: Histogram = ""
    """Actual start minus scheduled time, of every connection, including failed ones."""


class ClientPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One client's part of a point, in calls."""

    machine: str
    scheduled: Whole
    sent: Whole
    late: Whole = 0
    unsent: Whole = 0
    cpu_pct: Number = 0.0
    """Percent of one core, of its busiest worker while the schedule ran."""
    cpu_s: Number = 0.0
    """CPU time of all its workers, up to the point's end."""
    lateness_us: Percentiles | None = None
    latency_us: Percentiles | None = None
    service_us: Percentiles | None = None
    latency_mean_us: Number | None = None
    """As this client measured them, before merging. None, each: no reply, or not recorded."""
    began_late_us: Signed = 0
    """Delay of its start after the agreed instant, by its own clock."""
    clock_uncertainty_us: Whole = 0
    """Uncertainty of the agreed instant on its clock, when the point was armed."""


class PointStop(Point, frozen=True, kw_only=True, tag="point_stop"):
    complete: bool
    """False: interrupted. Its windows stay, its figures are excluded from results."""
    seconds: Number
    """The schedule's actual length."""
    counts: Counts
    offered_per_s: Rate = 0.0
    """The load actually scheduled per second, in the plan's unit."""
    replies_per_s: Rate = 0.0
    """Succeeded in the measured part, per second of it, in the plan's unit."""
    measured_s: list[Number] = []
    """[from, to] of the measured part, s from the point's start; empty: the whole schedule."""
    errors_pct: Number = 0.0
    """Share of attempts (scheduled calls), client's own errors and unsent included."""
    latency_us: Percentiles | None = None
    service_us: Percentiles | None = None
    connect_us: Percentiles | None = None
    first_byte_us: Percentiles | None = None
    lateness_us: Percentiles | None = None
    histograms: Histograms = Histograms()
    client_cpu_pct: Number | None = 0.0
    """As of a client, of the busiest one. None: the load tool cannot report it."""
    server_cpu_pct: Number = 0.0
    """Percent of one core, of the whole process tree; mean over the point."""
    server_rss_bytes: Whole = 0
    """Peak over the point, whole process tree."""
    verdict: Verdict
    reasons: list[str] = []
    """Sentences for display."""
    values: dict[str, Number | None] = {}
    """Metrics without a field of their own, by key; None: unknown."""
    findings: list[dict[str, Any]] = []
    """`reasons` as codes with parameters, one for each in the same order; see `messages.reasons`.
    Empty: recorded before there were codes."""
    evidence: dict[str, Number] = {}
    """The figures the verdict is based on."""
    command: str = ""
    """The command line of a load tool that is a program, on the first client."""
    conserved: bool | None = True
    """The audit: scheduled = unsent + succeeded + errors + in flight, in every worker. None: the
    load tool does not account for every call."""
    clients: list[ClientPart] = []
    start_skew_us: Signed = 0
    """Between the start of the first and the last client, by their clocks; see `ClientPart`."""


# Beside the points: samples of machines, and notes.


class HostSample(Document, frozen=True, kw_only=True, tag="host_sample"):
    """One machine, once a second or more often."""

    t_us: Signed
    machine: str
    server: str = ""
    """The server whose process tree the figures below describe; empty: none runs here."""
    cpu_pct: Number = 0.0
    """Percent of one core, of the server's whole process tree since the last sample."""
    rss_bytes: Whole = 0
    pss_bytes: Whole = 0
    """0: not available."""
    processes: Whole = 0
    threads: Whole = 0
    descriptors: Whole = 0
    accept_queue: Whole = 0
    """Connections waiting to be accepted."""
    backlog: Whole = 0
    """The limit in force in the kernel; 0: not listening."""
    host_cpu_pct: Number = 0.0
    """Percent of all cores together: 100 is fully busy."""
    memory_available_bytes: Whole = 0
    counters: dict[str, Signed] = {}
    """Kernel counters that grew since the last sample, by how much (ListenOverflows, ...). Drops of
    accept queues are the server's own, where the kernel tells them apart."""
    gauges: dict[str, Signed] = {}
    """Kernel values as they are (TIME_WAIT, ...)."""
    values: dict[str, Number | None] = {}
    """As in `Window`."""


class Note(Document, frozen=True, kw_only=True, tag="note"):
    """Information a reader needs: tuning, trust, gates, give-ups, warnings."""

    t_us: Signed
    topic: str
    """"ceiling", "gate", "backlog", "deploy", "cool-down", "gave-up", "audit", "warning", ..."""
    text: str
    server: str = ""
    machine: str = ""
    data: dict[str, Any] = {}


AnyDocument: TypeAlias = RunStart | PointStart | Window | HostSample | PointStop | Note | RunStop
