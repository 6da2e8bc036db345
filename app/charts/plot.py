"""What every part of a chart reads: what is shown, its look, its pixels. Paints nothing."""

from __future__ import annotations

from math import isnan, log10, nan

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame

from app.charts import words
from app.charts.backend import pg
from app.charts.curve import Curve
from app.charts.model import ChartModel
from app.charts.series import Floats, Quantity, metric
from app.charts.sizes import Sizes
from app.theme import Theme
from workbench.analysis.results import PointResult, View

Limits = tuple[float, float, float, float]
"""Lowest and highest x; lowest and highest value as drawn (logarithms on a log scale)."""


class Plot(pg.PlotWidget):
    """One quantity of a model, its state and its geometry."""

    ideal_at = 0.8
    """The middle of the ideal line's text, as a share of the line."""

    def __init__(
        self,
        model: ChartModel,
        quantity: Quantity,
        theme: Theme,
        sizes: Sizes | None = None,
        *,
        lowest: bool = False,
    ) -> None:
        super().__init__(enableMenu=False)
        self.model, self.quantity = model, quantity
        self.view_shown = View()
        self.log = quantity is Quantity.TIME
        self.hidden: set[str] = set()
        self.highlighted = ""
        self.cursor_rate = nan
        """The rate under the dashed cursor; NaN: no cursor."""
        self.paused = False
        self.breathes = True
        """False for users who want less motion."""
        self.theme, self.sizes, self.lowest = theme, sizes or Sizes(), lowest
        self.curves: dict[str, Curve] = {}
        self.limits: Limits = (0, 1, 0, 1)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setViewportUpdateMode(self.ViewportUpdateMode.FullViewportUpdate)
        self.setCacheMode(self.CacheModeFlag.CacheNone)
        item = self.getPlotItem()
        for axis in ("left", "bottom"):
            item.hideAxis(axis)
        item.hideButtons()
        item.disableAutoRange()
        item.getViewBox().setMouseEnabled(False, False)
        item.getViewBox().setDefaultPadding(0)

    # What is shown

    def known(self) -> NDArray[np.float64]:
        values = [curve.values.y for curve in self.curves.values()]
        known = np.concatenate(values) if values else np.empty(0)
        return known[~np.isnan(known)]

    def still(self) -> list[Curve]:
        """Return the curves in painting order. A line that leaves the common one first lies above
        the others, so that every stretch of y = x has the colour of the next server to leave it.
        """
        running = self.model.running_server
        still = [
            curve
            for id_, curve in self.curves.items()
            if id_ != running and id_ not in self.hidden and len(curve.values.x)
        ]
        return sorted(still, key=lambda curve: -(curve.series.knee or 0.0))

    def reading(self, server: str, rate: float) -> PointResult | None:
        """Return the point of a server at exactly this rate."""
        series = self.model.series.get(server)
        readings = series.shown if series else ()
        return next((r for r in readings if r.x == rate), None)

    @property
    def metric(self) -> str:
        """Return the key of the metric that is shown."""
        return metric(self.quantity, self.view_shown)

    @property
    def has_ideal(self) -> bool:
        """Whether the line y = x has a meaning here."""
        return self.quantity is Quantity.REPLIES and self.model.axis.calibrated

    @property
    def ceiling(self) -> float | None:
        """Return the client limit, if it lies within the chart."""
        ceiling = self.model.ceiling_per_s
        inside = ceiling is not None and ceiling < self.limits[1] and self.model.axis.calibrated
        return ceiling if inside else None

    def title_text(self) -> tuple[str, str]:
        """("Response time", "p99, from scheduled time, log scale")."""
        if self.quantity is Quantity.REPLIES:
            return "Successful replies", "per second"
        if other := self.model.metric(self.metric):
            return other.label, other.unit
        if self.quantity is Quantity.ERRORS:
            return "Errors", "% of attempts"
        shown = self.view_shown
        unit = f"{words.percentile(shown.percentile)}, {words.clock(shown.clock)}"
        return "Response time", f"{unit}, log scale" if self.log else unit

    # Geometry, all in the scene's pixels (the widget's own)

    def plot_rect(self) -> QRectF:
        """Return the rectangle of the plot between the axes."""
        return self.getPlotItem().getViewBox().sceneBoundingRect()

    def at(self, x: float, value: float) -> QPointF:
        """Return the pixel of a position on the axis and a value in the chart's unit."""
        y = log10(max(value, 1e-9)) if self.log else value
        across = self.limits[0] if x <= 0 else float(self.across(np.float64(x)))
        return self.getPlotItem().getViewBox().mapViewToScene(QPointF(across, y))

    def across(self, x: Floats) -> Floats:
        """Return values as drawn: logarithms where the axis is logarithmic."""
        return np.log10(x) if self.model.axis.scale == "log" else x

    def running_at(self) -> QPointF | None:
        """Return the pixel of the running point so far; None: it cannot be shown yet."""
        running = self.model.running
        if running is None or running.server not in self.curves or running.server in self.hidden:
            return None
        if running.start.purpose == "warm_up" and not self.model.axis.per_second:
            return None  # its rate has no place on this axis
        value = running.value(self.metric, self.view_shown)
        return None if isnan(value) else self.at(running.x, value)

    def clip_rect(self) -> QRectF:
        """Return the plot with room for the markers on its edges."""
        more = self.sizes.px(7)
        return self.plot_rect().adjusted(-more, -more, more, more)
