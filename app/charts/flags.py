"""The user's notes on the charts: a numbered flag at the top of the first, a line through all."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

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
        for _, _, x in self._seen():
            pen = QPen(with_opacity(chart.theme.text, 0.55), px(1))
            pen.setStyle(Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
        if chart.quantity is Quantity.REPLIES:
            for (number, _, x), (text, box) in zip(self._seen(), self.texts(), strict=True):
                self._paint_text(painter, text, box, leftwards=box.left() < x)
                self._paint_number(painter, number, x)

    def texts(self) -> list[tuple[str, QRectF]]:
        """Return what is written beside each flag that is seen, and its box in pixels; empty: there
        is room for the number only.
        """
        plot, gap = self._chart.plot_rect(), self._chart.sizes.px(_RADIUS + 4)
        seen = list(self._seen())
        ends = [*(x - gap for _, _, x in seen[1:]), plot.right()]
        # The text of the flag before is to the left of every other one.
        starts = [plot.left(), *(x for _, _, x in seen[1:])]
        return [
            self._beside(self._text(note), x, start, end)
            for (_, note, x), start, end in zip(seen, starts, ends, strict=False)
        ]

    def boxes(self) -> list[QRectF]:
        """Return the boxes of numbers and texts."""
        if self._chart.quantity is not Quantity.REPLIES:
            return []
        half, y = self._chart.sizes.px(_RADIUS), self._middle()
        numbers = [QRectF(x - half, y - half, 2 * half, 2 * half) for *_, x in self._seen()]
        return numbers + [box for text, box in self.texts() if text]

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

    def _beside(self, text: str, x: float, start: float, end: float) -> tuple[str, QRectF]:
        """Choose the side of a flag where a text covers no other, and less of it is cut."""
        px, size, top = self._chart.sizes.px, self._font(), self._middle() - self._chart.sizes.px(8)
        taken = [
            QRectF(left, high, right - left, low - high)
            for left, high, right, low in self._chart.words()
        ]
        options = []
        for leftwards, reach in ((False, end - x), (True, x - start)):
            room = min(px(_WIDEST), reach - px(_RADIUS + 8))
            shown = elided(text, size, room) if room >= px(_NARROWEST) else ""
            wide = text_width(shown, size) + px(_RADIUS + 9)
            box = QRectF(x - wide * leftwards, top, wide, px(16))
            covers = any(box.intersects(each) for each in taken)
            options.append((not shown, covers, -len(shown), shown, box))
        *_, shown, box = min(options, key=lambda option: option[:3])
        return shown, box

    def _paint_text(self, painter: QPainter, text: str, box: QRectF, *, leftwards: bool) -> None:
        if not text:
            return
        px, theme = self._chart.sizes.px, self._chart.theme
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(theme.card, 0.88))
        painter.drawRoundedRect(box, px(8), px(8))
        begin = QPointF(box.left() + px(5 if leftwards else _RADIUS + 4), box.center().y())
        draw_text(painter, begin, text, self._font(), theme.text)

    def _paint_number(self, painter: QPainter, number: int, x: float) -> None:
        px, theme, at = self._chart.sizes.px, self._chart.theme, QPointF(x, self._middle())
        painter.setPen(QPen(QColor(theme.card), px(1.5)))
        painter.setBrush(QColor(theme.text))
        painter.drawEllipse(at, px(_RADIUS), px(_RADIUS))
        bold = font(px(10), Weight.DemiBold, figures=True)
        draw_text(painter, at, str(number), bold, theme.card, "middle")

    def _font(self) -> QFont:
        return font(self._chart.sizes.px(11), Weight.Medium)
