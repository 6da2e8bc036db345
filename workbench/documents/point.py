"""A point: how it began, what was seen in each window, and its result."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from workbench import axis as axes
from workbench.documents.base import (
    OUR_AGENT,
    WINDOW_US,
    Document,
    Errors,
    Histogram,
    Percentiles,
)
from workbench.shapes import Number, Positive, Rate, Signed, Whole

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
    """What the first and the last document of a point have in common."""

    t_us: Signed
    point: Whole
    """Unique in the session."""
    server: str
    rate_per_s: Rate = 0.0
    """`x` on an axis of rates, as in version 1; see `workbench.axis`."""
    x: Number = NOT_RECORDED
    """Its value on the axis of the run."""
    series: str = ""
    """Key of its series; the server's id if not recorded."""
    purpose: Purpose = "sweep"
    pass_number: Whole = 1
    look: Whole = 1
    """Number of the attempt at this rate in this pass; the last one counts (`analysis.repeats`)."""
    concurrency: Whole = 0
    """`x` on an axis of concurrency, as in version 1."""
    load_tool: str = OUR_AGENT
    """The load tool; see `load.registry`. The last document of a point names it from version 6
    on."""

    def __post_init__(self) -> None:
        if self.x < 0:
            force_setattr(self, "x", axes.place(self.rate_per_s, self.concurrency))
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
    """One value of the axis against one server begins."""

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
    """Coarse, 16 buckets an octave (`analysis.histogram.coarse`): windows merge by adding these,
    never by averaging percentiles."""
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
    """The result of a point, with its verdict and the figures it is based on."""

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
    """[from, to] of the measured part, in seconds from the point's start; empty: the whole
    schedule, as in sessions without phases."""
    errors_pct: Number = 0.0
    """Share of attempts (scheduled calls), client's own errors and unsent included."""
    latency_us: Percentiles | None = None
    service_us: Percentiles | None = None
    connect_us: Percentiles | None = None
    first_byte_us: Percentiles | None = None
    lateness_us: Percentiles | None = None
    histograms: Histograms = Histograms()
    client_cpu_pct: Number | None = 0.0
    """Percent of one core, of the busiest worker while the schedule ran. None: the load tool cannot
    report it."""
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
    """Time between the start of the first and the last client, by their clocks; see
    `ClientPart`."""
