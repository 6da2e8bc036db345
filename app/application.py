"""Connects the window, the engine's thread, the log and the theme."""

from __future__ import annotations

import gc
import signal
import sys
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import qt_log, scale
from app.bridge import Bridge
from app.context import Desk
from app.log import LogBook
from app.settings import SettingsFile
from app.settings_autosave import Keeper
from app.shell.main_window import MainWindow
from app.shell.opened import Application
from app.stylesheet import FUSION, apply
from app.theme import first_theme
from workbench import __version__, environment, stores
from workbench.errors import ExitCode, PongbenchError


def run(file_shown: Path | None = None) -> int:
    """Show the window, with a session or a plan if one is named, until it is closed. Returns the
    exit code.
    """
    gc.freeze()  # what was imported stays: the collector need not look at it
    book = LogBook()
    book.install()
    qt_log.install()
    environment.take_secrets()
    open_folder = stores.close_folders()
    file = SettingsFile()
    kept = file.load()
    scale.use(kept.size)
    # Elsewhere no event names a file, and events would pass through Python, which creates a class
    # for each kind.
    create = Application if sys.platform == "darwin" else QApplication
    app = create(["pongbench", *FUSION])
    qt_log.begin()
    app.setApplicationName("pongbench")
    app.setApplicationDisplayName("Pongbench")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("io.github.pongbench.Pongbench")
    theme = first_theme(kept.colours)
    apply(app, theme)
    bridge = Bridge()
    desk = Desk(bridge, theme, kept, book)
    window = MainWindow(desk)
    Keeper(desk, file, window)
    for complaint in filter(None, (file.complaint, open_folder)):
        window.notice.show_text(complaint, "warn")
    screen = window.screen()
    if small := scale.complaint(kept.size, screen.availableSize()):
        window.notice.show_text(small, "warn", settings=True)
    larger = scale.suggestion(kept.size, screen.size(), screen.devicePixelRatio())
    if larger and not kept.larger_suggested:
        window.notice.show_text(larger, "soft", settings=True)
        kept.larger_suggested = True
    app.setQuitOnLastWindowClosed(False)
    window.left.connect(app.quit)
    window.built.connect(desk.theme_changed)  # if the palette is not that of the colour scheme
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
        from workbench.terminal import to_stderr  # noqa: PLC0415 - nothing else needs it here

        to_stderr(str(error))
        return ExitCode.FAILED
    return code
