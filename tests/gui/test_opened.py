"""What the desktop hands over in an event, as macOS does with a double click."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from app.shell.opened import OpenedFiles


def test_a_file_handed_over_before_there_is_a_window_is_shown_once_there_is_one(
    qapp: QApplication, tmp_path: Path
) -> None:
    first, second = tmp_path / "Für Kollegen.pong.yaml", tmp_path / "later.pong.yaml"
    shown: list[Path] = []
    opened = OpenedFiles(qapp)
    try:
        qapp.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile(str(first))))
        assert shown == []
        opened.show_with(shown.append)
        assert shown == [first]
        qapp.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile(str(second))))
        assert shown == [first, second]
    finally:
        qapp.removeEventFilter(opened)
        opened.deleteLater()
