"""The complete data of a session that is known before it is drawn, as in a film. No Qt."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from app.charts.model import ChartModel
from app.charts.series import Floats, Quantity
from workbench.analysis.results import View, window_ms
from workbench.documents import AnyDocument, PointStart, Window


class Whole:
    """All values that a film will show; axes fitted to them stay fixed."""

    def __init__(self, documents: Iterable[AnyDocument]) -> None:
        self._model = ChartModel()
        self._windows: list[Window] = []
        in_sweep = False
        for document in documents:
            self._model(document)
            if isinstance(document, PointStart):
                in_sweep = document.judged
            elif isinstance(document, Window) and in_sweep:
                self._windows.append(document)
        self._values: dict[tuple[Quantity, View], Floats] = {}

    @property
    def last_x(self) -> float:
        """Where the x axis ends."""
        return self._model.last_x

    def values(self, quantity: Quantity, view: View) -> Floats:
        """Values of every point, and the response times during each, which the running point shows.
        Without NaN, in no order.
        """
        key = quantity, view
        if key not in self._values:
            each = [s.values(quantity, view).y for s in self._model.series.values()]
            if quantity is Quantity.TIME:
                each.append(np.array([window_ms(window, view) for window in self._windows]))
            found = np.concatenate([np.empty(0), *each])
            self._values[key] = found[~np.isnan(found)]
        return self._values[key]
