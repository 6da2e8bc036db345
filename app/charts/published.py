"""Published figures, as crosses with labels in neutral ink."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts import labels
from app.charts.clipping import joined
from app.charts.drawing import draw_text, text_width
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.theme import Weight, font
from workbench.analysis.published import Published

_KINDS = {Quantity.REPLIES: "replies", Quantity.TIME: "mean"}
"""Of the figures that have a label beside their cross."""
_ARM = 8.0
"""Unscaled, of a cross: twice as long as a marker of that shape, and thin."""


class PublishedMarks:
    """Paints published figures in the scene's pixels."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart

    def paint(self, painter: QPainter, figures: Sequence[Published]) -> None:
        found = [(figure, self._where(figure)) for figure in figures]
        crosses = [(figure, at) for figure, at in found if at is not None]
        # No label over another cross.
        arm = self._chart.sizes.px(_ARM + 2)
        written = [QRectF(at.x() - arm, at.y() - arm, 2 * arm, 2 * arm) for _, at in crosses]
        for figure, at in crosses:
            self._paint(painter, figure, at, written)

    def _where(self, figure: Published) -> QPointF | None:
        """Return the cross's pixel; None: there is no figure of this metric, or it lies outside."""
        of_errors = self._chart.metric == Quantity.ERRORS.value
        value = {
            Quantity.REPLIES: figure.replies_per_s,
            Quantity.TIME: figure.mean_ms,
            Quantity.ERRORS: 0.0 if figure.errors == 0 and of_errors else None,
        }[self._chart.quantity]
        if value is None or figure.at is None:
            return None
        at = self._chart.at(figure.at, value)
        return at if self._chart.plot_rect().adjusted(-1, -1, 1, 1).contains(at) else None

    def _paint(
        self, painter: QPainter, figure: Published, at: QPointF, written: list[QRectF]
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
            written.append(self._write(painter, at, figure.label(kind), written))

    def _write(self, painter: QPainter, at: QPointF, text: str, written: list[QRectF]) -> QRectF:
        """Write the label beside the cross, where it covers the fewest lines and no other label."""
        px, size = self._chart.sizes.px, font(self._chart.sizes.px(11), Weight.Medium)
        width, height = text_width(text, size) + px(8), px(17)
        lines = [curve.seen() for curve in self._chart.still()]
        if self._chart.has_ideal and len(ideal := self._chart.ideal()):
            # And the label along it.
            lines += [ideal - (px(3 * step), px(8.5 * step)) for step in range(4)]
        whole = joined(lines)
        places = [
            QRectF(at.x() + side, at.y() + down - height / 2, width, height)
            for down in (-px(2), px(14), -px(16), px(30), -px(32), -px(48))
            for side in (-width - px(10), px(10), -width - px(40))
        ]
        room = self._chart.plot_rect().adjusted(0, -px(10), 0, 0)
        inside = [
            box
            for box in places
            if room.contains(box) and not any(box.intersects(other) for other in written)
        ]
        clamped = QRectF(places[1])
        clamped.moveRight(min(clamped.right(), room.right()))
        free = inside or [clamped]
        covered = labels.crossings([box.getCoords() for box in free], whole)
        box = free[int(covered.argmin())]
        self._lead(painter, at, box)
        tint = QColor(self._chart.theme.card)
        tint.setAlphaF(0.85)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tint)
        painter.drawRoundedRect(box, px(4), px(4))
        where = QPointF(box.left() + px(4), box.center().y())
        draw_text(painter, where, text, size, self._chart.theme.soft)
        return box

    def _lead(self, painter: QPainter, at: QPointF, box: QRectF) -> None:
        """Draw a leader to a label away from its cross, so that it is not taken for
        another line's.
        """
        px = self._chart.sizes.px
        near = QPointF(
            min(max(at.x(), box.left()), box.right()), min(max(at.y(), box.top()), box.bottom())
        )
        way = QLineF(at, near)
        if way.length() > px(14):
            painter.setPen(QPen(QColor(self._chart.theme.soft), px(1)))
            painter.drawLine(way.pointAt(px(8) / way.length()), near)
