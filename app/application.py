"""Wires the window, the engine's thread and the look together."""

from __future__ import annotations

import signal

from PySide6.QtWidgets import QApplication

from app import theme as look
from app.bridge import Bridge
from app.main_window import MainWindow
from workbench import __version__


def run() -> int:
    """Show the window until it is closed; the exit code."""
    app = QApplication(["pongbench"])
    app.setApplicationName("pongbench")
    app.setApplicationDisplayName("Pongbench")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("io.github.pongbench.Pongbench")
    theme = look.system_theme()
    look.apply(app, theme)
    bridge = Bridge()
    window = MainWindow(bridge, theme)
    app.setQuitOnLastWindowClosed(False)
    window.left.connect(app.quit)
    app.styleHints().colorSchemeChanged.connect(lambda _: window.set_theme(look.system_theme()))
    # Python sees a signal with the next tick of the bridge.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: window.leave())
    window.show()
    code = app.exec()
    bridge.close()
    return code
