"""The line y = x, along which every call is answered, and its text."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, ceil, cos, degrees, sin

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app.charts import labels
from app.charts.clipping import Polyline
from app.charts.drawing import draw_text, text_width
from app.charts.plot import Plot
from app.charts.published import crosses
from app.charts.strokes import stroke
from app.theme import Weight, font

_TEXT = "ideal: every call answered"
_ABOVE = 14.0
"""Unscaled, from the line to the middle of its text."""
_STEP = 12.0
"""Unscaled, along the line: how far the text moves to evade published figures."""


class Ideal:
    """Paints the line in the scene's pixels."""

    def __init__(self, chart: Plot, head: Callable[[], labels.Box]) -> None:
        self._chart, self._head = chart, head
        self._of: object = None
        """What its place is computed for."""
        self._line: Polyline = np.empty((0, 2))
        self._placed: tuple[QPointF, float] | None = None
        self._boxes: list[labels.Box] = []

    def boxes(self) -> list[labels.Box]:
        """Return the boxes of the text, several in a row."""
        self._fit()
        return self._boxes

    def paint(self, painter: QPainter, *, with_text: bool) -> None:
        self._fit()
        px, muted = self._chart.sizes.px, self._chart.theme.muted
        pen = QPen(QColor(muted), px(1.2))
        pen.setStyle(Qt.PenStyle.DotLine)
        stroke(painter, self._line, pen)
        if self._placed is None or not with_text:
            return
        middle, angle = self._placed
        painter.save()
        painter.translate(middle)
        painter.rotate(degrees(angle))
        draw_text(painter, QPointF(0, -px(_ABOVE)), _TEXT, self._font(), muted, "middle")
        painter.restore()

    def _font(self) -> QFont:
        return font(self._chart.sizes.px(11), Weight.Medium)

    def _fit(self) -> None:
        """Compute where line and text are, unless nothing has moved."""
        chart = self._chart
        empty = not any(len(curve.values.x) for curve in chart.curves.values())
        marks, head = crosses(chart), self._head()
        of = chart.frame, chart.ceiling, chart.has_ideal, chart.sizes, empty, marks, head
        if of == self._of:
            return
        self._of, self._placed, self._boxes = of, None, []
        drawn = chart.has_ideal and not empty
        self._line = chart.ideal() if drawn else np.empty((0, 2))
        if len(self._line) < 2:
            return
        steps = np.hypot(*np.diff(self._line, axis=0).T)
        along = np.concatenate(([0.0], np.cumsum(steps)))
        half, end = text_width(_TEXT, self._font()) / 2, float(along[-1])
        most = chart.ideal_at * end
        if chart.ceiling is not None:
            end = float(np.interp(chart.at(chart.ceiling, 1).x(), self._line[:, 0], along))
        most = min(most, end - half - 0.03 * along[-1])
        least = half + 0.3 * along[-1]
        shares = np.arange(most, least, -chart.sizes.px(_STEP)).tolist()
        for place, boxes in (self._at(share, half, along) for share in shares):
            if any(labels.touch(box, head) for box in boxes):
                continue
            free = not any(labels.touch(a, b) for a in boxes for b in marks)
            if free or self._placed is None:
                self._placed, self._boxes = place, boxes
            if free:
                return

    def _at(
        self, at: float, half: float, along: NDArray[np.float64]
    ) -> tuple[tuple[QPointF, float], list[labels.Box]]:
        """Return the text's place and its boxes, with its middle so far `along` the line."""
        first, last = (
            np.array([np.interp(s, along, self._line[:, i]) for i in (0, 1)])
            for s in (at - half, at + half)
        )
        middle, angle = (first + last) / 2, atan2(*(last - first)[::-1])
        px = self._chart.sizes.px
        ways = np.linspace(-half, half, ceil(2 * half / px(8)) + 1)[:, None]
        aside = np.array([sin(angle), -cos(angle)]) * px(_ABOVE)
        places = middle + aside + np.array([cos(angle), sin(angle)]) * ways
        r = px(7)
        boxes = [(x - r, y - r, x + r, y + r) for x, y in places.tolist()]
        return (QPointF(*middle.tolist()), angle), boxes
