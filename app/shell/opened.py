"""Files that the desktop hands over in an event: on macOS a double click names none in the command,
and one that came while the program runs starts it no second time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFileOpenEvent, QGuiApplication


class OpenedFiles(QObject):
    """Keeps the last until somebody can show it."""

    def __init__(self, app: QGuiApplication) -> None:
        super().__init__(app)
        self._show: Callable[[Path], object] | None = None
        self._waiting: Path | None = None
        app.installEventFilter(self)

    def show_with(self, show: Callable[[Path], object]) -> None:
        self._show = show
        if self._waiting is not None:
            show(self._waiting)
            self._waiting = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.FileOpen or not isinstance(event, QFileOpenEvent):
            return False
        path = Path(event.file())
        if self._show is None:
            self._waiting = path
        else:
            self._show(path)
        return True
