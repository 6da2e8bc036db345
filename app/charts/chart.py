"""One chart: a quantity of every server over the offered rate, on a plot of pyqtgraph.

The plot has pyqtgraph's view, axes and rules. What belongs to servers is painted by drawings in its
view: the *still* lines by one, the moving parts (the running and the highlighted server, the halo)
by another, so that a live update paints a small part anew.
"""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip

from app.charts.axes import Axes, Head, RateAxis, ValueAxis
from app.charts.curve import Curve
from app.charts.items import ClientLimit, Drawing, Rule
from app.charts.marks import Marks
from app.charts.model import ChartModel
from app.charts.moving import RUNNING, Moving
from app.charts.names import NamesAxis
from app.charts.plot import DIM, DIM_RUNNING, Plot, draw_bar, second_percentile
from app.charts.series import Quantity, Values
from app.charts.sizes import Sizes
from app.charts.view_state import Showing
from app.colour import with_opacity
from app.painted import guarded
from app.plain import tip
from app.theme import Theme
from workbench.analysis.series import View

NEAR_PX = 14.0
"""The distance at which the mouse counts as on a line."""
_RIM = 21.0
"""Unscaled, around the plot: for halos and markers on its edges."""
_HIGHLIGHTED = 1.9
"""How much wider the highlighted line is."""
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
    """At a place on the screen."""

    def __init__(self, model: ChartModel, quantity: Quantity, theme: Theme, sizes: Sizes) -> None:
        super().__init__(model, quantity, theme, sizes)
        self._drawn_version = -1
        self._limits = Axes(self)
        self._fitted_for: tuple[bool, bool, int] | None = None
        self._still: object = None
        """What the still lines were painted for."""
        self._changed = False
        """They changed at the last refresh, too: as in a fast film."""
        self._said: object = None
        """The texts that were painted last."""
        self.head = Head(self)
        self.names = NamesAxis(self, self.head)
        axes = {"left": ValueAxis(self), "bottom": RateAxis(self)}
        axes |= {"top": self.head, "right": self.names}
        self.plotItem.setAxisItems(axes)
        self.plotItem.layout.setContentsMargins(0, 0, 0, 0)
        for axis in axes.values():
            axis.show()
            axis.setZValue(-200)  # pyqtgraph draws axes, and so a grid, over the lines
        self.axes = axes
        self.marks, self._moving = Marks(self), Moving(self)
        self._limit = ClientLimit()
        self._timeout_rule, self._cursor = Rule(angle=0), Rule(angle=90)
        for z, item in enumerate((self._limit, self._timeout_rule, self._cursor)):
            self.view_box.addItem(item, ignoreBounds=True)
            item.setZValue(z)
        paints = self._paint_under, self._paint_still, self._paint_over, self._paint_moving
        self._drawings = [
            Drawing(self.view_box, z, paint) for z, paint in enumerate(paints, start=1)
        ]
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
        for side, width in (("left", sizes.left), ("right", px(sizes.gutter))):
            self.axes[side].setWidth(width)
        for side, height in (("top", sizes.top), ("bottom", sizes.bottom(self.lowest))):
            self.axes[side].setHeight(height)
        self.plotItem.layout.activate()
        self._limit.dress(theme, sizes.scale)
        self._timeout_rule.setPen(QPen(QColor(theme.muted), px(1), Qt.PenStyle.DotLine))
        self._cursor.setPen(QPen(with_opacity(theme.text, 0.6), px(1), Qt.PenStyle.DashLine))
        box.rbScaleBox.setPen(pg.mkPen(theme.focus, width=px(1)))
        box.rbScaleBox.setBrush(with_opacity(theme.focus, 0.16))
        self.curves.clear()
        self._drawn_version = -1
        self.refresh()

    def set_model(self, model: ChartModel) -> None:
        self.model = model
        self._limits.forget()
        self.highlighted, self.cursor_rate = "", nan
        self.set_sizes(self.theme, self.sizes)
        self.names.place()

    def set_view(self, view: View) -> None:
        self.view_shown = view
        self._drawn_version = -1
        self._limits.forget()
        self.refresh()

    def show_part(self, showing: Showing) -> None:
        before = self.log, self.log_across, self.has_band
        self.showing = showing
        if before != (self.log, self.log_across, self.has_band):
            self._drawn_version = -1
        self.fit()
        self.refresh()
        self.renew()

    @property
    def _fits_for(self) -> tuple[bool, bool, int]:
        """Return the scales, and the height: of a lower axis a text needs a larger part."""
        return self.log, self.log_across, self.height()

    def fit(self) -> None:
        """Fit the axes to what is shown, and place what does not belong to a server."""
        self.limits, self._fitted_for = self._limits.fit(), self._fits_for
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
        self.marks.place_limit()

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
            again, self._changed = still != self._still and self._changed, still != self._still
            self._said, self._still = said, still
            if again:
                self._keep(False)
            if self._changed:
                self._repaint()
            else:
                self._keep(True)
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
                curve.take(
                    self._values(curve, running, self.view_shown),
                    self._values(curve, running, second) if second else None,
                )
                numbers = series.pass_numbers if self.model.passes else ()
                each = [series.pass_values(n, self.quantity, self.view_shown) for n in numbers]
                curve.passes = each if len(each) > 1 else []
        self.fit()
        return changed or self.frame is not before

    def _still_key(self) -> object:
        """Return what the still lines depend on."""
        running = self.model.running_server
        beneath = self._pass_of(running) > 1
        versions = [
            (id_, curve.drawn_version)
            for id_, curve in self.curves.items()
            if id_ != running or beneath
        ]
        return self.model, self.frame, running, versions

    def renew(self) -> None:
        self._keep(False)
        self._repaint()

    def _repaint(self) -> None:
        # The view itself would paint first, and then what has moved.
        for drawing in self._kept:
            drawing.update()
        self._dim()

    def _pass_of(self, server: str) -> int:
        """Return the running pass of a server, drawn by itself; 0: all passes together."""
        sweeping = self.model.sweeping
        return sweeping.pass_number if sweeping and sweeping.series == server else 0

    def _values(self, curve: Curve, pass_number: int, view: View) -> Values:
        series = curve.series
        if pass_number > 1:
            return series.pass_values(pass_number, self.quantity, view)
        return series.values(self.quantity, view)

    def set_hidden(self, hidden: set[str]) -> None:
        self.hidden = hidden
        self.fit()
        self.refresh()
        self.renew()

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
            self._draw(curve, painter, self.sizes.px(self.sizes.line))
        for curve in () if self.model.bars else still:
            curve.draw_markers(painter)
        for curve in still if self.quantity is Quantity.REPLIES else ():
            curve.draw_knee(painter)

    def _paint_over(self, painter: QPainter) -> None:
        self.marks.over(painter)
        self.head.paint_hint(painter)

    def _paint_moving(self, painter: QPainter) -> None:
        if strong := self.curves.get(self.highlighted):
            plain, strong.style = strong.style, strong.full
        painter.save()
        clip = self.plot_rect().adjusted(0, 0, 0.5, 0.5)
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
        line = self.sizes.px(self.sizes.line)
        widths = {self.model.running_server: line * RUNNING, self.highlighted: line * _HIGHLIGHTED}
        for id_, width in widths.items():
            if id_ in self.curves and id_ not in self.hidden:
                beside = self.highlighted and id_ != self.highlighted
                painter.setOpacity(DIM_RUNNING if beside else 1.0)
                self._draw(self.curves[id_], painter, width)
        painter.restore()
        self._moving.paint(painter)
        if strong:
            strong.style = plain

    def _draw(self, curve: Curve, painter: QPainter, width: float) -> None:
        if self.model.bars:
            draw_bar(self, painter, curve)
        else:
            curve.draw(painter, width)

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
        server, rate = self.nearest(event.position())
        self.hovered.emit(server, rate)
        at_no_line = not server and not self.model.bars and self.contains(event.position())
        x = self.values_at(event.position())[0] if at_no_line else nan
        self.crossed.emit(self.quantity, x)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            at = event.pos().toPointF()
            text = self.marks.at(at)
            if not text and self.head.box().contains(at):
                text = "\n".join(self.model.legend(self.view_shown))
            QToolTip.showText(event.globalPos(), tip(text), self)
            return True
        handled: bool = super().viewportEvent(event)
        return handled

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
        if self.model.bars:
            x, server = self.values_at(at)[0], ""
            if self.plot_rect().left() <= at.x() <= self.plot_rect().right():
                server = self.model.server_at(x)
            known = server and server not in self.hidden and len(self.curves[server].values.x)
            return (server, float(self.curves[server].values.x[0])) if known else ("", nan)
        best, server = self.sizes.px(NEAR_PX), ""
        for id_, curve in self.curves.items():
            if id_ in self.hidden:
                continue
            distance = curve.distance(at)
            if distance < best:
                best, server = distance, id_
        server = server or self.names.at(at)
        if not server or server in self.hidden:
            return "", nan
        points = self.curves[server].pixels()
        nearest = int(np.nanargmin(np.abs(points[:, 0] - at.x())))
        return server, float(self.curves[server].values.x[nearest])
