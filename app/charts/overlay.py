"""Several sessions over one another in the charts: the first in full colour, the others thin and
pale, each with dots of its own in its lines and its letter at their ends; single passes beneath,
and what was printed in 2009."""

from __future__ import annotations

from collections.abc import Iterable

from app.charts.drawing import side_style
from app.charts.model import ChartModel
from app.charts.series import Series
from app.style_places import style_places
from app.theme import SeriesStyle, Theme
from workbench.analysis.over_time import OverTime
from workbench.analysis.published import Published, figures_of
from workbench.results.comparison import Comparison, Contender


class Overlay(ChartModel):
    """The drawn servers of a comparison. A server has one style in all sessions."""

    passes = True
    has_timeout = False

    def __init__(self, comparison: Comparison | None = None) -> None:
        super().__init__()
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
            name, tag, result = contender.name, contender.tag, contender.result
            key, index = contender.key, styles[contender.id]
            called = f"{name} · {tag}" if several else name
            series = self.series[key] = Series(key, called, index, result.axis, result.complete)
            series.ended_at, series.gave_up = result.ended_at, result.told("gave-up")
            series.tasks, series.label = result.tasks, name
            series.tag, series.place = tag if several else "", places.index(tag)
        sides = {side.tag: side.over_time for side in comparison.sides}
        self.over_time = OverTime.joined(self.axis, sides, self.series)
        workloads = (side.plan.get("workload", {}) for side in comparison.sides)
        self.has_timeout = len({each.get("timeout_s", 5.0) for each in workloads}) == 1
        stated = figures_of(first.plan, {contender.id for contender in drawn})
        self.published = [f for f in stated if f.drawn and f.at and f.at <= self.last_x]

    @property
    def hint(self) -> str:
        known = self.start or self.loading
        return super().hint if known else "Servers of the chosen sessions appear here."

    def published_of(self, keys: Iterable[str]) -> list[Published]:
        servers = {key.partition("/")[2] for key in keys}
        return [figure for figure in self.published if servers.intersection(figure.servers)]


def places_in(comparison: Comparison) -> dict[str, int]:
    """Return the index of every server's style, by id; the first session's plan decides."""
    return style_places(c.id for side in comparison.sides for c in side.contenders)


def contender_style(comparison: Comparison, contender: Contender, theme: Theme) -> SeriesStyle:
    style = theme.series(places_in(comparison)[contender.id])
    places = [side.tag for side in comparison.sides]
    return side_style(style, places.index(contender.tag), theme)
