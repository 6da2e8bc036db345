"""The servers of a run as blocks that are filled while they are measured."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from app.painted import Painted
from app.theme import Theme

_HIGH, _GAP = 10, 4
_NOTCH, _STEP = 4.0, 8.0
"""The width of a notch, and from one to the next."""


class ServerBlocks(Painted):
    """One block per server, filled as its points are finished, in the server's colour; notched
    where its line is dashed, as on the timeline of a film.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setFixedHeight(_HIGH)
        self._shares: Sequence[tuple[int, float]] = ()

    def show_shares(self, shares: Sequence[tuple[int, float]]) -> None:
        """Set the index of each server's style, and what share of it is finished."""
        if shares != self._shares:
            self._shares = shares
            self.update()

    def paint(self, painter: QPainter) -> None:
        for n, (index, share) in enumerate(self._shares):
            wide = (self.width() + _GAP) / len(self._shares)
            box = QRectF(n * wide, 0, wide - _GAP, self.height())
            style = self.theme.series(index)
            painter.fillRect(box, QColor(self.theme.line))
            done = QRectF(box)
            done.setWidth(box.width() * min(1.0, share))
            painter.fillRect(done, style.tint())
            if style.dashed:
                self._notch(painter, box)

    def _notch(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(QPen(QColor(self.theme.card), 2))
        x = box.left() + _NOTCH
        while x + _NOTCH < box.right():
            painter.drawLine(QPointF(x, box.bottom() - 6), QPointF(x + _NOTCH, box.bottom()))
            x += _STEP
