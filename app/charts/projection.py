"""Another look at a session: the same servers in the same styles, with other lines. No Qt.

A projection takes the place of a `ChartModel` in the charts. It is built from one and follows it,
so live, film, comparison and pictures show every view in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from app.charts.model import ChartModel
from app.charts.series import Quantity, Series, Values
from workbench.analysis.audits import Audit
from workbench.analysis.published import Published
from workbench.analysis.series import PointResult, View
from workbench.axis import Axis
from workbench.documents import Metric

Chosen = float | Literal["whole", "best"]
"""Which points are shown: at this value of the axis; whole: every server's whole block; best: where
each server sustains its rate."""


class ProjectedSeries:
    """One server's line in another look. What derives from it has `values` and `shown`, what can
    be selected, by ascending x: each has `x` and `value`, as a point has.
    """

    knee = None
    """No value of this view's axis is a sustained rate."""
    faulty = None
    disqualified = ""
    searched = False
    pass_numbers: Sequence[int] = ()
    """Single passes have no lines of their own here."""

    def __init__(self, of: Series, model: Any) -> None:
        """`model`: its `Projection`."""
        self.of, self.model = of, model

    def __getattr__(self, name: str) -> Any:
        """Name, style, and what else does not depend on the view."""
        return getattr(self.of, name)

    @property
    def version(self) -> Any:
        """Changes with the line."""
        return self.of.version

    def failed_audits(self, reading: object) -> list[Audit]:
        return []

    def trusts(self, reading: Any) -> bool:
        return bool(reading.trusted)


class Projection:
    """What charts read of a model; what is not said here does not depend on the view."""

    charts: tuple[Quantity, ...] = tuple(Quantity)
    """Those that this view has."""
    bars = False
    """Whether every server is a bar."""
    passes = False
    ceiling_per_s: float | None = None
    running = None
    """The running point has no place of its own: its line grows."""
    sweeping = None
    whole = None
    axis: Axis
    last_x: float
    line: type[ProjectedSeries] = ProjectedSeries
    """What a server becomes."""

    def __init__(self, of: ChartModel, chosen: Chosen) -> None:
        self.of, self.chosen = of, chosen
        self._made: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of, name)

    def published_at(
        self, keys: Iterable[str], key: str, view: View
    ) -> list[tuple[Published, float, str, float | None]]:
        """Published figures have no place in this view."""
        return []

    def point_of(self, series: Series) -> PointResult | None:
        """Return the chosen point of a server, else an interrupted one; None: it has none."""
        if self.chosen == "best":
            cut = max(series.shown, key=lambda point: point.replies_per_s, default=None)
            return series.best or cut
        return next((point for point in series.shown if point.x == self.chosen), None)

    @property
    def chosen_text(self) -> str:
        """ "at 9,000/s", "at each sustained rate", "whole sweep"."""
        axis = self.of.axis
        if not isinstance(self.chosen, str):
            return f"at {axis.at(self.chosen)}"
        if self.chosen == "whole":
            return "whole sweep"
        if axis.bounds:
            return "at each peak"
        if not axis.has_limit:
            return f"at most {self.replies} of each"
        each = self.of.series.values()
        unknown = any(s.knee is None and any(p.replies_per_s for p in s.shown) for s in each)
        return "at each sustained rate" + (f" or most {self.of.axis.served}" if unknown else "")

    @property
    def series(self) -> dict[str, Any]:
        for key, series in self.of.series.items():
            known = self._made.get(key)
            if known is None or known.of is not series:
                self._made[key] = self.line(series, self)
        return self._made

    def ranked(self) -> list[Any]:
        mine = self.series
        return [mine[series.id] for series in self.of.ranked()]

    @property
    def running_server(self) -> str:
        return ""

    @property
    def metrics(self) -> list[Metric]:
        """Those that the bottom chart can show in place of the errors."""
        return []

    def reading(self, server: str, x: float) -> Any:
        series = self.series.get(server)
        return next((r for r in series.shown if r.x == x), None) if series else None


def nothing() -> Values:
    none, never = np.empty(0), np.empty(0, dtype=bool)
    return Values(none, none, never, never)


def line(x: Sequence[float], y: Sequence[float], trusted: Sequence[bool]) -> Values:
    """Return a line of a view without faulty points."""
    never = np.zeros(len(x), dtype=bool)
    sure = np.array(trusted, dtype=np.bool_)
    return Values(np.array(x, dtype=np.float64), np.array(y, dtype=np.float64), sure, never)
