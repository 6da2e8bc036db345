"""One server's results in a session, as lines over the axis. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from workbench.analysis.audits import Audit
from workbench.analysis.series import PointResult, SeriesResult, View
from workbench.axis import Axis
from workbench.documents import Note, PointStop
from workbench.messages.outcomes import Peak
from workbench.messages.topics import read_note

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Span = tuple[float, float]
"""From the lowest to the highest value, in the axis's own unit, also on a logarithmic one."""


class Quantity(Enum):
    """The quantity that one chart of the trio shows; the value is the metric's key."""

    REPLIES = "replies"
    TIME = "time"
    ERRORS = "errors"


@dataclass(frozen=True)
class Values:
    """One line: as many x as y as flags. A y of NaN is a gap."""

    x: Floats
    """In the unit of the axis."""
    y: Floats
    """Replies per second, milliseconds, or percent."""
    trusted: Flags
    """The point is reliable, and no audit failed there."""
    faulty: Flags
    """The server gave unexpected responses there."""

    @classmethod
    def of(cls, points: Sequence[tuple[float, float, bool, bool]]) -> Values:
        """`points`: an x, a y and both flags of each."""
        x, y, trusted, faulty = np.array(points, dtype=np.float64).reshape(-1, 4).T.copy()
        return cls(x, y, trusted > 0, faulty > 0)


class Series(SeriesResult):
    """One line, with its place among the others."""

    tag = ""
    """The letter of its session in a comparison."""
    place = 0
    """Of its session in a comparison."""

    def __init__(
        self, key: str, name: str, index: int, axis: Axis, stops: Iterable[PointStop] = ()
    ) -> None:
        super().__init__(key, name, axis=axis, stops=stops)
        self.label = name
        """Its name at the end of its line, without its session's letter."""
        self.index = index
        """Its place in the plan, which determines its style."""
        self.gave_up = ""
        """Why its sweep ended early; empty: it did not."""
        self.version = 0
        """Grows with every point."""
        self._failed: dict[int, list[Audit]] = {}
        """Audits, by the number of the point that they taint."""

    @property
    def id(self) -> str:
        return self.key

    @property
    def searched(self) -> bool:
        return bool(self.axis.bounds)

    def add(self, stop: PointStop) -> None:
        self.stops.append(stop)
        self.version += 1

    def take(self, note: Note) -> None:
        """Take why its sweep ended early, that it died, or what a search found."""
        if isinstance(found := read_note(note), Peak):
            self.peaks.append(found)
        elif found.code == "died":
            self.ended_at = None if found.data().get("warming_up") else found.data()["x"]
        else:
            self.gave_up = note.text
        self.version += 1

    def taint(self, failed: Mapping[int, list[Audit]]) -> bool:
        """Take the audits that failed, by number of the point; returns whether that is new."""
        mine = {stop.point: failed[stop.point] for stop in self.stops if stop.point in failed}
        changed = mine.keys() != self._failed.keys()
        self._failed = mine
        self.version += changed
        return changed

    def failed_audits(self, reading: PointResult) -> list[Audit]:
        if not self._failed:
            return []
        found = (audit for stop in reading.stops for audit in self._failed.get(stop.point, ()))
        return list({audit.code: audit for audit in found}.values())

    def trusts(self, reading: PointResult) -> bool:
        return reading.trusted and not self.failed_audits(reading)

    def values(self, quantity: Quantity, view: View, pass_number: int = 0) -> Values:
        """`pass_number`: only of this pass; 0: of all together."""
        points = self.of_pass(pass_number) if pass_number else self.shown
        time, key = quantity is Quantity.TIME, metric(quantity, view)
        trusted = [self.trusts(point) and (not time or point.supported(view)) for point in points]
        pairs = zip(points, trusted, strict=True)
        return Values.of([(p.x, p.value(key, view), t, p.verdict == "faulty") for p, t in pairs])


def metric(quantity: Quantity, view: View) -> str:
    """Return the key of a chart's metric: the bottom chart shows the errors or another."""
    return view.metric if quantity is Quantity.ERRORS and view.metric else quantity.value


def within(x: Floats, y: Floats, span: Span) -> Floats:
    """Return the values of a line between two x, and where it crosses these; NaN in gaps."""
    low, high = span
    inside = y[(x >= low) & (x <= high)]
    if not len(x):
        return inside
    crossed = [at for at in span if x[0] <= at <= x[-1]]
    return np.concatenate((inside, np.interp(crossed, x, y)))
