"""Widgets that paint themselves, and what rows of lists have in common."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme import LIGHT, Theme


class Painted(QWidget):
    """Painted with smooth edges, in the colours of a theme."""

    def __init__(self, theme: Theme = LIGHT, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

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


def mark_chosen(painter: QPainter, cell: QRectF, inset: float, colour: QColor) -> None:
    """Draw the bar at the left of a chosen row, `inset` pixels from its top and its hairline."""
    painter.fillRect(
        QRectF(cell.left(), cell.top() + inset, 3, cell.height() - 2 * inset - 1), colour
    )
