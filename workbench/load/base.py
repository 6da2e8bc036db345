"""The seam behind which a load tool hides: a point in, windows and a report out.

A tool says what it can do and tell (`Capabilities`). What it cannot tell is None in its report, is
recorded as null and shown as unknown; no verdict rests on it.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import msgspec

from workbench.analysis.evidence import Fault
from workbench.documents import ClientPart, Counts, Errors, Histograms, SparseHistogram
from workbench.machines.base import Machine
from workbench.messages.base import Message


class PointSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A point as a load tool has to offer it, all clients together."""

    host: str
    """Where the clients reach the server."""
    port: int
    workload: str
    """Key of what a client does: "pong", "http"."""
    options: dict[str, Any] = {}
    """The workload's own: of both, `protocol`, `path` and `pipeline`."""
    reply: dict[str, Any] = {}
    """What the server has to answer: `status`, `body`, and whether that is `json`. Empty: any
    2xx."""
    mode: Literal["open", "closed"] = "open"
    """closed: `concurrency` connections at a time, each followed by the next."""
    rate_per_s: float = 0.0
    """Connections (not calls) begun a second; 0 in a closed loop."""
    concurrency: int = 0
    """Closed loop only."""
    connections: int = 0
    """That the schedule holds; 0: as many as fit in `seconds` (closed loop)."""
    seconds: float = 0.0
    """Length of the schedule; 0: until `connections` are done (closed loop)."""
    arrivals: Literal["uniform", "poisson"] = "uniform"
    seed: int = 0
    """Of the arrivals."""
    calls_per_connection: int = 1
    think_time_s: float = 0.0
    """Between a reply and the next call of its connection."""
    timeout_s: float = 5.0
    """Of each call, from its actual start."""

    @property
    def longest_s(self) -> float:
        """What the point may take when every call is answered at the last moment."""
        connection_s = self.calls_per_connection * (self.timeout_s + self.think_time_s)
        if self.mode == "closed" and not self.seconds:
            return math.ceil(self.connections / self.concurrency) * connection_s
        return self.seconds + connection_s


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a load tool can do and tell."""

    windows: bool = False
    """It reports every 200 ms while a point runs."""
    due_times: bool = False
    """It counts latency from when a call was due, and calls that were due in its windows."""
    lateness: bool = False
    """Whether it reports how late connections were started."""
    histograms: bool = False
    """Of times; without, there are no percentiles."""
    conservation: bool = False
    """It accounts for every scheduled call, so its figures can be audited."""
    phases: tuple[str, ...] = ("measure",)
    """Of "ramp", "measure" and "drain", those it tells apart."""
    axes: tuple[str, ...] = ()
    """What it can vary from point to point: "rate", "concurrency"."""
    workloads: tuple[str, ...] = ()
    """Keys of those it can run."""
    clients: Literal["one", "many"] = "one"
    """On how many machines at once."""
    common_start: bool = False
    """All clients begin a point at one instant."""
    stoppable: bool = False
    """What a point had done when it was ended early is reported; otherwise it is lost."""
    needs: tuple[str, ...] = ()
    """Programs that every client must have."""


@dataclass(frozen=True)
class Client:
    """A machine that offers load."""

    machine: Machine
    cpus: Sequence[int] = ()
    workers: int = 1
    nofile: int = 0


@dataclass(frozen=True)
class LoadWindow:
    """200 ms of a point, merged over everything that offers load. Units as in `Window`."""

    index: int
    due: int
    sent: int
    late: int
    established: int
    replies: int
    errors: Errors
    in_flight: int
    latency: SparseHistogram
    service: SparseHistogram


@dataclass(frozen=True)
class LoadReport:
    """A point as the load tool saw it. None: it cannot tell."""

    counts: Counts
    histograms: Histograms
    replies_in_schedule: int
    """Calls answered before the schedule's end."""
    schedule_s: float
    """What the schedule really took, the longest over the workers."""
    client_cpu_pct: float | None = None
    """Of one core, the busiest worker while the schedule ran."""
    client_cpu_s: float | None = None
    """All workers together, from the schedule's beginning to the point's end."""
    conserved: bool | None = None
    """scheduled = unsent + succeeded + errors + in flight, in every single worker."""
    complaints: list[Message] = field(default_factory=list)
    """About clients that were lost or lost data; see `messages.reasons`."""
    clients: list[ClientPart] = field(default_factory=list)
    faults: dict[str, Fault] = field(default_factory=dict)
    """Of the server's unexpected replies: the first of each kind, by error."""

    @property
    def start_skew_us(self) -> int:
        began = [part.began_late_us for part in self.clients]
        return max(began) - min(began) if began else 0


class LoadGenerator(Protocol):
    """A load tool that is ready on its clients: offers a point's load, reports what happened."""

    @property
    def workers(self) -> int:
        """Of all clients together."""
        ...

    @property
    def lost(self) -> list[str]:
        """Names of the clients that are gone; the others carry on."""
        ...

    async def run(
        self,
        spec: PointSpec,
        *,
        started: Callable[[int], None],
        on_window: Callable[[LoadWindow], None],
    ) -> LoadReport:
        """Run one point. `started` is told when the schedule begins, in us of this machine's
        monotonic clock. Cancelling ends the load. Raises PongbenchError when no client is left."""
        ...

    async def stop_point(self) -> None:
        """End the point that runs; `run` returns what there is, the rest counted in flight."""
        ...

    async def rejoin(self, machine: Machine) -> None:
        """Take a lost client back, on its machine. Raises PongbenchError when that cannot be."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class LoadTool:
    """A way to make load, as the registry knows it."""

    name: str
    """As plans and documents say it: "agent"."""
    label: str
    """For people."""
    capabilities: Capabilities
    start: Callable[[Sequence[Client]], Awaitable[LoadGenerator]]
    """Have it ready on all clients. Raises PongbenchError when one cannot."""
