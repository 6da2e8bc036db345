"""One chart: a quantity of every server over the offered rate, on a plot of pyqtgraph.

The plot has pyqtgraph's view, axes and rules. What belongs to servers is painted by drawings in its
view: the *still* lines by one, the moving parts (the running and the highlighted server, the halo)
by another, so that a live update paints a small part anew.
"""

from __future__ import annotations

from functools import lru_cache
from math import isnan, nan
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip

from app.charts import axes
from app.charts.curve import PALE, Curve
from app.charts.drawing import clipped, draw_marker, stroke
from app.charts.marks import Marks
from app.charts.model import ChartModel
from app.charts.names import NamesAxis
from app.charts.plot import DIM, DIM_RUNNING, ClientLimit, Drawing, Plot, Rule, second_percentile
from app.charts.series import Quantity
from app.charts.sizes import LEFT, TOP, Sizes
from app.painted import guarded
from app.plain import tip
from app.theme import SeriesStyle, Theme, with_opacity

NEAR_PX = 14.0
"""The distance at which the mouse counts as on a line."""
_RIM = 21.0
"""Unscaled, around the plot: for halos and markers on its edges."""
_RUNNING, _HIGHLIGHTED = 1.25, 1.9
"""How much wider than others the running and the highlighted line are."""
_HALO = 24.0
"""Unscaled, more than the radius of a halo."""
_CLOSEST = 1 / 2000
"""The smallest part of an axis that can be shown."""


