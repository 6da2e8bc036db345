"""The documents everything speaks: emitted by the engine, recorded, replayed, drawn, judged.

Every time is in integer microseconds on the session's monotonic axis, which begins at 0 when
`RunStart` is emitted; the calendar appears once, in `RunStart.started_utc`. A session is exactly
one `RunStart`, then points (`PointStart`, `Window`..., `PointStop`) with `HostSample` and `Note`
in between, then one `RunStop`. Points never overlap.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

VERSION = 1
"""Of the document format. A reader opens every version up to its own."""

WINDOW_US = 200_000
"""Length of a window."""

Errors: TypeAlias = dict[str, int]
"""Calls lost, by class; see `ERROR_CLASSES`. Absent classes are zero."""

SparseHistogram: TypeAlias = list[int]
"""[bucket, count, bucket, count, ...], buckets ascending; see `analysis.histogram`."""

SERVER_ERRORS = ("client-timo", "socket-timo", "connrefused", "connreset", "protocol", "other")
"""Error classes counted against the server (names and meanings are httperf's)."""

CLIENT_ERRORS = ("fd-unavail", "addrunavail", "ftab-full")
"""Error classes that are the client's own fault; they never count against a server."""

ERROR_CLASSES = SERVER_ERRORS + CLIENT_ERRORS
"""`other` may carry its errno (`other-ENETUNREACH`), `protocol` the status (`protocol-503`);
see `error_class`."""

Purpose: TypeAlias = Literal["sweep", "warm_up", "ceiling"]
"""Why a point is run: to be judged, to warm the server, or to find the clients' own limit."""

Verdict: TypeAlias = Literal[
    "ok",
    "server-limited",
    "client-limited",
    "ports-limited",
    "network-limited",
    "inconclusive",
]

Status: TypeAlias = Literal["done", "stopped", "aborted", "failed"]


class Document(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", omit_defaults=True):
    """Base of all documents."""


class Percentiles(msgspec.Struct, frozen=True, omit_defaults=True):
    """Percentiles of a time in microseconds, over `count` values."""

    count: int
    p50: int
    p90: int
    p99: int
    p999: int
    max: int


class MachineRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as it was during the run; never holds a secret."""

    name: str
    roles: list[str]
    """"target", "client" or both."""
    facts: dict[str, Any] = {}
    """Kernel, CPU model and count, memory, limits, sysctls; see `machines.facts`."""
    clock_offset_us: int = 0
    """To add to the machine's monotonic clock to get this workstation's."""
    clock_uncertainty_us: int = 0


class ServerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A contestant as it was deployed."""

    id: str
    name: str
    family: str
    version: str = ""
    """Of the framework, for example "tornado 6.6.1"."""
    runtime: str = ""
    """For example "CPython 3.11.7"."""
    files: dict[str, str] = {}
    """Relative path to SHA-256 of every file deployed."""
    gate: dict[str, Any] = {}
    """What it put on the wire before the run; see `servers.gate.GateResult`."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the order of the run: one server's sweep in one pass."""

    server: str
    pass_number: int
    rates_per_s: list[float]


class RunStart(Document, frozen=True, kw_only=True, tag="run_start"):
    """The conditions of the test: everything a reader needs to believe or repeat it."""

    v: int = VERSION
    session: str
    """A random identifier."""
    started_utc: str
    """ISO 8601 with a trailing Z."""
    pongbench: str
    """Version of the program."""
    plan: dict[str, Any]
    """The plan as plain data, complete with defaults (`plans.to_data`)."""
    machines: list[MachineRecord]
    servers: list[ServerRecord]
    order: list[Block]
    seed: int


class PointStart(Document, frozen=True, kw_only=True, tag="point_start"):
    """One offered rate against one server begins. `point` is unique in the session."""

    t_us: int
    point: int
    server: str
    rate_per_s: float
    """Offered, in the plan's unit (`rate_of`: connections or requests)."""
    purpose: Purpose = "sweep"
    pass_number: int = 1
    look: int = 1
    """Which measurement of this rate in this pass; the last one counts (`analysis.looks`)."""
    connections: int = 0
    """How many the schedule holds; 0 in closed loop."""
    calls_per_connection: int = 1
    concurrency: int = 0
    """Connections at a time; closed loop only, where `rate_per_s` is 0."""
    seconds: float = 0.0
    """Length of the schedule."""


class Window(Document, frozen=True, kw_only=True, tag="window"):
    """200 ms of a point, merged by count over all clients and workers. Calls, not connections,
    unless said otherwise. Windows go on after the schedule has ended until nothing is in flight."""

    t_us: int
    """Of the window's start."""
    point: int
    index: int
    due: int
    sent: int
    late: int
    established: int
    """Connections."""
    replies: int
    """Calls that succeeded."""
    errors: Errors = {}
    in_flight: int = 0
    """Connections open at the window's end."""
    latency_us: Percentiles | None = None
    """From due. None: no reply in this window."""
    service_us: Percentiles | None = None
    """From the actual send."""


class HostSample(Document, frozen=True, kw_only=True, tag="host_sample"):
    """One machine, once a second or oftener."""

    t_us: int
    machine: str
    server: str = ""
    """Whose process tree the figures below are about; empty: none runs here."""
    cpu_pct: float = 0.0
    """Of one core, the server's whole process tree since the last sample."""
    rss_bytes: int = 0
    pss_bytes: int = 0
    """0: not to be had."""
    processes: int = 0
    threads: int = 0
    descriptors: int = 0
    accept_queue: int = 0
    """Connections waiting to be accepted."""
    backlog: int = 0
    """In force in the kernel; 0: not listening."""
    host_cpu_pct: float = 0.0
    """Of all cores together: 100 is all busy."""
    memory_available_bytes: int = 0
    counters: dict[str, int] = {}
    """Kernel counters that grew since the last sample, by how much (ListenOverflows, ...)."""
    gauges: dict[str, int] = {}
    """Kernel values as they are (TIME_WAIT, ...)."""


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of a whole point. Always: scheduled = unsent + succeeded + sum(errors) + in_flight."""

    scheduled: int
    unsent: int
    """Never started: the client was too far behind."""
    sent: int
    late: int
    """Started more than 5 ms after due."""
    established: int
    """Connections."""
    succeeded: int
    errors: Errors = {}
    in_flight: int = 0
    """Neither answered nor failed when the point was ended."""


class Histograms(msgspec.Struct, frozen=True, kw_only=True):
    """Merged over all clients and workers; replies only."""

    latency: SparseHistogram = []
    service: SparseHistogram = []
    connect: SparseHistogram = []
    first_byte: SparseHistogram = []
    """From send."""
    lateness: SparseHistogram = []
    """Actual start minus due; every connection, also failed ones."""


class ClientPart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one client had of a point. Calls, as everywhere."""

    machine: str
    scheduled: int
    sent: int
    late: int = 0
    unsent: int = 0
    cpu_pct: float = 0.0
    """Of one core, its busiest worker while the schedule ran."""
    cpu_s: float = 0.0
    """All its workers together, to the point's end."""
    lateness_us: Percentiles | None = None
    began_late_us: int = 0
    """After the instant agreed, by its own clock."""
    clock_uncertainty_us: int = 0
    """Of the instant agreed on its clock, when the point was armed."""


class PointStop(Document, frozen=True, kw_only=True, tag="point_stop"):
    """The result of a point, with its verdict and what the verdict rests on."""

    t_us: int
    point: int
    server: str
    rate_per_s: float
    purpose: Purpose = "sweep"
    pass_number: int = 1
    look: int = 1
    concurrency: int = 0
    """As in `PointStart`, both."""
    complete: bool
    """False: interrupted. Its windows stay, its figures count for nothing."""
    seconds: float
    """The schedule's actual length."""
    counts: Counts
    offered_per_s: float = 0.0
    """What was really due per second, in the plan's unit."""
    replies_per_s: float = 0.0
    """Succeeded while the schedule ran, per second of it, in the plan's unit."""
    errors_pct: float = 0.0
    """Of attempts (scheduled calls), client's own errors and unsent included."""
    latency_us: Percentiles | None = None
    service_us: Percentiles | None = None
    connect_us: Percentiles | None = None
    first_byte_us: Percentiles | None = None
    lateness_us: Percentiles | None = None
    histograms: Histograms = Histograms()
    client_cpu_pct: float = 0.0
    """Of one core, the busiest worker while the schedule ran."""
    server_cpu_pct: float = 0.0
    """Of one core, the whole process tree; mean over the point."""
    server_rss_bytes: int = 0
    """Peak over the point, whole process tree."""
    verdict: Verdict
    reasons: list[str] = []
    """Sentences for people."""
    evidence: dict[str, float] = {}
    """The figures the verdict rests on."""
    conserved: bool = True
    """The audit: scheduled = unsent + succeeded + errors + in flight, in every worker."""
    clients: list[ClientPart] = []
    start_skew_us: int = 0
    """Between the first and the last client to begin, by their clocks; see `ClientPart`."""


class Note(Document, frozen=True, kw_only=True, tag="note"):
    """Something a reader should know: what was tuned, trusted, gated, given up, warned."""

    t_us: int
    topic: str
    """"ceiling", "gate", "backlog", "deploy", "cool-down", "gave-up", "audit", "warning", ..."""
    text: str
    """One sentence."""
    server: str = ""
    machine: str = ""
    data: dict[str, Any] = {}


class RunStop(Document, frozen=True, kw_only=True, tag="run_stop"):
    """The last document of a session that ended in good order, however it ended."""

    t_us: int
    status: Status
    reason: str = ""


AnyDocument: TypeAlias = RunStart | PointStart | Window | HostSample | PointStop | Note | RunStop


def error_class(name: str) -> str:
    """The class of an error's name: `other-ENETUNREACH` is `other`, `protocol-503` `protocol`."""
    head, _, _ = name.partition("-")
    return head if head in ("other", "protocol") else name


def server_errors(errors: Errors) -> int:
    """Calls lost that count against the server."""
    return sum(n for name, n in errors.items() if error_class(name) in SERVER_ERRORS)


def client_errors(errors: Errors) -> int:
    """Calls lost by the client's own fault."""
    return sum(n for name, n in errors.items() if name in CLIENT_ERRORS)
