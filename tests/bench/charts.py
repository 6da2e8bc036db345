"""What the window costs while it draws: `python tests/bench/charts.py [WIDTHxHEIGHT] [SECONDS]`.

Twelve servers x 90 points of synthetic documents, offscreen, sent to the window's own pages through
its bridge. *Live*: the last server runs, a window every 200 ms; the whole page is drawn, the column
beside the charts and the strip below them, too. *Time*: the same in the view over time.
*Hover*: from server to server, ten times a second.
*Zoom*: by the wheel and by keys, thirty times a second, each time all three charts anew; beside it,
as the peer, how long pyqtgraph's own plot of as many lines takes, zoomed in the same way.
*Film*: nine servers x 87 points x 5 passes, opened, moved in, and at 1000x; *wheel*, *pan* and
*mouse* each as fast as it can. Prints the share of one core that the GUI's thread takes
at that many ticks a second, also where a busy machine gave it fewer, and the CPU time that each
chart took to paint; a frame is all the thread did from one painting of a chart to the next.
"""

from __future__ import annotations

import itertools
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QEventLoop, QPoint, QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

from app import stylesheet, theme
from app.bridge import Bridge
from app.charts.chart import Chart
from app.charts.series import Quantity
from app.charts.view_state import SWEEP, TIME
from app.context import Desk
from app.pages.film import FilmPage
from app.pages.live import LivePage
from app.settings import Settings
from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import PointStart

TICK_MS = 100
ZOOM_MS = 33
"""As often as a wheel or a drag moves."""
paints: list[tuple[Chart, float, float]] = []
"""Which chart was painted, begun and ended at which CPU time of the thread (s)."""


class Timed:
    """Notes every paint of every chart."""

    def __init__(self) -> None:
        original = Chart.paintEvent

        def paint(chart: Chart, event: object) -> None:
            begun = time.thread_time()
            original(chart, event)
            paints.append((chart, begun, time.thread_time()))

        Chart.paintEvent = paint


def wait(until: Callable[[], bool], seconds: float) -> None:
    """Process events until the condition holds or time is up."""
    loop, timer = QEventLoop(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    timer.start(20)
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    loop.exec()


def run(name: str, seconds: float, tick: Callable[[], None], every_ms: int = TICK_MS) -> None:
    """Call `tick` ten times a second, or more often; print what everything cost."""
    paints.clear()
    ticks = itertools.count()
    timer = QTimer()
    timer.timeout.connect(lambda: (next(ticks), tick()))
    timer.start(every_ms)
    cpu = time.thread_time()
    wait(lambda: False, seconds)
    share = 100 * (time.thread_time() - cpu) / (max(1, next(ticks)) * every_ms / 1000)
    timer.stop()
    took = np.percentile([(end - begin) * 1e3 for _, begin, end in paints], [50, 99, 100])
    begun: dict[Chart, list[float]] = {}
    for chart, begin, _ in paints:
        begun.setdefault(chart, []).append(begin * 1e3)
    frames = np.concatenate([np.diff(each) for each in begun.values()])
    print(
        f"{name:6} {share:5.1f} % of a core   a chart: p50 {took[0]:.1f}, p99 {took[1]:.1f},"
        f" max {took[2]:.1f} ms ({len(paints)})   a frame: p50 {np.median(frames):.1f},"
        f" max {frames.max():.1f} ms ({len(frames) // len(begun)})"
    )


def live(desk: Desk, size: tuple[int, int], seconds: float) -> None:
    documents = session(12, 90)
    begins = [i for i, d in enumerate(documents) if isinstance(d, PointStart)]
    cut = begins[-60]
    print(f"{size[0]}x{size[1]}, {len(documents):,} documents")
    page = LivePage(desk)
    page.resize(*size)
    page.show()
    put = desk.bridge.post(page.consume)
    for document in documents[:cut]:
        put(document)
    wait(lambda: len(page.board.model.series) == 12 and not desk.bridge._mail, 30)
    rest = iter(documents[cut:])
    waiting, now = [next(rest)], documents[cut].t_us

    def tick() -> None:
        nonlocal now
        now += TICK_MS * 1000
        while waiting and waiting[0].t_us <= now:
            put(waiting.pop())
            waiting.extend([document] if (document := next(rest, None)) else [])

    run("live", seconds, tick)
    page.board.views.choose(TIME)
    run("time", seconds, tick)
    page.board.views.choose(SWEEP)
    names, turn = list(page.board.model.series), iter(range(10**6))
    run("hover", seconds, lambda: page.board.trio.highlight(names[next(turn) % 12], 4500.0))
    chart = page.board.trio.charts[Quantity.REPLIES]
    steps = itertools.count()

    def zoom() -> None:
        """In by ten notches, along by keys, and out again."""
        step = next(steps) % 30
        if step < 10 or step >= 20:
            wheel(chart, 1 if step < 10 else -1)
        else:
            chart_key(page, Qt.Key.Key_Left if step < 15 else Qt.Key.Key_Right)

    peer = Peer(chart.size())

    def both() -> None:
        zoom()
        peer.zoom()

    run("zoom", seconds, both, every_ms=ZOOM_MS)
    middle, worst = np.percentile(peer.paints_ms, [50, 99])
    peer.close()
    print(f"{'':6} a plot of pyqtgraph: p50 {middle:.1f}, p99 {worst:.1f} ms")
    page.close()


class Peer(pg.PlotWidget):
    """Twelve lines of 90 points with axes, as pyqtgraph draws them; without names and markers."""

    def __init__(self, size: QSize) -> None:
        super().__init__()
        self.setAntialiasing(True)
        self.resize(size)
        x = np.linspace(0.0, 22_000.0, 90)
        for number in range(12):
            self.plot(x, x * (1 - 0.05 * number), pen=pg.mkPen(width=2))
        self.paints_ms: list[float] = []
        self._steps = itertools.cycle(range(500, 5_500, 500))
        self.show()

    def zoom(self) -> None:
        low = next(self._steps)
        self.setXRange(low, 22_000 - low)

    def paintEvent(self, event: object) -> None:
        begun = time.thread_time()
        super().paintEvent(event)
        self.paints_ms.append((time.thread_time() - begun) * 1e3)


def wheel(chart: Chart, notches: int) -> None:
    """Turn the wheel in the middle of a chart."""
    at, none = QPointF(chart.plot_rect().center()), Qt.KeyboardModifier.NoModifier
    turned, still = QPoint(0, 120 * notches), Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, at, QPoint(), turned, Qt.MouseButton.NoButton, none, still, False)
    QApplication.sendEvent(chart.viewport(), event)


