"""Events of a load agent, as `remote.agent.protocol` defines them: JSON, distinguished by "ev"."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from workbench.analysis import histogram
from workbench.analysis.evidence import Fault
from workbench.documents import Counts, SparseHistogram
from workbench.machines.wire import Count, Text
from workbench.remote.agent.protocol import MOST_FAULTS, MOST_HOSTS

ErrorName: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Errors: TypeAlias = Annotated[dict[ErrorName, Count], msgspec.Meta(max_length=200)]
Buckets: TypeAlias = list[Count]
Length: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=1 << 53)]
Calls: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="ev", tag=str.lower):
    """Base of all events."""


class Hello(Event, frozen=True, kw_only=True):
    """It runs."""


class Armed(Event, frozen=True, kw_only=True):
    """A worker has prepared the point and waits for its start."""

    id: Count
    worker: Count


class Counted(Event, frozen=True, kw_only=True):
    """Calls of a worker."""

    due: Count
    sent: Count
    late: Count
    established: Count
    replies: Count
    in_flight: Count
    errors: Errors
    id: Count = 0
    worker: Count = 0
    dropped: Count = 0
    """Lines dropped before this one, because the pipe was full."""


class LoadWindow(Counted, frozen=True, kw_only=True, tag="window"):
    """200 ms of a point in one worker, or of all; see `agent.tally.Tally.window`. Calls, us."""

    index: Count = msgspec.field(name="i")
    latency: Buckets
    service: Buckets
    pending: Calls | None = None
    """Mean over the window; None: not counted."""
    pending_within: Calls = 0.0
    """At most so far from the truth, because the number changes while calls are handled."""

    def __post_init__(self) -> None:
        _check(self.latency, self.service)


class Times(msgspec.Struct, frozen=True, kw_only=True):
    latency: Buckets
    service: Buckets
    connect: Buckets
    first_byte: Buckets
    lateness: Buckets

    def __post_init__(self) -> None:
        _check(self.latency, self.service, self.connect, self.first_byte, self.lateness)


class RequestPart(msgspec.Struct, frozen=True, kw_only=True):
    """One of several requests, in calls sent; with Locust in requests, any number a call."""

    replies: Count
    failed: Count
    latency: Buckets
    """From the scheduled time; with Locust from the send."""


class TlsPart(msgspec.Struct, frozen=True, kw_only=True):
    """What clients and server agreed on, and how often."""

    version: Text
    """As OpenSSL writes it: "TLSv1.3"."""
    cipher: Text
    handshakes: Count
    resumed: Count


class ScheduleEnd(msgspec.Struct, frozen=True, kw_only=True):
    cpu_us: Count
    wall_us: Length
    replies: Count


class Done(Counted, frozen=True, kw_only=True):
    """The totals of a worker; see `agent.point.Point.finish`."""

    unsent: Count
    faults: Annotated[dict[ErrorName, Fault], msgspec.Meta(max_length=MOST_FAULTS)] = {}
    figures: Annotated[dict[ErrorName, Count], msgspec.Meta(max_length=20)] = {}
    """The workload's own. Merged by adding, those of a time (`_us`) by the longest."""
    histograms: Times
    tls: TlsPart | None = None
    requests: Annotated[list[RequestPart], msgspec.Meta(max_length=100)] = []
    elsewhere: Annotated[dict[Text, Count], msgspec.Meta(max_length=MOST_HOSTS)] = {}
    """Requests to another host and port than the load's, by that."""
    waits: Buckets = []
    """Of replies that may have waited to be read, longer than 0.1 ms: at most so long."""
    at_schedule_end: ScheduleEnd
    cpu_us: Count
    began_late_us: Count = 0

    @property
    def counts(self) -> Counts:
        return Counts(
            scheduled=self.due,
            unsent=self.unsent,
            sent=self.sent,
            late=self.late,
            established=self.established,
            succeeded=self.replies,
            errors=self.errors,
            in_flight=self.in_flight,
        )

    def __post_init__(self) -> None:
        _check(self.waits, *(each.latency for each in self.requests))


class Error(Event, frozen=True, kw_only=True):
    """A command it could not parse, or why it exits."""

    text: str


class Workers(Event, frozen=True, kw_only=True):
    """The workers of Locust's master, whenever there are others."""

    port: Length
    workers: Annotated[list[Text], msgspec.Meta(max_length=100_000)]
    said: list[str] = []
    """Why others are of no use, without a full stop."""


class Part(Event, frozen=True, kw_only=True):
    """What Locust's workers of one client had of a point, before its totals."""

    client: Text
    sent: Count
    cpu_us: Count
    cpu_pct: Annotated[float, msgspec.Meta(ge=0, le=1e6)]
    service: Buckets

    def __post_init__(self) -> None:
        _check(self.service)


class Lost(msgspec.Struct, frozen=True):
    """No more events will come. No agent sends this."""


AgentEvent: TypeAlias = Hello | Armed | LoadWindow | Done | Error | Workers | Part

DECODER: msgspec.json.Decoder[AgentEvent] = msgspec.json.Decoder(AgentEvent)


def _check(*histograms: SparseHistogram) -> None:
    for sparse in histograms:
        histogram.percentiles(sparse)  # Raises ValueError for an invalid event.
