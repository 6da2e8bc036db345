"""Widgets that paint themselves, and what rows of lists have in common."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.theme import LIGHT, Theme


class Painting:
    """Mixed into a widget that paints itself, with smooth edges and in the colours of a theme."""

    theme = LIGHT

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        raise NotImplementedError


class Painted(Painting, QWidget):
    """A widget that does nothing else."""

    def __init__(self, theme: Theme = LIGHT, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme


def draw_focus(painter: QPainter, theme: Theme, box: QRectF, radius: float) -> None:
    """Draw the ring around what has the keyboard focus."""
    painter.setPen(QPen(QColor(theme.focus), 2))
    painter.setBrush(QBrush())
    painter.drawRoundedRect(box, radius, radius)


def mark_chosen(painter: QPainter, cell: QRectF, inset: float, colour: QColor) -> None:
    """Draw the bar at the left of a chosen row, `inset` pixels from its top and its hairline."""
    painter.fillRect(
        QRectF(cell.left(), cell.top() + inset, 3, cell.height() - 2 * inset - 1), colour
    )
