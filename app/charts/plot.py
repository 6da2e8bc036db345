"""A plot of pyqtgraph with its items, and what every part of a chart reads: what is shown, where,
and how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan, log, nan
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmapCache
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsSceneWheelEvent

from app.charts import words
from app.charts.curve import Curve
from app.charts.drawing import Polyline, Segments, clipped, draw_segments
from app.charts.model import ChartModel, Stated
from app.charts.series import Floats, Quantity, Span, metric, within
from app.charts.sizes import Sizes
from app.charts.view_state import ACROSS, Showing
from app.painted import guarded
from app.theme import Theme, with_opacity
from workbench import formatting
from workbench.analysis.series import Percentile, View
from workbench.sessions.chart_notes import ChartNote

# Moves of the mouse are not dropped: the card and a drag follow it.
pg.setConfigOptions(mouseRateLimit=-1)

_WHEEL_STEP, _NOTCH = 0.82, 120.0
"""What one notch of the wheel leaves, and its size."""
_PAN = 0.1
"""By which share of the part shown a notch sideways pans."""
_KEPT_KB = 1 << 17
"""Qt's memory for pictures: of the still lines of three charts on a large screen."""


class Drawing(pg.GraphicsObject):
    """Draws in the pixels of the scene, so that pens and symbols do not depend on the zoom, and are
    the same in files.
    """

    def __init__(self, box: ZoomBox, z: float, paint: Callable[[QPainter], None]) -> None:
        super().__init__(box)
        self._box, self._paint = box, paint
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self.setZValue(z)
        box.sigResized.connect(lambda *_: self.prepareGeometryChange())

    def boundingRect(self) -> QRectF:
        return self._box.room()

    def keep(self, kept: bool) -> None:
        """Keep it as a picture on the screen until it changes."""
        QPixmapCache.setCacheLimit(_KEPT_KB)  # which Qt ignores before there is an application
        mode = self.CacheMode.DeviceCoordinateCache if kept else self.CacheMode.NoCache
        if mode != self.cacheMode():
            self.setCacheMode(mode)

    def viewRangeChanged(self, *_: object) -> None:
        self.update()

    @guarded
    def paint(self, painter: QPainter, *_: object) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self.scenePos())
        self._paint(painter)


class ZoomBox(pg.ViewBox):
    """The view of a chart: the wheel zooms what all charts share, and over the axis of the values
    these; what a drag does is decided by whoever handles `dragged`.
    """

    dragged = Signal(object)

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0)
        self.rim = 0.0
        """Pixels around it, for halos and markers on its edges."""
        self.disableAutoRange()
        self.state["wheelScaleFactor"] = log(_WHEEL_STEP) / log(1.02) / _NOTCH
        # pyqtgraph would move its items while it paints, and so paint all of them twice.
        self.sigRangeChanged.connect(lambda *_: self.updateMatrix())

    def room(self) -> QRectF:
        """Return where its items may be seen, in its own pixels."""
        return self.rect().adjusted(-self.rim, -self.rim, self.rim, self.rim)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.room())
        return path

    def wheelEvent(self, event: QGraphicsSceneWheelEvent, axis: int | None = None) -> None:
        if event.orientation() is Qt.Orientation.Horizontal:
            low, high = self.viewRange()[0]
            self.translateBy(x=event.delta() / _NOTCH * _PAN * (low - high))
            self.sigRangeChangedManually.emit([True, False])
        else:
            beside = 1 if event.pos().x() < 0 else 0
            super().wheelEvent(event, axis=beside if axis is None else axis)
        event.accept()

    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        event.accept()
        self.dragged.emit(event)

    def pan(self, event: Any, *, across: bool, up: bool) -> None:
        """Move the part that is shown, by an event of a drag."""
        self.setMouseEnabled(x=across, y=up)
        super().mouseDragEvent(event)
        self.setMouseEnabled(x=True, y=True)


def _in_scene(painter: QPainter, item: pg.GraphicsObject) -> None:
    """Let a painter of an item draw in the pixels of the scene."""
    painter.setWorldTransform(item.sceneTransform().inverted()[0] * painter.worldTransform())