def chart_key(page: LivePage, key: Qt.Key) -> None:
    press = QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.ControlModifier)
    page.board.trio.key(press)


def film(desk: Desk, size: tuple[int, int], folder: Path) -> None:
    path = record_session(folder / "nine.pong.yaml", session(9, 87, repeats=5))
    page = FilmPage(desk)
    page.resize(*size)
    page.show()
    begun, cpu = time.perf_counter(), time.process_time()
    page.open(path)
    curves = page.board.trio.charts[Quantity.REPLIES].curves
    wait(lambda: any(len(curve.values.x) for curve in curves.values()), 30)
    first = time.perf_counter() - begun
    wait(lambda: page.board.model.over, 60)
    page.grab()
    took, cpu = time.perf_counter() - begun, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"opened: first lines in {first:.2f} s, its end in {took:.2f} s, of which {cpu:.2f} s on a"
        f" CPU; at most {peak:.0f} MB"
    )
    moved(page)
    page.transport.speed_requested.emit(1000.0)
    page.transport.play_requested.emit()
    duration = page.reel.duration_us / 1e9 if page.reel else 1.0
    run("film", duration + 0.3, lambda: None)
    page.close()


def moved(page: FilmPage) -> None:
    """Print how often a second the thread could draw what the wheel, drags and the mouse change."""
    chart, none = page.board.trio.charts[Quantity.REPLIES], Qt.MouseButton.NoButton
    middle, left = QPointF(chart.plot_rect().center()), Qt.MouseButton.LeftButton
    press, move, release = (
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseMove,
        QEvent.Type.MouseButtonRelease,
    )

    def mouse(kind: QEvent.Type, at: QPointF, button: Qt.MouseButton, held: Qt.MouseButton) -> None:
        where = QPointF(chart.viewport().mapToGlobal(at.toPoint()))
        event = QMouseEvent(kind, at, where, button, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(chart.viewport(), event)

    def run_all(name: str, steps: list[Callable[[], None]]) -> None:
        begun = time.thread_time()
        for step in steps:
            step()
            for _ in range(3):
                QApplication.processEvents()
        print(f"{name:6} {len(steps) / (time.thread_time() - begun):5.0f} frames/s")

    run_all("wheel", [partial(wheel, chart, notch) for notch in [1, -1] * 20])
    for _ in range(3):
        wheel(chart, 1)
    mouse(press, middle, left, left)
    places = [middle + QPointF(x, 0) for x in range(0, -400, -10)]
    run_all("pan", [partial(mouse, move, at, none, left) for at in places])
    mouse(release, places[-1], left, none)
    page.board.trio.zooming.reset()
    lines = list(chart.curves.values())
    points = [QPointF(*line.pixels()[n]) for n in range(30, 85, 3) for line in lines[:4]]
    run_all("mouse", [partial(mouse, move, at, none, none) for at in points])


def main() -> None:
    width, _, height = (sys.argv[1] if len(sys.argv) > 1 else "1440x900").partition("x")
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    size = int(width), int(height)
    app = QApplication(["pongbench", *stylesheet.FUSION])
    stylesheet.apply(app, theme.DARK)
    Timed()
    bridge = Bridge()
    desk = Desk(bridge, theme.DARK, Settings())
    try:
        live(desk, size, seconds)
        with tempfile.TemporaryDirectory() as folder:
            film(desk, size, Path(folder))
    finally:
        bridge.close()


if __name__ == "__main__":
    main()
