"""A live page in a process of its own: runs, tells its first point and its last words."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import theme
from app.bridge import Bridge
from app.desk import Desk
from app.pages.live import LivePage, State
from app.settings import Settings
from workbench.plans import Plan, WarmUp


def main() -> None:
    app = QApplication([])
    theme.apply(app, theme.LIGHT)
    bridge = Bridge()
    page = LivePage(Desk(bridge, theme.LIGHT, Settings()))
    page.show()
    page.start(
        Plan(
            name="Short",
            servers=["asyncio-streams"],
            rates=[200.0 + n for n in range(60)],
            seconds=1.0,
            calibrate=False,
            warm_up=WarmUp(rate_per_s=100.0, seconds=0.2),
        )
    )
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
