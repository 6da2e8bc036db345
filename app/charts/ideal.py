"""The line y = x, along which every call is answered, and its text."""

from __future__ import annotations

from math import atan2, ceil, cos, degrees, sin

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app.charts import labels
from app.charts.drawing import draw_text, stroke, text_width
from app.charts.plot import Plot
from app.theme import Weight, font

_TEXT = "ideal: every call answered"
_ABOVE = 14.0
"""Unscaled, from the line to the middle of its text."""


class Ideal:
    """Paints the line in the scene's pixels."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart

    def boxes(self) -> list[labels.Box]:
        """Return the boxes of the text, several in a row."""
        if (placed := self._place()) is None:
            return []
        middle, angle, half = placed
        px = self._chart.sizes.px
        count, r = ceil(2 * half / px(8)), px(7)
        aside = QPointF(sin(angle), -cos(angle)) * px(_ABOVE)
        along = QPointF(cos(angle), sin(angle))
        places = (
            middle + aside + along * float(way) for way in np.linspace(-half, half, count + 1)
        )
        return [(at.x() - r, at.y() - r, at.x() + r, at.y() + r) for at in places]

    def paint(self, painter: QPainter) -> None:
        chart, line = self._chart, self._chart.ideal()
        px, muted = chart.sizes.px, chart.theme.muted
        pen = QPen(QColor(muted), px(1.2))
        pen.setStyle(Qt.PenStyle.DotLine)
        stroke(painter, line, pen)
        if (placed := self._place()) is None:
            return
        middle, angle, _ = placed
        painter.save()
        painter.translate(middle)
        painter.rotate(degrees(angle))
        draw_text(painter, QPointF(0, -px(_ABOVE)), _TEXT, self._font(), muted, "middle")
        painter.restore()

    def _font(self) -> QFont:
        return font(self._chart.sizes.px(11), Weight.Medium)

    def _place(self) -> tuple[QPointF, float, float] | None:
        """Return the point of the line at the middle of its text, its angle in radians, and half
        the text's length; None: there is no room.
        """
        chart, line = self._chart, self._chart.ideal()
        if not chart.has_ideal or len(line) < 2:
            return None
        steps = np.hypot(*np.diff(line, axis=0).T)
        along = np.concatenate(([0.0], np.cumsum(steps)))
        half = text_width(_TEXT, self._font()) / 2
        empty = not any(len(curve.values.x) for curve in chart.curves.values())
        end = float(along[-1])
        if chart.ceiling is not None:
            end = float(np.interp(chart.at(chart.ceiling, 1).x(), line[:, 0], along))
        share = 0.8 if empty else chart.ideal_at
        at = min(share * along[-1], end - half - 0.03 * along[-1])
        if at - half < 0.3 * along[-1]:
            return None
        first, last = (
            np.array([np.interp(s, along, line[:, i]) for i in (0, 1)])
            for s in (at - half, at + half)
        )
        x, y = (first + last) / 2
        return QPointF(x, y), atan2(*(last - first)[::-1]), half
