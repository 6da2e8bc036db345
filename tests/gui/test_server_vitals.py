"""The traces of the server's machine: against what, and over what time they are drawn."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app import theme
from app.live.host_panel import HostPanel
from app.live.trace import Trace
from tests.gui.windows import painted
from tests.synthetic import session
from workbench.documents import HostSample

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

BACKLOG = 512


def shown(qtbot: QtBot, queues: Iterable[int]) -> HostPanel:
    """The machine of the first server, by samples of its accept queue every 0.2 s."""
    made = HostPanel()
    qtbot.addWidget(made, before_close_func=lambda _: made)
    made.resize(330, 400)
    start = session(1, 1)[0]
    made(start)
    for n, queue in enumerate(queues):
        made(
            HostSample(
                t_us=200_000 * n,
                machine="localhost",
                server="asyncio-streams",
                cpu_pct=50.0,
                rss_bytes=20 << 20,
                processes=1,
                accept_queue=queue,
                backlog=BACKLOG,
            )
        )
    made.refresh()
    with qtbot.waitExposed(made):
        made.show()
    return made


def trace(vitals: HostPanel, name: str) -> Trace:
    (found,) = (t for t in vitals.findChildren(Trace) if t.accessibleName().startswith(name))
    return found


def last(of: Trace) -> tuple[float, float]:
    """Where the dot at the end of a trace is, in pixels."""
    image, wanted = of.grab().toImage(), QColor(theme.LIGHT.series(0).colour)
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    found = [place for place in places if image.pixelColor(*place) == wanted]
    right = max(x for x, _ in found)
    dot = [(x, y) for x, y in found if x > right - 5]
    return right, sum(y for _, y in dot) / len(dot)


@pytest.mark.parametrize(("queue", "share"), [(0, 0.0), (3, 0.0), (256, 0.5), (512, 1.0)])
def test_an_accept_queue_is_drawn_against_the_backlog(
    qtbot: QtBot, queue: int, share: float
) -> None:
    empty, full = (last(trace(shown(qtbot, [n]), "Accept queue"))[1] for n in (0, BACKLOG))
    assert empty - full > 20
    _, y = last(trace(shown(qtbot, [queue]), "Accept queue"))
    assert (empty - y) / (empty - full) == pytest.approx(share, abs=0.05)


def test_a_scale_has_its_top_and_the_time(qtbot: QtBot) -> None:
    vitals = shown(qtbot, [0] * 10)
    assert painted(trace(vitals, "Accept queue")).endswith("512 0")
    assert painted(trace(vitals, "CPU")).endswith("100 % 0")
    assert axis(vitals) == "0 to 5.8 s"


def test_a_server_that_has_finished_fills_the_width(qtbot: QtBot) -> None:
    vitals = shown(qtbot, [0] * 10)
    cpu = trace(vitals, "CPU")
    assert last(cpu)[0] < cpu.width() * 0.6
    vitals.end()
    vitals.refresh()
    assert last(cpu)[0] > cpu.width() - 8
    assert axis(vitals) == "0 to 1.8 s"


def axis(vitals: HostPanel) -> str:
    (name,) = (
        each.text() for each in vitals.findChildren(QLabel) if each.text().startswith("0 to")
    )
    return name
