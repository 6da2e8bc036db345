"""One chart: a quantity of every server over the offered rate, drawn with pyqtgraph.

There are three layers. The *ground* (grid, axes, client limit, ideal line) and the *still* lines
(servers that are not running) are painted once into pixmaps and copied. The moving parts (the
running and the highlighted server, the cursor and the halo) are the foreground. So a live update
repaints one line, not twelve, and dimming costs nothing. Printing and files get all layers as
strokes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Protocol

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip

from app.charts import band
from app.charts.axes import Axes
from app.charts.background import Ground
from app.charts.curve import Curve, cut
from app.charts.flags import Flags
from app.charts.markers import Markers
from app.charts.model import ChartModel
from app.charts.names import EndNames
from app.charts.overlay_layer import DIM, DIM_RUNNING, Moving
from app.charts.plot import Plot, second_percentile
from app.charts.published import PublishedMarks
from app.charts.series import Quantity, Values
from app.charts.showing import Showing
from app.charts.sizes import Sizes
from app.charts.strokes import is_vector
from app.colour import with_opacity
from app.painted import guarded
from app.plain import tip
from app.theme import Theme
from workbench.analysis.results import View

NEAR_PX = 14.0
"""The distance at which the mouse counts as on a line."""


class Gestures(Protocol):
    """What zooms and pans. `move`, `release` and `double_click` return whether the event is dealt
    with.
    """

    def press(self, chart: Chart, event: QMouseEvent) -> None: ...

    def move(self, event: QMouseEvent) -> bool: ...

    def release(self, event: QMouseEvent) -> bool: ...

    def double_click(self) -> bool: ...

    def wheel(self, chart: Chart, event: QWheelEvent) -> None: ...


class Chart(Plot):
    """Draws one quantity of a model. Call `refresh` after the model may have changed."""

    NAMES, CURVE = EndNames, Curve
    hovered = Signal(str, float)
    """Server under the mouse (empty: none) and the rate nearest to it (NaN: none)."""
    picked = Signal(str, float)
    """Server clicked (empty: the background) and the rate nearest to it."""
    crossed = Signal(Quantity, float)
    """The mouse moves at no line, at an x of the plot; NaN: it is at one, or outside."""
    menu_wanted = Signal(QPoint)
    """At a place on the screen."""

    def __init__(
        self,
        model: ChartModel,
        quantity: Quantity,
        theme: Theme,
        sizes: Sizes | None = None,
        *,
        lowest: bool = False,
    ) -> None:
        super().__init__(model, quantity, theme, sizes, lowest=lowest)
        self.gestures: Gestures | None = None
        self.marked = QRectF()
        """What a drag selects, in pixels."""
        self._pressed: QPointF | None = None
        self._layers: dict[str, tuple[object, QPixmap]] = {}
        self._drawn_version = -1
        self._axes = Axes(self)
        self._fitted_for: tuple[bool, bool, int] | None = None
        self.ground = Ground(self)
        self.names = self.NAMES(self, self.ground)
        self._moving = Moving(self, self.names)
        self.flags = Flags(self, self.ground)
        self.ground.flags = self.flags.boxes
        self.setMouseTracking(True)
        # Elsewhere the menu opens when the button is pressed, before it can be a drag.
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.set_sizes(theme, self.sizes)

    # Display

    def set_sizes(self, theme: Theme, sizes: Sizes) -> None:
        self.theme, self.sizes = theme, sizes
        self.setBackground(theme.card)
        self.curves.clear()
        self._layers.clear()
        self._drawn_version = -1
        self.refresh()

    def set_model(self, model: ChartModel) -> None:
        self.model = model
        self._axes.forget()
        self.names.forget()
        self.highlighted, self.cursor_rate = "", nan
        self.set_sizes(self.theme, self.sizes)

    def set_view(self, view: View) -> None:
        """Set the percentile of the response time."""
        self.view_shown = view
        self._drawn_version = -1
        self._axes.forget()
        self.refresh()

    def show_part(self, showing: Showing) -> None:
        """Set which part is shown, and on which scales."""
        before = self.log, self.log_across, self.has_band
        self.showing = showing
        if before != (self.log, self.log_across, self.has_band):
            self._drawn_version = -1
        self._fit_axes()
        self.refresh()

    @property
    def _fits_for(self) -> tuple[bool, bool, int]:
        """Return the scales, and the height: of a lower axis a text needs a larger part."""
        return self.log, self.log_across, self.height()

    def _fit_axes(self) -> None:
        self.limits, self._fitted_for = self._axes.fit(), self._fits_for

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        # A model that has just begun may have other scales, on which the limits overflow.
        if self._fitted_for != self._fits_for:
            self._fit_axes()
        super().paintEvent(event)

    def refresh(self) -> None:
        """Apply changes of the model, and repaint."""
        if self._drawn_version != self.model.version:
            whole = self._drawn_version < 0
            self._drawn_version = self.model.version
            for series in self.model.series.values():
                curve = self.curves.get(series.id)
                if curve is None:
                    curve = self.curves[series.id] = self.CURVE(self, series)
                running = self._pass_of(series.id)
                if whole or curve.drawn_version != (series.version, running):
                    curve.drawn_version = (series.version, running)
                    second = second_percentile(self.view_shown) if self.has_band else None
                    curve.take(
                        self._values(curve, running, self.view_shown),
                        self._values(curve, running, second) if second else None,
                    )
            self._fit_axes()
        self.viewport().update()

    def _pass_of(self, server: str) -> int:
        """Return the pass of a server that is drawn by itself because it is running; 0: all
        together.
        """
        sweeping = self.model.sweeping
        return sweeping.pass_number if sweeping and sweeping.series == server else 0

    def _values(self, curve: Curve, pass_number: int, view: View) -> Values:
        series = curve.series
        if pass_number > 1:
            return series.pass_values(pass_number, self.quantity, view)
        return series.values(self.quantity, view)

    def set_hidden(self, hidden: set[str]) -> None:
        self.hidden = hidden
        self.refresh()

    def point_to(self, server: str, rate: float) -> None:
        """Highlight a server (empty: none) and put the cursor at a rate (NaN: nowhere)."""
        self.highlighted, self.cursor_rate = server, rate
        self.refresh()

    # Painting

    @guarded
    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        painter.save()
        opacity = DIM if self.highlighted else 1.0
        if painter.device() is self.viewport():
            ground = self.ground.key()
            self._blit(painter, "ground", ground, self.ground.paint)
            painter.setOpacity(opacity)
            self._blit(painter, "still", (ground, self._still_key()), self._paint_still)
        else:
            self.ground.paint(painter)
            painter.setOpacity(opacity)
            self._paint_still(painter)
        painter.setOpacity(1.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.names.paint_ceiling(painter)
        self._moving.paint_earlier(painter)
        painter.restore()

    @guarded
    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_moving(painter)
        self.flags.paint(painter)
        self._moving.paint(painter)
        if not self.marked.isNull():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(QPen(QColor(self.theme.focus), self.sizes.px(1)))
            painter.setBrush(with_opacity(self.theme.focus, 0.16))
            painter.drawRect(self.marked)
        painter.restore()

    def _paint_moving(self, painter: QPainter) -> None:
        """Draw the lines of the running and of the highlighted server, above all others."""
        painter.save()
        painter.setClipRect(self.plot_rect().adjusted(0, 0, 0.5, 0.5))
        for curve, width in self._moving_lines():
            beside = self.highlighted and curve.series.id != self.highlighted
            painter.setOpacity(DIM_RUNNING if beside else 1.0)
            curve.draw(painter, width)
        painter.restore()

    def _moving_lines(self) -> list[tuple[Curve, float]]:
        """Return the lines of the running and of the highlighted server, and their widths."""
        widths = {self.model.running_server: self.sizes.running_line}
        widths[self.highlighted] = self.sizes.highlighted_line
        seen = widths.keys() & self.curves.keys() - self.hidden
        return [(self.curves[id_], width) for id_, width in widths.items() if id_ in seen]

    def _blit(
        self, painter: QPainter, name: str, key: object, paint: Callable[[QPainter], None]
    ) -> None:
        known = self._layers.get(name)
        if known is None or known[0] != key:
            ratio = self.devicePixelRatioF()
            size = (QSizeF(self.viewport().size()) * ratio).toSize()
            # Another one of that size would have to be allocated at every step of a zoom.
            pixmap = known[1] if known and known[1].size() == size else QPixmap(size)
            pixmap.setDevicePixelRatio(ratio)
            if name != "ground":  # which covers everything, and is copied, not blended
                pixmap.fill(Qt.GlobalColor.transparent)
            onto = QPainter(pixmap)
            try:
                paint(onto)
            finally:
                onto.end()
            known = self._layers[name] = (key, pixmap)
        painter.drawPixmap(0, 0, known[1])

    def _still_key(self) -> object:
        """Return what lines and names depend on, other than the ground. Of the running server's
        line only which names it reaches: all others would be drawn anew as often as that one.
        """
        lines = tuple((curve.series.id, curve.drawn_version) for curve in self.still())
        return lines, self.names.crossed()

    def _paint_still(self, painter: QPainter) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        still = self.still()
        if not is_vector(painter):
            cut([*((curve, self.sizes.still_line) for curve in still), *self._moving_lines()])
        self.names.place(still)
        self.names.paint_leaders(painter)
        for curve in still if self.all_have_bands else ():
            band.paint(self, painter, curve)
        painter.setClipRect(self.clip_rect())
        for curve in still:
            curve.draw(painter, self.sizes.still_line)
        markers, knees = Markers(painter, self.theme.card), self.quantity is Quantity.REPLIES
        for curve in still:
            curve.draw_markers(markers, self.sizes, knee=knees)
        for curve in still if knees else ():
            curve.draw_knee(markers, self.sizes)
        markers.finished()
        painter.setClipping(False)
        if self.quantity is Quantity.REPLIES:
            self.names.place_ceiling(still)
        self.names.paint(painter)
        painter.restore()
        texts = (*self.ground.words(), *self.names.boxes(), *self.names.at_ceiling)
        PublishedMarks(self).paint(painter, texts)

    # Mouse

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.gestures is not None and self.gestures.move(event):
            self.crossed.emit(self.quantity, nan)  # where the drag began is elsewhere by now
            return
        server, rate = self.nearest(event.position())
        self.hovered.emit(server, rate)
        at_no_line = not server and self.contains(event.position())
        x = self.values_at(event.position())[0] if at_no_line else nan
        self.crossed.emit(self.quantity, x)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self.flags.at(event.pos().toPointF())
            QToolTip.showText(event.globalPos(), tip(text), self)
            return True
        handled: bool = super().viewportEvent(event)
        return handled

    def leaveEvent(self, event: QEvent) -> None:
        self.hovered.emit("", nan)
        self.crossed.emit(self.quantity, nan)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position()
        if self.gestures is not None:
            self.gestures.press(self, event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        dragged = self.gestures is not None and self.gestures.release(event)
        if dragged or pressed is None:
            return
        if event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(*self.nearest(pressed))
        elif event.button() == Qt.MouseButton.RightButton:
            self.menu_wanted.emit(event.globalPosition().toPoint())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        left = event.button() == Qt.MouseButton.LeftButton
        if not left or self.gestures is None or not self.gestures.double_click():
            self.mousePressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.gestures is None:
            event.ignore()
        else:
            self.gestures.wheel(self, event)

    def mark(self, box: QRectF) -> None:
        """Show what a drag selects, in pixels; empty: nothing."""
        self.marked = box
        self.viewport().update()

    def nearest(self, at: QPointF) -> tuple[str, float]:
        """Return the visible server whose line or name is within 14 px of a pixel, and its rate."""
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
