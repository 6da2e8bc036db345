"""The small interface behind which a load generator hides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from workbench.documents import ClientPart, Counts, Errors, Histograms, SparseHistogram


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
    """A point as the load generator saw it."""

    counts: Counts
    histograms: Histograms
    replies_in_schedule: int
    """Calls answered before the schedule's end."""
    client_cpu_pct: float
    """Of one core, the busiest worker while the schedule ran."""
    client_cpu_s: float
    """All workers together, from the schedule's beginning to the point's end."""
    conserved: bool
    """scheduled = unsent + succeeded + errors + in flight, in every single worker."""
    schedule_s: float
    """What the schedule really took, the longest over the workers."""
    complaints: list[str] = field(default_factory=list)
    """Sentences about clients that were lost or lost data."""
    clients: list[ClientPart] = field(default_factory=list)

    @property
    def start_skew_us(self) -> int:
        began = [part.began_late_us for part in self.clients]
        return max(began) - min(began) if began else 0


class LoadGenerator(Protocol):
    """Offers a point's load to a server and reports what happened to it."""

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
        load: dict[str, Any],
        *,
        started: Callable[[int], None],
        on_window: Callable[[LoadWindow], None],
    ) -> LoadReport:
        """Run one point. `load`: see `agent.protocol.Load`, without shares. `started` is told when
        the schedule begins, in us of this machine's monotonic clock. Cancelling ends the load."""
        ...

    async def stop_point(self) -> None:
        """End the point that runs; `run` returns what there is, the rest counted in flight."""
        ...

    async def close(self) -> None: ...
