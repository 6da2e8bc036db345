"""What is shown before the first point of a run."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.context import Desk
from app.live.preparing import remaining
from app.live.run import Trial
from app.pages.live import LivePage
from tests.gui.live_pages import TWO, read, says, shown
from tests.synthetic import session
from workbench.documents import PointStart, PointStop
from workbench.plan.reading import plan_from_data

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> LivePage:
    return shown(qtbot, LivePage(desk))


def test_before_a_run_its_servers_are_listed(page: LivePage) -> None:
    documents = session(2, 4)
    page.begin(plan_from_data(documents[0].plan, name="a test"))
    servers = ((TWO[0], "asyncio streams"), (TWO[1], "asyncio Protocol"), ("null", "Null server"))
    page.prepare(Trial(servers, 1))
    QApplication.processEvents()  # new rows are to be seen with the next event
    legend = page.board.side.legend
    assert read(legend, "asyncio streams ") == "asyncio streams not run yet"
    assert read(legend, "asyncio Protocol ") == "asyncio Protocol not run yet"
    assert not says(legend, "Null server")
    assert not page.now.isVisible()


def test_until_something_is_drawn_a_card_above_the_charts_shows_the_steps(page: LivePage) -> None:
    documents = session(2, 4)
    page.begin(plan_from_data(documents[0].plan, name="a test"))
    servers = ((TWO[0], "asyncio streams"), (TWO[1], "asyncio Protocol"), ("null", "Null server"))
    page.prepare(Trial(servers, 1))
    page.show_status("Installing asyncio Protocol: 2 packages")
    charts = page.board
    assert says(charts, "Installing asyncio Protocol: 2 packages")
    assert says(charts, "1 of 2 servers tested")
    page.prepare(Trial(servers, 2))
    assert not says(page, "Installing asyncio Protocol")  # that was the server before
    assert says(charts, "2 of 2 servers tested") and says(charts, " left")
    page.consume(documents[0])
    assert says(charts, "Testing ")
    first = next(d for d in documents if isinstance(d, PointStart) and d.purpose == "ceiling")
    page.consume(first)
    assert not says(charts, "Testing ")
    page.refresh()
    assert says(page.now, "Client calibration") and says(page.now, " left")


def test_the_calibration_is_drawn_until_a_server_has_a_point(page: LivePage) -> None:
    documents = session(2, 4)
    stops = [d for d in documents if isinstance(d, PointStop)]
    first = next(n for n, stop in enumerate(stops) if stop.judged)
    page.begin(plan_from_data(documents[0].plan, name="a test"))
    marks = page.board.trio.charts[Quantity.REPLIES].marks
    for document in documents[: documents.index(stops[first])]:
        page.consume(document)
    page.refresh()
    offered = [stop.x for stop in stops if stop.purpose == "ceiling"]
    assert [x for x, _ in marks.calibrated()] == sorted(offered) != []
    page.consume(stops[first])
    page.refresh()
    assert marks.calibrated() == []


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
