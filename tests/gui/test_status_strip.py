"""The strip under a run: what it says, and what of it fits."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app import theme
from app.live.recent_windows import Pulse, Times
from app.live.status_strip import NowStrip, ServerBlocks
from tests.gui.windows import appearing, painted, says, the
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStart, Window

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def during(documents: list[AnyDocument], point: int, windows: int = 5) -> list[AnyDocument]:
    """Cut where the sweep's point of this number has given that number of windows."""
    sweeps = [d.point for d in documents if isinstance(d, PointStart) and d.purpose == "sweep"]
    of_point = [d for d in documents if isinstance(d, Window) and d.point == sweeps[point]]
    return documents[: documents.index(of_point[windows - 1]) + 1]


def shown(qtbot: QtBot, documents: list[AnyDocument], width: int = 1164) -> NowStrip:
    made = NowStrip(theme.LIGHT)
    qtbot.addWidget(made, before_close_func=lambda _: made)
    made.set_compact(width < 900)
    made.resize(width, made.height())
    for document in documents:
        made(document)
    made.refresh()
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_every_figure_has_its_unit_and_every_line_its_name(qtbot: QtBot) -> None:
    documents = during(session(2, 8), 10)
    strip = shown(qtbot, documents)
    last = documents[-1]
    assert isinstance(last, Window) and last.latency_us is not None
    assert says(strip, f"{last.replies:,} per 200 ms")
    assert says(strip, "p99 ")
    assert says(strip, "/s offered")
    drawn = painted(the(strip, Times)).split()
    assert drawn.count("p99") == drawn.count("p50") == 1


def test_the_last_windows_are_those_of_the_running_server() -> None:
    pulse = Pulse()
    for document in during(session(2, 8), 8):
        pulse(document)
    assert pulse.point and {point.server for point, _ in pulse.recent} == {pulse.point.server}


def test_a_strip_that_gets_wider_shows_no_other_window(qtbot: QtBot) -> None:
    with appearing() as windows:
        strip = shown(qtbot, during(session(2, 8), 10), 660)
        strip.resize(1164, strip.height())
        assert windows == {strip}


def test_a_narrow_strip_drops_what_does_not_fit_whole(qtbot: QtBot) -> None:
    strip = shown(qtbot, during(session(9, 8), 60), 769)
    assert says(strip, "60 of 72 points")
    assert says(strip, "Server 8 of 9")
    for each in strip.findChildren(QLabel):
        if each.isVisible() and not each.wordWrap() and each.text():
            plain = each.fontMetrics().horizontalAdvance(each.text())
            assert plain <= each.width() + 1, each.text()
    end = the(strip, ServerBlocks)
    assert end.mapTo(strip, QPoint(end.width(), 0)).x() <= strip.width() - 14


def test_two_servers_of_one_colour_have_blocks_of_their_own(qtbot: QtBot) -> None:
    blocks = ServerBlocks(theme.LIGHT)
    qtbot.addWidget(blocks)
    colours = [theme.LIGHT.series(n).colour for n in range(12)]
    twin = colours.index(colours[0], 1)
    blocks.resize((twin + 1) * 24 - 4, blocks.height())
    blocks.show_shares([(n, 1.0) for n in range(twin + 1)])
    image = blocks.grab().toImage()
    one, other = (image.copy(24 * n, 0, 20, blocks.height()) for n in (0, twin))
    assert one != other
