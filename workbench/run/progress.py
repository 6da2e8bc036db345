"""The progress of a run, from its documents alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import nan
from typing import Any

from workbench.analysis.histogram import mean
from workbench.analysis.knee import knee, peak_per_s
from workbench.analysis.series import mean_us
from workbench.analysis.tasks import Tasks
from workbench.axis import RATE, Axis
from workbench.documents import (
    AnyDocument,
    Block,
    Note,
    Percentiles,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.messages.outcomes import Peak
from workbench.messages.topics import read_note
from workbench.plan.search import expected_points

_BETWEEN_S, _TURN_S = 0.5, 2.5
"""To the next point, and to the next server's first one, until the run has shown it."""


@dataclass
class ServerProgress:
    """One server so far. Rates are in the plan's unit, times from the scheduled time."""

    id: str
    name: str
    total: int
    stops: list[PointStop] = field(default_factory=list)
    point: PointStart | None = None
    due: int = 0
    lost: int = 0
    """Failed calls of the running point so far."""
    window: Window | None = None
    calls_per_unit: int = 1
    axis: Axis = RATE
    peaks: list[Peak] = field(default_factory=list)
    tasks: Tasks = field(default_factory=Tasks)

    @property
    def replies_per_s(self) -> float | None:
        """Replies in the last window, else in the last point."""
        if self.window is not None:
            return self.window.replies / self.calls_per_unit / (self.window.length_us / 1e6)
        return self.stops[-1].replies_per_s if self.stops else None

    @property
    def latency_us(self) -> Percentiles | None:
        if self.window is not None:
            return self.window.latency_us
        return self.stops[-1].latency_us if self.stops else None

    @property
    def mean_us(self) -> float | None:
        """Of the same replies as `latency_us`."""
        if self.window is not None:
            return mean(self.window.latency)
        return mean_us(self.stops[-1:], "latency")

    @property
    def errors_pct(self) -> float | None:
        """Percent of attempts in the running point so far, else in the last point."""
        if self.point is not None:
            return 100 * self.lost / self.due if self.due else None
        return self.stops[-1].errors_pct if self.stops else None

    @property
    def knee(self) -> float | None:
        """Highest sustained value so far; None: none, or the axis has no such limit."""
        if self.axis.bounds:
            return peak_per_s(self.peaks)
        return knee(self.stops) if self.axis.has_limit else None


