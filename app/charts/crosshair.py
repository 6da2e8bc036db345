"""The cursor over all servers: it follows the mouse away from lines, or is set by a key."""

from __future__ import annotations

from math import isnan, nan
from weakref import ref

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart
from app.charts.pointing import Pointing
from app.charts.readout import Readout
from app.charts.series import Quantity
from app.charts.stack import Stack

_LARGE = 0.25
"""The largest share of a plot that a list over the charts takes."""


class Crosshair:
    """Shows the values of all servers at the measured x that is nearest to the mouse, unless one
    server is selected. The key V shows them at the selected point, or hides them; left and right
    then go from value to value.
    """

    def __init__(self, stack: Stack, pointing: Pointing) -> None:
        self._stack_ref = ref(stack)
        self._pointing = pointing
        self.x = nan
        """Where it is; NaN: nowhere."""
        self._kept = False
        """It stays when the mouse leaves."""
        self._gives_way = False
        """The mouse is at a line, whose card is shown in its place."""
        self._by = Quantity.REPLIES
        """The chart whose values decide the order."""
        self._readout: Readout | None = None

    @property
    def _stack(self) -> Stack:
        stack = self._stack_ref()
        assert stack is not None
        return stack

    @property
    def readout(self) -> Readout:
        """Created on first use."""
        if self._readout is None:
            stack = self._stack
            scale = max(1.0, 0.8 * stack.sizes.scale)
            self._readout = Readout(stack.theme, stack, scale)
        return self._readout

    def is_readout(self, widget: QWidget) -> bool:
        return widget is self._readout

    @property
    def _first(self) -> Chart:
        return self._stack.charts[self._stack.drawn.charts[0]]

    def cross(self, quantity: Quantity, x: float) -> None:
        """Handle the mouse in a chart at x, at no line; NaN: it left."""
        if self._pointing.server or self._kept:
            return
        if isnan(x) or self._first.highlighted:
            self.hide()
            return
        self._by = quantity
        self._show(self._nearest(x))

    def give_way(self, server: str) -> None:
        """Handle the mouse at a server's line; empty: at none. A list that is kept comes back."""
        self._gives_way = bool(server)
        if not self._kept:
            return
        if server:
            self.readout.hide()
        elif self.readout.isHidden():
            self._pointing.hide_card()
            self._show(self.x)

    def hide(self) -> None:
        self._kept = False
        if self._readout is not None and not isnan(self.x):
            self._readout.hide()
            if not self._pointing.server:
                self._point(nan)
        self.x = nan

    def again(self) -> None:
        """Handle other data, another part or another size."""
        if not isnan(self.x):
            self._show(self.x)

    def renew(self) -> None:
        """Apply other colours, or another size."""
        if self._readout is not None:
            self._readout.deleteLater()
            self._readout = None
        self.again()

    def follow(self) -> None:
        """Handle another selected point."""
        if self._kept and not isnan(self._pointing.rate):
            self._show(self._pointing.rate)
            self._pointing.hide_card()

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key; False: it has no meaning here."""
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        key = event.key()
        if plain and key == Qt.Key.Key_V:
            self._toggle()
            return True
        sideways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if plain and self._kept and not self._pointing.server and key in sideways:
            self._step(sideways[Qt.Key(key)])
            return True
        if self._kept and key in (Qt.Key.Key_Escape, Qt.Key.Key_Backspace):
            self._toggle()
            return True
        return False

    # Implementation

    def _toggle(self) -> None:
        if self._kept:
            self.hide()
            self._pointing.forget()
            self._pointing.again()
            return
        low, high, _, _ = self._first.limits
        rate = self._pointing.rate
        xs = self._measured()
        if not len(xs):
            return
        drawn = self._first.across(xs)
        middle = float(xs[np.abs(drawn - (low + high) / 2).argmin()])
        self._kept, self._gives_way = True, False
        self._show(middle if isnan(rate) else rate)
        self._pointing.hide_card()
        self._announce()

    def _step(self, step: int) -> None:
        xs = self._measured()
        if len(xs):
            at = int(np.abs(xs - self.x).argmin())
            self._show(float(xs[min(max(at + step, 0), len(xs) - 1)]))
            self._announce()

    def _measured(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return where visible servers have points, in the part that is shown."""
        chart = self._first
        shown = [c.values.x for id_, c in chart.curves.items() if id_ not in chart.hidden]
        xs = np.unique(np.concatenate(shown)) if shown else np.empty(0)
        drawn = chart.across(xs)
        inside: np.ndarray[tuple[int], np.dtype[np.float64]] = xs[
            (drawn >= chart.limits[0]) & (drawn <= chart.limits[1])
        ]
        return inside

    def _nearest(self, x: float) -> float:
        chart, xs = self._first, self._measured()
        if not len(xs):
            return nan
        at = chart.at_across(x)
        return float(xs[np.abs(chart.across(xs) - at).argmin()])

    def _point(self, x: float) -> None:
        for chart in self._stack.charts.values():
            chart.point_to("", x)

    def _show(self, x: float) -> None:
        if isnan(x):
            self.hide()
            return
        stack = self._stack
        charts = [chart for chart in stack.charts.values() if chart.isVisibleTo(stack)]
        by = stack.charts[self._by]
        self.x = x
        if not self._pointing.server:
            self._point(x)
        self.readout.display(stack.drawn, charts, x, by if by in charts else charts[0])
        self._place(charts, x)
        self.readout.setVisible(not self._gives_way)
        self.readout.raise_()
        stack.setAccessibleDescription(self.readout.accessibleName())

    def _place(self, charts: list[Chart], x: float) -> None:
        """Place the list in the column beside the charts, unless it is small, or there is none."""
        stack, readout = self._stack, self.readout
        size, plot = readout.float(), charts[0].plot_rect()
        large = size.width() * size.height() > _LARGE * plot.width() * plot.height()
        column = stack.beside if large and stack.beside and stack.beside.isVisible() else None
        if readout.parent() is not (column or stack):
            readout.setParent(column or stack)
        if column:
            legend = stack.legend if stack.legend and stack.legend.isVisible() else None
            readout.fill(column.size(), legend.height() if legend else 0)
        else:
            readout.move(stack.beside_cursor(size, x))

    def _announce(self) -> None:
        description = self.readout.accessibleName()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._stack, description))
