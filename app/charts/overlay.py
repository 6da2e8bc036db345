"""Several sessions over one another in the trio: the first in full colour, the others thin and
pale, each with dots of its own in its lines and its letter at their ends; single passes beneath,
and what was printed in 2009."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter

from app.charts.chart import Chart
from app.charts.model import ChartModel
from app.charts.series import Floats, Quantity, Series, Span, Values, within
from app.charts.session_tags import side_style
from app.charts.strokes import stroke
from app.charts.trio import Trio
from app.colour import mix
from app.style_places import style_places
from app.theme import SeriesStyle, Theme
from workbench.analysis.over_time import OverTime
from workbench.analysis.published import Published, figures_of
from workbench.analysis.series import View
from workbench.results.comparison import Comparison, Contender

_PASS = 0.30
"""Opacity of a single pass."""


class OverlaidSeries(Series):
    """A server of one session."""

    def __init__(
        self, contender: Contender, name: str, index: int, *, tag: str = "", place: int = 0
    ) -> None:
        """`place`: the index of its session in the comparison."""
        result = contender.result
        super().__init__(
            contender.key,
            name,
            index,
            axis=result.axis,
            stops=result.complete,
            gave_up=result.gave_up,
        )
        self.ended_at, self.tasks = result.ended_at, result.tasks
        self.label = contender.name
        """The name without its session's letter."""
        self.tag = tag
        self.place = place
        self._passes: dict[tuple[int, Quantity, View], Values] = {}

    def pass_values(self, number: int, quantity: Quantity, view: View) -> Values:
        """The values of one pass, cached: an overlaid series never changes."""
        key = number, quantity, view
        if key not in self._passes:
            self._passes[key] = super().pass_values(number, quantity, view)
        return self._passes[key]


class Overlay(ChartModel):
    """The drawn servers of a comparison. A server has one style in all sessions."""

    def __init__(self, comparison: Comparison | None = None) -> None:
        super().__init__()
        self.tags: tuple[str, ...] = ()
        self._one_timeout = False
        if comparison is not None and comparison.sides:
            self._take(comparison)
            self.end()

    def _take(self, comparison: Comparison) -> None:
        first = comparison.sides[0]
        drawn = comparison.comparable()
        self.start = first.start
        self.ceiling_per_s = first.summary.ceiling_per_s
        self.tags = tuple(dict.fromkeys(contender.tag for contender in drawn))
        styles = places_in(comparison)
        self.axis = comparison.axis
        last = [x for c in drawn for x in (*comparison.side(c).axis.ends, *c.xs)]
        self.last_x = max(last, default=self.last_x)
        several = len(comparison.sides) > 1
        places = [side.tag for side in comparison.sides]
        for contender in drawn:
            self.series[contender.key] = OverlaidSeries(
                contender,
                f"{contender.name} · {contender.tag}" if several else contender.name,
                styles[contender.id],
                tag=contender.tag if several else "",
                place=places.index(contender.tag),
            )
        sides = {side.tag: side.over_time for side in comparison.sides}
        self.over_time = OverTime.joined(self.axis, sides, self.series)
        workloads = (side.plan.get("workload", {}) for side in comparison.sides)
        self._one_timeout = len({each.get("timeout_s", 5.0) for each in workloads}) == 1
        stated = figures_of(first.plan, {contender.id for contender in drawn})
        self.published = [f for f in stated if f.drawn and f.at and f.at <= self.last_x]

    @property
    def has_timeout(self) -> bool:
        return self._one_timeout

    @property
    def hint(self) -> str:
        known = self.start or self.loading
        return super().hint if known else "Servers of the chosen sessions appear here."

    def published_of(self, keys: Iterable[str]) -> list[Published]:
        """Return the published figures of these contenders."""
        servers = {key.partition("/")[2] for key in keys}
        return [figure for figure in self.published if servers.intersection(figure.servers)]


def places_in(comparison: Comparison) -> dict[str, int]:
    """Return the index of every server's style, by id; the first session's plan decides."""
    return style_places(c.id for side in comparison.sides for c in side.contenders)


def contender_style(comparison: Comparison, contender: Contender, theme: Theme) -> SeriesStyle:
    """Return the style of a contender's lines."""
    style = theme.series(places_in(comparison)[contender.id])
    places = [side.tag for side in comparison.sides]
    return side_style(style, places.index(contender.tag), theme)


class OverlayTrio(Trio):
    """Draws an `Overlay`."""

    def show_only(self, keys: Iterable[str]) -> None:
        """Show these contenders only, in one step and without a signal."""
        self._hidden = set(self.model.series) - set(keys)
        self._hide()
        self._widen_gutter()

    def set_shown(self, server: str, shown: bool) -> None:
        super().set_shown(server, shown)
        self._widen_gutter()

    def _needed_gutter(self) -> float:
        """Return the gutter for the visible names; of several sessions many may be hidden."""
        whole = self._names, self._named
        shown = [series for series in self.model.series.values() if self.is_shown(series.id)]
        counts = Counter(series.label for series in shown)
        # A letter of a session is as wide as these.
        self._names = tuple(label + " W" * counts[label] for label in counts)
        self._named = len(self._names)
        try:
            return super()._needed_gutter()
        finally:
            self._names, self._named = whole


class OverlayChart(Chart):
    """One quantity of an `Overlay`."""

    ideal_at = 0.5
    """Published figures have their text further up."""

    def known(self, span: Span | None = None) -> Floats:
        """Return the values to fit the axes to, single passes included."""
        lines = (
            series.pass_values(number, self.quantity, self.view_shown)
            for series in self.model.series.values()
            if span is None or series.id not in self.hidden
            for number in (series.pass_numbers if len(series.pass_numbers) > 1 else ())
        )
        passes = (line.y if span is None else within(line.x, line.y, span) for line in lines)
        values = np.concatenate([super().known(span), *passes])
        return values[~np.isnan(values)]

    def _paint_still(self, painter: QPainter) -> None:
        if not self.model.bars:
            self._paint_passes(painter)
        super()._paint_still(painter)

    def _paint_passes(self, painter: QPainter) -> None:
        painter.save()
        painter.setClipRect(self.clip_rect(), Qt.ClipOperation.IntersectClip)
        for curve in self.still():
            series = curve.series
            if len(series.pass_numbers) < 2 or series.place:
                continue
            pen = curve.style.pen(max(1.0, self.sizes.px(1)))
            pen.setColor(QColor(mix(self.theme.card, curve.style.colour, _PASS)))
            for number in series.pass_numbers:
                values = series.pass_values(number, self.quantity, self.view_shown)
                stroke(painter, self.stretches(values), pen)
        painter.restore()


OverlayTrio.CHART = OverlayChart
