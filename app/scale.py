"""The size of text and controls, on top of what the desktop asks for."""

from __future__ import annotations

import os

from PySide6.QtCore import QSize

SIZES = (100, 125, 150, 200)
"""Percent."""
LEAST = QSize(853, 520)
"""Below this size the contents of the window scroll."""
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
