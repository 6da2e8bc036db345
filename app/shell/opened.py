"""Files that the desktop passes in an event. On macOS a double click names no file in the command
line, and a second double click does not start a second process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Keeps the last file until the window can show it.

    The application handles the event itself: an event filter would be called for every event of
    every widget.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        super().__init__(argv)
        self._show: Callable[[Path], object] | None = None
        self._waiting: Path | None = None

    def show_files_with(self, show: Callable[[Path], object]) -> None:
        self._show = show
        if self._waiting is not None:
            show(self._waiting)
            self._waiting = None

    def event(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.FileOpen or not isinstance(event, QFileOpenEvent):
            return super().event(event)
        path = Path(event.file())
        if self._show is None:
            self._waiting = path
        else:
            self._show(path)
        return True
