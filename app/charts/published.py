"""Published figures, as crosses with labels in neutral ink."""

from __future__ import annotations

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
        self._placed_for: object = None
        self._placed: list[tuple[QPointF, str, QRectF]] = []

    def boxes(self) -> list[labels.Box]:
        """Return the boxes of the labels."""
        return [box.getCoords() for _, text, box in self.placed() if text]

    def placed(self) -> list[tuple[QPointF, str, QRectF]]:
        """Return each cross, its label and the box of that; no label covers a text, another label
        or another cross. Empty: there is no label.
        """
        chart, figures = self._chart, self._chart.published()
        versions = tuple((curve.series.id, curve.drawn_version) for curve in chart.still())
        wanted = chart.frame, tuple(figures), versions, chart.texts()
        if wanted != self._placed_for:
            self._placed_for, taken = wanted, [*chart.texts(), *crosses(chart)]
            self._placed = []
            for figure in figures:
                if (at := _where(chart, figure)) is not None:
                    text, box = self._label(figure, at, taken)
                    taken += [box.getCoords()] * bool(text)
                    self._placed.append((at, text, box))
        return self._placed

    def paint(self, painter: QPainter) -> None:
        px, theme = self._chart.sizes.px, self._chart.theme
        across, up = QPointF(px(_ARM), 0), QPointF(0, px(_ARM))
        size = font(px(11), Weight.Medium)
        for at, text, box in self.placed():
            for width, colour in ((px(5), theme.card), (px(2), theme.text)):
                pen = QPen(QColor(colour), width)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                painter.setPen(pen)
                painter.drawLine(at - across, at + across)
                painter.drawLine(at - up, at + up)
            if text:
                draw_leader(painter, box, at, theme.soft, px(_ARM + 2), px(1))
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(with_opacity(theme.card, 0.85))
                painter.drawRoundedRect(box, px(4), px(4))
                where = QPointF(box.left() + px(4), box.center().y())
                draw_text(painter, where, text, size, theme.soft)

    def _label(self, figure: Published, at: QPointF, taken: list[labels.Box]) -> tuple[str, QRectF]:
        """Return the first form that has a place where it covers nothing, or else the least."""
        chart, kind = self._chart, _KINDS.get(self._chart.quantity)
        if not kind:
            return "", QRectF()
        px = chart.sizes.px
        size = font(px(11), Weight.Medium)
        places = {
            box: form
            for form in (figure.label(kind), figure.name)
            for box in self._places(at, text_width(form, size) + px(8))
        }
        lines = [curve.seen() for curve in chart.still()]
        if chart.has_ideal:
            lines.append(chart.ideal())
        found = labels.freest(list(places), taken, lines)
        left, top, right, foot = found
        return places[found], QRectF(left, top, right - left, foot - top)

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
