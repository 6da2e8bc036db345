"""What audits are made of, and what they look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, Literal, NamedTuple

from workbench.analysis.histogram import percentile_supported, total_us
from workbench.analysis.repeats import last_attempts
from workbench.axis import RATE, Axis
from workbench.documents import (
    JUDGED,
    WINDOW_US,
    AnyDocument,
    Note,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.messages.base import Message
from workbench.messages.topics import read_note

State = Literal["passed", "failed", "not-known", "does-not-apply"]


class Outcome(NamedTuple):
    """Of a check. What is tainted: points, or servers as a whole; neither: the session."""

    state: State
    message: Message
    points: tuple[int, ...] = ()
    """By `PointStop.point`."""
    servers: tuple[str, ...] = ()
    """By id."""


@dataclass(frozen=True)
class Audit:
    """A line of the checklist."""

    code: str
    label: str
    state: State
    message: Message
    points: tuple[int, ...] = ()
    """Tainted, if it failed; see `Outcome`."""
    servers: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.state == "failed"

    @property
    def word(self) -> str:
        """Its state for people."""
        return self.state.replace("-", " ")

    def to_data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "code": self.code,
            "label": self.label,
            "state": self.state,
            "text": self.message.text(),
            "finding": self.message.record(),
            "points": list(self.points),
            "servers": list(self.servers),
        }


@dataclass(frozen=True)
class Check:
    """An audit, as it is listed."""

    code: str
    """Recorded nowhere, but scripts read it: never changed."""
    label: str
    of: Callable[[Seen], Outcome]
    """Called when at least one point was measured."""


class Noted(NamedTuple):
    """A note and its message."""

    t_us: int
    server: str
    machine: str
    message: Message


class Seen:
    """A session as far as audits look at it."""

    def __init__(self) -> None:
        self._clear(None)

    def _clear(self, start: RunStart | None) -> None:
        self.start = start
        self.stop: RunStop | None = None
        self.over = False
        """No more documents come."""
        self._stops: list[PointStop] = []
        self._notes: list[Noted] = []
        self._pending_us: dict[int, float | None] = {}
        self._sums_s: dict[tuple[int, str], float] = {}
        self._medians: defaultdict[int, list[tuple[float, float, float]]] = defaultdict(list)
        self.__dict__.pop("points", None)

    def __call__(self, document: AnyDocument) -> None:
        match document:
            case Window():
                self._count(document)
            case PointStop(complete=True) if document.purpose in JUDGED:
                self._stops.append(document)
                self.__dict__.pop("points", None)
            case Note():
                message = read_note(document)
                self._notes.append(Noted(document.t_us, document.server, document.machine, message))
            case RunStart():
                self._clear(document)
            case RunStop():
                self.stop = document
            case _:
                pass

    def _count(self, window: Window) -> None:
        times = window.service_us
        if times is not None and percentile_supported(times.count, 0.5):
            end_us = (window.index + 1) * WINDOW_US
            place = (end_us - window.length_us) / 1e6, end_us / 1e6
            self._medians[window.point].append((*place, log(max(1, times.p50))))
        before = self._pending_us.get(window.point, 0.0)
        if before is None or window.pending is None:
            self._pending_us[window.point] = None
        else:
            self._pending_us[window.point] = before + window.pending * window.length_us

    @cached_property
    def points(self) -> list[PointStop]:
        """Complete ones that are judged; of several attempts at a value the last."""
        return last_attempts(self._stops)

    def service(self, point: PointStop) -> list[float]:
        """Of the windows in its measured part: logarithms of the median service time."""
        begin, end = point.measured_s or (0.0, point.seconds)
        windows = self._medians.get(point.point, ())
        return [value for a, b, value in windows if a >= begin - 1e-3 and b <= end + 1e-3]

    def pending_s(self, point: PointStop) -> float | None:
        """Calls in flight over the whole point, times how long they were so; None: not known."""
        call_us = self._pending_us.get(point.point)
        return None if call_us is None else call_us / 1e6

    def sum_s(self, point: PointStop, times: Literal["service", "lateness"]) -> float:
        """Sum of a point's service times, or of its connections' lateness. Found once: a run under
        way is audited after each of its points."""
        key = point.point, times
        if key not in self._sums_s:
            self._sums_s[key] = total_us(getattr(point.histograms, times)) / 1e6
        return self._sums_s[key]

    @property
    def plan(self) -> dict[str, Any]:
        return self.start.plan if self.start else {}

    @property
    def workload(self) -> dict[str, Any]:
        workload: dict[str, Any] = self.plan.get("workload", {})
        return workload

    @property
    def axis(self) -> Axis:
        return (self.start.axis if self.start else None) or RATE

    @cached_property
    def names(self) -> dict[str, str]:
        """Of the servers compared, by id."""
        return {record.id: record.name for record in self.start.servers} if self.start else {}

    def machines(self, role: str) -> list[str]:
        return [
            each.name for each in (self.start.machines if self.start else ()) if role in each.roles
        ]

    @property
    def loopback(self) -> bool:
        """Do servers and clients share a machine, and no other takes part?"""
        return self.machines("target") == self.machines("client")

    def notes(self, kind: type[Message]) -> list[Noted]:
        return [noted for noted in self._notes if isinstance(noted.message, kind)]

    def of_servers(self, kind: type[Message]) -> dict[str, list[Any]]:
        """Messages about servers that are compared, by the server's id."""
        found: defaultdict[str, list[Any]] = defaultdict(list)
        for noted in self.notes(kind):
            if noted.server in self.names:
                found[noted.server].append(noted.message)
        return found

    def places(self, points: Iterable[PointStop]) -> dict[str, Any]:
        """What `messages.audits.OfPoints` needs of points that fail."""
        at = [(self.names.get(point.server, point.server), point.x) for point in points]
        return {"points": len(self.points), "at": at, "suffix": self.axis.suffix}


def codes(point: PointStop) -> set[str]:
    """Of the reasons of its verdict."""
    if not point.findings:
        return set()
    return {str(finding.get("code", "")) for finding in point.findings}


def numbers(points: Iterable[PointStop]) -> tuple[int, ...]:
    """For `Outcome.points`."""
    return tuple(point.point for point in points)
