"""What moves over the lines: the highlighted server, and the running point with its halo."""

from __future__ import annotations

from functools import lru_cache
from math import isnan, nan

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from app.charts.curve import PALE, Curve, paint_band
from app.charts.drawing import draw_marker
from app.charts.plot import DIM_RUNNING, Plot
from app.charts.series import Quantity
from app.charts.strokes import clipped, stroke
from app.colour import mix
from app.theme import SeriesStyle
from workbench.analysis.over_time import Running

_HALO = 24.0
"""Unscaled, more than the radius of a halo."""


class Moving:
    """Paints them in the scene's pixels."""

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
        chart = self._chart
        sweeping = chart.model.sweeping
        curve = chart.curves.get(chart.model.running_server)
        if sweeping is None or curve is None or curve.series.id in chart.hidden:
            return
        if sweeping.pass_number > 1:
            values = curve.series.values(chart.quantity, chart.view_shown)
            pen = curve.style.pen(chart.sizes.px(1.2))
            pen.setColor(QColor(mix(chart.theme.card, curve.style.colour, PALE)))
            stroke(painter, chart.stretches(values), pen)

    def _paint_highlighted(self, painter: QPainter, curve: Curve) -> None:
        chart = self._chart
        painter.save()
        painter.setClipRect(chart.clip_rect(), Qt.ClipOperation.IntersectClip)
        if not chart.all_have_bands:
            paint_band(chart, painter, curve)
        self._paint_bars(painter, curve)
        if chart.model.bars:
            painter.restore()
            return
        curve.draw_markers(painter, chart.sizes, 4.8)
        reading = chart.reading(curve.series.id, chart.cursor_rate)
        value = reading.value(chart.metric, chart.view_shown) if reading else nan
        at = chart.at(chart.cursor_rate, value, curve.series.id) if not isnan(value) else None
        if at is not None and chart.contains(at):
            self._paint_ring(painter, curve, at)
        painter.restore()

    def _paint_knees(self, painter: QPainter) -> None:
        """Draw the markers at sustained rates again, which the running line and its markers would
        cover.
        """
        chart = self._chart
        if chart.quantity is not Quantity.REPLIES or chart.highlighted:
            return
        for curve in chart.still():
            curve.draw_knee(painter, chart.sizes)

    def _paint_ring(self, painter: QPainter, curve: Curve, at: QPointF) -> None:
        """Draw a ring around the selected point; it stays hollow where the point must not be
        trusted.
        """
        chart = self._chart
        px, trusted = chart.sizes.px, curve.trusts(chart.cursor_rate)
        painter.setPen(QPen(QColor(chart.theme.text), px(2)))
        painter.setBrush(curve.style.brush() if trusted else QColor(chart.theme.card))
        painter.drawEllipse(at, px(6.5), px(6.5))
        if not trusted:
            draw_marker(painter, curve.style, at, px(3.2), chart.theme.card, hollow=True)

    def _paint_bars(self, painter: QPainter, curve: Curve) -> None:
        """Draw the range from the lowest to the highest pass."""
        chart = self._chart
        px, metric = chart.sizes.px, chart.metric
        for reading in curve.series.shown:
            spread = reading.spread(metric, chart.view_shown)
            if spread is None:
                continue
            low, high = (chart.at(reading.x, value, curve.series.id) for value in spread)
            inside = chart.contains(low) or chart.contains(high)
            if low.y() - high.y() > px(3) and inside:
                painter.setPen(QPen(curve.style.tint(0.8), px(1.4)))
                painter.drawLine(low, high)
                for end in (low, high):
                    painter.drawLine(end - QPointF(px(2.5), 0), end + QPointF(px(2.5), 0))

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
            paint_band(chart, painter, curve)
        if curve.series.id != chart.highlighted:
            curve.draw_markers(painter, chart.sizes)
        self._paint_knees(painter)
        value = running.value(chart.metric, chart.view_shown) if running else nan
        known = running is not None and not isnan(value)
        at = chart.at(running.x, value, running.server) if running and known else None
        if running and at is not None and not chart.contains(at):
            pass  # the zoom leaves it out
        elif running and at is not None:
            points = curve.pixels()
            before = points[curve.values.x < running.x]
            if len(before):
                lead = np.vstack((before[-1], at.toTuple()))
                sure = curve.trusts(curve.values.x[len(before) - 1])
                pen = curve.pen(chart.sizes.running_line, sure=sure)
                stroke(painter, clipped(lead, chart.box()), pen)
            self._paint_halo(painter, curve, at)
        elif running and chart.metric == Quantity.ERRORS.value and running.errors_pct is not None:
            self._paint_undecided(painter, curve, running, running.errors_pct)
        elif chart.paused:
            self._paint_waiting(painter, curve)
        painter.restore()

    def _paint_undecided(
        self, painter: QPainter, curve: Curve, running: Running, span: tuple[float, float]
    ) -> None:
        """Draw the range from the errors so far to the errors if no open call is answered."""
        chart = self._chart
        low, high = (chart.at(running.x, pct) for pct in span)
        pen = curve.pen(chart.sizes.running_line * 2, sure=False)
        painter.setPen(pen)
        painter.drawLine(low, high)
        pen.setStyle(Qt.PenStyle.SolidLine)
        painter.setPen(pen)
        arm = QPointF(chart.sizes.px(5), 0)
        for end in (low, high):
            painter.drawLine(end - arm, end + arm)

    def _paint_waiting(self, painter: QPainter, curve: Curve) -> None:
        """Leave the halo at the last point in a pause, hollow."""
        points = curve.pixels()
        known = points[~np.isnan(points).any(axis=1)]
        if len(known) and self._chart.contains(at := QPointF(*known[-1])):
            self._paint_halo(painter, curve, at)

    def _paint_halo(self, painter: QPainter, curve: Curve, at: QPointF) -> None:
        chart = self._chart
        # Large translucent circles take a millisecond, a cached pixmap less.
        ratio = chart.devicePixelRatioF()
        scale, card = chart.sizes.scale, chart.theme.card
        halo = _halo(curve.style, card, scale, chart.paused, ratio)
        half = halo.width() / ratio / 2
        painter.drawPixmap(at - QPointF(half, half), halo)


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
