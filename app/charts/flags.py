"""The user's notes on the charts: a numbered flag at the top of the first, a line through all."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts.drawing import draw_text, elided, text_width
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.colour import with_opacity
from app.theme import Weight, font
from workbench.sessions.chart_notes import ChartNote

_RADIUS = 8.0
_WIDEST = 190.0
"""Unscaled, of a text beside its flag."""
_NARROWEST = 40.0
"""With less room only the number is shown."""


class Flags:
    """Paints a chart's flags in the scene's pixels."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart

    def paint(self, painter: QPainter) -> None:
        chart = self._chart
        px, plot = chart.sizes.px, chart.plot_rect()
        seen = list(self._seen())
        for place, (number, note, x) in enumerate(seen):
            pen = QPen(with_opacity(chart.theme.text, 0.55), px(1))
            pen.setStyle(Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            if chart.quantity is Quantity.REPLIES:
                end = (
                    seen[place + 1][2] - px(_RADIUS + 4) if place + 1 < len(seen) else plot.right()
                )
                self._paint_flag(painter, number, note, x, end)

    def at(self, pixel: QPointF) -> str:
        """Return the text of the flag at a pixel; empty: none."""
        reach = self._chart.sizes.px(_RADIUS + 2)
        middle = self._middle()
        for _, note, x in self._seen():
            if abs(pixel.x() - x) <= reach and abs(pixel.y() - middle) <= reach:
                return self._text(note)
        return ""

    def _seen(self) -> Iterator[tuple[int, ChartNote, float]]:
        """(number, note, pixel) of the notes in the part that is shown."""
        chart = self._chart
        plot = chart.plot_rect()
        for number, note in enumerate(chart.notes, 1):
            x = chart.at(note.x, 1).x()
            if plot.left() - 1 <= x <= plot.right() + 1 and note.server not in chart.hidden:
                yield number, note, x

    def _middle(self) -> float:
        return self._chart.plot_rect().top() + self._chart.sizes.px(_RADIUS + 1)

    def _text(self, note: ChartNote) -> str:
        series = self._chart.model.series.get(note.server)
        return f"{series.name}: {note.text}" if series else note.text

    def _paint_flag(
        self, painter: QPainter, number: int, note: ChartNote, x: float, end: float
    ) -> None:
        chart = self._chart
        px, theme, at = chart.sizes.px, chart.theme, QPointF(x, self._middle())
        size = font(px(11), Weight.Medium)
        room = min(px(_WIDEST), end - x - px(_RADIUS + 8))
        if room >= px(_NARROWEST):
            text = elided(self._text(note), size, room)
            box = QRectF(x, at.y() - px(_RADIUS), text_width(text, size) + px(_RADIUS + 9), px(16))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(with_opacity(theme.card, 0.88))
            painter.drawRoundedRect(box, px(8), px(8))
            draw_text(painter, at + QPointF(px(_RADIUS + 4), 0), text, size, theme.text)
        painter.setPen(QPen(QColor(theme.card), px(1.5)))
        painter.setBrush(QColor(theme.text))
        painter.drawEllipse(at, px(_RADIUS), px(_RADIUS))
        bold = font(px(10), Weight.DemiBold, figures=True)
        draw_text(painter, at, str(number), bold, theme.card, "middle")
