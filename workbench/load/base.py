"""The interface of load tools: a point in, windows and a report out. A figure that a tool cannot
report is None, is recorded as null and shown as unknown; no verdict depends on it."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import msgspec

from workbench.analysis.evidence import Fault
from workbench.documents import ClientPart, Counts, Histograms, SparseHistogram
from workbench.load.events import LoadWindow, RequestPart, TlsPart
from workbench.machines.base import Machine
from workbench.machines.bundle import Brought
from workbench.messages.base import Said
from workbench.messages.problems import Lacking, OnlyKey, OnlyValue
from workbench.remote.agent.protocol import Load
from workbench.servers.programs import ProgramName, Programs


@dataclass(frozen=True)
class PointSpec(Load):
    """A point for a load tool to offer, all clients together. With one that is no agent of ours, 0
    as `concurrency` leaves it to the tool, and another in an open loop is what it keeps. `options`
    may contain secrets; see `Declaration.driven`."""

    @property
    def longest_s(self) -> float:
        """The duration of the point if every call is answered just before its timeout."""
        calls = self.calls_per_connection
        # Of random think times ten standard deviations: none of a billion connections stays longer.
        thinks = calls + 10 * math.sqrt(calls) * (self.think_times == "exponential")
        connection_s = calls * self.timeout_s + thinks * self.think_time_s
        if self.mode == "closed" and not self.seconds:
            return math.ceil(self.connections / self.concurrency) * connection_s
        drain_s = self.held / self.held_per_s + 2 * self.timeout_s if self.held else 0.0
        return self.seconds + connection_s + drain_s


Reported: TypeAlias = Literal[
    "windows",  # every 200 ms while a point runs
    "latency",  # from the scheduled time; with windows, also scheduled calls
    "lateness",  # how late connections were started
    "percentiles",  # histograms of times
    "connect",  # connect times and times to the first byte
    "conservation",  # an account of every scheduled call, for audits
    "replies",  # whether each is what the server should answer
]

Trait: TypeAlias = Literal[
    "threads",  # One process uses several cores, of which only the sum is known.
    "polls",  # It polls the clock, so that its CPU time says nothing about its load.
    "own-pace",  # It starts users at a rate that is only about that of the plan.
    "own-delays",  # Its response times include delays of its own, which grow with the rate.
    "of-connections",  # Its response times are those of connections, not of calls.
    "from-send",  # The service time of a connection's first call does not include the connect.
    "fixed",  # In an open loop it keeps a number of connections, if need be the plan's.
    "keeps",  # The server decides when a connection ends, not the plan's number of calls.
    "http/1.1",  # It speaks HTTP/1.1, whatever the plan's protocol.
    "to-the-end",  # Its reply rate is that of the whole test, until the last reply or timeout.
]
"""In what a load tool differs from the agent."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    reports: frozenset[Reported] = frozenset()
    traits: frozenset[Trait] = frozenset()
    axes: tuple[str, ...] = ()
    """What it can vary from point to point: "rate", "concurrency"."""
    workloads: tuple[str, ...] = ()
    one_connection: bool = False
    most_open: int = 0
    """Connections that one worker can have open, whatever `nofile`; 0: no such limit."""
    ends: tuple[str, ...] = ("connections", "seconds")
    """By what a point of a closed loop may end."""
    whole_seconds: bool = False
    protocols: tuple[str, ...] = ()
    """Those it speaks; empty: all of its workloads."""
    lacks: tuple[Lacking, ...] = ()
    """Keys of workloads that it has no option for."""
    only: dict[OnlyKey, OnlyValue] = {}
    """Keys of workloads with the only value that it can have."""
    resolution_us: int = 0
    """Of its response times, below which two tools may differ; 0: as fine as the histograms."""


@dataclass(frozen=True)
class Client:
    machine: Machine
    cpus: Sequence[int] = ()
    workers: int = 1
    nofile: int = 0
    programs: Programs = field(default_factory=Programs)
    brought: Brought | None = None


@dataclass(frozen=True)
class LoadReport:
    """The result of a point according to the load tool. None: not available."""

    counts: Counts
    histograms: Histograms
    replies_in_schedule: int
    """Calls answered before the schedule's end."""
    schedule_s: float
    """The actual length of the schedule, the longest of all workers."""
    offered_in_s: float | None = None
    """In which the scheduled calls were offered, where that is not the plan's time. None: it is."""
    client_cpu_pct: float | None = None
    """Percent of one core, of the busiest worker while the schedule ran."""
    client_cpu_s: float | None = None
    """Of all workers together, from the schedule's beginning to the point's end."""
    conserved: bool | None = None
    """Whether scheduled = unsent + succeeded + errors + in flight holds in every worker."""
    complaints: list[Said] = field(default_factory=list)
    """About clients that were lost or lost data; see `messages.reasons`."""
    remarks: list[Said] = field(default_factory=list)
    """What a reader should know of a point that counts; see `messages.reasons`."""
    clients: list[ClientPart] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    """The workload's own, see its driver; empty: it has none."""
    faults: dict[str, Fault] = field(default_factory=dict)
    """The server's unexpected responses: the first of each kind, by error."""
    elsewhere: dict[str, int] = field(default_factory=dict)
    """Requests to another host and port than the server's, by that."""
    waits: SparseHistogram = field(default_factory=list)
    """Of replies that may have waited to be read: at most so long."""
    requests: list[RequestPart] = field(default_factory=list)
    tls: TlsPart | None = None
    command: str = ""
    """The command line of a tool that is a program, on the first client."""

    @property
    def start_skew_us(self) -> int:
        began = [part.began_late_us for part in self.clients]
        return max(began) - min(began) if began else 0


OnStart: TypeAlias = Callable[[int], None]
"""Called when a schedule begins, in us of this machine's monotonic clock."""
OnWindow: TypeAlias = Callable[[LoadWindow], None]


class LoadGenerator(Protocol):
    """A load tool that is ready on its clients: offers a point's load and reports the results."""

    @property
    def workers(self) -> int:
        """The workers of all clients together."""

    @property
    def lost(self) -> list[str]:
        """Names of the lost clients; the others continue."""

    async def run(self, spec: PointSpec, *, started: OnStart, on_window: OnWindow) -> LoadReport:
        """Run one point. Cancelling ends the load. Raises PongbenchError when no client is left."""

    async def stop_point(self) -> None:
        """End the current point; `run` returns what there is, the rest as in flight."""

    async def rejoin(self, machine: Machine) -> None:
        """Take a lost client back, on its machine. Raises PongbenchError when that fails."""

    async def close(self) -> None: ...


@dataclass(frozen=True)
class LoadTool:
    name: str
    label: str
    capabilities: Capabilities
    start: Callable[[Sequence[Client]], Awaitable[LoadGenerator]]
    """Prepare it on all clients. Raises PongbenchError when that fails on one."""
    needs: tuple[ProgramName, ...] = ()
    """Programs that every client needs, by their names in `resources/programs.yaml`."""
    command: Callable[[PointSpec, int], str] | None = None
    """The command line of a client's share with this number of workers; None: it has none."""


LEAD_US = 50_000
"""Between the command to start and the start: time for it to reach every client."""
LEAD_TRIPS = 10
"""The lead grows by this multiple of the slowest client's uncertainty (half a round trip)."""


def starts_at(uncertainties_us: Iterable[int]) -> int:
    """Return when clients with these uncertainties are to start, on the monotonic clock in µs."""
    lead_us = LEAD_US + LEAD_TRIPS * max(uncertainties_us, default=0)
    return time.monotonic_ns() // 1000 + lead_us
