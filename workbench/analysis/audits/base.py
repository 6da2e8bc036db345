"""The parts of an audit, and the view of a session that audits work on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, log
from typing import Any, Literal, NamedTuple

from workbench.analysis.histogram import percentile_supported, total_us
from workbench.analysis.knee import last_attempts
from workbench.analysis.phases import longest_stay_s
from workbench.analysis.starts import Started
from workbench.axis import RATE, Axis
from workbench.documents import (
    WINDOW_US,
    AnyDocument,
    HostSample,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.messages.base import Said, Stated
from workbench.messages.topics import read_note

State = Literal["passed", "failed", "not-known", "does-not-apply"]


@dataclass(frozen=True)
class Audit:
    """The result of a check. A failed one taints `points`, all of `servers`, or the session."""

    state: State
    message: Stated
    points: tuple[int, ...] = ()
    """Numbers (`PointStop.point`)."""
    servers: tuple[str, ...] = ()
    code: str = ""
    label: str = ""
    """Both of its check; set when that has found it."""

    @property
    def failed(self) -> bool:
        return self.state == "failed"

    @property
    def state_label(self) -> str:
        return self.state.replace("-", " ")

    def to_data(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "label": self.label,
            "state": self.state,
            "text": self.message.text(),
            "finding": self.message.record(),
            "points": list(self.points),
            "servers": list(self.servers),
        }


class Noted(NamedTuple):
    t_us: int
    server: str
    machine: str
    message: Said


class SessionData:
    def __init__(self, start: RunStart) -> None:
        self.start = start
        self.stop: RunStop | None = None
        self.over = False
        """No more documents come."""
        self._stops: list[PointStop] = []
        self._notes: list[Noted] = []
        self.pending_s: dict[int, tuple[float, float] | None] = {}
        """Of each point: calls in flight over all of it, and the error of that, in call-seconds."""
        self._sums_s: dict[tuple[int, str], float] = {}
        self._medians: defaultdict[int, list[tuple[float, float, float]]] = defaultdict(list)
        self._windows: list[Window] = []
        """Of the current point."""
        self._under_load: PointStart | None = None
        self._memory: dict[int, list[tuple[float, int]]] = {}

    def __call__(self, document: AnyDocument) -> None:
        match document:
            case Window():
                self._count(document)
            case PointStart() if document.judged:
                self._under_load = document
                self._memory[document.point] = []
            case HostSample() if self._under_load and document.server == self._under_load.server:
                at_s = (document.t_us - self._under_load.t_us) / 1e6
                self._memory[self._under_load.point].append((at_s, document.rss_bytes))
            case PointStop():
                self._under_load = None
                if document.service_us and document.service_us.p90 > WINDOW_US:
                    self._medians[document.point] = list(self._by_start())
                self._windows = []
                if document.complete and document.judged:
                    self._stops.append(document)
                    self.__dict__.pop("points", None)
            case Note():
                message = read_note(document)
                self._notes.append(Noted(document.t_us, document.server, document.machine, message))
            case RunStop():
                self.stop = document
            case _:
                pass

    def _by_start(self) -> Iterator[tuple[float, float, float]]:
        """Medians as in `_medians`, of the calls that began in each window of the current point:
        those that end in it say nothing of calls that take longer than it."""
        started = Started.of((window.middle_s, window.service) for window in self._windows)
        for window in self._windows:
            begin_s, end_s = place = _place(window)
            [median_s] = started.medians_s(begin_s, end_s, 1)
            if not isnan(median_s):
                yield *place, log(max(1.0, 1e6 * median_s))

    def _count(self, window: Window) -> None:
        self._windows.append(window)
        times = window.service_us
        if times is not None and percentile_supported(times.count, 0.5):
            self._medians[window.point].append((*_place(window), log(max(1, times.p50))))
        before, length_s = self.pending_s.get(window.point, (0.0, 0.0)), window.length_us / 1e6
        if before is None or window.pending is None:
            self.pending_s[window.point] = None
        else:
            more = window.pending * length_s, window.pending_within * length_s
            self.pending_s[window.point] = before[0] + more[0], before[1] + more[1]

    @cached_property
    def points(self) -> list[PointStop]:
        """The complete points that are judged; of several attempts at a value, the last."""
        return last_attempts(self._stops)

    def service(self, point: PointStop) -> list[float]:
        """The logarithms of the median service time, for each window in its measured part."""
        begin, end = point.measured_s or (0.0, point.seconds)
        windows = self._medians.get(point.point, ())
        return [value for a, b, value in windows if a >= begin - 1e-3 and b <= end + 1e-3]

    def memory(self, point: PointStop) -> list[tuple[float, int]]:
        """The server's memory in the measured part of a point: (seconds, bytes). Where the load
        tool reports no windows, that part begins once connections end as often as they begin."""
        begin, end = point.measured_s or (self._building_up_s, point.seconds)
        return [each for each in self._memory.get(point.point, ()) if begin <= each[0] <= end]

    @property
    def _building_up_s(self) -> float:
        """The time in which the connections of a point become more, because users think."""
        given = self.workload
        if given.get("mode") == "closed":
            return 0.0
        return longest_stay_s(
            given.get("calls_per_connection", 1),
            given.get("think_time_s", 0.0),
            given.get("think_times", "constant"),
        )

    def sum_s(self, point: PointStop, times: Literal["service", "lateness"]) -> float:
        """Sum in seconds of a point's times; cached, as a running session is audited at each."""
        key = point.point, times
        if key not in self._sums_s:
            self._sums_s[key] = total_us(getattr(point.histograms, times)) / 1e6
        return self._sums_s[key]

    @property
    def workload(self) -> dict[str, Any]:
        workload: dict[str, Any] = self.start.plan.get("workload", {})
        return workload

    @property
    def axis(self) -> Axis:
        return self.start.axis or RATE

    @cached_property
    def names(self) -> dict[str, str]:
        """Names of the compared servers, by id."""
        return {record.id: record.name for record in self.start.servers}

    def machines(self, role: str) -> list[str]:
        return [each.name for each in self.start.machines if role in each.roles]

    @property
    def loopback(self) -> bool:
        """Whether servers and clients share the only machine."""
        return self.machines("target") == self.machines("client")

    def notes(self, *topics: str) -> list[Noted]:
        return [noted for noted in self._notes if noted.message.code in topics]

    def of_servers(self, topic: str) -> dict[str, list[Mapping[str, Any]]]:
        """Parameters of notes about compared servers, by the server's id."""
        found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for noted in self.notes(topic):
            if noted.server in self.names:
                found[noted.server].append(noted.message.data())
        return found

    def places(
        self, points: Iterable[PointStop], *, of: Sequence[PointStop] | None = None
    ) -> dict[str, Any]:
        """The parameters of a finding about points that failed. `of`: those that
        could be checked; None: all."""
        checked = self.points if of is None else of
        return {
            "points": len(checked),
            "left_out": len(self.points) - len(checked),
            "at": [(self.names.get(point.series, point.series), point.x) for point in points],
            "suffix": self.axis.suffix,
        }


def _place(window: Window) -> tuple[float, float]:
    """Begin and end, in seconds from the point's start."""
    end_us = (window.index + 1) * WINDOW_US
    return (end_us - window.length_us) / 1e6, end_us / 1e6


def codes(point: PointStop) -> set[str]:
    return {str(finding.get("code", "")) for finding in point.findings}


def numbers(points: Iterable[PointStop]) -> tuple[int, ...]:
    return tuple(point.point for point in points)
