"""Which view of a session is shown, of which points; which part, on which scales. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from app.charts.bars import BarsModel
from app.charts.model import ChartModel
from app.charts.projection import Chosen, DistributionModel, Projection, TimeModel
from app.charts.series import Span
from workbench.axis import Axis

SWEEP, BARS, TIME, DISTRIBUTION = "sweep", "servers", "time", "distribution"
VIEWS = (SWEEP, BARS, TIME, DISTRIBUTION)


def first_view(axis: Axis) -> str:
    """Return the view to begin with: at a single value of the axis, every server is a bar."""
    return BARS if len(axis.values) == 1 and not axis.bounds else SWEEP


@dataclass(frozen=True)
class Look:
    """A view, its points and its pass."""

    view: str = SWEEP
    chosen: Chosen | None = None
    """None: the whole sweep over time, the sustained rate of each in a distribution."""
    pass_number: int = 0
    """Over time; 0: the latest."""

    @property
    def points(self) -> Chosen:
        default: Chosen = "whole" if self.view == TIME else "best"
        return default if self.chosen is None else self.chosen

    @property
    def table(self) -> Literal["sweep", "time", "distribution"]:
        """Which figures a table of the same has: of bars those of the sweep."""
        return self.view if self.view in (TIME, DISTRIBUTION) else SWEEP

    def of(self, model: ChartModel) -> Projection | None:
        """Project a model; None: it is drawn over its own axis."""
        if self.view == BARS:
            return BarsModel(model, self.points)
        if self.view == TIME:
            return TimeModel(model, self.points, self.pass_number)
        return DistributionModel(model, self.points) if self.view == DISTRIBUTION else None

    def arguments(self) -> list[str]:
        """Return the arguments of `pongbench report` that show the same."""
        if self.view == SWEEP:
            return []
        at = [f"--at={self.chosen}"] if self.chosen not in (None, "whole") else []
        number = [f"--pass={self.pass_number}"] if self.pass_number else []
        return [f"--view={self.view}", *at, *number]


ACROSS = "x"
"""The key of the axis that all charts share; the others have their metric's."""


@dataclass(frozen=True)
class Showing:
    """The same for all linked charts. An axis without an entry shows all, on its own scale."""

    zoom: Mapping[str, Span] = field(default_factory=dict)
    log: Mapping[str, bool] = field(default_factory=dict)
    """Whether an axis is logarithmic."""
    band: bool = False
    """A second percentile is shown beside the chosen one."""
    offset: bool = False
    """Lines over the line y = x are drawn beside one another."""
    published: bool = True
    """What was published of the servers is marked."""

    def zoomed(self, zoom: Mapping[str, Span]) -> Showing:
        return replace(self, zoom=dict(zoom))

    def elsewhere(self, log: bool | None) -> Showing:
        """Return it for other values of x: without a zoom, on this scale; None: on their own."""
        others = {key: on for key, on in self.log.items() if key != ACROSS}
        return replace(self, zoom={}, log=others if log is None else {**others, ACROSS: log})
