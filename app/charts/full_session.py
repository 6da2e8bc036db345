"""The complete data of a session that is known before it is drawn, as in a film. No Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.charts.series import Floats, Quantity, Series
from workbench.analysis.results import View, window_ms
from workbench.documents import Window


class Whole:
    """All values that a film will show; axes fitted to them stay fixed."""

    def __init__(self, series: Sequence[Series], windows: Sequence[Window], last_x: float) -> None:
        """`windows`: of the points in `series`."""
        self._series, self._windows = series, windows
        self.last_x = last_x
        """Where the x axis ends."""
        self._values: dict[tuple[Quantity, View], Floats] = {}

    def values(self, quantity: Quantity, view: View) -> Floats:
        """Values of every point, and the response times during each, which the running point shows.
        Without NaN, in no order.
        """
        key = quantity, view
        if key not in self._values:
            each = [s.values(quantity, view).y for s in self._series]
            if quantity is Quantity.TIME:
                each.append(np.array([window_ms(window, view) for window in self._windows]))
            found = np.concatenate([np.empty(0), *each])
            self._values[key] = found[~np.isnan(found)]
        return self._values[key]
