"""The complete data of a session that is known before it is drawn, as in a film. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from app.charts.series import Floats, Quantity, Series, Values, within
from app.charts.showing import Span
from workbench.analysis.over_time import OverTime
from workbench.analysis.results import View, window_ms
from workbench.documents import Window


class Whole:
    """All values that a film will show; axes fitted to them stay fixed."""

    def __init__(
        self,
        series: Sequence[Series],
        windows: Sequence[tuple[float, Window]],
        last_x: float,
        over_time: OverTime | None = None,
    ) -> None:
        """`windows`: of the points in `series`, each after the x of its point."""
        self._series, self._windows = series, windows
        self.last_x = last_x
        """Where the x axis ends."""
        self.over_time = over_time or OverTime()
        self._values: dict[tuple[Quantity, View], tuple[list[Values], tuple[Floats, Floats]]] = {}

    def values(self, quantity: Quantity, view: View, span: Span | None = None) -> Floats:
        """Values of every point, and the response times during each, which the running point shows;
        `span`: only between two x. Without NaN, in no order.
        """
        key = quantity, view
        if key not in self._values:
            lines = [series.values(quantity, view) for series in self._series]
            self._values[key] = lines, self._times(quantity, view)
        lines, (x, times) = self._values[key]
        low, high = span or (-inf, inf)
        each = [within(line.x, line.y, span) if span else line.y for line in lines]
        found = np.concatenate([times[(x >= low) & (x <= high)], *each])
        return found[~np.isnan(found)]

    def _times(self, quantity: Quantity, view: View) -> tuple[Floats, Floats]:
        """Return the response times of the windows, after the x of their points."""
        windows = self._windows if quantity is Quantity.TIME else []
        x = np.array([x for x, _ in windows], dtype=np.float64)
        return x, np.array([window_ms(window, view) for _, window in windows], dtype=np.float64)
