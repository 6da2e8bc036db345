"""The layer under the lines: header, grid, axes, the client limit, the ideal line."""

from __future__ import annotations

from math import atan2, ceil, degrees, hypot, log10

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app.charts import labels, scales, words
from app.charts.drawing import draw_text, text_width
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.colour import with_opacity
from app.theme import Weight, font
from workbench.analysis.results import PointResult, View

_IDEAL = "ideal: every call answered"
_LARGE = "large: sustained rate"
_PEAK = "large: peak"
_HOLLOW = "hollow: unreliable"
_FAULTY = "crossed: faulty"
_RINGED = "ringed: audit failed"
_FEW = "hollow: too few samples"
_CONTROLS = 424.0
"""Unscaled, right of the title of the response time chart: the window's controls."""
_RARELY_AT_TIMEOUT = 0.6
"""Up to this share of the rates, few lines reach the timeout."""
_BETWEEN_MARKS = 62.0
"""Unscaled, below the lowest chart, between the middles of two figures."""
_MOST_VALUES = 12
"""Values of an axis other than rates that are marked one by one."""
_NO_CONTROLS = 2.0
"""Height of the controls in pictures and presentations."""
_ABOVE_IDEAL = 14.0
"""Unscaled, from the line to the middle of its text."""


class Ground:
    """Paints a chart's background in the scene's pixels."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart
        self._marks_of: object = None
        self._marks_explained: tuple[str, ...] = ()

    def key(self) -> object:
        chart = self._chart
        size = chart.viewport().size().toTuple(), chart.plot_rect().getRect()
        ratio = chart.devicePixelRatioF()
        shown = (chart.view_shown, chart.log, chart.model.axis.title)
        empty = not any(len(curve.values.x) for curve in chart.curves.values())
        texts = self._hint(), self._head()
        return size, ratio, chart.limits, chart.ceiling, shown, empty, texts, self._timeout_ms()

    def words(self) -> list[labels.Box]:
        """The boxes of texts other than labels: the header, the timeout, and the ideal line's as
        several boxes in a row.
        """
        chart = self._chart
        found = [(0.0, 0.0, self._head()[-1], chart.sizes.px(20))]
        if (timeout := self._timeout_ms()) is not None:
            text, size, at = self._timeout_text(timeout)
            half = chart.sizes.px(6)
            found.append((at.x(), at.y() - half, at.x() + text_width(text, size), at.y() + half))
        share, half = self._ideal_text()
        if not half:
            return found
        last, px = chart.limits[1], chart.sizes.px
        first, end = (chart.at(last * s, last * s) for s in (share - half, share + half))
        way = end - first
        length = max(1.0, hypot(way.x(), way.y()))
        aside = QPointF(way.y(), -way.x()) * px(_ABOVE_IDEAL) / length
        count, r = ceil(length / px(8)), px(7)
        middles = (first + aside + way * n / count for n in range(count + 1))
        return [*found, *((at.x() - r, at.y() - r, at.x() + r, at.y() + r) for at in middles)]

    def paint(self, painter: QPainter) -> None:
        chart = self._chart
        theme, sizes, plot = chart.theme, chart.sizes, chart.plot_rect()
        px = sizes.px
        painter.save()
        painter.fillRect(QRectF(chart.viewport().rect()), QColor(theme.card))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_head(painter)
        hair = QPen(QColor(theme.line), max(1.0, px(0.8)))
        for value, text in self._value_ticks():
            y = round(chart.at(0, value).y()) + 0.5
            painter.setPen(hair)
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            where = QPointF(plot.left() - px(8), y)
            draw_text(painter, where, text, sizes.axis_font, theme.muted, "right")
        if chart.lowest:
            self._paint_rates(painter)
        self._paint_ceiling(painter)
        self._paint_timeout(painter)
        if chart.has_ideal:
            self._paint_ideal(painter)
        self._paint_hint(painter)
        painter.restore()

    def _hint(self) -> str:
        """Return the text shown in place of lines; empty: there are lines, or the first point is
        being drawn.
        """
        chart = self._chart
        first, text = chart.quantity is Quantity.REPLIES, ""
        if not any(len(curve.values.x) for curve in chart.curves.values()):
            over = chart.model.over
            text = (
                ("No complete points." if over else "Points appear here during the run.")
                if first
                else ""
            )
        elif chart.curves.keys() <= chart.hidden:
            text = "All servers are hidden. Press 0 to show them." if first else ""
        elif not len(chart.known()):
            answered = any(s.most and s.most.replies_per_s for s in chart.model.series.values())
            text = (
                "The load tool does not report response times."
                if answered
                else "No replies, so no response times."
            )
        return text if text and chart.running_at() is None else ""

    def _paint_hint(self, painter: QPainter) -> None:
        chart, text = self._chart, self._hint()
        if not text:
            return
        px, theme, plot = chart.sizes.px, chart.theme, chart.plot_rect()
        size = font(px(13))
        box = QRectF(0, 0, text_width(text, size) + px(24), px(28))
        box.moveCenter(plot.center())
        if chart.has_ideal:  # below the line y = x
            box.moveBottomRight(plot.bottomRight() - QPointF(px(12), plot.height() / 10))
        painter.fillRect(box, QColor(theme.card))
        draw_text(painter, box.center(), text, size, theme.muted, "middle")

    def _paint_head(self, painter: QPainter) -> None:
        chart = self._chart
        sizes, theme = chart.sizes, chart.theme
        title, unit, x, _ = self._head()
        y = sizes.px(11)
        draw_text(painter, QPointF(sizes.px(1), y), title, self._title_font(), theme.text)
        draw_text(painter, QPointF(x, y), unit, font(sizes.px(12)), theme.muted)

    def _head(self) -> tuple[str, str, float, float]:
        """Return (title, text beside it, start, end), with the text from start to end in pixels."""
        chart, px = self._chart, self._chart.sizes.px
        title, unit = chart.title_text()
        size, x = font(px(12)), text_width(title, self._title_font()) + px(9)
        controls = chart.quantity is Quantity.TIME and chart.sizes.controls > _NO_CONTROLS
        room = chart.width() - x - px(_CONTROLS) * controls
        keys, brief = self._marks(), unit.partition(",")[0]
        forms = ((unit, *keys), (brief, *keys), (brief, *keys[-1:]), (unit,))
        texts = ["  ·  ".join(form) for form in forms]
        fits = (each for each in texts if text_width(each, size) <= room)
        shown = next(fits, texts[-1])
        return title, shown, x, x + text_width(shown, size)

    def _title_font(self) -> QFont:
        sizes = self._chart.sizes
        return font(sizes.px(sizes.head), Weight.DemiBold)

    def _marks(self) -> tuple[str, ...]:
        """Return explanations of large, hollow, ringed and crossed markers, if there are any."""
        chart = self._chart
        model, view = chart.model, chart.view_shown
        key = model, model.version, view
        if self._marks_of != key:
            self._marks_of = key
            servers = model.series.values()
            each = [reading for series in servers for reading in series.shown]
            ringed = (
                reading.trusted and bool(series.failed_audits(reading))
                for series in servers
                for reading in series.shown
            )
            found = {
                Quantity.REPLIES: (
                    (
                        _PEAK if model.axis.bounds else _LARGE,
                        (series.knee is not None for series in servers),
                    ),
                    (_HOLLOW, (not reading.trusted for reading in each)),
                    (_RINGED, ringed),
                    (_FAULTY, (reading.verdict == "faulty" for reading in each)),
                ),
                Quantity.TIME: ((_FEW, (r.trusted and _few(r, view) for r in each)),),
                Quantity.ERRORS: (),
            }
            self._marks_explained = tuple(
                explanation for explanation, any_ in found[chart.quantity] if any(any_)
            )
        return self._marks_explained

    def _value_ticks(self) -> list[tuple[float, str]]:
        chart = self._chart
        height = chart.plot_rect().height() / chart.sizes.scale
        _, _, low, high = chart.limits
        if chart.metric == Quantity.ERRORS.value:
            marks = (0, 25, 50, 75, 100) if height > 90 else (0, 50, 100)
            return [(mark, f"{mark} %") for mark in marks]
        if chart.quantity is not Quantity.TIME:
            most = max(5 if chart.quantity is Quantity.REPLIES else 2, int(height / 30))
            return [(v, words.count(v)) for v in scales.ticks(high, most)]
        if chart.log:
            marks = scales.log_ticks(10**low, 10**high, 13 * (high - low) / max(1.0, height))
        else:
            marks = scales.ticks(high, max(2, int(height / 30)))
        return [(v, _time_text(v)) for v in marks]

    def _paint_rates(self, painter: QPainter) -> None:
        chart = self._chart
        sizes, theme, plot = chart.sizes, chart.theme, chart.plot_rect()
        px = sizes.px
        for rate in self.marks_across():
            at = QPointF(chart.at(rate, 1).x(), plot.bottom() + px(13))
            # More than ten names need the room right of the plot's lower corner too.
            if len(chart.curves) <= 10 or at.x() <= plot.right() - px(12):
                draw_text(painter, at, words.count(rate), sizes.axis_font, theme.muted, "middle")
        at = QPointF(plot.center().x(), plot.bottom() + px(34))
        draw_text(painter, at, chart.model.axis.title, font(px(12)), theme.muted, "middle")

    def marks_across(self) -> list[float]:
        """Return the marks below the lowest chart: the planned values where they are no rates and
        few, otherwise round ones.
        """
        chart = self._chart
        axis, (low, last, _, _) = chart.model.axis, chart.limits
        least, width = chart.sizes.px(_BETWEEN_MARKS), max(1.0, chart.plot_rect().width())
        if not axis.per_second and 0 < len(axis.values) <= _MOST_VALUES:
            return scales.apart(axis.values, [chart.at(x, 1).x() for x in axis.values], least)
        if axis.scale == "log":
            return scales.log_ticks(10**low, 10**last, least / width * (last - low))
        whole = not axis.per_second and all(x.is_integer() for x in axis.values)
        return scales.ticks(last, max(2, min(10, int(width / least))), whole=whole)

    def _paint_ceiling(self, painter: QPainter) -> None:
        chart = self._chart
        ceiling = chart.ceiling
        if ceiling is None:
            return
        plot, px = chart.plot_rect(), chart.sizes.px
        area = QRectF(plot)
        area.setLeft(chart.at(ceiling, 1).x())
        muted = chart.theme.muted
        painter.fillRect(area, with_opacity(muted, 0.10))
        painter.setPen(QPen(with_opacity(muted, 0.22), px(0.9)))
        painter.drawLines(_hatch(area, px(8)))
        painter.setPen(QPen(QColor(muted), px(1)))
        painter.drawLine(area.topLeft(), area.bottomLeft())

    def _timeout_ms(self) -> float | None:
        """Return the timeout, where lines end; None: it is not within this chart."""
        chart = self._chart
        timeout, (_, _, low, high) = chart.model.timeout_ms, chart.limits
        inside = low < (log10(timeout) if chart.log else timeout) <= high
        known = chart.quantity is Quantity.TIME and chart.model.has_timeout
        return timeout if known and inside else None

    def _timeout_text(self, timeout: float) -> tuple[str, QFont, QPointF]:
        """Return the text, its font and its place: above its line, where no point can be, to the
        right of a short header.
        """
        chart, px = self._chart, self._chart.sizes.px
        text, size = f"timeout {_time_text(timeout)}", font(px(11), Weight.Medium)
        line, plot = chart.at(0, timeout), chart.plot_rect()
        x, last = self._head()[-1] + px(14), plot.left() + _RARELY_AT_TIMEOUT * plot.width()
        if x + text_width(text, size) > last:
            x = line.x() + px(5)
        return text, size, QPointF(x, line.y() - px(8))

    def _paint_timeout(self, painter: QPainter) -> None:
        chart = self._chart
        timeout = self._timeout_ms()
        if timeout is None:
            return
        pen = QPen(QColor(chart.theme.muted), chart.sizes.px(1))
        pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        y = round(chart.at(0, timeout).y()) + 0.5
        plot = chart.plot_rect()
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        text, size, where = self._timeout_text(timeout)
        draw_text(painter, where, text, size, chart.theme.muted)

    def _paint_ideal(self, painter: QPainter) -> None:
        chart = self._chart
        plot, px, last = chart.plot_rect(), chart.sizes.px, chart.limits[1]
        pen = QPen(QColor(chart.theme.muted), px(1.2))
        pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        painter.drawLine(chart.at(0, 0), chart.at(last, last))
        share, half = self._ideal_text()
        if not half:
            return
        painter.save()
        painter.translate(chart.at(last * share, last * share))
        painter.rotate(-degrees(atan2(plot.height(), plot.width())))
        size = font(px(11), Weight.Medium)
        draw_text(painter, QPointF(0, -px(_ABOVE_IDEAL)), _IDEAL, size, chart.theme.muted, "middle")
        painter.restore()

    def _ideal_text(self) -> tuple[float, float]:
        """Return (middle, half length) of the text, as shares of the ideal line; 0: there is no
        room.
        """
        chart = self._chart
        if not chart.has_ideal:
            return 0.0, 0.0
        plot, last = chart.plot_rect(), chart.limits[1]
        width = text_width(_IDEAL, font(chart.sizes.px(11), Weight.Medium))
        half = width / 2 / max(1.0, hypot(plot.width(), plot.height()))
        empty = not any(len(curve.values.x) for curve in chart.curves.values())
        most = (chart.ceiling or last) / last - half - 0.03
        share = min(0.8 if empty else chart.ideal_at, most)
        return (share, half) if share - half >= 0.3 else (0.0, 0.0)


def _hatch(area: QRectF, apart: float) -> list[QLineF]:
    """Return lines at 45 degrees that end at the edges of the area: Qt's SVG painter
    does not clip.
    """
    lines = []
    for x in np.arange(area.left() - area.height(), area.right(), apart):
        left, right = max(x, area.left()), min(x + area.height(), area.right())
        foot = area.bottom() + x
        lines.append(QLineF(left, foot - left, right, foot - right))
    return lines


def _few(reading: PointResult, view: View) -> bool:
    """Whether a response time is supported by too few replies."""
    return reading.times(view.clock) is not None and not reading.supported(view)


def _time_text(ms: float) -> str:
    if ms <= 0:
        return "0"
    value, unit = (ms / 1000, "s") if ms >= 1000 else (ms, "ms") if ms >= 0.1 else (ms * 1e3, "µs")
    return f"{value:g} {unit}"
