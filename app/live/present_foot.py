"""The lines below a presentation: what its charts show, its keys, the page's status."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.charts.drawing import draw_text, elided, text_width
from app.painted import Painted
from app.theme import Theme, Weight, font

Keys = tuple[str, str]
"""Keys, separated by spaces, and what they do."""

_TEXT_PX = (24, 20, 17)
"""A long line is drawn smaller before it is cut."""
_LINE, _FOOT = 36, 8
_APART = 1.2
"""Between two actions; between caps 0.3, all in the height of the text."""


class Foot(Painted):
    """A line for the status or the keys, below one for the caption, if there is one."""

    def __init__(self, theme: Theme, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._scale, self._caption, self._status, self._tone = 1.0, caption, "", "muted"
        self._keys: tuple[Keys, ...] = ()
        self.setAccessibleDescription(caption)

    def set_scale(self, scale: float) -> None:
        self._scale = scale
        lines = 2 if self._caption else 1
        self.setFixedHeight(round((lines * _LINE + _FOOT) * scale))

    def display(self, status: str, tone: str, keys: Sequence[Keys]) -> None:
        """Show the status, or keys where there is none."""
        content = status, tone, tuple(keys)
        if content != (self._status, self._tone, self._keys):
            self._status, self._tone, self._keys = content
            named = "    ".join(f"{key} {action}" for key, action in keys)
            self.setAccessibleName(status or named)
            self.update()

    def paint(self, painter: QPainter) -> None:
        middle = _LINE / 2 * self._scale
        if self._caption:
            self._write(painter, middle, self._caption, "soft")
            middle += _LINE * self._scale
        if self._status:
            self._write(painter, middle, self._status, self._tone)
        elif self._keys:
            self._paint_keys(painter, middle)

    def _write(self, painter: QPainter, middle: float, text: str, tone: str) -> None:
        sizes = [font(px * self._scale, Weight.Medium) for px in _TEXT_PX]
        fits = (size for size in sizes if text_width(text, size) <= self.width())
        size = next(fits, sizes[-1])
        text = elided(text, size, self.width())
        draw_text(painter, QPointF(0, middle), text, size, getattr(self.theme, tone))

    def _paint_keys(self, painter: QPainter, middle: float) -> None:
        """Draw each key as a cap, with the action beside its keys."""
        heights = [px * self._scale for px in _TEXT_PX]
        fits = (height for height in heights if self._places(height)[-1][0].right() <= self.width())
        height = next(fits, heights[-1])
        size, theme = font(0.8 * height, Weight.Medium), self.theme
        for box, text, is_key in self._places(height):
            box.moveTop(middle - box.height() / 2)
            if is_key:
                painter.setPen(QPen(QColor(theme.edge), max(1.0, self._scale)))
                painter.setBrush(QColor(theme.raised))
                painter.drawRoundedRect(box, 0.2 * height, 0.2 * height)
            side, tone = ("middle", theme.text) if is_key else ("left", theme.muted)
            at = box.center() if is_key else QPointF(box.left(), middle)
            draw_text(painter, at, text, size, tone, side)

    def _places(self, height: float) -> list[tuple[QRectF, str, bool]]:
        """Return the box of each key and action in a row, its text, and whether it is a key."""
        size, x = font(0.8 * height, Weight.Medium), 1.0
        found: list[tuple[QRectF, str, bool]] = []
        for keys, action in self._keys:
            for key in keys.split():
                wide = max(1.3 * height, text_width(key, size) + 0.7 * height)
                found.append((QRectF(x, 0, wide, 1.3 * height), key, True))
                x += wide + 0.3 * height
            wide = text_width(action, size)
            found.append((QRectF(x, 0, wide, height), action, False))
            x += wide + _APART * height
        return found
