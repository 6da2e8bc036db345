"""The size of text and controls, on top of what the desktop asks for."""

from __future__ import annotations

import os

from PySide6.QtCore import QSize

SIZES = (100, 125, 150, 200)
"""Percent."""
LEAST = QSize(853, 520)
"""Below this size the contents of the window scroll."""
_LARGE = QSize(3000, 1600)
"""On a screen from this size on that the desktop does not scale, text is small."""
_FACTOR = "QT_SCALE_FACTOR"


def use(percent: int) -> None:
    """Set the size, before there is an application; one that the environment sets is kept."""
    if percent in SIZES and percent != 100 and _FACTOR not in os.environ:
        os.environ[_FACTOR] = str(percent / 100)


def complaint(percent: int, room: QSize) -> str:
    """Return a sentence where the screen is too small for this size. `room`: of the screen, in
    pixels of this size.
    """
    if percent == 100 or room.boundedTo(LEAST) == LEAST:
        return ""
    screen = room * percent / 100
    return (
        f"At {percent} % this screen of {screen.width():,} × {screen.height():,} pixels is too "
        "small for the whole window, so it scrolls. Choose another size in Settings."
    )


def suggestion(percent: int, screen: QSize, ratio: float) -> str:
    """Return a sentence where a larger size is worth a try. `ratio`: by which the desktop enlarges
    all windows.
    """
    if percent != 100 or ratio != 1 or screen.boundedTo(_LARGE) != _LARGE:
        return ""
    return (
        f"At 100 % text is small on a screen of {screen.width():,} × {screen.height():,} pixels. "
        "Choose 150 or 200 % in Settings."
    )
