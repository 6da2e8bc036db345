"""Every server as a bar beside published figures: charts of sessions with one value. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

from app.charts import words
from app.charts.model import ChartModel, Stated
from app.charts.projection import Chosen, ProjectedSeries, Projection
from app.charts.series import Quantity, Series, Values, metric
from app.charts.words import Card
from workbench.analysis.published import Published
from workbench.analysis.series import PointResult, View
from workbench.axis import Axis
from workbench.documents import Metric
from workbench.metrics import PEAK_MEMORY

_PEAK = PEAK_MEMORY.record.key


@dataclass(frozen=True)
class Bar:
    """One server's point at its place among the servers."""

    x: float
    of: PointResult
    model: BarsModel

    @property
    def trusted(self) -> bool:
        return self.of.trusted

    def value(self, key: str, view: View) -> float:
        return self.of.value(key, self.model.seen(view))

    def spread(self, key: str, view: View) -> tuple[float, float] | None:
        return self.of.spread(key, self.model.seen(view))


class BarSeries(ProjectedSeries):
    @property
    def x(self) -> float:
        """The middle of its place; of a hidden one, outside."""
        order = self.model.order
        return order.index(self.of.id) + 0.5 if self.of.id in order else -1.0

    @property
    def shown(self) -> list[Bar]:
        point = self.model.point_of(self.of)
        return [] if point is None else [Bar(self.x, point, self.model)]

    @property
    def version(self) -> Any:
        running = self.model.running_of(self.of)
        return self.of.version, self.x, running and len(running.windows)

    def values(self, quantity: Quantity, view: View) -> Values:
        """Return one value: while its point runs, the one so far, which is not trusted."""
        key, running = metric(quantity, view), self.model.running_of(self.of)
        if running is not None:
            return Values.of([(self.x, running.value(key, self.model.seen(view)), False, False)])
        for bar in self.shown:
            value, trusted = bar.value(key, view), self.of.trusts(bar.of)
            if key == _PEAK and self.model.chosen == "best":  # of all its points
                peaks = [each.value(key) for each in self.of.shown]
                value = max((peak for peak in peaks if not isnan(peak)), default=nan)
            return Values.of([(bar.x, value, trusted, False)])
        return Values.of([])


class BarsModel(Projection):
    """Every server as a bar: what it reached at one value of the axis, or what it sustains, beside
    what was published of it. The three charts share an axis of servers, best first.
    """

    bars = True
    line = BarSeries

    def __init__(self, of: ChartModel, chosen: Chosen = "best") -> None:
        super().__init__(of, chosen)
        self._order: tuple[object, list[str]] = (None, [])
        self._hidden: frozenset[str] = frozenset()
        self._changes = 0

    @property
    def order(self) -> list[str]:
        """Return the servers from the left: best first; a server's sessions side by side."""
        ranked = [series for series in self.of.ranked() if series.id not in self._hidden]
        known = [series.id for series in ranked]
        if known != self._order[0]:
            names = list(dict.fromkeys(_server(series) for series in ranked))
            ranked.sort(key=lambda series: (names.index(_server(series)), series.tag))
            self._order = known, [series.id for series in ranked]
        return self._order[1]

    def leave_out(self, hidden: Iterable[str]) -> None:
        self._hidden, self._changes = frozenset(hidden), self._changes + 1

    @property
    def version(self) -> int:
        return self.of.version + self._changes

    @property
    def axis(self) -> Axis:
        values = [n + 0.5 for n in range(len(self.order))]
        return Axis(key="server", label=f"Servers, {self.chosen_text}", unit="", values=values)

    @property
    def last_x(self) -> float:
        return float(max(1, len(self.order)))

    def running_of(self, series: Series) -> Any:
        running = self.of.running
        mine = running is not None and running.start.judged and running.server == series.id
        return running if mine and self.point_of(series) is None else None

    def seen(self, view: View) -> View:
        """Return which response time the bars show: the mean, where that was published."""
        means = any(figure.mean_ms is not None for figure in self.of.published)
        return replace(view, percentile="mean") if means else view

    @property
    def metrics(self) -> list[Metric]:
        return self.of.metrics

    def marks(self, values: Sequence[float]) -> list[str]:
        places = (min(max(int(x), 0), len(self.order) - 1) for x in values)
        return [self.of.series[self.order[place]].name for place in places]

    def round_values(self, low: float, high: float, most: int) -> list[float]:
        return [x for x in self.axis.values if low <= x <= high]

    def server_at(self, x: float) -> str:
        return self.order[int(x)] if 0 <= x < len(self.order) else ""

    def published_at(self, keys: Iterable[str], key: str, view: View) -> list[Stated]:
        """As a model's; a figure stands at every server that it may be compared with."""
        found = []
        for id_ in keys:
            series = self.of.series[id_]
            for figure in self.of.published_of([id_]):
                point = self.point_of(series)
                there = point is None or figure.at in (None, point.x)
                stated = words.stated(figure, key, self.seen(view))
                if stated is not None and (there or key == Quantity.REPLIES.value):
                    found.append((figure, self.series[id_].x, *stated))
        return found

    def place(self, x: float) -> str:
        return "".join(self.marks([x]))

    def subtitle(self, view: View) -> str:
        return self.of.subtitle(self.seen(view))

    def legend(self, view: View) -> list[str]:
        lines = [
            f"A bar for each server, {self.chosen_text}, best first. Pale bars are not trusted."
        ]
        if self.of.published:
            lines.append("Lines across a bar: what was published; ↑: it lies above the axis.")
        return lines

    def explains(self, quantity: Quantity, view: View) -> tuple[str, ...]:
        pale = any(not self.of.series[s.id].trusts(b.of) for s in self.ranked() for b in s.shown)
        return ("pale: unreliable",) if pale else ()

    def card(self, series: ProjectedSeries, reading: Bar, view: View) -> Card:
        return self.of.card(series.of, reading.of, self.seen(view))


def stated(figure: Published, kind: str) -> tuple[str, str]:
    """Return what is written at a bar of a published figure: with the year of its source, and
    shorter: ("2009: 7,400/s", "7,400/s").
    """
    dated = figure.label(kind).removeprefix(f"{figure.name}, published ").replace("mean ", "")
    return dated, figure.figures[kind].removeprefix("mean ")


def _server(series: Series) -> str:
    """Return what the bars of one server have in common."""
    return series.label if series.tag else series.id
