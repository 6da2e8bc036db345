"""What the charts cost: `python tests/bench/charts.py [WIDTHxHEIGHT] [SECONDS]`.

Twelve servers x 90 points of made-up documents, offscreen. *Live*: the last server runs, a window
every 200 ms, drawn at 10 Hz. *Replay*: a film at 1000x, drawn at 10 Hz. *Hover*: from server to
server. Prints the share of one core, and the time each chart took to paint.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app import theme
from app.charts.chart import Chart
from app.charts.model import ChartModel
from app.charts.trio import Trio
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStart

TICK_MS = 100
paints: list[float] = []


class Timed:
    """Counts the time of every paint of every chart."""

    def __init__(self) -> None:
        original = Chart.paintEvent

        def paint(chart: Chart, event: object) -> None:
            begun = time.thread_time()
            original(chart, event)
            paints.append((time.thread_time() - begun) * 1e3)

        Chart.paintEvent = paint


def run(name: str, seconds: float, tick: Callable[[], None]) -> None:
    """Call `tick` ten times a second; print what it cost."""
    paints.clear()
    frames: list[float] = []

    painted = 0

    def frame() -> None:
        nonlocal painted
        if frames:
            frames[-1] += sum(paints[painted:])
        painted = len(paints)
        begun = time.thread_time()
        tick()
        frames.append((time.thread_time() - begun) * 1e3)

    loop, timer = QEventLoop(), QTimer()
    timer.timeout.connect(frame)
    timer.start(TICK_MS)
    QTimer.singleShot(int(seconds * 1000), loop.quit)
    cpu, wall = time.process_time(), time.perf_counter()
    loop.exec()
    timer.stop()
    share = 100 * (time.process_time() - cpu) / (time.perf_counter() - wall)
    paint = np.percentile(paints or [0.0], [50, 99, 100])
    whole = np.percentile(frames or [0.0], [50, 99, 100])
    print(
        f"{name:7} {share:5.1f} % of a core   a chart: p50 {paint[0]:.1f}, p99 {paint[1]:.1f},"
        f" max {paint[2]:.1f} ms   a frame: p50 {whole[0]:.1f}, p99 {whole[1]:.1f},"
        f" max {whole[2]:.1f} ms ({len(frames)})"
    )


def shown(size: tuple[int, int], documents: list[AnyDocument]) -> tuple[ChartModel, Trio]:
    model = ChartModel()
    for document in documents:
        model(document)
    trio = Trio(model, theme.DARK)
    trio.resize(*size)
    trio.refresh()
    trio.show()
    QApplication.processEvents()
    return model, trio


def fed(model: ChartModel, trio: Trio, rest: Iterator[AnyDocument], us: int) -> Callable[[], None]:
    """Each tick brings the documents of the next `us` of the session."""
    now = next(rest).t_us
    waiting = [next(rest)]

    def tick() -> None:
        nonlocal now
        now += us
        while waiting and waiting[0].t_us <= now:
            model(waiting.pop())
            waiting.extend([document] if (document := next(rest, None)) else [])
        trio.refresh()

    return tick


def main() -> None:
    width, _, height = (sys.argv[1] if len(sys.argv) > 1 else "960x640").partition("x")
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    size = int(width), int(height)
    app = QApplication([])
    theme.apply(app, theme.DARK)
    Timed()
    documents = session(12, 90)
    begins = [i for i, d in enumerate(documents) if isinstance(d, PointStart)]
    cut = begins[-60]
    print(f"{size[0]}x{size[1]}, {len(documents):,} documents")
    model, trio = shown(size, documents[:cut])
    run("live", seconds, fed(model, trio, iter(documents[cut:]), TICK_MS * 1000))
    names = list(model.series)
    turn = iter(range(10**6))
    run("hover", seconds, lambda: trio.highlight(names[next(turn) % len(names)], 4500.0))
    trio.close()
    model, trio = shown(size, documents[:1])
    replayed = fed(model, trio, iter(documents[1:]), TICK_MS * 1000 * 1000)
    run("replay", min(seconds, 2.0 + 0.1), replayed)
    trio.close()
    begun = time.perf_counter()
    _, trio = shown(size, documents)
    trio.grab()
    print(f"opened at the end in {time.perf_counter() - begun:.2f} s")
    trio.close()


if __name__ == "__main__":
    main()
