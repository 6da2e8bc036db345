"""The strip under a run: what it says, and what of it fits."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QProgressBar
from pytestqt.qtbot import QtBot

from app import theme
from app.live.status_strip import NowStrip
from app.live.trace import Trace
from tests.gui.windows import appearing, says, the
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
    made = NowStrip()
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
    (replies,) = (t for t in strip.findChildren(Trace) if t.accessibleName().startswith("Replies"))
    assert replies.accessibleName() == f"Replies: {last.replies:,} of {last.due:,} offered"
    assert says(strip, "per 200 ms")
    assert says(strip, "p99; dotted: p50")
    assert says(strip, "/s offered")


def test_the_last_windows_are_those_of_the_running_server(qtbot: QtBot) -> None:
    documents = during(session(2, 8), 8)
    strip = shown(qtbot, documents)
    (*_, point) = (d for d in documents if isinstance(d, PointStart))
    of = {d.point: d.server for d in documents if isinstance(d, PointStart)}
    assert {of[window.point] for window in strip.recent} == {point.server}


def test_another_server_begins_with_empty_lines(qtbot: QtBot) -> None:
    documents = session(2, 8)
    strip = shown(qtbot, during(documents, 7))
    second = [d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep"][8]
    strip(second)
    strip.refresh()
    assert [line.accessibleName().strip() for line in strip.findChildren(Trace)] == [
        "Replies:",
        "Response time:",
    ]


def test_a_server_that_stops_answering_has_no_response_time(qtbot: QtBot) -> None:
    def bottom() -> list[int]:
        """Where the line of response times is lowest, in the picture."""
        (times,) = (t for t in strip.findChildren(Trace) if "Response" in t.accessibleName())
        image = times.grab().toImage()
        tone = QColor(theme.LIGHT.series(0).colour)
        return [
            y
            for y in range(image.height())
            for x in range(image.width())
            if image.pixelColor(x, y) == tone
        ][-1:]

    documents = during(session(1, 8), 3)
    strip = shown(qtbot, documents)
    before = bottom()
    last = documents[-1]
    assert isinstance(last, Window)
    silent = {"replies": 0, "latency_us": None, "service_us": None}
    for more in range(1, 4):
        strip(structs.replace(last, index=last.index + more, **silent))
    strip.refresh()
    assert bottom() == before


def test_a_server_that_has_not_answered_yet_has_no_response_time(qtbot: QtBot) -> None:
    silent = {"replies": 0, "latency_us": None, "service_us": None}
    documents = [
        structs.replace(each, **silent) if isinstance(each, Window) else each
        for each in during(session(1, 8), 0)
    ]
    strip = shown(qtbot, documents)
    assert [line.accessibleName().strip() for line in strip.findChildren(Trace)] == [
        f"Replies: 0 of {strip.recent[-1].due:,} offered",
        "Response time: –",
    ]


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
    end = the(strip, QProgressBar)
    assert end.mapTo(strip, QPoint(end.width(), 0)).x() <= strip.width() - 14
