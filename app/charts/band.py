"""A second percentile beside the one that is chosen: a thin line, and the band between the two."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPolygonF

from app.charts.clipping import runs
from app.charts.curve import Curve
from app.charts.plot import Plot
from app.charts.strokes import stroke


def paint(chart: Plot, painter: QPainter, curve: Curve) -> None:
    """Paint one server's band in the scene's pixels; nothing where there is none."""
    beside, values = curve.beside, curve.values
    if beside is None or len(beside.x) != len(values.x):
        return
    whole, room = QPainterPath(), QPainterPath()
    for first, end in runs(~(np.isnan(values.y) | np.isnan(beside.y))):
        there, back = (
            [QPointF(x, y) for x, y in chart.pixels(line.x[first:end], line.y[first:end]).tolist()]
            for line in (values, beside)
        )
        whole.addPolygon(QPolygonF([*there, *reversed(back)]))
        whole.closeSubpath()
    left, top, right, foot = chart.box()
    room.addRect(QRectF(QPointF(left, top), QPointF(right, foot)))
    painter.setPen(Qt.PenStyle.NoPen)
    # What writes SVG does not clip.
    painter.fillPath(whole.intersected(room), curve.style.tint(0.16))
    stroke(painter, chart.stretches(beside), curve.style.pen(max(1.0, chart.sizes.px(1))))
