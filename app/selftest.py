"""`pongbench --selftest`: reports what works on this computer, a line for each part.

The window is drawn offscreen, the bundled session is replayed through its charts, and the null
server is swept for two seconds. No file of the user is touched. What cannot be imported is reported
too, and therefore imported where it is used.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.shell.main_window import MainWindow

WITHIN_S = 60.0


class Broken(Exception):
    """A part does not work; the text says which and how."""


def run() -> int:
    """Return 0 if everything works, 1 otherwise. Lines on stdout give the details."""
    from workbench import __version__
    from workbench.terminal import guard, say

    guard()
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    whole = True
    say(f"Pongbench {__version__} on this computer:")
    with tempfile.TemporaryDirectory(prefix="pongbench-selftest-") as home:
        os.environ["PONGBENCH_HOME"] = home
        parts: tuple[Callable[[], Iterator[str]], ...] = (_window, _sweep, _packages)
        for part in parts:
            try:
                for works in part():
                    say(f"- {works}")
            except Exception as error:
                whole = False
                lines = str(error).strip().splitlines() or [type(error).__name__]
                cure = "; the installer names the package" if isinstance(error, ImportError) else ""
                say(f"- Failed: {lines[-1]}{cure}")
    return 0 if whole else 1


def _window() -> Iterator[str]:
    """Draw the window with the bundled session in its charts."""
    from workbench import paths

    with _open() as (app, window):
        grabbed = window.grab().toImage()
        colours = {grabbed.pixel(x, y) for x in range(0, 900, 7) for y in range(0, 600, 7)}
        if len(colours) < 8:
            raise Broken("the window stays empty.")
        yield "the window draws"
        session = paths.RESOURCES / "sessions" / "demo.pong.yaml"
        window.open(session)
        _until(app, lambda: window.film.board.model.over, "the bundled session was not replayed")
        window.film.refresh()
        drawn = window.film.board.model.series.values()
        if not any(series.points for series in drawn):
            raise Broken("the bundled session shows nothing.")
        window.film.grab()
        yield f"a session of {len(drawn)} servers replays"


def _sweep() -> Iterator[str]:
    """Run the load agent against the null server, without Qt."""
    if sys.platform != "linux":
        return  # runs on this computer need Linux; machines behind SSH do not
    import asyncio

    from workbench.documents import AnyDocument, PointStop
    from workbench.plan.model import Plan, WarmUp
    from workbench.run.factory import engine_for

    plan = Plan(
        name="Self-test",
        servers=["null"],
        rates=[500.0, 1000.0],
        seconds=1.0,
        calibrate=False,
        warm_up=WarmUp(rate_per_s=100.0, seconds=0.2),
    )
    documents: list[AnyDocument] = []
    asyncio.run(engine_for(plan, documents.append).run())
    points = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    if len(points) < 2 or not all(point.counts.succeeded for point in points):
        raise Broken("the load agent got no reply from the null server.")
    last = points[-1]
    yield (
        f"the null server is swept ({last.counts.succeeded:,} of {last.counts.scheduled:,} calls"
        f" answered at {last.x:,.0f}/s)"
    )


def _packages() -> Iterator[str]:
    """Ask the package index, without which most servers cannot be fetched."""
    from workbench.uv import unreached

    why = unreached()
    waiting = f"servers that need packages have to wait: {why}"
    yield waiting if why else "packages of servers can be fetched"


@contextmanager
def _open() -> Iterator[tuple[QApplication, MainWindow]]:
    from PySide6.QtWidgets import QApplication

    from app import stylesheet, theme
    from app.bridge import Bridge
    from app.context import Desk
    from app.log import LogBook
    from app.settings import Settings
    from app.shell.main_window import MainWindow

    app = QApplication(["pongbench", *stylesheet.FUSION])
    stylesheet.apply(app, theme.DARK)
    bridge = Bridge()
    try:
        window = MainWindow(Desk(bridge, theme.DARK, Settings(), LogBook()))
        charts: list[bool] = []
        window.built.connect(lambda: charts.append(True))
        window.show()
        _until(app, lambda: bool(charts), "the window was not drawn")
        yield app, window
        window.close()
    finally:
        bridge.close()


def _until(app: QApplication, reached: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not reached():
        app.processEvents()
        time.sleep(0.01)
        if time.monotonic() > deadline:
            raise Broken(f"{otherwise} within {WITHIN_S:.0f} s.")