class Chart(Plot):
    """Draws one quantity of a model. Call `refresh` after the model may have changed."""

    hovered = Signal(str, float)
    """Server under the mouse (empty: none) and the rate nearest to it (NaN: none)."""
    picked = Signal(str, float)
    """Server clicked (empty: the background) and the rate nearest to it."""
    double_clicked = Signal()
    crossed = Signal(Quantity, float)
    """The mouse moves at no line, at an x of the plot; NaN: it is at one, or outside."""
    menu_wanted = Signal(QPoint)

    def __init__(self, model: ChartModel, quantity: Quantity, theme: Theme, sizes: Sizes) -> None:
        super().__init__(model, quantity, theme, sizes)
        self._drawn_version = -1
        self._fitted_for: tuple[bool, bool, int] | None = None
        self._still: object = None
        """What the still lines were painted for."""
        self._said: object = None
        """The texts that were painted last."""
        self.head = axes.Head(self)
        self.names = NamesAxis(self)
        self.axes = {"left": axes.ValueAxis(self), "bottom": axes.RateAxis(self)}
        self.axes |= {"top": self.head, "right": self.names}
        self.plotItem.setAxisItems(self.axes)
        self.plotItem.layout.setContentsMargins(0, 0, 0, 0)
        for axis in self.axes.values():
            axis.show()
            axis.setZValue(-200)  # pyqtgraph draws axes, and so a grid, over the lines
        self.marks, self._moving = Marks(self), Moving(self)
        self._limit = ClientLimit(self)
        self._timeout_rule, self._cursor = Rule(angle=0), Rule(angle=90)
        for z, item in enumerate((self._limit, self._timeout_rule, self._cursor)):
            self.view_box.addItem(item, ignoreBounds=True)
            item.setZValue(z)
        paints = self._paint_under, self._paint_still, self.marks.over, self._moving.paint
        self._drawings = [Drawing(self.view_box, z, paint) for z, paint in enumerate(paints, 1)]
        self._kept = self._drawings[:2]
        self.setMouseTracking(True)
        # Elsewhere the menu opens when the button is pressed, before it can be a drag.
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.scene().sigMouseClicked.connect(self._on_clicked)
        self.set_sizes(theme, self.sizes)

    # Display

    def set_sizes(self, theme: Theme, sizes: Sizes) -> None:
        self.theme, self.sizes = theme, sizes
        self.setBackground(theme.card)
        px, box = sizes.px, self.view_box
        box.rim = px(_RIM)
        for side, width in (("left", px(LEFT)), ("right", px(sizes.gutter))):
            self.axes[side].setWidth(width)
        for side, height in (("top", px(TOP)), ("bottom", sizes.bottom(self.lowest))):
            self.axes[side].setHeight(height)
        self.plotItem.layout.activate()
        self._timeout_rule.setPen(QPen(QColor(theme.muted), px(1), Qt.PenStyle.DotLine))
        self._cursor.setPen(QPen(with_opacity(theme.text, 0.6), px(1), Qt.PenStyle.DashLine))
        box.rbScaleBox.setPen(pg.mkPen(theme.focus, width=px(1)))
        box.rbScaleBox.setBrush(with_opacity(theme.focus, 0.16))
        self.curves.clear()
        self._drawn_version = -1
        self.refresh()

    def set_model(self, model: ChartModel) -> None:
        self.model = model
        self.steady = None, None
        self.highlighted, self.cursor_rate = "", nan
        self.set_sizes(self.theme, self.sizes)
        self.names.place()

    def share(self, **shown: Any) -> None:
        """Take what all charts show: `view_shown`, `showing`, `hidden`, `notes`, `paused`."""
        before = self.view_shown, self.log, self.log_across, self.has_band
        for name, value in shown.items():
            setattr(self, name, value)
        if before != (self.view_shown, self.log, self.log_across, self.has_band):
            self._drawn_version = -1
        if before[0] != self.view_shown:
            self.steady = None, None
        self.fit()
        self.refresh()
        self._keep(False)
        self._repaint()

    @property
    def _fits_for(self) -> tuple[bool, bool, int]:
        """Return the scales, and the height: of a lower axis a text needs a larger part."""
        return self.log, self.log_across, self.height()

    def fit(self) -> None:
        """Fit the axes to what is shown, and place what does not belong to a server."""
        self.limits, self._fitted_for = axes.fit(self), self._fits_for
        left, right, low, high = self.limits
        (first, last), (least, most) = self.whole_across, self.whole_up
        self.view_box.setLimits(
            xMin=min(left, first),
            xMax=max(right, last),
            minXRange=_CLOSEST * (last - first),
            yMin=min(low, least),
            yMax=max(high, most),
            minYRange=_CLOSEST * (most - least),
        )
        self.view_box.setRange(xRange=(left, right), yRange=(low, high), padding=0)
        shown = self.view_shown, self.showing, self.model.axis, self.theme
        size = self.sizes, self.lowest, self.viewport().size()
        offset = frozenset(self.hidden) if self.offset else None, len(self.curves)
        frame = self.limits, self.zero, shown, size, offset
        if frame != self.frame:
            self.frame = frame
        self._place_rules()

    def _place_rules(self) -> None:
        ceiling, timeout = self.ceiling, self.marks.timeout_ms
        self._limit.setVisible(ceiling is not None)
        self._timeout_rule.setVisible(timeout is not None)
        self._cursor.setVisible(not isnan(self.cursor_rate) and not self.model.bars)
        if not isnan(self.cursor_rate):
            self._cursor.setValue(self.across(self.cursor_rate))
        if timeout is not None:
            self._timeout_rule.setValue(self.up(timeout))
        if ceiling is not None:
            self._limit.setRegion((self.across(ceiling), self.whole_across[1] + 1e9))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event is not None and self._fitted_for is not None:
            self.plotItem.layout.activate()
            self.fit()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        # A model that has just begun may have other scales, on which the limits overflow.
        if self._fitted_for != self._fits_for:
            self.fit()
        super().paintEvent(event)

    def refresh(self) -> None:
        """Apply changes of the model, and paint what they concern."""
        changed = self._drawn_version != self.model.version and self._take()
        said = self.head.texts(), self.axis_text(), self.ceiling, self.notes
        said = *said, tuple(self.marks.calibrated())
        if changed or said != self._said:
            still = said, self._still_key()
            moved, self._said, self._still = still != self._still, said, still
            self._keep(not moved)
            if moved:
                self._repaint()
            else:
                self._dim()
        elif self.model.running is not None:
            self._keep(True)
            self.scene().update(self._moving.moved())  # an item's would end where the plot does
            self.names.renew()

    def _take(self) -> bool:
        """Take the model's values; returns whether any line or axis has changed."""
        whole, before = self._drawn_version < 0, self.frame
        self._drawn_version = self.model.version
        changed = whole
        for series in self.model.series.values():
            curve = self.curves.get(series.id)
            if curve is None:
                curve = self.curves[series.id] = Curve(self, series)
            running = self._pass_of(series.id)
            if whole or curve.drawn_version != (series.version, running):
                changed = True
                curve.drawn_version = (series.version, running)
                second = second_percentile(self.view_shown) if self.has_band else None
                only = (running,) * bool(running)
                curve.take(
                    series.values(self.quantity, self.view_shown, *only),
                    series.values(self.quantity, second, *only) if second else None,
                )
                numbers = series.pass_numbers if self.model.passes else ()
                each = [series.values(self.quantity, self.view_shown, n) for n in numbers]
                curve.passes = each if len(each) > 1 else []
        self.fit()
        return changed or self.frame is not before

    def _still_key(self) -> object:
        running = self.model.running_server
        beneath, each = self._pass_of(running), self.curves.items()
        versions = [(id_, curve.drawn_version) for id_, curve in each if id_ != running or beneath]
        return self.model, self.frame, running, versions

    def _repaint(self) -> None:
        # The view itself would paint first, and then what has moved.
        for drawing in self._kept:
            drawing.update()
        self._dim()

    def _pass_of(self, server: str) -> int:
        """Return the running pass of a server, after the first drawn by itself; 0: all together."""
        sweeping = self.model.sweeping
        mine = sweeping and sweeping.series == server and sweeping.pass_number > 1
        return sweeping.pass_number if mine else 0

    def point_to(self, server: str, rate: float) -> None:
        """Highlight a server (empty: none) and put the cursor at a rate (NaN: nowhere)."""
        self.highlighted, self.cursor_rate = server, rate
        self._place_rules()
        self._keep(True)
        self._dim()

    def _dim(self) -> None:
        self._drawings[1].setOpacity(DIM if self.highlighted else 1.0)
        self.scene().update()

    # Painting, in the scene's pixels

    def _paint_under(self, painter: QPainter) -> None:
        self.axes["left"].draw_grid(painter)
        self.marks.under(painter)

    def _paint_still(self, painter: QPainter) -> None:
        still = self.still()
        painter.setClipRect(self.clip_rect(), Qt.ClipOperation.IntersectClip)
        for curve in still:
            curve.draw_passes(painter)
        for curve in still if self.all_have_bands else ():
            curve.draw_band(painter)
        self._moving.paint_earlier(painter)
        for curve in still:
            curve.draw(painter, self.sizes.px(self.sizes.line))
        for curve in () if self.model.bars else still:
            curve.draw_markers(painter)
        for curve in still if self.quantity is Quantity.REPLIES else ():
            curve.draw_knee(painter)

    def render(self, *args: Any) -> None:
        self._keep(False)
        super().render(*args)

    def _keep(self, kept: bool) -> None:
        """Keep the lines as pictures while something moves over them: not in a zoom or a film."""
        for drawing in self._kept:
            drawing.keep(kept)

    # Mouse

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if event.buttons():
            self.crossed.emit(self.quantity, nan)  # where a drag began is elsewhere by now
            return
        at = event.position()
        server, rate = self.nearest(at)
        self.hovered.emit(server, rate)
        at_no_line = not server and not self.model.bars and self.contains(at)
        self.crossed.emit(self.quantity, self.values_at(at)[0] if at_no_line else nan)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            at = event.pos().toPointF()
            text = self.marks.at(at)
            if not text and self.head.box().contains(at):
                text = "\n".join(self.model.legend(self.view_shown))
            QToolTip.showText(event.globalPos(), tip(text), self)
            return True
        return bool(super().viewportEvent(event))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit("", nan)
        self.crossed.emit(self.quantity, nan)

    def _on_clicked(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.RightButton:
            self.menu_wanted.emit(event.screenPos().toPoint())
        elif event.button() == Qt.MouseButton.LeftButton and event.double() and self.showing.zoom:
            self.double_clicked.emit()
        elif event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(*self.nearest(event.scenePos()))

    def nearest(self, at: QPointF) -> tuple[str, float]:
        """Return the visible server whose line, name or bar is at a pixel, and its rate."""
        best, server = self.sizes.px(NEAR_PX), ""
        if self.model.bars:
            if self.plot_rect().left() <= at.x() <= self.plot_rect().right():
                server = self.model.server_at(self.values_at(at)[0])
        else:
            for id_, curve in self.shown.items():
                if (distance := curve.distance(at)) < best:
                    best, server = distance, id_
        server = server or self.names.at(at)
        found = self.shown.get(server)
        if found is None or not len(found.values.x):
            return "", nan
        nearest = int(np.nanargmin(np.abs(found.pixels()[:, 0] - at.x())))
        return server, float(found.values.x[nearest])


class Moving:
    """What moves over the lines: the highlighted server, and the running point with its halo."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart
        self._was = QRectF()

    def moved(self) -> QRectF:
        """Return where the running point, its halo and the line to it were and are."""
        chart, half = self._chart, self._chart.sizes.px(_HALO)
        running, now = chart.model.running, QRectF()
        curve = chart.curves.get(chart.model.running_server)
        if curve is not None and running is not None:
            ends = [chart.running_at(), *(QPointF(*at) for at in curve.pixels()[-1:].tolist())]
            ends += [chart.at(running.x, pct) for pct in running.errors_pct or ()]
            for at in filter(None, ends):
                now |= QRectF(at.x() - half, at.y() - half, 2 * half, 2 * half)
            if curve.style.dash or not curve.values.trusted[-1:].all():
                # Where its dashes begin depends on what is painted.
                now |= chart.plot_rect().adjusted(-1, -1, 1, 1)
        before, self._was = self._was, now
        return before | now

    def paint(self, painter: QPainter) -> None:
        chart, line = self._chart, self._chart.sizes.px(self._chart.sizes.line)
        shown = chart.shown
        running, strong = shown.get(chart.model.running_server), shown.get(chart.highlighted)
        if strong is not None:
            plain, strong.style = strong.style, strong.full
        painter.save()
        clip = chart.plot_rect().adjusted(0, 0, 0.5, 0.5)
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
        for curve, wider in {running: _RUNNING, strong: _HIGHLIGHTED}.items():
            if curve is not None:
                beside = chart.highlighted and curve is not strong
                painter.setOpacity(DIM_RUNNING if beside else 1.0)
                curve.draw(painter, line * wider)
        painter.restore()
        if strong is not None:
            self._paint_highlighted(painter, strong)
        if running is not None:
            self._paint_running(painter, running)
        if strong is not None:
            strong.style = plain

    def paint_earlier(self, painter: QPainter) -> None:
        """Draw the previous result beneath a running second pass, thin and pale."""
        chart, sweeping = self._chart, self._chart.model.sweeping
        curve = chart.shown.get(chart.model.running_server)
        if curve and sweeping and sweeping.pass_number > 1:
            values = curve.series.values(chart.quantity, chart.view_shown)
            curve.draw_beside(painter, values, 1.2, PALE)

    def _paint_highlighted(self, painter: QPainter, curve: Curve) -> None:
        chart = self._chart
        painter.save()
        painter.setClipRect(chart.clip_rect(), Qt.ClipOperation.IntersectClip)
        if not chart.all_have_bands:
            curve.draw_band(painter)
        self._paint_spreads(painter, curve)
        if not chart.model.bars:
            curve.draw_markers(painter, 4.8)
            self._paint_ring(painter, curve)
        painter.restore()

    def _paint_ring(self, painter: QPainter, curve: Curve) -> None:
        """Draw a ring around the selected point, hollow where it must not be trusted."""
        chart, rate = self._chart, self._chart.cursor_rate
        reading = chart.model.reading(curve.series.id, rate)
        value = reading.value(chart.metric, chart.view_shown) if reading else nan
        if isnan(value) or not chart.contains(at := chart.at(rate, value, curve.series.id)):
            return
        px, trusted = chart.sizes.px, curve.trusts(rate)
        painter.setPen(QPen(QColor(chart.theme.text), px(2)))
        painter.setBrush(curve.style.brush() if trusted else QColor(chart.theme.card))
        painter.drawEllipse(at, px(6.5), px(6.5))
        if not trusted:
            draw_marker(painter, curve.style, at, px(3.2), chart.theme.card, hollow=True)

    def _paint_spreads(self, painter: QPainter, curve: Curve) -> None:
        chart, px = self._chart, self._chart.sizes.px
        painter.setPen(QPen(curve.style.tint(0.8), px(1.4)))
        for reading in curve.series.shown:
            spread = reading.spread(chart.metric, chart.view_shown)
            if spread is None:
                continue
            low, high = (chart.at(reading.x, value, curve.series.id) for value in spread)
            if low.y() - high.y() > px(3) and (chart.contains(low) or chart.contains(high)):
                _draw_span(painter, low, high, px(2.5))

    def _paint_running(self, painter: QPainter, curve: Curve) -> None:
        chart, running = self._chart, self._chart.model.running
        if running is not None and not running.start.judged:
            running = None  # a warm-up between two points
        px = chart.sizes.px
        painter.save()
        # The halo needs more room than the markers, but not over the figures of the axis.
        room = chart.clip_rect().adjusted(-px(14), -px(14), px(14), 0)
        painter.setClipRect(room, Qt.ClipOperation.IntersectClip)
        if chart.highlighted not in ("", curve.series.id):
            painter.setOpacity(DIM_RUNNING)
        if chart.all_have_bands:
            curve.draw_band(painter)
        if curve.series.id != chart.highlighted:
            curve.draw_markers(painter)
        if chart.quantity is Quantity.REPLIES and not chart.highlighted:
            # Which the running line and its markers would cover.
            for still in chart.still():
                still.draw_knee(painter)
        points, line = curve.pixels(), _RUNNING * px(chart.sizes.line)
        at = chart.running_at() if running else None
        if running and at is not None:
            before = points[curve.values.x < running.x]
            if len(before) and chart.contains(at):
                lead = np.vstack((before[-1], at.toTuple()))
                sure = curve.trusts(curve.values.x[len(before) - 1])
                pen = curve.pen(line, sure=sure)
                stroke(painter, clipped(lead, chart.plot_rect().getCoords()), pen)
        elif running and chart.metric == Quantity.ERRORS.value and running.errors_pct is not None:
            # From the errors so far to the errors if no open call is answered.
            low, high = (chart.at(running.x, pct) for pct in running.errors_pct)
            painter.setPen(curve.pen(2 * line, sure=False))
            _draw_span(painter, low, high, px(5))
        elif chart.paused and len(known := points[~np.isnan(points).any(axis=1)]):
            at = QPointF(*known[-1])  # the halo waits at the last point, hollow
        if at is not None and chart.contains(at):
            # Large translucent circles take a millisecond, a cached pixmap less.
            ratio = chart.devicePixelRatioF()
            halo = _halo(curve.style, chart.theme.card, chart.sizes.scale, chart.paused, ratio)
            half = halo.width() / ratio / 2
            painter.drawPixmap(at - QPointF(half, half), halo)
        painter.restore()


def _draw_span(painter: QPainter, low: QPointF, high: QPointF, arm: float) -> None:
    """Draw a range of values, with a solid line across each of its ends."""
    painter.drawLine(low, high)
    pen = painter.pen()
    painter.setPen(QPen(pen.color(), pen.widthF(), Qt.PenStyle.SolidLine, pen.capStyle()))
    for end in (low, high):
        painter.drawLine(end - QPointF(arm, 0), end + QPointF(arm, 0))


@lru_cache(maxsize=64)
def _halo(style: SeriesStyle, card: str, scale: float, paused: bool, ratio: float) -> QPixmap:
    side = 44 * scale
    halo = QPixmap(round(side * ratio), round(side * ratio))
    halo.setDevicePixelRatio(ratio)
    halo.fill(Qt.GlobalColor.transparent)
    painter = QPainter(halo)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(side / 2, side / 2)
    painter.scale(scale, scale)
    painter.setPen(Qt.PenStyle.NoPen)
    around = [(17.5, style.brush(0.13)), (12, style.brush(0.24)), (8.5, style.brush(0.43))]
    outer, inner = (QColor(card), style.tint()) if paused else (style.tint(), QColor(card))
    for radius, brush in (*around, (6.75, QColor(card)), (5.25, outer), (2, inner)):
        painter.setBrush(brush)
        painter.drawEllipse(QPointF(0, 0), radius, radius)
    painter.end()
    return halo
