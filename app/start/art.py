"""The illustrations on the cards of the start page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QSizePolicy

from app.colour import with_opacity
from app.painted import Painted
from app.theme import Theme, Weight, font, paint_icon

_Line = Sequence[tuple[float, float]]
_RISES: _Line = ((0.03, 0.03), (0.34, 0.34), (0.55, 0.55))
_SUSTAINS: _Line = ((0.03, 0.03), (0.5, 0.5), (0.76, 0.76), (0.84, 0.79), (0.92, 0.78), (1, 0.74))
_YIELDS: _Line = ((0.03, 0.03), (0.42, 0.42), (0.47, 0.43), (0.62, 0.38), (0.8, 0.33), (1, 0.29))


class Art(Painted):
    """The upper part of a card: an illustration without figures, hidden from screen readers."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setMinimumHeight(40)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def paint(self, painter: QPainter) -> None:
        theme, rect = self.theme, QRectF(self.rect())
        ground = QPainterPath()
        ground.addRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        painter.fillPath(ground, QColor(theme.sunken))
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.drawPath(ground)
        self.illustrate(painter, rect)

    def illustrate(self, painter: QPainter, rect: QRectF) -> None:
        raise NotImplementedError


class SweepArt(Art):
    """Three servers in the middle of a sweep: one sustains the rate, one drops, one is being
    measured.
    """

    def illustrate(self, painter: QPainter, rect: QRectF) -> None:
        theme = self.theme
        inside = rect.adjusted(22, 12, -22, -14)

        def at(x: float, y: float) -> QPointF:
            return QPointF(
                inside.left() + x * inside.width(), inside.bottom() - y * inside.height()
            )

        pen = QPen(QColor(theme.edge), 1.2, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([1.5, 3])
        painter.setPen(pen)
        painter.drawLine(at(0, 0), at(1, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for index, line in ((0, _SUSTAINS), (11, _YIELDS), (4, _RISES)):
            painter.setPen(theme.series(index).pen(2.4))
            painter.drawPolyline([at(x, y) for x, y in line])
        here = at(*_RISES[-1])
        painter.setPen(Qt.PenStyle.NoPen)
        for radius, opacity in ((15, 0.14), (10, 0.28), (5, 1.0)):
            painter.setBrush(with_opacity(theme.hues[4], opacity))
            painter.drawEllipse(here, radius, radius)


class DropArt(Art):
    """A drop target for a session."""

    def illustrate(self, painter: QPainter, rect: QRectF) -> None:
        theme = self.theme
        zone = rect.adjusted(18, 14, -18, -14)
        pen = QPen(QColor(theme.edge), 1.4, Qt.PenStyle.CustomDashLine)
        pen.setDashPattern([4, 4])
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(zone, 9, 9)
        bold, small = font(13, Weight.DemiBold), font(12)
        name, about = "lab-night.pong.yaml", "recorded session"
        wide = QFontMetricsF(bold).horizontalAdvance(name) + 62
        if wide > zone.width() - 8 or zone.height() < 50:
            paint_icon(painter, "film", theme.soft, _centred(zone, 24, 24))
            return
        card = _centred(zone, wide, 50)
        painter.setPen(QPen(QColor(theme.line2), 1))
        painter.setBrush(QColor(theme.card if not theme.dark else theme.raised))
        painter.drawRoundedRect(card, 8, 8)
        sign = QRectF(card.left() + 14, card.center().y() - 10, 20, 20)
        paint_icon(painter, "film", theme.soft, sign)
        painter.setFont(bold)
        painter.setPen(QColor(theme.text))
        painter.drawText(QPointF(card.left() + 46, card.center().y() - 3), name)
        painter.setFont(small)
        painter.setPen(QColor(theme.muted))
        painter.drawText(QPointF(card.left() + 46, card.center().y() + 14), about)


def _centred(rect: QRectF, width: float, height: float) -> QRectF:
    middle = rect.center()
    return QRectF(middle.x() - width / 2, middle.y() - height / 2, width, height)
