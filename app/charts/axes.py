"""The limits of a chart's axes: as tight as the data allow, and stable while data arrive."""

from __future__ import annotations

from math import log10

import numpy as np
from numpy.typing import NDArray

from app.charts import scales
from app.charts.plot import Limits, Plot
from app.charts.series import Quantity

_BEFORE_FIRST = 0.04
"""Left of the first value on a logarithmic x axis; a linear one starts at 0."""


class Axes:
    """The limits of one chart."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart
        self._fitted = False
        """The limits fit what is shown and change as little as possible."""

    def forget(self) -> None:
        """Start again, for other data."""
        self._fitted = False

    def fit(self) -> Limits:
        """Return the limits for the data known now."""
        chart, model = self._chart, self._chart.model
        last = max(model.last_x, model.whole.last_x if model.whole else 0.0)
        if chart.quantity is Quantity.REPLIES:
            low, high = 0.0, last if model.axis.calibrated else self._highest()
        elif chart.metric == Quantity.ERRORS.value:
            low, high = -2.0, 102.0
        elif chart.log:
            low, high = (log10(limit) for limit in self._log_limits())
        else:
            low, high = 0.0, self._highest()
        if self._fitted and chart.quantity is Quantity.TIME:
            low, high = min(low, chart.limits[2]), max(high, chart.limits[3])
        self._fitted = model.start is not None
        return *self._across(last), low, high

    def _across(self, last: float) -> tuple[float, float]:
        axis = self._chart.model.axis
        if axis.scale != "log":
            return 0.0, last
        high = log10(max(last, 1e-9))
        low = log10(min((x for x in axis.ends if x > 0), default=last / 1000))
        return (low - _BEFORE_FIRST * (high - low) if low < high else high - 1.0), high

    def _spanned(self) -> NDArray[np.float64]:
        """The values that the axis is fitted to: known and expected ones."""
        chart, whole = self._chart, self._chart.model.whole
        if whole is None:
            return chart.known()
        return np.concatenate((chart.known(), whole.values(chart.quantity, chart.view_shown)))

    def _highest(self) -> float:
        known = self._spanned()
        return scales.end(max(known.max(initial=0.0) * 1.05, 1e-3)) if len(known) else 1.0

    def _log_limits(self) -> tuple[float, float]:
        """Return limits fitted to a complete session; while running, wide enough that the axis
        stays stable.
        """
        model, known = self._chart.model, self._spanned()
        low, high = 0.1, scales.round_up(max(1000.0, model.timeout_ms))
        if len(known):
            least, most = scales.round_down(known.min() * 0.9), scales.round_up(known.max() * 0.995)
            ended = model.over or model.whole is not None
            low, high = (least, most) if ended else (min(low, least), max(high, most))
        high = max(high, low * 10)
        # There is room above the timeout for its label.
        return low, high * ((high / low) ** 0.05 if high >= model.timeout_ms else 1.12)
