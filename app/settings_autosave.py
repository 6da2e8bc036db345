"""Saves the settings in the background, without the window ever waiting for the disk."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.context import Desk
from app.settings import SettingsFile

EVERY_MS = 3000


class Keeper(QObject):
    """Checks for changes every few seconds: a window that is killed loses no more than that."""

    def __init__(self, desk: Desk, file: SettingsFile, parent: QObject) -> None:
        super().__init__(parent)
        self._desk, self._file = desk, file
        self._reported = False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.keep)
        self._timer.start()

    def keep(self) -> None:
        changes = self._file.changes(self._desk.settings)
        if changes:
            self._desk.bridge.do(lambda: self._file.write(changes), fail=self._on_failed)

    def _on_failed(self, sentence: str) -> None:
        """A failure to save is reported once, and saving is not tried again before the end."""
        self._timer.stop()
        if not self._reported:
            self._reported = True
            self._desk.notice.emit(sentence, "warn")
