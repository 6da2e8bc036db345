"""A session over time: every server from its own start. No Qt."""

from __future__ import annotations

from itertools import pairwise
from math import isnan, nan
from typing import get_args

import msgspec

from app.charts import words
from app.charts.model import ChartModel
from app.charts.projection import Chosen, ProjectedSeries, Projection, line
from app.charts.series import Quantity, Series, Values, metric
from app.charts.words import Card
from workbench import formatting
from workbench.analysis.over_time import (
    ERRORS,
    METRICS,
    TIME,
    Doubt,
    OverTime,
    Slice,
    known_metrics,
    without_data,
)
from workbench.analysis.series import View
from workbench.documents import Metric

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
        known = [number for series, number in self.model.collected.blocks if series == self.of.key]
        return self.model.pass_number or max(known, default=1)

    @property
    def version(self) -> int:
        block = self.model.collected.blocks.get((self.of.key, self._pass_number))
        return block.version if block else 0

    @property
    def shown(self) -> list[Slice]:
        model, number = self.model, self._pass_number
        x, step_s = model.x_of(self.of), model.step_s
        key = self.version, number, x, step_s
        if key != self._known:
            self._known = key
            missing = model.chosen != "whole" and x is None
            found = [] if missing else model.collected.slices(self.of.key, number, x, step_s)
            self._slices = sorted(found, key=lambda now: now.x)
        return self._slices

    def values(self, quantity: Quantity, view: View) -> Values:
        key, slices = metric(quantity, view), self.shown
        breaks = {
            (before.x + after.x) / 2
            for before, after in pairwise(slices)
            if without_data(before, after, self.model.step_s)
        }
        points = [(now.x, now.value(key, view), now.trusted) for now in slices]
        points += [(x, nan, False) for x in breaks]
        points.sort(key=lambda point: point[0])
        return line(*([list(each) for each in zip(*points, strict=True)] or ([], [], [])))


class TimeModel(Projection):
    """All servers over time, laid over one another."""

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

    @property
    def collected(self) -> OverTime:
        return self.of.over_time

    def x_of(self, series: Series) -> float | None:
        """Return the value of the axis whose point is shown; None: all of them, or none."""
        if self.chosen == "whole":
            return None
        if not isinstance(self.chosen, str):
            return self.chosen
        point = self.point_of(series)
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
            known = [self.collected] if whole is None else [self.collected, whole.over_time]
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
        known = (*METRICS, ERRORS)
        return next((metric for metric in known if metric.key == key), None)

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
        """Return the slice that a time lies in: those of several servers begin at other times."""
        series = self.series.get(server)
        shown = series.shown if series else []
        return next((now for now in shown if now.from_s <= x < now.to_s), None)

    def subtitle(self, view: View) -> str:
        return f"{self.of.subtitle(view)}, each {self.step_s:g} s"

    def card(self, series: ProjectedSeries, reading: Slice, view: View) -> Card:
        ms, percentile = reading.time_ms(view), words.percentile(view.percentile)
        at = f"after {formatting.figure(round(reading.x, 1))} s, {reading.offered}"
        beside = ((self.metric(key), reading.value(key, view)) for key in _BESIDE)
        known = [
            f"{described.label} {formatting.figure(value, described.unit)}"
            for described, value in beside
            if described and not isnan(value)
        ]
        steady = isnan(ms) or reading.supported(view)
        few = "" if steady else f"Too few samples for a steady {percentile}."
        doubt = _PHASES.get(reading.phase) or _DOUBTS.get(reading.doubt or "")
        sentence = " ".join(filter(None, (doubt, " · ".join(known), few)))
        return words.card(
            series.name,
            at,
            reading.of,
            reading,
            which=percentile,
            ms=ms,
            about="/s",
            sentence=sentence,
        )
