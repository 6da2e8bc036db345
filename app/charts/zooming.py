"""Zoom and pan of linked charts, by mouse and keys.

The wheel zooms at the pointer, over the axis of the values it zooms these. A drag selects the part
to show; where the charts are zoomed, it pans, and with Shift or the right button it selects. A
double click shows everything again. pyqtgraph's views do this within their limits; what they then
show becomes a part that all charts show.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent

from app.charts.chart import Chart
from app.charts.series import Span
from app.charts.view_state import ACROSS

_KEY_STEP, _PAN = 0.6, 0.2
"""What a key leaves; by which share of the part it pans."""
_LEAST_PX = 8.0
"""A drag shorter than this selects nothing."""
_FLAT_PX = 28.0
"""A selection lower than this is one of x only."""


class Zooming:
    """Handles the mouse on linked charts, and keys."""

    def __init__(self, trio: Any) -> None:
        """`trio`: a `Trio`, as for `Pointing`."""
        self._trio, self._charts = trio, list(trio.charts.values())
        self._drag = ""
        """ "select" or "pan"; empty: none."""
        for chart in self._charts:
            chart.double_clicked.connect(self.reset)
            chart.view_box.dragged.connect(partial(self._on_dragged, chart))
            chart.view_box.sigRangeChangedManually.connect(partial(self._take, chart))

    # Mouse

    def _on_dragged(self, chart: Chart, event: Any) -> None:
        if event.isStart():
            self._begin(chart, event)
        if self._drag == "select":
            self._mark(chart, event.buttonDownScenePos(), event.scenePos())
        elif self._drag == "pan":
            zoom = chart.showing.zoom
            chart.view_box.pan(event, across=ACROSS in zoom, up=chart.metric in zoom)
        if event.isFinish():
            if self._drag == "select":
                self._select(chart, event.buttonDownScenePos(), event.scenePos())
            self.cancel()

    def _begin(self, chart: Chart, event: Any) -> None:
        pressed = chart.scene().clickEvents
        shift = any(each.modifiers() & Qt.KeyboardModifier.ShiftModifier for each in pressed)
        button, buttons = event.button(), Qt.MouseButton
        selects = button is buttons.RightButton or shift or not chart.showing.zoom
        selects = selects and button is not buttons.MiddleButton
        self._drag = "select" if selects else "pan"
        shape = Qt.CursorShape.CrossCursor if selects else Qt.CursorShape.ClosedHandCursor
        chart.viewport().setCursor(shape)

    def cancel(self) -> None:
        self._drag = ""
        for chart in self._charts:
            chart.view_box.rbScaleBox.hide()
            chart.viewport().unsetCursor()

    # Keys and buttons

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key; False: it has no meaning here."""
        if event.key() == Qt.Key.Key_Escape and self._drag:
            self.cancel()
            return True
        pressed = event.modifiers() & ~(
            Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
        )
        keys: dict[int, Callable[[], None]] = {
            Qt.Key.Key_Plus: self.closer,
            Qt.Key.Key_Equal: self.closer,
            Qt.Key.Key_Minus: self.farther,
            Qt.Key.Key_0: self.reset,
            Qt.Key.Key_Left: lambda: self._shift(-_PAN),
            Qt.Key.Key_Right: lambda: self._shift(_PAN),
        }
        do = keys.get(event.key())
        if do is not None and pressed == Qt.KeyboardModifier.ControlModifier:
            do()
            return True
        return False

    def closer(self) -> None:
        self._scale(_KEY_STEP)

    def farther(self) -> None:
        self._scale(1 / _KEY_STEP)

    def reset(self) -> None:
        if self._trio.showing.zoom:
            self._trio.show_part(self._trio.showing.zoomed({}))

    # Implementation; parts of axes are (low, high) as drawn

    def _scale(self, factor: float) -> None:
        """Zoom at the selected point; else in the middle."""
        chart = self._charts[0]
        (low, high, bottom, _), at = chart.limits, chart.across(chart.cursor_rate)
        middle = at if low <= at <= high else (low + high) / 2
        chart.view_box.scaleBy(x=factor, center=QPointF(middle, bottom))
        self._take(chart)

    def _shift(self, share: float) -> None:
        chart = self._charts[0]
        if ACROSS in chart.showing.zoom:
            low, high, _, _ = chart.limits
            chart.view_box.translateBy(x=share * (high - low))
            self._take(chart)

    def _take(self, chart: Chart, *_: object) -> None:
        """Ask for the part that the view of a chart shows; the axes that have moved."""
        across, up = (tuple(ends) for ends in chart.view_box.viewRange())
        before = chart.limits[:2], chart.limits[2:]
        self._show(chart, None if across == before[0] else across, None if up == before[1] else up)

    def _mark(self, chart: Chart, start: QPointF, now: QPointF) -> None:
        """Show what a drag selects: in the chart under the pointer a box, in the others its x."""
        box = self._selected(chart, start, now)
        for each in self._charts:
            plot = each.plot_rect()
            part = box if each is chart else QRectF(box.x(), plot.y(), box.width(), plot.height())
            part.translate(-plot.topLeft())
            each.view_box.updateScaleBox(part.topLeft(), part.bottomRight())

    @staticmethod
    def _selected(chart: Chart, start: QPointF, now: QPointF) -> QRectF:
        plot = chart.plot_rect()
        box = QRectF(start, now).normalized()
        if box.height() < _FLAT_PX:
            box = QRectF(box.left(), plot.top(), box.width(), plot.height())
        return box.intersected(plot)

    def _select(self, chart: Chart, start: QPointF, now: QPointF) -> None:
        box, plot = self._selected(chart, start, now), chart.plot_rect()
        if box.width() < _LEAST_PX:
            return
        ends = (chart.view_box.mapSceneToView(at) for at in (box.bottomLeft(), box.topRight()))
        across, up = zip(*(at.toTuple() for at in ends), strict=True)
        self._show(chart, across, None if box.height() >= plot.height() - 1 else up)

    def _show(self, chart: Chart, across: Span | None, up: Span | None) -> None:
        """Ask for parts of the axes; a part that is all of its axis is no zoom."""
        zoom = dict(chart.showing.zoom)
        for key, part, whole, log in (
            (ACROSS, across, chart.whole_across, chart.log_across),
            (chart.metric, up, chart.whole_up, chart.log),
        ):
            if part is None:
                continue
            zoom[key] = (10 ** part[0], 10 ** part[1]) if log else part
            if part[1] - part[0] > 0.999 * (whole[1] - whole[0]):
                del zoom[key]
        if zoom != chart.showing.zoom:
            self._trio.show_part(chart.showing.zoomed(zoom))
        else:
            chart.fit()
