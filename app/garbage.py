"""Python's cyclic garbage is collected in the GUI's thread alone.

By itself Python collects in whichever thread allocates, and so destroys there what it finds. What
belongs to Qt and ends in another thread than its own crashes the program, or waits for ever.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

EVERY_MS = 1000


class Collector(QObject):
    """Collects on a timer of its thread instead of Python, until the last of them is closed."""

    _open = 0

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        Collector._open += 1
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(collect)
        self._timer.start(EVERY_MS)

    def close(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
            Collector._open -= 1
        if not Collector._open:
            gc.enable()


def collect() -> None:
    """The oldest generation whose turn it is, as Python does; it goes on counting meanwhile."""
    counted = enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
    due = [generation for generation, (count, limit) in counted if 0 < limit < count]
    if due:
        gc.collect(due[-1])
