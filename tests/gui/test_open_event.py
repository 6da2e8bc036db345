"""Files that the desktop passes in an event, as macOS does on a double click."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent

from app.application import Application


def test_a_file_passed_before_the_window_exists_is_shown_once_it_does(
    qapp: Application, tmp_path: Path
) -> None:
    first, second = tmp_path / "Für Kollegen.pong.yaml", tmp_path / "later.pong.yaml"
    shown: list[Path] = []
    try:
        qapp.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile(str(first))))
        assert shown == []
        qapp.show_files_with(shown.append)
        assert shown == [first]
        qapp.sendEvent(qapp, QFileOpenEvent(QUrl.fromLocalFile(str(second))))
        assert shown == [first, second]
    finally:
        qapp.show_files_with(lambda _: None)
