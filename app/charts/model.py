"""A session as the charts see it: documents in, series out. No Qt.

One `ChartModel` consumes a session's documents one by one, from a live run or a file alike. Charts
look at `version` and `Series.version` to see what changed since they last drew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.charts.series import Quantity, Series, View, milliseconds, offered
from workbench.documents import (
    WINDOW_US,
    AnyDocument,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)

if TYPE_CHECKING:
    from app.charts.whole import Whole

_DECIDED_PCT = 5.0
"""Of what was due: with more calls open nothing is said of the errors. A marker is as high."""


@dataclass
class Running:
    """The point being run now."""

    start: PointStart
    calls_per_unit: float
    """How many calls make one of what rates count."""
    windows: list[Window] = field(default_factory=list)

    @property
    def server(self) -> str:
        return self.start.server

    @property
    def offered(self) -> float:
        return offered(self.start)

    @property
    def errors_pct(self) -> tuple[float, float] | None:
        """(least, most) of what was due until now: calls still open may be answered or not. None:
        nothing was due yet."""
        due = sum(window.due for window in self.windows)
        if not due:
            return None
        lost = sum(sum(window.errors.values()) for window in self.windows)
        answered = sum(window.replies for window in self.windows)
        return 100 * min(1.0, lost / due), 100 * max(0.0, 1 - answered / due)

    def value(self, quantity: Quantity, view: View) -> float:
        """So far; the response time is that of the latest window that has one. NaN: none yet;
        of errors also while too many calls may still time out."""
        scheduled = [window for window in self.windows if window.due]
        if not scheduled:
            return float("nan")
        due = sum(window.due for window in scheduled)
        if quantity is Quantity.ERRORS:
            least, most = self.errors_pct or (float("nan"), float("nan"))
            return least if most - least <= _DECIDED_PCT else float("nan")
        if quantity is Quantity.REPLIES:
            replies = sum(window.replies for window in scheduled)
            if self.start.concurrency:
                seconds = len(scheduled) * WINDOW_US / 1e6
                return replies / seconds / self.calls_per_unit
            # The share of what was due, of the offered rate: right in a half-full window too.
            return self.start.rate_per_s * min(1.0, replies / due)
        for window in reversed(self.windows):
            times = window.latency_us if view.clock == "latency" else window.service_us
            if times is not None:
                return milliseconds(times, view.percentile)
        return float("nan")


class ChartModel:
    """A session as the charts see it. Call it with every document."""

    def __init__(self) -> None:
        self.start: RunStart | None = None
        self.stop: RunStop | None = None
        self.series: dict[str, Series] = {}
        """By id, in the plan's order."""
        self.running: Running | None = None
        """Points of warm-up and calibration too: see `running.start.purpose`."""
        self.sweeping: PointStart | None = None
        """The latest point of the sweep under way: stays between its points."""
        self.ceiling_per_s: float | None = None
        """What the clients can offer at most."""
        self.last_offered = 1000.0
        """Where the x axis ends: the highest rate of the plan, in a closed loop its concurrency."""
        self.over = False
        """No more documents come."""
        self.whole: Whole | None = None
        """The same session to its end, where that is known: axes are fitted to it."""
        self._timeout_s = 5.0
        """Before the run says so."""
        self.version = 0
        """Grows with every document that changes what is drawn."""

    def __call__(self, document: AnyDocument) -> None:
        self.version += 1
        match document:
            case RunStart():
                self.start = document
                self.last_offered = self._last_planned(document)
                for record in document.servers:
                    self._series(record.id, record.name)
            case PointStart():
                self.running = Running(document, self._calls_per_unit())
                self.sweeping = document if document.purpose == "sweep" else None
                if self.sweeping is not None:
                    self.last_offered = max(self.last_offered, offered(document))
            case Window():
                if self.running is not None and self.running.start.point == document.point:
                    self.running.windows.append(document)
            case PointStop():
                self.running = None
                if document.purpose == "sweep" and document.complete:
                    series = self._series(document.server)
                    series.stops.append(document)
                    series.version += 1
            case Note(topic="ceiling"):
                ceiling = document.data.get("ceiling_per_s")
                self.ceiling_per_s = None if ceiling is None else float(ceiling)
            case Note(topic="gave-up") if document.server in self.series:
                self.series[document.server].gave_up = document.text
            case RunStop():
                self.stop = document
                self.end()
            case _:
                self.version -= 1

    def expect(
        self,
        last: float,
        servers: Iterable[tuple[str, str]] = (),
        *,
        timeout_s: float | None = None,
    ) -> None:
        """Before the run says so: where the x axis ends, (id, name) of who is compared, and how
        long a call may take."""
        self.last_offered = last
        self._timeout_s = timeout_s or self._timeout_s
        for id_, name in servers:
            self._series(id_, name)
        self.version += 1

    def end(self) -> None:
        """The documents end here, even if the run was cut off before its `RunStop`."""
        self.over, self.running, self.sweeping = True, None, None
        self.version += 1

    def _series(self, id_: str, name: str = "") -> Series:
        if id_ not in self.series:
            self.series[id_] = Series(id_, name or id_, len(self.series))
        return self.series[id_]

    @property
    def running_server(self) -> str:
        """Whose sweep is under way; empty: nobody's."""
        return self.sweeping.server if self.sweeping else ""

    @property
    def closed_loop(self) -> bool:
        """Then x counts connections kept open, and no ideal line exists."""
        return self._workload().get("mode") == "closed"

    @property
    def unit(self) -> str:
        """What rates count."""
        default = "connections" if self.calls_per_connection == 1 else "requests"
        return str((self.start.plan.get("rate_of") if self.start else None) or default)

    @property
    def has_timeout(self) -> bool:
        """Is it known, and the same for all that is drawn?"""
        return self.start is not None

    @property
    def timeout_ms(self) -> float:
        return 1000 * float(self._workload().get("timeout_s", self._timeout_s))

    def ranked(self) -> list[Series]:
        """By what they hold, highest first; in the plan's order where that is the same."""
        return sorted(self.series.values(), key=lambda s: -s.figure_per_s)

    def _last_planned(self, start: RunStart) -> float:
        planned = [rate for block in start.order for rate in block.rates_per_s]
        if self.closed_loop:
            planned = [float(n) for n in start.plan.get("concurrency") or []]
        return max(planned, default=1000.0)

    def _workload(self) -> dict[str, object]:
        return (self.start.plan.get("workload") if self.start else None) or {}

    def _calls_per_unit(self) -> float:
        return float(self.calls_per_connection) if self.unit == "connections" else 1.0

    @property
    def calls_per_connection(self) -> int:
        return int(str(self._workload().get("calls_per_connection", 1)))
