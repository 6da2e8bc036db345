"""Another look at a session: the same servers in the same styles, with other lines. No Qt.

A projection takes the place of a `ChartModel` in the charts. It is built from one and follows it,
so live, film, comparison and pictures show every view in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from app.charts import scales, words
from app.charts.model import ChartModel
from app.charts.series import Quantity, Series, Values
from app.charts.words import Card
from workbench.analysis.audits import Audit
from workbench.analysis.published import Published
from workbench.analysis.series import PointResult, View
from workbench.axis import Axis
from workbench.documents import Metric

Chosen = float | Literal["whole", "best"]
"""Which points are shown: at this value of the axis; whole: every server's whole block; best: where
each server sustains its rate."""


class ProjectedSeries:
    """One server's line in another look."""

    def __init__(self, of: Series) -> None:
        self.of = of
        self.knee = None
        """No value of this view's axis is a sustained rate."""
        self.faulty = None
        self.disqualified = ""
        self.searched = False
        self.pass_numbers: list[int] = []
        """Single passes have no lines of their own here."""

    def __getattr__(self, name: str) -> Any:
        """Name, style, and what else does not depend on the view."""
        return getattr(self.of, name)

    @property
    def shown(self) -> Sequence[Any]:
        """What can be selected, by ascending x: each has `x` and `value`, as a point has."""
        raise NotImplementedError

    @property
    def version(self) -> int:
        """Grows when a line changes."""
        return self.of.version

    def values(self, quantity: Quantity, view: View) -> Values:
        raise NotImplementedError

    def failed_audits(self, reading: object) -> list[Audit]:
        return []

    def trusts(self, reading: Any) -> bool:
        return bool(reading.trusted)


class Projection:
    """What charts read of a model."""

    charts: tuple[Quantity, ...] = tuple(Quantity)
    """Those that this view has."""
    bars = False
    """Whether every server is a bar."""
    ceiling_per_s: float | None = None
    running = None
    """The running point has no place of its own: its line grows."""
    sweeping = None
    whole = None
    axis: Axis

    def __init__(self, of: ChartModel, chosen: Chosen) -> None:
        self.of, self.chosen = of, chosen
        self._made: dict[str, ProjectedSeries] = {}

    def published_of(self, keys: Iterable[str]) -> list[Published]:
        """Published figures have no place in this view."""
        return []

    def published_at(
        self, keys: Iterable[str], key: str, view: View
    ) -> list[tuple[Published, float, str, float | None]]:
        return []

    def make(self, series: Series) -> ProjectedSeries:
        """Project one server."""
        raise NotImplementedError

    def leave_out(self, hidden: Iterable[str]) -> None:
        """Handle hidden servers, whose lines are not drawn."""

    def point_of(self, series: Series) -> PointResult | None:
        """Return the chosen point of a server, an interrupted one where there is no complete one;
        None: it has none, or all are chosen.
        """
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
    def series(self) -> dict[str, ProjectedSeries]:
        for key, series in self.of.series.items():
            known = self._made.get(key)
            if known is None or known.of is not series:
                self._made[key] = self.make(series)
        return self._made

    def ranked(self) -> list[ProjectedSeries]:
        mine = self.series
        return [mine[series.id] for series in self.of.ranked()]

    @property
    def last_x(self) -> float:
        raise NotImplementedError

    @property
    def version(self) -> int:
        return self.of.version

    @property
    def start(self) -> object:
        return self.of.start

    @property
    def over(self) -> bool:
        return self.of.over

    @property
    def running_server(self) -> str:
        """Whose line grows; empty: none."""
        return ""

    @property
    def metrics(self) -> list[Metric]:
        """Those that the bottom chart can show in place of the errors."""
        return []

    def metric(self, key: str) -> Metric | None:
        return next((metric for metric in self.metrics if metric.key == key), None)

    @property
    def has_timeout(self) -> bool:
        return self.of.has_timeout

    @property
    def timeout_ms(self) -> float:
        return self.of.timeout_ms

    def marks(self, values: Sequence[float]) -> list[str]:
        """Format values of the axis, as below the bottom chart."""
        return words.counts(values)

    def round_values(self, low: float, high: float, most: int) -> list[float]:
        """Return at most `most` + 1 round values of the axis between two."""
        return scales.round_values(low, high, most)

    def legend(self, view: View) -> list[str]:
        """Explain the view to a reader who knows nothing of it."""
        return []

    def place(self, x: float) -> str:
        """Format one value of the axis."""
        return self.axis.at(x)

    @property
    def replies(self) -> str:
        return self.of.replies

    def subtitle(self, view: View) -> str:
        """Which response time is shown."""
        return self.of.subtitle(view)

    @property
    def hint(self) -> str:
        """Return the text where there are no lines at all."""
        return self.of.hint

    def unknown(self, metric: str) -> str:
        """Return the text where there is nothing of one metric."""
        return self.of.unknown(metric)

    def explains(self, quantity: Quantity, view: View) -> tuple[str, ...]:
        """Return explanations of markers."""
        return ()

    def reading(self, server: str, x: float) -> Any:
        """Return what is known of a server there; None: nothing."""
        series = self.series.get(server)
        return next((r for r in series.shown if r.x == x), None) if series else None

    def card(self, series: ProjectedSeries, reading: Any, view: View) -> Card:
        raise NotImplementedError


def nothing() -> Values:
    """Return a line without a point."""
    none, never = np.empty(0), np.empty(0, dtype=bool)
    return Values(none, none, never, never)


def line(x: Sequence[float], y: Sequence[float], trusted: Sequence[bool]) -> Values:
    """Return a line of a view without faulty points."""
    never = np.zeros(len(x), dtype=bool)
    sure = np.array(trusted, dtype=np.bool_)
    return Values(np.array(x, dtype=np.float64), np.array(y, dtype=np.float64), sure, never)
