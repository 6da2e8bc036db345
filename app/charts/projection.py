"""Other looks at a session: the same servers in the same styles, with other lines. No Qt.

A projection takes the place of a `ChartModel` in the charts. It is built from one and follows it,
so live, film, comparison and pictures show every view in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import isnan, nan
from typing import Any, Literal, get_args

import msgspec

from app.charts import scales, words
from app.charts.model import ChartModel, Stated
from app.charts.series import Quantity, Series, Values, metric
from app.charts.words import Card, split_ms
from workbench import formatting
from workbench.analysis.distribution import Distribution, Row, percentile_text
from workbench.analysis.over_time import (
    ERRORS,
    METRICS,
    TIME,
    Doubt,
    Slice,
    known_metrics,
    without_data,
)
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
    searched = False

    def __init__(self, of: Series, model: Any) -> None:
        """`model`: its `Projection`."""
        self.of, self.model = of, model

    def __getattr__(self, name: str) -> Any:
        """Name, style, and what else does not depend on the view."""
        return getattr(self.of, name)

    def trusts(self, reading: Any) -> bool:
        return bool(reading.trusted)


class Projection:
    """What charts read of a model; what is not said here does not depend on the view."""

    charts: tuple[Quantity, ...] = tuple(Quantity)
    bars = passes = False
    ceiling_per_s: float | None = None
    running = sweeping = whole = None
    """The running point has no place of its own: its line grows."""
    running_server = ""
    metrics: Sequence[Metric] = ()
    """Those that the bottom chart can show in place of the errors."""
    axis: Axis
    last_x: float
    line: type[ProjectedSeries] = ProjectedSeries
    """What a server becomes."""

    def __init__(self, of: ChartModel, chosen: Chosen) -> None:
        self.of, self.chosen = of, chosen
        self._made: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of, name)

    def published_at(self, keys: Iterable[str], key: str, view: View) -> list[Stated]:
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
            return f"at most {axis.replies} of each"
        each = self.of.series.values()
        unknown = any(s.knee is None and any(p.replies_per_s for p in s.shown) for s in each)
        return "at each sustained rate" + (f" or most {axis.served}" if unknown else "")

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

    def reading(self, server: str, x: float) -> Any:
        series = self.series.get(server)
        return next((r for r in series.shown if r.x == x), None) if series else None


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
        return Values.of(
            [
                (r.x, r.value(quantity.value, view), r.row.supported and self.complete, False)
                for r in readings
            ]
        )


class DistributionModel(Projection):
    """The response times of one point of every server, on a logarithmic axis of percentiles."""

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
        percents = scales.ticks(100 * (1 - 1 / low), 100 * (1 - 1 / high), most)
        return [100 / (100 - percent) for percent in percents]

    def legend(self, view: View) -> list[str]:
        return [
            f"Response times {self.chosen_text} by percentile, {words.CLOCKS[self.view.clock]}.",
            f"Hollow markers and thin lines: fewer than ten {self.of.axis.replies} were slower.",
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
        return f"{self.chosen_text}, {words.CLOCKS[view.clock]}"

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
                (self.of.axis.replies.capitalize(), f"{reading.of.count:,}", ""),
            ),
            causes="",
            sentence=sentence,
            text=f"{series.name} {at}: {label} within {figure} {unit}. {sentence}",
        )


_PHASES = {
    "ramp": "Load is rising: not measured.",
    "drain": "The schedule has ended: not measured.",
}
_DOUBTS = {"incomplete": "The point is incomplete.", "unreliable": "The point is unreliable."}
_BESIDE = ("connections", "cpu", "memory")
"""Metrics that the card has, too."""


class TimeSeries(ProjectedSeries):
    def __init__(self, of: Series, model: TimeModel) -> None:
        super().__init__(of, model)
        self._slices: list[Slice] = []
        self._known: object = None

    @property
    def _pass_number(self) -> int:
        """The chosen pass; else its latest."""
        known = [number for series, number in self.model.over_time.blocks if series == self.of.key]
        return self.model.pass_number or max(known, default=1)

    @property
    def version(self) -> int:
        block = self.model.over_time.blocks.get((self.of.key, self._pass_number))
        return block.version if block else 0

    @property
    def shown(self) -> list[Slice]:
        model, number = self.model, self._pass_number
        x, step_s = model.x_of(self.of), model.step_s
        key = self.version, number, x, step_s
        if key != self._known:
            self._known = key
            missing = model.chosen != "whole" and x is None
            found = [] if missing else model.over_time.slices(self.of.key, number, x, step_s)
            self._slices = sorted(found, key=lambda now: now.x)
        return self._slices

    def values(self, quantity: Quantity, view: View) -> Values:
        key, slices = metric(quantity, view), self.shown
        breaks = {
            (before.x + after.x) / 2
            for before, after in pairwise(slices)
            if without_data(before, after, self.model.step_s)
        }
        points = [(now.x, now.value(key, view), now.trusted, False) for now in slices]
        points += [(x, nan, False, False) for x in breaks]
        return Values.of(sorted(points, key=lambda point: point[0]))


class TimeModel(Projection):
    """All servers over time, laid over one another, every one from its own start."""

    line = TimeSeries

    def __init__(self, of: ChartModel, chosen: Chosen = "whole", pass_number: int = 0) -> None:
        """`pass_number`: 0: the latest of each server."""
        super().__init__(of, chosen)
        several = chosen == "whole" and len(of.axis.values) != 1
        of_what = "each sweep" if several else "each point"
        self.axis = msgspec.structs.replace(TIME, label=f"Time from the start of {of_what}")
        self.pass_number = pass_number
        self._metrics: tuple[int, list[Metric]] = (-1, [])
        self._measured: tuple[int, tuple[float, float]] = (-1, (1.0, 1.0))

    def x_of(self, series: Series) -> float | None:
        """Return the value of the axis whose point is shown; None: all of them, or none."""
        if not isinstance(self.chosen, str):
            return self.chosen
        point = None if self.chosen == "whole" else self.point_of(series)
        return point.x if point else None

    @property
    def step_s(self) -> float:
        return self._lengths()[0]

    @property
    def last_x(self) -> float:
        return self._lengths()[1]

    def _lengths(self) -> tuple[float, float]:
        """Return (of a slice, of the axis) in seconds, found once for each version."""
        if self._measured[0] != self.of.version:
            # Points of one plan are alike. Of a film also what will be: so that axes do not jump.
            xs = (self.x_of(series) for series in self.of.series.values())
            x, whole = next((x for x in xs if x is not None), None), self.of.whole
            known = [self.over_time] if whole is None else [self.over_time, whole.over_time]
            step_s = max(each.step_s(x) for each in known)
            last_s = max(each.span_s(x) for each in known) or 1.0
            self._measured = self.of.version, (step_s, last_s)
        return self._measured[1]

    @property
    def running_server(self) -> str:
        sweeping = self.of.sweeping
        shown = sweeping and self.chosen in ("whole", sweeping.x)
        return self.of.running_server if shown else ""

    @property
    def metrics(self) -> list[Metric]:
        if self._metrics[0] != self.of.version:
            each = (now for series in self.series.values() for now in series.shown)
            self._metrics = self.of.version, known_metrics(each)
        return self._metrics[1]

    def metric(self, key: str) -> Metric | None:
        return next((metric for metric in (*METRICS, ERRORS) if metric.key == key), None)

    @property
    def hint(self) -> str:
        return "Nothing was recorded over time." if self.over and self.of.start else self.of.hint

    def explains(self, quantity: Quantity, view: View) -> tuple[str, ...]:
        if quantity is not Quantity.REPLIES:
            return ()
        found = {now.doubt for series in self.series.values() for now in series.shown}
        return words.hollow(doubt for doubt in get_args(Doubt) if doubt in found)

    def legend(self, view: View) -> list[str]:
        shown = "the whole sweep" if self.chosen == "whole" else f"the points {self.chosen_text}"
        return [
            f"Over time: {shown}, each server from its own start, in intervals of"
            f" {self.step_s:g} s.",
            "Response times are those of each interval. Errors are a share of the calls completed "
            "in it.",
        ]

    def place(self, x: float) -> str:
        return f"After {formatting.figure(round(x, 1))} s"

    def reading(self, server: str, x: float) -> Slice | None:
        """Return the slice of a time: those of several servers begin at other times."""
        series = self.series.get(server)
        shown = series.shown if series else []
        return next((now for now in shown if now.from_s <= x < now.to_s), None)

    def subtitle(self, view: View) -> str:
        return f"{self.of.subtitle(view)}, each {self.step_s:g} s"

    def card(self, series: ProjectedSeries, reading: Slice, view: View) -> Card:
        at = f"after {formatting.figure(round(reading.x, 1))} s, {reading.offered}"
        beside = ((self.metric(key), reading.value(key, view)) for key in _BESIDE)
        known = [
            f"{described.label} {formatting.figure(value, described.unit)}"
            for described, value in beside
            if described and not isnan(value)
        ]
        steady = isnan(reading.time_ms(view)) or reading.supported(view)
        few = "" if steady else f"Too few samples for a steady {words.percentile(view.percentile)}."
        doubt = _PHASES.get(reading.phase) or _DOUBTS.get(reading.doubt or "")
        sentence = " ".join(filter(None, (doubt, " · ".join(known), few)))
        return words.card(series, reading, view, at, sentence)
