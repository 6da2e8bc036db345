"""pyqtgraph, set up for the charts."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtGui import QPixmapCache

# Moves of the mouse are not dropped: the card and a drag follow it.
pg.setConfigOptions(mouseRateLimit=-1)
# The still lines of three charts on a large screen, which Qt keeps as pictures.
QPixmapCache.setCacheLimit(1 << 17)

__all__ = ["pg"]
