"""Published figures, as crosses with labels in neutral ink."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts import labels
from app.charts.drawing import draw_leader, draw_text, text_width
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.colour import with_opacity
from app.theme import Weight, font
from workbench.analysis.published import Published

_KINDS = {Quantity.REPLIES: "replies", Quantity.TIME: "mean"}
"""Of the figures that have a label beside their cross."""
_ARM = 8.0
"""Unscaled, of a cross: twice as long as a marker of that shape, and thin."""
_DOWN = (-2, *(side * down for down in range(8, 61, 6) for side in (1, -1)))
"""Unscaled: how far below a cross its label may be."""


class PublishedMarks:
    """Paints published figures in the scene's pixels."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart

    def paint(self, painter: QPainter, texts: Iterable[labels.Box]) -> list[labels.Box]:
        """Paint crosses and labels; return the labels' boxes. `texts`: no label covers them, or
        another cross.
        """
        taken = [*texts, *crosses(self._chart)]
        others = len(taken)
        for figure in self._chart.published():
            if (at := _where(self._chart, figure)) is not None:
                self._paint(painter, figure, at, taken)
        return taken[others:]

    def _paint(
        self, painter: QPainter, figure: Published, at: QPointF, taken: list[labels.Box]
    ) -> None:
        px, theme = self._chart.sizes.px, self._chart.theme
        across, up = QPointF(px(_ARM), 0), QPointF(0, px(_ARM))
        for width, colour in ((px(5), theme.card), (px(2), theme.text)):
            pen = QPen(QColor(colour), width)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawLine(at - across, at + across)
            painter.drawLine(at - up, at + up)
        if kind := _KINDS.get(self._chart.quantity):
            taken.append(self._write(painter, at, (figure.label(kind), figure.name), taken))

    def _write(
        self, painter: QPainter, at: QPointF, forms: Sequence[str], taken: Sequence[labels.Box]
    ) -> labels.Box:
        """Write the first form that has a place where it covers nothing, or else the least."""
        px, theme = self._chart.sizes.px, self._chart.theme
        size = font(px(11), Weight.Medium)
        places = {
            box: form for form in forms for box in self._places(at, text_width(form, size) + px(8))
        }
        lines = [curve.seen() for curve in self._chart.still()]
        if self._chart.has_ideal:
            lines.append(self._chart.ideal())
        found = labels.freest(list(places), taken, lines)
        left, top, right, foot = found
        box = QRectF(left, top, right - left, foot - top)
        draw_leader(painter, box, at, theme.soft, px(_ARM + 2), px(1))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(theme.card, 0.85))
        painter.drawRoundedRect(box, px(4), px(4))
        where = QPointF(box.left() + px(4), box.center().y())
        draw_text(painter, where, places[found], size, theme.soft)
        return found

    def _places(self, at: QPointF, width: float) -> list[labels.Box]:
        """Return places beside a cross in the plot, near ones first."""
        px, height = self._chart.sizes.px, self._chart.sizes.px(15)
        room = self._chart.plot_rect().adjusted(0, -px(10), 0, 0)
        across = [
            min(max(at.x() + side, room.left()), room.right() - width)
            for side in (-width - px(10), px(10), -width / 2)
        ]
        boxes = [
            QRectF(x, at.y() + down - height / 2, width, height)
            for down in map(px, _DOWN)
            for x in across
        ]
        return [b.getCoords() for b in boxes if room.contains(b)] or [boxes[1].getCoords()]


def crosses(chart: Plot) -> list[labels.Box]:
    """Return the boxes of the crosses in a chart."""
    arm = chart.sizes.px(_ARM + 2)
    found = (_where(chart, figure) for figure in chart.published())
    return [(at.x() - arm, at.y() - arm, at.x() + arm, at.y() + arm) for at in found if at]


def _where(chart: Plot, figure: Published) -> QPointF | None:
    """Return the cross's pixel; None: there is no figure of this metric, or it lies outside."""
    of_errors = chart.metric == Quantity.ERRORS.value
    value = {
        Quantity.REPLIES: figure.replies_per_s,
        Quantity.TIME: figure.mean_ms,
        Quantity.ERRORS: 0.0 if figure.errors == 0 and of_errors else None,
    }[chart.quantity]
    if value is None or figure.at is None:
        return None
    at = chart.at(figure.at, value)
    return at if chart.plot_rect().adjusted(-1, -1, 1, 1).contains(at) else None
