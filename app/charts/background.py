"""The layer under the lines: header, grid, axes, the client limit, the ideal line."""

from __future__ import annotations

from collections.abc import Callable
from math import log10

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app.charts import labels, ticks, words
from app.charts.clipping import Polyline, Segments
from app.charts.drawing import draw_text, text_width
from app.charts.ideal import Ideal
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.charts.strokes import draw_hair, draw_segments
from app.colour import with_opacity
from app.theme import Weight, font

_HEAD_GAP = 8.0
"""Unscaled, between a header and the controls beside it."""
_NO_CONTROLS = 2.0
"""Height of the controls in pictures and presentations."""
_INSET, _NO_INSET = 4.0, 1.0
"""Unscaled, where titles begin: in the window inside the focus ring."""


class Ground:
    """Paints a chart's background in the scene's pixels."""

    def __init__(self, chart: Plot) -> None:
        self._chart, self._ideal = chart, Ideal(chart, self._head_box)
        self.flags: Callable[[], list[QRectF]] = list
        """What notes cover."""
        self.head_end: Callable[[], float] = lambda: float(chart.width())
        """Where the controls beside a header begin."""
        self._marks_of: object = None
        self._marks_explained: tuple[str, ...] = ()

    def key(self) -> object:
        chart = self._chart
        size = chart.viewport().size().toTuple(), chart.plot_rect().getRect()
        ratio = chart.devicePixelRatioF()
        shown = (chart.view_shown, chart.showing, chart.zero, chart.axis_text())
        texts = self._hint(), self._head()
        return (
            size,
            ratio,
            chart.limits,
            chart.ceiling,
            shown,
            self._is_empty,
            texts,
            self._timeout_ms(),
            chart.notes,
            tuple(self._ideal.boxes()),
        )

    def words(self) -> list[labels.Box]:
        """The boxes of texts other than labels: the header, the timeout, and the ideal line's as
        several boxes in a row.
        """
        return self._chart.settled("words", self._words)

    def _words(self) -> list[labels.Box]:
        chart = self._chart
        found = [self._head_box()]
        if (timeout := self._timeout_ms()) is not None:
            text, size, at = self._timeout_text(timeout)
            half = chart.sizes.px(6)
            found.append((at.x(), at.y() - half, at.x() + text_width(text, size), at.y() + half))
        return [*found, *self._ideal.boxes()]

    def timeout(self) -> Polyline:
        """Return the pixels of the line at the timeout; empty: it is not within this chart."""
        timeout, plot = self._timeout_ms(), self._chart.plot_rect()
        if timeout is None:
            return np.empty((0, 2))
        y = round(self._chart.at(0, timeout).y()) + 0.5
        return np.array([[plot.left(), y], [plot.right(), y]])

    def paint(self, painter: QPainter) -> None:
        chart = self._chart
        theme, sizes, plot = chart.theme, chart.sizes, chart.plot_rect()
        px = sizes.px
        painter.save()
        painter.fillRect(QRectF(chart.viewport().rect()), QColor(theme.card))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_head(painter)
        for value, text in ticks.up(chart):
            y = round(chart.at(0, value).y()) + 0.5
            draw_hair(painter, plot.left(), plot.right(), y, theme.line, max(1.0, px(0.8)))
            where = QPointF(plot.left() - px(8), y)
            draw_text(painter, where, text, sizes.axis_font, theme.muted, "right")
        if chart.lowest:
            self._paint_rates(painter)
        self._paint_ceiling(painter)
        self._paint_timeout(painter)
        if chart.has_ideal:
            boxes = (QRectF(x, y, right - x, foot - y) for x, y, right, foot in self._ideal.boxes())
            covered = any(flag.intersects(box) for box in boxes for flag in self.flags())
            self._ideal.paint(painter, with_text=not covered)
        self._paint_hint(painter)
        painter.restore()

    @property
    def _is_empty(self) -> bool:
        return not any(len(curve.values.x) for curve in self._chart.curves.values())

    def _hint(self) -> str:
        """Return the text shown in place of lines; empty: there are lines, or the first point is
        being drawn.
        """
        chart = self._chart
        first, text = chart.quantity is chart.model.charts[0], ""
        if self._is_empty:
            text = chart.model.hint if first else ""
        elif chart.curves.keys() <= chart.hidden:
            text = "All servers are hidden. Press 0 to show them." if first else ""
        elif part := self._hint_of_zoom():
            text = part
        elif not chart.is_known:
            text = chart.model.unknown(chart.metric)
        return text if text and chart.running_at() is None else ""

    def _hint_of_zoom(self) -> str:
        """Return the text where the zoom shows no line; empty: it shows one, all is shown, or the
        first chart says it of all.
        """
        chart = self._chart
        shown = [c for id_, c in chart.curves.items() if id_ not in chart.hidden]
        if not chart.showing.zoom or not chart.is_known or any(len(c.seen()) for c in shown):
            return ""
        low, high, *_ = chart.limits
        x = chart.across(np.concatenate([c.values.x for c in shown]))
        if chart.quantity is not chart.model.charts[0] and not ((low <= x) & (x <= high)).any():
            return ""
        return "Nothing measured in this part. Double-click or Ctrl+0 shows all."

    def _paint_hint(self, painter: QPainter) -> None:
        chart, text = self._chart, self._hint()
        if not text:
            return
        px, theme, plot = chart.sizes.px, chart.theme, chart.plot_rect()
        size = font(px(13))
        box = QRectF(0, 0, text_width(text, size) + px(24), px(28))
        box.moveCenter(plot.center())
        if chart.has_ideal and not self._is_empty:  # below the line y = x
            box.moveBottomRight(plot.bottomRight() - QPointF(px(12), plot.height() / 10))
        painter.fillRect(box, QColor(theme.card))
        draw_text(painter, box.center(), text, size, theme.muted, "middle")

    def _paint_head(self, painter: QPainter) -> None:
        chart = self._chart
        sizes, theme = chart.sizes, chart.theme
        title, unit, x, _ = self._head()
        y = sizes.px(11)
        draw_text(painter, QPointF(self._head_left(), y), title, self._title_font(), theme.text)
        draw_text(painter, QPointF(x, y), unit, font(sizes.px(12)), theme.muted)

    def _head(self) -> tuple[str, str, float, float]:
        """Return (title, text beside it, start, end), with the text from start to end in pixels.

        Where there is no room, parts are left out whole: first what controls and cards say, too,
        and last what hollow markers mean.
        """
        return self._chart.settled("head", self._fitted_head)

    def _fitted_head(self) -> tuple[str, str, float, float]:
        chart, px = self._chart, self._chart.sizes.px
        title, unit = chart.title_text()
        size = font(px(12))
        end = self._head_left() + text_width(title, self._title_font())
        x = end + px(8)
        room = self.head_end() - px(_HEAD_GAP) - x
        keys, brief = self._marks(), unit.partition(",")[0]
        hollow = tuple(key for key in keys if key.startswith("hollow"))
        signs = tuple(words.hollow_sign(key) for key in hollow)
        forms = (unit, *keys), (brief, *keys), (brief, *hollow), hollow, signs, (unit,), (brief,)
        texts = ("  ·  ".join(form) for form in forms if form)
        shown = next((each for each in texts if text_width(each, size) <= room), "")
        return title, shown, x, x + text_width(shown, size) if shown else end

    def _head_box(self) -> labels.Box:
        return 0.0, 0.0, self._head()[-1], self._chart.sizes.px(20)

    def _head_left(self) -> float:
        sizes = self._chart.sizes
        return sizes.px(_INSET if sizes.controls > _NO_CONTROLS else _NO_INSET)

    def _title_font(self) -> QFont:
        sizes = self._chart.sizes
        return font(sizes.px(sizes.head), Weight.DemiBold)

    def _marks(self) -> tuple[str, ...]:
        """Return explanations of large, hollow, ringed and crossed markers, if there are any."""
        chart = self._chart
        model, view = chart.model, chart.view_shown
        key = model, view, tuple(series.version for series in model.series.values())
        if self._marks_of != key:
            self._marks_of = key
            self._marks_explained = model.explains(chart.quantity, view)
        return self._marks_explained

    def _paint_rates(self, painter: QPainter) -> None:
        chart = self._chart
        sizes, theme, plot = chart.sizes, chart.theme, chart.plot_rect()
        px = sizes.px
        for rate, text in ticks.across(chart):
            x = chart.at(rate, 1).x()
            if len(chart.curves) > 10:  # names need the room right of the lower corner, too
                x = min(x, plot.right() - text_width(text, sizes.axis_font) / 2)
            at = QPointF(x, plot.bottom() + px(13))
            draw_text(painter, at, text, sizes.axis_font, theme.muted, "middle")
        at = QPointF(plot.center().x(), plot.bottom() + px(34))
        draw_text(painter, at, chart.axis_text(), font(px(12)), theme.muted, "middle")

    def _paint_ceiling(self, painter: QPainter) -> None:
        chart = self._chart
        ceiling = chart.ceiling
        if ceiling is None:
            return
        plot, px = chart.plot_rect(), chart.sizes.px
        area = QRectF(plot)
        area.setLeft(max(plot.left(), chart.at(ceiling, 1).x()))
        muted = chart.theme.muted
        painter.fillRect(area, with_opacity(muted, 0.10))
        painter.setPen(QPen(with_opacity(muted, 0.22), px(0.9)))
        draw_segments(painter, _hatch(area, px(8)))
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
        """Return the text, its font and its place: above its line, where no point can be."""
        chart, px = self._chart, self._chart.sizes.px
        text, size = f"timeout {ticks.time_text(timeout)}", font(px(11), Weight.Medium)
        left, y = chart.plot_rect().left(), chart.at(0, timeout).y()
        return text, size, QPointF(left + px(5), y - px(8))

    def _paint_timeout(self, painter: QPainter) -> None:
        chart = self._chart
        timeout = self._timeout_ms()
        if timeout is None:
            return
        pen = QPen(QColor(chart.theme.muted), chart.sizes.px(1))
        pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        painter.drawPolyline([QPointF(x, y) for x, y in self.timeout().tolist()])
        text, size, where = self._timeout_text(timeout)
        draw_text(painter, where, text, size, chart.theme.muted)


def _hatch(area: QRectF, apart: float) -> Segments:
    """Return lines at 45 degrees that end at the edges of the area: Qt's SVG painter
    does not clip.
    """
    x = np.arange(area.left() - area.height(), area.right(), apart)
    left, right = np.maximum(x, area.left()), np.minimum(x + area.height(), area.right())
    foot = area.bottom() + x
    return np.column_stack((left, foot - left, right, foot - right))
