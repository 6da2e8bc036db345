"""What pages do in a window too narrow for parts side by side: they put them one below another,
and scroll.
"""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout, QWidget

NARROWEST = 578
"""The least width of a page: that of a screen of 1280 pixels at 200 %, without rail and scroll bar.
"""
ANY = 16_777_215
"""Qt's largest size."""
_STACKED = 720
"""Below this width of a page its parts stand one below another."""


def stacked(width: int) -> bool:
    """Return whether the parts of a page of this width stand one below another."""
    return width < _STACKED


def lay(parts: QBoxLayout, *, below: bool) -> None:
    """Lay out parts side by side, or one below another."""
    way = QBoxLayout.Direction
    parts.setDirection(way.TopToBottom if below else way.LeftToRight)


def widen(part: QWidget, wide: int, *, below: bool) -> None:
    """Give a part this width beside others, and all of the width below them."""
    part.setMinimumWidth(0 if below else wide)
    part.setMaximumWidth(ANY if below else wide)
