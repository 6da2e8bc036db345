"""Zoom and pan of linked charts, by mouse and keys.

The wheel zooms at the pointer, over the axis of the values it zooms these. A drag selects the part
to show; where the charts are zoomed, it pans, and with Shift or the right button it selects. A
double click shows everything again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor, isnan, log10
from typing import Literal

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from app.charts.chart import Chart
from app.charts.showing import ACROSS, Showing, Span

_STEP = 0.82
"""What one notch of the wheel leaves."""
_KEY_STEP, _PAN = 0.6, 0.2
"""What a key leaves; by which share of the part it pans."""
_CLOSEST = 1 / 2000
"""The smallest part of an axis that can be shown."""
_LEAST_PX = 8.0
"""A drag shorter than this selects nothing."""
_FLAT_PX = 28.0
"""A selection lower than this is one of x only."""
_NOTCH = 120.0

_Drag = Literal["", "select", "pan"]


class Zooming(QObject):
    """Handles the mouse on linked charts, and keys. Whoever owns the charts applies `wanted`."""

    wanted = Signal(Showing)
    undone = Signal()
    """A double click showed everything: its first click was not meant to select."""

    def __init__(self, charts: Sequence[Chart], parent: QObject) -> None:
        super().__init__(parent)
        self._charts = charts
        self._from: tuple[Chart, QPointF] | None = None
        """Where a button was pressed."""
        self._selects = False
        self._begin = Showing()
        """When the drag began."""
        self._begin_limits = (0.0, 1.0, 0.0, 1.0)
        self._drag: _Drag = ""
        for chart in charts:
            chart.gestures = self

    # Mouse; each returns whether the chart has nothing more to do

    def press(self, chart: Chart, event: QMouseEvent) -> None:
        self._from = chart, event.position()
        self._begin, self._begin_limits, self._drag = chart.showing, chart.limits, ""
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        pans = event.button() is Qt.MouseButton.MiddleButton
        right = event.button() is Qt.MouseButton.RightButton
        self._selects = not pans and (right or shift or not self._begin.zoom)

    def move(self, event: QMouseEvent) -> bool:
        if self._from is None:
            return False
        chart, start = self._from
        now = event.position()
        if not self._drag:
            if (now - start).manhattanLength() < QApplication.startDragDistance():
                return False
            self._drag = "select" if self._selects else "pan"
            chart.viewport().setCursor(
                Qt.CursorShape.CrossCursor if self._selects else Qt.CursorShape.ClosedHandCursor
            )
        if self._drag == "select":
            self._mark(chart, start, now)
        else:
            self._pan(chart, now - start)
        return True

    def release(self, event: QMouseEvent) -> bool:
        if self._from is None:
            return False
        chart, start = self._from
        drag = self._drag
        if drag == "select":
            self._select(chart, start, event.position())
        self.cancel()
        return bool(drag)

    def cancel(self) -> None:
        """End a drag without effect."""
        for chart in self._charts:
            if not chart.marked.isNull():
                chart.mark(QRectF())
        if self._from is not None:
            self._from[0].viewport().unsetCursor()
        self._from, self._drag = None, ""

    def double_click(self) -> bool:
        if not self._charts[0].showing.zoom:
            return False
        self._from = None
        self.undone.emit()
        self.reset()
        return True

    def wheel(self, chart: Chart, event: QWheelEvent) -> None:
        turned, at, plot = event.angleDelta(), event.position(), chart.plot_rect()
        if abs(turned.x()) > abs(turned.y()):
            self._shift(turned.x() / _NOTCH * -_PAN / 2)
            return
        factor = _STEP ** (turned.y() / _NOTCH)
        if at.x() < plot.left():
            share = (plot.bottom() - at.y()) / max(1.0, plot.height())
            self._zoom_up(chart, factor, min(max(share, 0.0), 1.0))
        else:
            share = (at.x() - plot.left()) / max(1.0, plot.width())
            self._zoom_across(factor, min(max(share, 0.0), 1.0))

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
        if pressed != Qt.KeyboardModifier.ControlModifier or do is None:
            return False
        do()
        return True

    def closer(self) -> None:
        self._zoom_across(_KEY_STEP, self._cursor())

    def farther(self) -> None:
        self._zoom_across(1 / _KEY_STEP, self._cursor())

    def reset(self) -> None:
        """Show everything."""
        if self._charts[0].showing.zoom:
            self.wanted.emit(self._charts[0].showing.zoomed({}))

    # Implementation; parts of axes are (low, high) as drawn

    def _cursor(self) -> float:
        """Return the place of the selected point, as a share of the part shown; else its middle."""
        chart = self._charts[0]
        low, high, _, _ = chart.limits
        share = 0.5
        if not isnan(chart.cursor_rate):
            share = (chart.at_across(chart.cursor_rate) - low) / (high - low)
        return share if 0 <= share <= 1 else 0.5

    def _zoom_across(self, factor: float, share: float) -> None:
        chart = self._charts[0]
        part = _scaled(chart.limits[:2], factor, share)
        self._show(chart, chart.showing, across=_inside(part, chart.whole_across))

    def _zoom_up(self, chart: Chart, factor: float, share: float) -> None:
        part = _scaled(chart.limits[2:], factor, share)
        self._show(chart, chart.showing, up=_inside(part, chart.whole_up))

    def _shift(self, share: float) -> None:
        """Pan sideways by a share of the part shown."""
        chart = self._charts[0]
        if ACROSS in chart.showing.zoom:
            low, high, _, _ = chart.limits
            part = low + share * (high - low), high + share * (high - low)
            self._show(chart, chart.showing, across=_inside(part, chart.whole_across))

    def _pan(self, chart: Chart, way: QPointF) -> None:
        plot, (left, right, low, high) = chart.plot_rect(), self._begin_limits
        x = -way.x() * (right - left) / max(1.0, plot.width())
        y = way.y() * (high - low) / max(1.0, plot.height())
        across = up = None
        if ACROSS in self._begin.zoom:
            across = _inside((left + x, right + x), chart.whole_across)
        if chart.metric in self._begin.zoom:
            up = _inside((low + y, high + y), chart.whole_up)
        self._show(chart, self._begin, across=across, up=up)

    def _mark(self, chart: Chart, start: QPointF, now: QPointF) -> None:
        """Show what a drag selects: in the chart under the pointer a box, in the others its x."""
        box = self._selected(chart, start, now)
        for each in self._charts:
            plot = each.plot_rect()
            whole = QRectF(box.left(), plot.top(), box.width(), plot.height())
            each.mark(box if each is chart else whole)

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
        left, low = chart.drawn_at(box.bottomLeft())
        right, high = chart.drawn_at(box.topRight())
        up = None if box.height() >= plot.height() - 1 else (low, high)
        self._show(chart, chart.showing, across=(left, right), up=up)

    def _show(
        self, chart: Chart, base: Showing, *, across: Span | None = None, up: Span | None = None
    ) -> None:
        """Ask for parts of the axes; a part that is all of its axis is no zoom."""
        zoom = dict(base.zoom)
        for key, part, whole, log in (
            (ACROSS, across, chart.whole_across, chart.log_across),
            (chart.metric, up, chart.whole_up, chart.log),
        ):
            if part is None:
                continue
            size, middle = part[1] - part[0], (part[0] + part[1]) / 2
            least = _CLOSEST * (whole[1] - whole[0])
            around = _inside((middle - least / 2, middle + least / 2), whole)
            zoom[key] = _rounded(part if size >= least else around, log=log)
            if size > 0.999 * (whole[1] - whole[0]):
                del zoom[key]
        if zoom != chart.showing.zoom:
            self.wanted.emit(chart.showing.zoomed(zoom))


def _scaled(part: Span, factor: float, share: float) -> Span:
    """Return a part of another size; the place at a share of it stays."""
    low, high = part
    at = low + share * (high - low)
    return at - (at - low) * factor, at + (high - at) * factor


def _inside(part: Span, whole: Span) -> Span:
    """Return the part moved into the whole; the whole, if it is larger."""
    low, high = part
    size = min(high - low, whole[1] - whole[0])
    low = min(max(low, whole[0]), whole[1] - size)
    return low, low + size


def _rounded(part: Span, *, log: bool) -> Span:
    """Return a part in the unit of its axis, by figures as round as its size allows."""
    low, high = (10**end for end in part) if log else part
    digits = -floor(log10(max(high - low, 1e-12) / 500))
    if log:
        digits = max(digits, -floor(log10(max(low, 1e-12) / 500)))
    return round(low, digits), round(high, digits)
