"""What a chart says beside its lines: its header, and why it shows nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from app.charts import ticks, words
from app.charts.drawing import draw_text, text_width
from app.charts.plot import Plot
from app.theme import Weight, font

_HEAD_GAP = 8.0
"""Unscaled, between a header and the controls beside it."""
_NO_CONTROLS = 2.0
"""Height of the controls in pictures and presentations."""
_INSET, _NO_INSET = 4.0, 1.0
"""Unscaled, where titles begin: in the window inside the focus ring."""


class Head(ticks.ScaleAxis):
    """The header of a chart, as an axis at its top, and its hint."""

    def __init__(self, chart: Plot) -> None:
        super().__init__(chart, "top", lambda _: [])
        self.end: Callable[[], float] = lambda: float(chart.width())
        """Where the controls beside it begin."""
        self._fitted_for: object = None
        self._fitted = "", "", 0.0, 0.0
        self._marks_of: object = None
        self._marks_explained: tuple[str, ...] = ()

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self._chart.width(), self._chart.sizes.top).translated(-self.scenePos())

    def texts(self) -> tuple[str, ...]:
        """Return all that it says now."""
        return (*self._head()[:2], self._hint())

    def draw(self, painter: QPainter) -> None:
        sizes, theme = self._chart.sizes, self._chart.theme
        title, unit, x, _ = self._head()
        y = sizes.px(11)
        draw_text(painter, QPointF(self._left(), y), title, self._title_font(), theme.text)
        draw_text(painter, QPointF(x, y), unit, font(sizes.px(12)), theme.muted)

    def box(self) -> QRectF:
        """Return the box of its text."""
        return QRectF(0.0, 0.0, self._head()[-1], self._chart.sizes.px(20))

    def _hint(self) -> str:
        """Return the text shown in place of lines; empty: there are lines, or the first point is
        being drawn.
        """
        chart = self._chart
        first, text = chart.quantity is chart.model.charts[0], ""
        if chart.is_empty:
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

    def paint_hint(self, painter: QPainter) -> None:
        """Say in the plot why it shows nothing."""
        chart, text = self._chart, self._hint()
        if not text:
            return
        px, theme, plot = chart.sizes.px, chart.theme, chart.plot_rect()
        size = font(px(13))
        box = QRectF(0, 0, text_width(text, size) + px(24), px(28))
        box.moveCenter(plot.center())
        if chart.has_ideal and not chart.is_empty:  # below the line y = x
            box.moveBottomRight(plot.bottomRight() - QPointF(px(12), plot.height() / 10))
        painter.fillRect(box, QColor(theme.card))
        draw_text(painter, box.center(), text, size, theme.muted, "middle")

    def _head(self) -> tuple[str, str, float, float]:
        """Return (title, text beside it, start, end), with the text from start to end in pixels."""
        chart = self._chart
        known = chart.model.version, len(chart.hidden), chart.frame
        wanted = known, self._marks(), self.end()
        if wanted != self._fitted_for:
            self._fitted_for, self._fitted = wanted, self._fit_head()
        return self._fitted

    def _fit_head(self) -> tuple[str, str, float, float]:
        """Where there is no room, parts are left out whole: first what controls and cards say, too,
        and last what hollow markers mean.
        """
        px, (title, unit) = self._chart.sizes.px, self._chart.title_text()
        size = font(px(12))
        end = self._left() + text_width(title, self._title_font())
        x = end + px(8)
        room = self.end() - px(_HEAD_GAP) - x
        keys, brief = self._marks(), unit.partition(",")[0]
        hollow = tuple(key for key in keys if key.startswith("hollow"))
        signs = tuple(words.hollow_sign(key) for key in hollow)
        forms = (unit, *keys), (brief, *keys), (brief, *hollow), hollow, signs, (unit,), (brief,)
        texts = ("  ·  ".join(form) for form in forms if form)
        shown = next((each for each in texts if text_width(each, size) <= room), "")
        return title, shown, x, x + text_width(shown, size) if shown else end

    def _left(self) -> float:
        sizes = self._chart.sizes
        return sizes.px(_INSET if sizes.controls > _NO_CONTROLS else _NO_INSET)

    def _title_font(self) -> QFont:
        sizes = self._chart.sizes
        return font(sizes.px(sizes.head), Weight.DemiBold)

    def _marks(self) -> tuple[str, ...]:
        """Return explanations of large, hollow and crossed markers, if there are any."""
        chart = self._chart
        model, view = chart.model, chart.view_shown
        key = model, view, tuple(series.version for series in model.series.values())
        if self._marks_of != key:
            self._marks_of = key
            self._marks_explained = model.explains(chart.quantity, view)
        return self._marks_explained
