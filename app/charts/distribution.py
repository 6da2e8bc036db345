"""The response times of one point of every server, by percentile. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

from app.charts import scales, words
from app.charts.model import ChartModel
from app.charts.projection import Chosen, ProjectedSeries, Projection, line, nothing
from app.charts.series import Quantity, Series, Values
from app.charts.words import Card, split_ms
from workbench.analysis.distribution import Distribution, Row, percentile_text
from workbench.analysis.series import PointResult, View
from workbench.axis import Axis

_NINES = 9
"""Of the axis' marks; no session has more replies."""


@dataclass(frozen=True)
class Reading:
    """One percentile of a server."""

    row: Row
    of: Distribution
    at: str
    """ "4,700/s"."""

    trusted = True

    @cached_property
    def x(self) -> float:
        """On the axis: 1 / (1 - quantile)."""
        return 1 / (1 - self.row.quantile)

    def value(self, metric: str, view: View) -> float:
        return self.row.us / 1000 if metric == Quantity.TIME.value else nan

    def spread(self, metric: str, view: View) -> None:
        """Passes are merged."""

    def supported(self, view: View) -> bool:
        return self.row.supported


class DistributionSeries(ProjectedSeries):
    def __init__(self, of: Series, model: DistributionModel) -> None:
        super().__init__(of, model)
        self._known: tuple[object, Distribution | None, list[Reading]] = (None, None, [])

    @property
    def point(self) -> PointResult | None:
        """None: it was not measured there."""
        return self.model.point_of(self.of)

    @property
    def complete(self) -> bool:
        """Whether no part of the point was interrupted."""
        return self.point is not None and all(stop.complete for stop in self.point.stops)

    @property
    def distribution(self) -> Distribution | None:
        """None: it was not measured there, or no call was answered."""
        point = self.point
        key = self.model.view.clock, point and tuple(map(id, point.stops))
        if self._known[0] != key:
            found = Distribution.of(point, self.model.view.clock) if point else None
            found = found if found and found.count else None
            at = point.axis.at(point.x) if point else ""
            at += "" if self.complete else ", incomplete"
            readings = [Reading(row, found, at) for row in found.curve()] if found else []
            self._known = key, found, readings
        return self._known[1]

    @property
    def shown(self) -> list[Reading]:
        return self._known[2] if self.distribution else []

    def values(self, quantity: Quantity, view: View) -> Values:
        self.model.view = view
        readings = self.shown if quantity is Quantity.TIME else []
        if not readings:
            return nothing()
        return line(
            [reading.x for reading in readings],
            [reading.value(quantity.value, view) for reading in readings],
            [reading.row.supported and self.complete for reading in readings],
        )


class DistributionModel(Projection):
    """All servers, on a logarithmic axis of percentiles."""

    charts = (Quantity.TIME,)
    line = DistributionSeries
    axis = Axis(
        key="percentile",
        label="Percentile",
        unit="",
        scale="log",
        bounds=[1.0, 10.0**_NINES],
        values=[2.0, *(10.0**n for n in range(1, _NINES))],
    )

    def __init__(self, of: ChartModel, chosen: Chosen = "best") -> None:
        super().__init__(of, chosen)
        self.view = View()
        """As the charts show it; of a distribution only its clock counts."""

    @property
    def last_x(self) -> float:
        counts = (s.distribution.count for s in self.series.values() if s.distribution)
        return float(max(counts, default=1000))

    def marks(self, values: Sequence[float]) -> list[str]:
        texts = [percentile_text(1 - 1 / x) for x in values]
        digits = 2
        while len(set(texts)) < len(set(values)) and digits < _NINES:
            digits += 1
            texts = [f"p{100 * (1 - 1 / x):.{digits}f}" for x in values]
        return texts

    def round_values(self, low: float, high: float, most: int) -> list[float]:
        """Return round percentiles, as the axis has them: 1 / (1 - quantile)."""
        percents = scales.ticks(100 * (1 - 1 / high), most, low=100 * (1 - 1 / low))
        return [100 / (100 - percent) for percent in percents]

    def legend(self, view: View) -> list[str]:
        return [
            f"Response times {self.chosen_text} by percentile, {words.clock(self.view.clock)}.",
            f"Hollow markers and thin lines: fewer than ten {self.replies} were slower.",
        ]

    def place(self, x: float) -> str:
        return f"{percentile_text(1 - 1 / x)}, {self.chosen_text}"

    def explains(self, quantity: Quantity, view: View) -> tuple[str, ...]:
        shown = [s for s in self.series.values() if s.shown]
        cut = any(isinstance(s, DistributionSeries) and not s.complete for s in shown)
        reasons = ["too few samples", "incomplete"] if cut else ["too few samples"]
        return words.hollow(reasons if shown else [])

    def reading(self, server: str, x: float) -> Reading | None:
        """Return a percentile, also between two points of the line."""
        series = self.series.get(server)
        found = series.distribution if series and x >= 1 else None
        if found is None or x > found.count * (1 + 1e-9):
            return None
        [row] = found.table([1 - 1 / x])
        return Reading(row, found, series.shown[0].at)

    def subtitle(self, view: View) -> str:
        return f"{self.chosen_text}, {words.clock(view.clock)}"

    @property
    def hint(self) -> str:
        if any(series.points for series in self.of.series.values()):
            return f"No response times {self.chosen_text}."
        return self.of.hint

    def card(self, series: ProjectedSeries, reading: Reading, view: View) -> Card:
        figure, unit = split_ms(reading.row.us / 1000)
        mean_us = reading.of.mean_us
        mean = split_ms(nan if mean_us is None else mean_us / 1000)
        few = "" if reading.row.supported else " Too few samples beyond this percentile."
        sentence = f"{reading.of.sentence}{few}"
        at, label = f"at {reading.at}", reading.row.label
        return Card(
            at=at,
            figures=(
                (label, figure, unit),
                ("Mean", *mean),
                (self.replies.capitalize(), f"{reading.of.count:,}", ""),
            ),
            causes="",
            sentence=sentence,
            text=f"{series.name} {at}: {label} within {figure} {unit}. {sentence}",
        )
