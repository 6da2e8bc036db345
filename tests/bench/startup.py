"""How long the window takes to appear: `python tests/bench/startup.py [TIMES]`.

Fresh processes, in turn: this window, and two peers: a bare PySide6 window, and the same with our
fonts, style sheet and one label, the least that any page here can cost. Counted from the first line
of their own code, warm, offscreen. *First paint*: the Start page is on the screen. *Usable*: its
servers can be chosen and run. *Charts*: the live page with its three charts is painted. Prints
medians: CPU time, which other programs do not disturb much, its ratio to the bare window's first
paint, and elapsed time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]

BARE = """
import json, time
begun = time.process_time(), time.perf_counter()
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QWidget
told = {}
def note(name):
    now = time.process_time(), time.perf_counter()
    told.setdefault(name, [(b - a) * 1e3 for a, b in zip(begun, now)])
class Window(QWidget):
    def paintEvent(self, event):
        QTimer.singleShot(0, painted)  # what is in it is painted after it
def painted():
    note("first paint")
    app.exit()
app = QApplication([])
window = Window()
window.resize(1280, 800)
window.show()
app.exec()
print(json.dumps(told))
"""

DRESSED = BARE.replace(
    "window = Window()",
    """
from app import stylesheet, theme
from app.widgets import label
stylesheet.apply(app, theme.DARK)
window = Window()
label("Pongbench").setParent(window)
""",
).replace("QApplication([])", 'QApplication(["pongbench", "-style", "Fusion"])')

OURS = """
import json, time
begun = time.process_time(), time.perf_counter()
told = {}
def note(name):
    now = time.process_time(), time.perf_counter()
    told.setdefault(name, [(b - a) * 1e3 for a, b in zip(begun, now)])
from app.__main__ import main
from app.pages.start import StartPage
from app.shell.main_window import MainWindow
from PySide6.QtCore import QTimer
warm_up, on_offer = MainWindow.warm_up, StartPage._on_offer
def painted(window):
    note("first paint")
    warm_up(window)
def usable(page, offer):
    on_offer(page, offer)
    page.window().repaint()
    note("usable")
    charts(page.window())
def charts(window):
    from app.charts.chart import Chart
    painted, drawn = Chart.paintEvent, set()
    def paint_chart(chart, event):
        painted(chart, event)
        drawn.add(chart)
        if len(drawn) == 3 and "charts" not in told:
            note("charts")
            QTimer.singleShot(0, window.close)
    Chart.paintEvent = paint_chart
    window.show_page("Live")
MainWindow.warm_up, StartPage._on_offer = painted, usable
main([])
print(json.dumps(told))
"""


def once(code: str, home: str) -> dict[str, list[float]]:
    """CPU and elapsed time in ms, by milestone."""
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PONGBENCH_HOME": home}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # otherwise every start compiles the program again
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(ended.stderr)
    data: dict[str, list[float]] = json.loads(ended.stdout.splitlines()[-1])
    return data


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    kinds = {"bare PySide6": BARE, "fonts and style sheet": DRESSED, "Pongbench": OURS}
    seen: dict[tuple[str, str], list[list[float]]] = {}
    with tempfile.TemporaryDirectory() as home:
        for turn in range(times + 1):
            for kind, code in kinds.items():
                for what, figures in once(code, home).items():
                    if turn:  # the first of each warms the disk cache
                        seen.setdefault((kind, what), []).append(figures)
    print(
        f"medians of {times} fresh processes, in turn\n{'':42}{'CPU':>8} {'ratio':>6} {'clock':>8}"
    )
    medians = {
        key: [median(each) for each in zip(*figures, strict=True)] for key, figures in seen.items()
    }
    bare = medians["bare PySide6", "first paint"][0]
    for (kind, what), (cpu, clock) in medians.items():
        print(f"{kind + ', ' + what:42}{cpu:5.0f} ms {cpu / bare:6.2f} {clock:5.0f} ms")


if __name__ == "__main__":
    main()
