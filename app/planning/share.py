"""How much of a resource a plan needs."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from app.charts.drawing import draw_text, text_width
from app.colour import mix
from app.planning.plan_charts import Picture
from app.theme import Weight, font

_TEXT, _BAR = 16, 8
_GAP = 6


class Share(Picture):
    """A name and its figures, and a bar below them."""

    def __init__(self, title: str, remark: str, about: str) -> None:
        """`remark`: beside the title, where there is room; `about`: for screen readers."""
        super().__init__(f"{title}: {about}")
        self._title, self._remark = title, remark
        self._needed, self._free = 0, 1
        self.setFixedHeight(_TEXT + 4 + _BAR)

    def show_share(self, needed: int, free: int) -> None:
        self._needed, self._free = needed, free
        self.setAccessibleDescription(f"{needed:,} of {free:,}")
        self.update()

    def paint(self, painter: QPainter) -> None:
        theme, bold, figures = self.theme, font(12, Weight.DemiBold), font(12, figures=True)
        share = self._needed / max(1, self._free)
        # Where it does not suffice, a message says so.
        short, y = share > 1, _TEXT / 2
        text = f"{self._needed:,} of {self._free:,}"
        tone = theme.warn if short else theme.soft
        right = self.width() - draw_text(
            painter, QPointF(self.width(), y), text, figures, tone, "right"
        )
        x = draw_text(painter, QPointF(0, y), self._title, bold, theme.text) + _GAP
        if x + text_width(self._remark, font(12)) + _GAP <= right:
            draw_text(painter, QPointF(x, y), self._remark, font(12), theme.muted)
        bar = QRectF(0, self.height() - _BAR, self.width(), _BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(bar, 4, 4)
        if share:
            bar.setWidth(max(4.0, min(1.0, share) * bar.width()))
            painter.setBrush(QColor(tone if short else mix(theme.text, theme.card, 0.35)))
            painter.drawRoundedRect(bar, 4, 4)
