"""A figure over time, as a line with a scale: of a server's machine, and of the last seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.charts.drawing import draw_hair, draw_text
from app.painted import Painted
from app.theme import Weight, font, with_opacity
from app.widgets import Elided, beside, column, label

_SCALE_PX = 42.0
"""The width of the scale left of a line."""
_BOTH_ENDS = 26.0
"""From this height a line has room for both ends of its scale."""


@dataclass(frozen=True)
class Reading:
    figure: str
    unit: str
    values: Sequence[float]
    top: float
    scale: str
    """The top in words: "512"."""
    beside: Sequence[float] = ()
    """Values drawn dotted; empty: none."""


NOTHING = Reading("", "", (), 1.0, "")


class Trace(QWidget):
    """A title, the latest figure, and below them the line."""

    def __init__(self, name: str, about: str) -> None:
        super().__init__()
        self._name = name
        title = label(name, 12, Weight.DemiBold)
        about_label = Elided(12, tone="muted", droppable=True)
        about_label.show_text(about)
        self._figure = label("", 13, Weight.DemiBold, figures=True)
        self._unit = label("", 12, tone="muted")
        self._plot = _Plot()
        head = beside(title, (about_label, 1), self._figure, self._unit, gap=6)
        column(self, head, (self._plot, 1), gap=2)

    def display(self, reading: Reading, colour: str, slots: int) -> None:
        """`slots`: the number of values for which the width is laid out."""
        self._figure.setText(reading.figure)
        self._unit.setText(reading.unit)
        self.setAccessibleName(f"{self._name}: {reading.figure} {reading.unit}")
        self._plot.display(reading, colour, slots)


class _Plot(Painted):
    def __init__(self) -> None:
        super().__init__()
        self._reading, self._colour, self._slots = NOTHING, "", 1
        self.setMinimumHeight(20)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def display(self, reading: Reading, colour: str, slots: int) -> None:
        self._reading, self._colour, self._slots = reading, colour, slots
        self.update()

    def paint(self, painter: QPainter) -> None:
        reading, theme = self._reading, self.theme
        if not reading.values:
            return
        room = QRectF(_SCALE_PX, 3, self.width() - 4 - _SCALE_PX, self.height() - 6)
        for y in (room.top(), room.center().y(), room.bottom()):
            draw_hair(painter, room.left(), room.right(), round(y) + 0.5, theme.line)
        low = [(room.bottom() - 2, "0")] * (room.height() >= _BOTH_ENDS)
        for y, text in ((room.top() + 2, reading.scale), *low):
            at, size = QPointF(_SCALE_PX - 6, y), font(11, figures=True)
            draw_text(painter, at, text, size, theme.muted, "right")
        line = _polygon(reading.values, reading.top, room, self._slots)
        if line.isEmpty():
            return
        under = QPolygonF(line)
        under.append(QPointF(line.last().x(), room.bottom()))
        under.append(QPointF(line.first().x(), room.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(self._colour, 0.18))
        painter.drawPolygon(under)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if any(reading.beside):
            painter.setPen(QPen(QColor(theme.soft), 1.2, Qt.PenStyle.DotLine))
            painter.drawPolyline(_polygon(reading.beside, reading.top, room, self._slots))
        painter.setPen(QPen(QColor(self._colour), 1.6))
        painter.drawPolyline(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._colour))
        painter.drawEllipse(line.last(), 3, 3)


def _polygon(values: Sequence[float], top: float, room: QRectF, slots: int) -> QPolygonF:
    """Return at most one vertex per two pixels: the highest value of those that share it. What is
    unknown (NaN) has none.
    """
    share = max(1, -(-len(values) * 2 // max(1, int(room.width()))))
    step = room.width() / max(1, slots - 1)
    line = QPolygonF()
    for first in range(0, len(values), share):
        part = values[first : first + share]
        x = room.left() + (first + len(part) - 1) * step
        if known := [value for value in part if not isnan(value)]:
            line.append(QPointF(x, room.bottom() - room.height() * min(1.0, max(known) / top)))
    return line
