"""pyqtgraph, set up for the charts."""

from __future__ import annotations

import pyqtgraph as pg

# Moves of the mouse are not dropped: the card and a drag follow it.
pg.setConfigOptions(mouseRateLimit=-1)

__all__ = ["pg"]
