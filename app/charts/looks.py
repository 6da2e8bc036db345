"""Which view of a session is shown, and of which points. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from app.charts.distribution import DistributionModel
from app.charts.model import ChartModel
from app.charts.over_time import TimeModel
from app.charts.projection import Chosen, Projection
from workbench.axis import Axis

SWEEP, TIME, DISTRIBUTION = "sweep", "time", "distribution"
VIEWS = (SWEEP, TIME, DISTRIBUTION)


def first_view(axis: Axis) -> str:
    """Return the view to begin with: a single value of the axis says more over time."""
    return TIME if len(axis.values) == 1 and not axis.bounds else SWEEP


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
        """Which points are shown."""
        default: Chosen = "whole" if self.view == TIME else "best"
        return default if self.chosen is None else self.chosen

    def of(self, model: ChartModel) -> Projection | None:
        """Project a model; None: it is drawn over its own axis."""
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