class RunProgress:
    """A consumer of documents; a `RunStart` resets it."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self.name = ""
        self.servers: dict[str, ServerProgress] = {}
        """The servers compared, in the plan's order."""
        self.now: ServerProgress | None = None
        """The server under load, the null server included."""
        self.t_us = 0
        self.end: RunStop | None = None
        self.passes = 1
        self._order: list[Block] = []
        self._planned = 0
        """The number of blocks in the plan; blocks of repeats come after them."""
        self._block = -1
        self._added_at = 0
        """The index in the order at which the blocks added last begin."""
        self._in_block = 0
        self._planned_s = 0.0
        """Of a point, by the plan; 0: not known yet."""
        self._point_s: dict[float, float] = {}
        """From the start of a point to that of the next, by its value: as it took last."""
        self._turn_s = _TURN_S
        """From one server's last point to the first of the next: as it took last."""
        self._took_s = 0.0
        """Of the last judged point, without the time after it; 0: it was cut short."""
        self._last: PointStart | None = None
        self._entered = False
        self._point_since_us = 0
        """Without pauses: when the last judged point began or ended."""
        self._paused_since_us: int | None = None
        self._paused_us = 0
        """Time in pauses so far, which does not count for the length of a point."""
        self.axis = RATE
        self._expected = 0
        """Points of a block whose values are not known: a search may take more or fewer."""
        self._calls_per_unit = 1
        self._tools = 1
        """Load tools that run every point in turns."""

    def __call__(self, document: AnyDocument) -> None:
        if isinstance(document, RunStart):
            self._begin(document)
            return
        self.t_us = max(self.t_us, document.t_us)
        match document:
            case PointStart():
                self._point_start(document)
            case Window() if self.now:
                self.now.window = document
                self.now.due += document.due
                self.now.lost += sum(document.errors.values())
            case PointStop() if self.now:
                self._point_stop(document, self.now)
            case Note(topic="peak"):
                self._in_block = self._size(self._block)
                self._found(document)
            case Note(topic="gave-up" | "died" | "skipped"):
                self._in_block = self._size(self._block)
            case Note(topic="again") if {"pass_number", "rates_per_s"} <= document.data.keys():
                self._add(document)
            case Note(topic="ceiling"):
                self.now = None
            case Note(topic="paused"):
                self._paused_since_us = document.t_us
            case Note(topic="resumed") if self._paused_since_us is not None:
                self._paused_us += document.t_us - self._paused_since_us
                self._paused_since_us = None
            case RunStop():
                self.end, self.now = document, None
            case _:
                pass

    def name_of(self, server_id: str) -> str:
        known = self.servers.get(server_id)
        return known.name if known else "null server"

    @property
    def total(self) -> int:
        """The number of planned points that are judged."""
        return sum(map(self._size, range(len(self._order))))

    @property
    def done(self) -> int:
        """How many of `total` are done; those left out count as done."""
        return sum(map(self._size, range(self._block))) + self._in_block

    @property
    def left_s(self) -> float | None:
        """Estimated from the points so far, before these from the plan; None: too early to say."""
        first = max(0, self._current)
        return self._last_s(range(first, len(self._order)))

    @property
    def current_server(self) -> ServerProgress | None:
        """The current server: under load, between its points, or about to be started."""
        now = self.now
        if self.end or not self._order or (now and (now.point or now.id not in self.servers)):
            return now
        return self.servers.get(self._order[self._current].server)

    @property
    def _current(self) -> int:
        """The current block, or the next once it has all points; repeats last until the next."""
        running = self.now is not None and self.now.point is not None
        more = self._planned <= self._block and self._added_at <= self._block
        if running or more or self._in_block < self._size(self._block):
            return self._block
        return min(self._block + 1, len(self._order) - 1)

    @property
    def block(self) -> tuple[int, int]:
        """(number of the current planned block, from 1; how many there are)."""
        return min(max(0, self._current) + 1, self._planned), self._planned

    @property
    def repeat_block(self) -> tuple[int, int] | None:
        """(number of the current block of repeats, from 1; how many); None: a planned block."""
        if self._current < self._planned:
            return None
        return self._current - self._added_at + 1, len(self._order) - self._added_at

    @property
    def in_block(self) -> tuple[int, int]:
        """(points done, points planned) in the current block."""
        return self._in_block, self._size(self._block)

    @property
    def block_left_s(self) -> float | None:
        """Estimated seconds left in the current block; None: too early to say."""
        return self._last_s([max(0, self._current)])

    def _last_s(self, blocks: Iterable[int]) -> float | None:
        """How long these blocks take from now on; a point may be running."""
        if self.end:
            return 0.0
        if not self._planned_s:
            return None
        known = self._point_s.values()
        usual_s = sum(known) / len(known) if known else self._planned_s + _BETWEEN_S
        left_s = 0.0
        for n in blocks:
            begun = n == self._block and self._entered
            places = [x for x in self._places(n) for _ in range(self._tools)]
            coming = places[self._in_block :] if n == self._block else places
            left_s += sum(self._point_s.get(x, usual_s) for x in coming)
            left_s += 0.0 if begun else self._turn_s
            if begun and coming:
                elapsed_s = (self._active_us - self._point_since_us) / 1e6
                left_s -= min(elapsed_s, self._point_s.get(coming[0], usual_s))
        return max(0.0, left_s)

    @property
    def _active_us(self) -> int:
        """The time of the session without pauses."""
        now_us = self.t_us if self._paused_since_us is None else self._paused_since_us
        return now_us - self._paused_us

    def _begin(self, start: RunStart) -> None:
        self._reset()
        plan = start.plan
        self.name = plan.get("name", "")
        self._order = list(start.order)
        self._planned = len(start.order)
        self.passes = max((block.pass_number for block in start.order), default=1)
        self.axis = start.axis or RATE
        self._expected = expected_points(self.axis) if self.axis.bounds else self.axis.points
        self._calls_per_unit = _calls_per_unit(plan)
        self._tools = len(start.load_tools)
        self._planned_s = plan.get("seconds") or 0.0
        for record in start.servers:
            total = sum(
                self._size(n) for n, block in enumerate(start.order) if block.server == record.id
            )
            self.servers[record.id] = ServerProgress(
                record.id, record.name, total, axis=self.axis, tasks=Tasks.of(record)
            )

    def _add(self, note: Note) -> None:
        """Add a block that the run announced: a doubtful rate is repeated."""
        number, rates = note.data["pass_number"], note.data["rates_per_s"]
        if self._added_at <= self._block:
            self._added_at = len(self._order)
        self._order.append(Block(server=note.server, pass_number=number, rates_per_s=rates))
        if known := self.servers.get(note.server):
            known.total += len(rates)

    def _found(self, note: Note) -> None:
        known, peak = self.servers.get(note.server), read_note(note)
        if known and isinstance(peak, Peak):
            known.peaks.append(peak)

    def _places(self, block: int) -> list[float]:
        """The values of a block's points; those that are not known yet are NaN."""
        if not 0 <= block < len(self._order):
            return []
        return self._order[block].rates_per_s or self.axis.values or [nan] * self._expected

    def _size(self, block: int) -> int:
        return len(self._places(block)) * self._tools

    def _point_start(self, point: PointStart) -> None:
        if point.purpose != "ceiling":
            self._enter(point)
        if point.judged:
            self._time(point)
        known = self.servers.get(point.server)
        self.now = known or ServerProgress(point.server, self.name_of(point.server), 0)
        self.now.point, self.now.window = point, None
        self.now.due = self.now.lost = 0
        self.now.calls_per_unit = self._calls_per_unit

    def _enter(self, point: PointStart) -> None:
        """Enter the block that the point belongs to; all before it are over."""
        asked = point.server, point.pass_number
        coming = enumerate(self._order[self._added_at :], self._added_at)
        own = (n for n, block in coming if (block.server, block.pass_number) == asked)
        here = next(own, self._block)
        if here != self._block:
            self._block, self._in_block, self._entered = here, 0, False

    def _time(self, point: PointStart) -> None:
        """Learn from the start of a judged point how long what came before it took."""
        took_s = (self._active_us - self._point_since_us) / 1e6
        if not self._entered and self._last is not None:
            self._turn_s = took_s
        elif self._last is not None and self._took_s:
            self._point_s[self._last.x] = self._took_s + took_s
        self._last, self._entered, self._point_since_us = point, True, self._active_us
        self._planned_s = self._planned_s or point.seconds

    def _point_stop(self, stop: PointStop, server: ServerProgress) -> None:
        if stop.judged:
            server.stops.append(stop)
            self._took_s = 0.0
            if stop.complete:
                self._took_s = (self._active_us - self._point_since_us) / 1e6
                self._point_s[stop.x] = self._took_s + _BETWEEN_S
            self._point_since_us = self._active_us
            # After a rate is sustained at last, unannounced higher ones follow.
            self._in_block = min(self._in_block + 1, self._size(self._block))
        server.point = server.window = None


def _calls_per_unit(plan: dict[str, Any]) -> int:
    """Windows count calls; the plan's rates may count connections."""
    calls: int = plan.get("workload", {}).get("calls_per_connection", 1)
    return calls if plan.get("rate_of") in ("connections", "users") else 1
