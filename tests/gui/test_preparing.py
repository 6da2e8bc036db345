"""What is shown before the first point of a run."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.context import Desk
from app.live.preparing import Preparing, calibrating, remaining
from app.live.run import Trial
from app.pages.live import LivePage
from tests.gui.live_pages import TWO, read, says, shown
from tests.synthetic import session
from workbench.documents import PointStart
from workbench.plan.reading import plan_from_data

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> LivePage:
    return shown(qtbot, LivePage(desk))


def test_before_a_run_its_servers_are_listed_with_their_state(page: LivePage) -> None:
    documents = session(2, 4)
    page.begin(plan_from_data(documents[0].plan, name="a test"))
    servers = ((TWO[0], "asyncio streams"), (TWO[1], "asyncio Protocol"), ("null", "Null server"))
    page.prepare(Trial(servers, 1))
    page.show_status("Building the runtime of asyncio Protocol")
    QApplication.processEvents()  # new rows are to be seen with the next event
    legend = page.board.side.legend
    assert read(legend, "asyncio streams ") == "asyncio streams ready"
    assert read(legend, "asyncio Protocol ") == "asyncio Protocol building"
    assert not says(legend, "Null server")
    assert not page.now.isVisible()
    page.consume(documents[0])
    page.refresh()
    assert read(legend, "asyncio streams ") == "asyncio streams not run yet"
    assert not says(page, " ready")


def test_until_the_first_point_a_card_in_place_of_the_charts_shows_the_steps(
    page: LivePage,
) -> None:
    documents = session(2, 4)
    page.begin(plan_from_data(documents[0].plan, name="a test"))
    servers = ((TWO[0], "asyncio streams"), (TWO[1], "asyncio Protocol"), ("null", "Null server"))
    page.prepare(Trial(servers, 1))
    page.show_status("Installing asyncio Protocol: 2 packages")
    charts = page.board.trio
    assert says(charts, "Before the first point")
    assert says(charts, "Installing asyncio Protocol: 2 packages")
    assert says(charts, "now · 2 of 2")
    page.prepare(Trial(servers, 2))
    assert not says(page, "Installing asyncio Protocol")  # that was the server before
    page.prepare(Trial(servers, 3))
    assert says(charts, "Install and test servers")
    assert says(charts, "2 of 2")
    assert says(charts, " left")  # of the calibration
    first = next(d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep")
    page.consume(documents[0])
    assert says(charts, "Before the first point")
    page.consume(first)
    assert not says(charts, "Before the first point")


@pytest.mark.parametrize(
    ("finished", "elapsed_s", "text"),
    [
        (-1, 0.4, ""),
        (0, 9.6, "9 s so far"),
        (2, 10, "about 5 s left"),
        (1, 100, "about 3.3 min left"),
        (3, 10, ""),
    ],
)
def test_the_time_left_is_that_of_the_tests_before(
    finished: int, elapsed_s: float, text: str
) -> None:
    trial = Trial((("a", "A"), ("b", "B"), ("c", "C")), finished)
    assert remaining(trial, elapsed_s) == text


def test_the_time_left_before_the_first_point_includes_the_calibration() -> None:
    trial = Trial((("a", "A"), ("b", "B"), ("c", "C")), 2)
    assert remaining(trial, 10, (3, 40)) == "about 8 to 45 s left"
    assert remaining(trial, 10, (3, 110)) == "up to 1.9 min left"
    assert calibrating((3, 110), 0) == "up to 1.8 min left"
    assert [calibrating((3, 40), elapsed_s) for elapsed_s in (1.2, 30, 41)] == [
        "2 to 39 s left",
        "1 to 10 s left",
        "",
    ]


@pytest.mark.parametrize("size", [(1196, 800), (801, 533)])
def test_the_card_before_the_first_point_leaves_the_chart_below_uncovered(
    qtbot: QtBot, page: LivePage, size: tuple[int, int]
) -> None:
    page.resize(*size)
    page.begin(plan_from_data(session(2, 4)[0].plan, name="a test"))
    page.show_status("Installing asyncio Protocol: 2 packages")
    card, charts = page.board.trio.findChild(Preparing), page.board.trio.charts
    below = charts[Quantity.TIME]
    qtbot.waitUntil(lambda: 0 < card.geometry().bottom() < below.geometry().top())
    assert says(card, "now · 1 of 2") and says(card, "next")
