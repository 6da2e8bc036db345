"""Distinguishes the sessions of a comparison by letters, and by the dots in their lines."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts.drawing import draw_text
from app.colour import contrast, mix
from app.theme import SeriesStyle, Theme, Weight, font

THIN = 0.75
"""Relative line width of all sessions but the first."""

_PALE_PCT = range(47, 91)
"""Their opacity in percent: the lowest with which a line is well visible."""

_CONTRAST = 3.5
"""Of a thin line with its background; of a colour that hardly has more by itself, 3."""


def side_style(style: SeriesStyle, place: int, theme: Theme) -> SeriesStyle:
    """Return a server's style in the session at this index: session 0 is solid; every other is thin
    and pale, with one more dot between its dashes than the one before.
    """
    if not place:
        return style
    shades = [mix(theme.card, style.colour, pct / 100) for pct in _PALE_PCT]
    pale = next((c for c in shades if contrast(c, theme.card) >= _CONTRAST), shades[-1])
    return replace(style, colour=pale, weight=THIN, dots=place)


def draw_tag(painter: QPainter, box: QRectF, tag: str, theme: Theme, *, filled: bool) -> None:
    """Draw a session's letter: filled for the first one, outlined for the others."""
    painter.setPen(QPen(QColor(theme.primary if filled else theme.edge), box.height() / 13))
    painter.setBrush(QColor(theme.primary if filled else theme.card))
    painter.drawRoundedRect(box, box.height() / 4, box.height() / 4)
    colour = theme.on_primary if filled else theme.soft
    size = font(box.height() * 0.77, Weight.DemiBold)
    draw_text(painter, box.center(), tag, size, colour, "middle")
