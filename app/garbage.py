"""Collects Python's cyclic garbage in the GUI's thread alone.

By itself, Python collects in whichever thread allocates and destroys objects there. A Qt object
that is destroyed in another thread than its own crashes the program or blocks it for ever.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 100
"""Often enough that each collection is short: a frame may have to wait for it."""
_ALL_EVERY_S = 60.0
"""A full collection takes tens of milliseconds."""


class Collector(QObject):
    """Collects on a timer of its thread instead of Python, until the last instance is closed."""

    _open = 0
    _all_at_s = 0.0

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        Collector._open += 1
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(EVERY_MS)

    def close(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
            Collector._open -= 1
        if not Collector._open:
            gc.enable()

    def _collect(self) -> None:
        """Collect the oldest generation that is due by Python's own counters."""
        counted = enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
        due = [generation for generation, (count, limit) in counted if 0 < limit < count]
        now_s = time.monotonic()
        if 2 in due and now_s - Collector._all_at_s < _ALL_EVERY_S:
            due.remove(2)
        elif 2 in due:
            Collector._all_at_s = now_s
        if due:
            gc.collect(due[-1])
