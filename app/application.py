"""Connects the window, the engine's thread, the log and the theme."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from app import log
from app.bridge import Bridge
from app.context import Desk
from app.log import LogBook
from app.settings import SettingsFile, use_size
from app.shell.main_window import MainWindow
from app.stylesheet import FUSION, apply
from app.theme import theme_for
from workbench import __version__, environment, stores
from workbench.errors import ExitCode, PongbenchError
from workbench.terminal import to_stderr

_SAVE_EVERY_MS = 3000


class Application(QApplication):
    """Keeps a file that the desktop passes in an event until the window can show it: on macOS a
    double click names none in the command line, and a second one starts no second process. An event
    filter would be called for every event of every widget.
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


class Keeper(QTimer):
    """Saves changed settings every few seconds: a window that is killed loses no more than that."""

    def __init__(self, desk: Desk, file: SettingsFile, parent: QObject) -> None:
        super().__init__(parent)
        self._desk, self._file = desk, file
        self.timeout.connect(self.keep)
        self.start(_SAVE_EVERY_MS)

    def keep(self) -> None:
        changes = self._file.changes(self._desk.settings)
        if changes:
            self._desk.bridge.do(lambda: self._file.write(changes), fail=self._on_failed)

    def _on_failed(self, sentence: str) -> None:
        """Saving is not tried again before the end."""
        self.stop()
        self._desk.notice.emit(sentence, "warn")


def run(file_shown: Path | None = None) -> int:
    """Show the window, with a session or a plan if one is named. Returns the exit code."""
    gc.freeze()  # what was imported stays: the collector need not look at it
    book = LogBook()
    book.install()
    environment.take_secrets()
    open_folder = stores.close_folders()
    file = SettingsFile()
    kept = file.load()
    use_size(kept.size)
    # Elsewhere no event names a file, and every event would pass through Python.
    create = Application if sys.platform == "darwin" else QApplication
    app = create(["pongbench", *FUSION])
    log.begin_qt()
    app.setApplicationName("pongbench")
    app.setApplicationDisplayName("Pongbench")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("io.github.pongbench.Pongbench")
    theme = theme_for(kept.colours)
    apply(app, theme)
    bridge = Bridge()
    desk = Desk(bridge, theme, kept, book)
    window = MainWindow(desk)
    Keeper(desk, file, window)
    for complaint in filter(None, (file.complaint, open_folder)):
        window.notice.show_text(complaint, "warn")
    app.setQuitOnLastWindowClosed(False)
    window.left.connect(app.quit)
    app.styleHints().colorSchemeChanged.connect(lambda _: desk.theme_changed.emit())
    # Python handles a signal in whatever runs next, at the latest at the next tick of the bridge.
    # That may be painting, in which no window may close.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: QTimer.singleShot(0, window, window.leave))
    if isinstance(app, Application):
        window.built.connect(partial(app.show_files_with, window.show_file))
    if file_shown is not None:
        window.built.connect(lambda: window.show_file(file_shown.absolute()))
    window.appear()
    code = app.exec()
    bridge.close()
    try:
        file.write(file.changes(kept))
    except PongbenchError as error:
        to_stderr(str(error))
        return ExitCode.FAILED
    return code
