"""What moves over the lines: the highlighted server, and the running point with its halo."""

from __future__ import annotations

from functools import lru_cache
from math import isnan, nan

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from app.charts.curve import PALE, Curve
from app.charts.drawing import draw_marker
from app.charts.plot import DIM_RUNNING, Plot
from app.charts.series import Quantity
from app.charts.strokes import clipped, stroke
from app.theme import SeriesStyle

RUNNING = 1.25
"""How much wider the running line is than others."""
_HALO = 24.0
"""Unscaled, more than the radius of a halo."""


class Moving:
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
        chart = self._chart
        highlighted = chart.curves.get(chart.highlighted)
        if highlighted is not None and chart.highlighted not in chart.hidden:
            self._paint_highlighted(painter, highlighted)
        running = chart.curves.get(chart.model.running_server)
        if running is not None and running.series.id not in chart.hidden:
            self._paint_running(painter, running)

    def paint_earlier(self, painter: QPainter) -> None:
        """Draw the previous result beneath a running second pass, thin and pale."""
        chart, sweeping = self._chart, self._chart.model.sweeping
        curve = chart.curves.get(chart.model.running_server)
        if sweeping and curve and sweeping.pass_number > 1 and curve.series.id not in chart.hidden:
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
        points, line = curve.pixels(), RUNNING * px(chart.sizes.line)
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
    middle = QPointF(0, 0)
    for radius, opacity in ((17.5, 0.13), (12, 0.24), (8.5, 0.43)):
        painter.setBrush(style.brush(opacity))
        painter.drawEllipse(middle, radius, radius)
    outer, inner = (QColor(card), style.tint()) if paused else (style.tint(), QColor(card))
    painter.setPen(QPen(QColor(card), 1.5))
    painter.setBrush(outer)
    painter.drawEllipse(middle, 6, 6)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(inner)
    painter.drawEllipse(middle, 2, 2)
    painter.end()
    return halo
