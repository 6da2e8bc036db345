"""A live page in a process of its own: runs, prints its first point and its last message."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import stylesheet, theme
from app.bridge import Bridge
from app.context import Desk
from app.pages.live import LivePage, State
from app.settings import Settings
from tests.gui.short_runs import LONG


def main() -> None:
    app = QApplication([])
    stylesheet.apply(app, theme.LIGHT)
    bridge = Bridge()
    page = LivePage(Desk(bridge, theme.LIGHT, Settings()))
    page.show()
    page.start(LONG)
    told = False

    def look() -> None:
        nonlocal told
        if not told and any(series.stops for series in page.board.model.series.values()):
            told = True
            print("first point", flush=True)
        if page.state is State.OVER:
            print(page.error.text, flush=True)
            app.quit()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(20)
    app.exec()
    bridge.close()


if __name__ == "__main__":
    main()