class Rule(pg.InfiniteLine):
    """A straight line through a plot."""

    def paint(self, painter: QPainter, *_: object) -> None:
        part = self.viewRect()
        ends = [self.mapToScene(QPointF(x, 0)) for x in (part.left(), part.right())]
        _in_scene(painter, self)
        # Qt needs two milliseconds for an antialiased dashed line.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(self.pen)
        painter.drawLine(*(QPointF(round(at.x()) + 0.5, round(at.y()) + 0.5) for at in ends))


class ClientLimit(pg.LinearRegionItem):
    """The hatched part of a plot beyond the client limit."""

    def __init__(self, chart: Plot) -> None:
        super().__init__(movable=False)
        self._chart = chart
        for line in self.lines:
            line.hide()

    def paint(self, painter: QPainter, *_: object) -> None:
        area = self.mapRectToScene(self.boundingRect() & self.viewRect())
        if area.isEmpty():
            return
        muted, px = self._chart.theme.muted, self._chart.sizes.scale
        _in_scene(painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(area, with_opacity(muted, 0.10))
        painter.setPen(QPen(with_opacity(muted, 0.22), 0.9 * px))
        draw_segments(painter, _hatch(area, 8 * px))
        painter.setPen(QPen(QColor(muted), px))
        painter.drawLine(area.topLeft(), area.bottomLeft())


def _hatch(area: QRectF, apart: float) -> Segments:
    """Return lines at 45 degrees within an area: Qt's SVG painter does not clip."""
    x = np.arange(area.left() - area.height(), area.right(), apart)
    left, right = np.maximum(x, area.left()), np.minimum(x + area.height(), area.right())
    foot = area.bottom() + x
    return np.column_stack((left, foot - left, right, foot - right))


Limits = tuple[float, float, float, float]
"""Lowest and highest x; lowest and highest value as drawn (logarithms on a log scale)."""

DIM, DIM_RUNNING = 0.25, 0.60
"""Opacity of the others, and of the running server, while one is highlighted."""

_WIDE, _SHARE = 72.0, 0.56
"""A bar's width: unscaled at most, and as a share of its place."""
_MOST_BANDS = 4
_OFFSET, _OFFSET_SHARE = 3.5, 0.15
"""Unscaled, between lines drawn beside one another; and at most this share of the plot's height
between the first and the last of them.
"""


class Plot(pg.PlotWidget):
    """One quantity of a model, its state and its geometry."""

    def __init__(self, model: ChartModel, quantity: Quantity, theme: Theme, sizes: Sizes) -> None:
        self.view_box = ZoomBox()
        super().__init__(viewBox=self.view_box, enableMenu=False)
        self.model, self.quantity = model, quantity
        self.view_shown = View()
        self.showing = Showing()
        self.notes: Sequence[ChartNote] = ()
        """The user's, by x."""
        self.hidden: set[str] = set()
        self.highlighted = ""
        self.cursor_rate = nan
        """The rate under the dashed cursor; NaN: no cursor."""
        self.paused = False
        self.theme, self.sizes = theme, sizes
        self.lowest = quantity is Quantity.ERRORS
        """Below it is the axis that all charts share."""
        self.curves: dict[str, Curve] = {}
        self.limits: Limits = (0, 1, 0, 1)
        self.head: Any = None
        """What stands above the plot, as an axis."""
        self.frame: object = None
        """What the pixels of all values depend on: the same object until it changes."""
        self.steady: tuple[object, Span | None] = (None, None)
        """The limits of the values, and for what; they change as little as possible."""
        self.whole_across: Span = (0, 1)
        """Lowest and highest x without a zoom, as drawn."""
        self.whole_up: Span = (0, 1)
        """The same of the values at the x that are shown."""
        self.zero: tuple[float, float] = (0, 0)
        """Where an x, and where a value of zero is drawn on a logarithmic axis."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setCacheMode(self.CacheModeFlag.CacheNone)
        self.plotItem.hideButtons()
        # Few items, which move at every step of a zoom.
        self.scene().setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)

    # What is shown

    @property
    def shown(self) -> dict[str, Curve]:
        return {id_: curve for id_, curve in self.curves.items() if id_ not in self.hidden}

    @property
    def is_empty(self) -> bool:
        return not any(len(curve.values.x) for curve in self.curves.values())

    def known(self, span: Span | None = None) -> Floats:
        """Return all values; `span`: only those that the visible lines have between two x, and
        where they cross these.
        """
        each = self.curves if span is None else self.shown
        lines = [line for c in each.values() for line in (c.values, c.beside, *c.passes) if line]
        values = [line.y if span is None else within(line.x, line.y, span) for line in lines]
        known = np.concatenate(values) if values else np.empty(0)
        return known[~np.isnan(known)]

    def still(self) -> list[Curve]:
        """Return the curves in painting order; of a comparison, those of the first session last. A
        line that leaves the common one first lies above the others, so that every stretch of y = x
        has the colour of the next server to leave it.
        """
        running = self.model.running_server
        still = [c for id_, c in self.shown.items() if id_ != running and len(c.values.x)]
        return sorted(still, key=lambda c: (c.series.place == 0, -(c.series.knee or 0.0)))

    def published(self) -> list[Stated]:
        shown = [key for key in self.model.series if key not in self.hidden]
        wanted = shown if self.showing.published else ()
        return self.model.published_at(wanted, self.metric, self.view_shown)

    @property
    def metric(self) -> str:
        return metric(self.quantity, self.view_shown)

    def text_of(self, value: float) -> str:
        """Return a value with its unit, in the words of the quantity; a dash: unknown."""
        if isnan(value):
            return "–"
        if self.quantity is Quantity.REPLIES:
            return words.count(value)
        if self.quantity is Quantity.TIME:
            return formatting.duration(value * 1000)
        described = self.model.metric(self.metric)
        return formatting.figure(value, described.unit) if described else formatting.percent(value)

    @property
    def log(self) -> bool:
        """Whether the values are on a logarithmic scale: by default times are, and replies to
        rates that are on one, whose line y = x is straight then.
        """
        if self.model.bars:
            return False  # a bar is as long as its value
        as_offered = self.has_ideal and self.model.axis.scale == "log"
        return self.showing.log.get(self.metric, self.quantity is Quantity.TIME or as_offered)

    @property
    def log_across(self) -> bool:
        return self.showing.log.get(ACROSS, self.model.axis.scale == "log")

    @property
    def has_ideal(self) -> bool:
        return self.quantity is Quantity.REPLIES and self.model.axis.calibrated

    @property
    def offset(self) -> bool:
        """Whether lines are drawn beside one another, because all servers answer all."""
        return self.showing.offset and self.has_ideal

    def raised(self, server: str) -> float:
        """Return by how many pixels a server's line is drawn above its values."""
        shown = list(self.shown) if self.offset else []
        if server not in shown:
            return 0.0
        room = _OFFSET_SHARE * self.plot_rect().height()
        step = min(self.sizes.px(_OFFSET), room / len(shown))
        return step * ((len(shown) - 1) / 2 - shown.index(server))

    @property
    def ceiling(self) -> float | None:
        """Return the client limit, if it lies within the chart."""
        ceiling = self.model.ceiling_per_s
        if ceiling is None or not self.model.axis.calibrated:
            return None
        return ceiling if self.across(ceiling) < self.limits[1] else None

    def title_text(self) -> tuple[str, str]:
        """("Response time", "p99, from scheduled time, log scale")."""
        title, unit = self._named()
        zoomed = self.metric in self.showing.zoom
        how = ", log scale" * self.log, ", lines offset" * self.offset, ", zoomed" * zoomed
        return title, unit + "".join(how)

    def _named(self) -> tuple[str, str]:
        if self.quantity is Quantity.REPLIES:
            return self.model.axis.served_axis
        if other := self.model.metric(self.metric):
            return other.label, self.in_unit(other.unit)[1]
        if self.quantity is Quantity.ERRORS:
            return "Errors", "% of attempts"
        unit = self.model.subtitle(self.view_shown)
        if self.has_band:
            first = words.percentile(self.view_shown.percentile)
            second = words.percentile(second_percentile(self.view_shown).percentile)
            whose = "" if self.all_have_bands else " of the selected server"
            unit = unit.replace(first, f"{first} (band: {second}{whose})", 1)
        return "Response time", unit

    def in_unit(self, unit: str) -> tuple[float, str]:
        """Return the unit of a metric that suits the axis, and by what to multiply values."""
        high = self.limits[3]
        return formatting.in_unit(10**high if self.log else high, unit)

    @property
    def has_band(self) -> bool:
        """Whether a second percentile is shown; a distribution has all of them."""
        several = Quantity.REPLIES in self.model.charts
        return self.showing.band and self.quantity is Quantity.TIME and several

    @property
    def all_have_bands(self) -> bool:
        return len(self.shown) <= _MOST_BANDS

    def axis_text(self) -> str:
        """ "Offered rate, connections per second; zoomed to 4,000-9,000 of 22,000"."""
        axis = self.model.axis
        span = self.showing.zoom.get(ACROSS)
        title = f"{axis.title}, log scale" if self.log_across else axis.title
        if span is None:
            return title
        low, high = self.model.marks(span)
        return f"{title}  ·  zoomed to {low}–{high}{axis.suffix}"

    # Geometry, all in the scene's pixels (the widget's own)

    def plot_rect(self) -> QRectF:
        return self.view_box.mapRectToScene(self.view_box.rect())

    def at(self, x: float, value: float, server: str = "") -> QPointF:
        """Return the pixel of an x and a value; `server`: on its line."""
        across, up = self._pixel(x, value)
        return QPointF(across, up - self.raised(server))

    def pixels(self, x: Floats, values: Floats) -> Polyline:
        """Return the pixels of positions on the axis and values in the chart's unit, (n, 2)."""
        return np.column_stack(self._pixel(x, values))

    def _pixel(self, x: Any, value: Any) -> tuple[Any, Any]:
        (left, right, low, high), plot = self.limits, self.plot_rect()
        across = (self.across(x) - left) * (plot.width() / (right - left)) + plot.left()
        return across, (high - self.up(value)) * (plot.height() / (high - low)) + plot.top()

    @property
    def place_width(self) -> float:
        """The pixels between the middles of two bars."""
        return self.at(1, 0).x() - self.at(0, 0).x()

    @property
    def bar_width(self) -> float:
        return min(self.sizes.px(_WIDE), _SHARE * self.place_width)

    def across(self, x: Any) -> Any:
        """Return one x or several as drawn: logarithms where the axis is logarithmic."""
        return _logarithms(x, self.zero[0]) if self.log_across else x

    def up(self, value: Any) -> Any:
        """Return one value or several as drawn."""
        return _logarithms(value, self.zero[1]) if self.log else value

    def values_at(self, pixel: QPointF) -> tuple[float, float]:
        """Return x and the value at a pixel, in the units of the axes."""
        x, y = self.view_box.mapSceneToView(pixel).toTuple()
        return (10**x if self.log_across else x), (10**y if self.log else y)

    def contains(self, at: QPointF) -> bool:
        return self.plot_rect().adjusted(-1, -1, 1, 1).contains(at)

    def ideal(self) -> Polyline:
        """Return the pixels of the line y = x in the plot; empty: none of it is there."""
        ends = self.limits[:2]
        # Curved where one axis alone is logarithmic.
        drawn = np.linspace(*ends, 2 if self.log == self.log_across else 80)
        each = 10**drawn if self.log_across else drawn
        return clipped(self.pixels(each, each), self.plot_rect().getCoords())

    def running_at(self) -> QPointF | None:
        """Return the pixel of the running point so far; None: it cannot be shown yet."""
        running = self.model.running
        if running is None or running.server not in self.shown:
            return None
        placed = running.start.purpose != "warm_up" or self.model.axis.per_second
        if running.start.purpose == "profile" or not placed:
            return None  # no result, or a rate that has no place on this axis
        value = running.value(self.metric, self.view_shown)
        return None if isnan(value) else self.at(running.x, value, running.server)

    def clip_rect(self) -> QRectF:
        """Return the plot with room for the markers on its edges."""
        more = self.sizes.px(12)
        return self.plot_rect().adjusted(-more, -more, more, more)


def second_percentile(view: View) -> View:
    """Return the view of what is shown beside the chosen percentile: p50, or p99 beside p50."""
    second: Percentile = "p99" if view.percentile == "p50" else "p50"
    return replace(view, percentile=second)


def _logarithms(values: Any, zero: float) -> Any:
    nothing = np.less_equal(values, 0)
    return np.where(nothing, zero, np.log10(np.where(nothing, 1.0, values)))[()]


def time_text(ms: float) -> str:
    """ "1.5 s", "20 ms", "50 µs"."""
    if ms <= 0:
        return "0"
    value, unit = (ms / 1000, "s") if ms >= 1000 else (ms, "ms") if ms >= 0.1 else (ms * 1e3, "µs")
    return f"{value:g} {unit}"
