"""Charts with a title and a margin, to be painted on anything."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter

from app.charts.drawing import draw_text, elided
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.export.picture import Paint, Size
from app.theme import Weight, font

MARGIN = 24
_HEAD, _CAPTION = 34, 20
"""Heights of the title and of the line below it, in pixels."""


def head(title: str, caption: str, scale: float = 1.0) -> int:
    """Return the height above the charts, without the margin."""
    return round(scale * (_HEAD * bool(title) + _CAPTION * bool(caption)))


def framed(trio: Trio, title: str, caption: str = "", *, scale: float = 1.0) -> tuple[Paint, Size]:
    """Return the painting of charts as they are, and its size. `caption`: explains them; `scale`:
    of the text above them, as of theirs."""
    above = head(title, caption, scale)
    size = trio.width() + 2 * MARGIN, trio.height() + 2 * MARGIN + above
    theme = trio.charts[Quantity.REPLIES].theme
    big, plain = font(18 * scale, Weight.DemiBold), font(12 * scale)

    def paint(painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRectF(0, 0, *size), QColor(theme.card))
        at = QPointF(MARGIN + 1, MARGIN + 8 * scale)
        draw_text(painter, at, elided(title, big, trio.width()), big, theme.text)
        at += QPointF(0, (_HEAD - 8) * scale)
        draw_text(painter, at, elided(caption, plain, trio.width()), plain, theme.soft)
        trio.paint(painter, QRectF(MARGIN, MARGIN + above, trio.width(), trio.height()))

    return paint, size
