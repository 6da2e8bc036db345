"""What the live page reports: above the charts, and among its events."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.live import LivePage
from tests.gui.live_pages import TWO, feed, heard, named, says, shown, until_point
from tests.outcomes import LATE
from tests.synthetic import session
from workbench.documents import Window
from workbench.messages import notes

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> LivePage:
    return shown(qtbot, LivePage(desk))


def test_a_server_that_died_is_reported_above_the_charts(page: LivePage) -> None:
    documents = until_point(session(2, 4), 2)
    message = notes.notice("died", name="asyncio streams", x=4800.0, status=-9)
    died = message.note(documents[-1].t_us, server="asyncio-streams")
    feed(page, [*documents, died])
    assert page.alert.isVisible()
    assert page.alert.text == died.text
    named(page.alert, "Dismiss").click()
    assert not page.alert.isVisible()


def test_clients_that_reach_no_rate_are_reported_above_the_charts(page: LivePage) -> None:
    none = notes.notice("ceiling", ceiling_per_s=0.0)
    feed(page, [*session(1, 2)[:1], none.note(5)])
    assert page.alert.text == none.text()
    assert named(page, "Events, 1 warning")


def test_missing_windows_are_reported(page: LivePage) -> None:
    documents = until_point(session(1, 4), 1, windows=6)
    lost = [d for d in documents if isinstance(d, Window)][-4:-1]
    feed(page, [document for document in documents if document not in lost])
    assert page.alert.text == notes.notice("windows-missing", seconds=0.6).text()


def test_a_whole_session_raises_no_alarm(page: LivePage) -> None:
    feed(page, session(3, 8, repeats=2))
    assert page.alert.text == ""


def test_many_servers_leave_room_for_the_events(qtbot: QtBot, page: LivePage) -> None:
    feed(page, session(12, 6))
    named(page, "Events").click()
    assert page.board.side.events.isVisible()
    assert page.board.side.events.height() >= 150
    assert page.board.side.legend.isVisible()


def test_repeated_notes_of_every_turn_are_listed_once(page: LivePage) -> None:
    message = notes.notice("backlog", name="asyncio streams", backlog=128, asked=512)
    feed(page, [*session(1, 2), *(message.note(t_us, server=TWO[0]) for t_us in (5, 9))])
    found = [each for each in page.findChildren(QLabel) if each.text() == message.text()]
    assert len(found) == 1


def test_the_events_tab_counts_warnings_and_fits_at_any_size(qtbot: QtBot, page: LivePage) -> None:
    worried = [notes.notice("sampler-lost", said=f"Mind {each}").note(9) for each in "ab"]
    feed(page, [*session(12, 6), *worried])
    warnings = page.board.side.events.warnings  # with the audits that failed
    assert warnings >= 2
    tab = named(page, f"Events, {warnings} warnings")
    assert tab.text() == f"Events · {warnings}" and not tab.icon().isNull()
    page.board.side.setFixedHeight(400)
    QApplication.processEvents()
    assert tab.text() == "Events" and not tab.icon().isNull()
    assert tab.width() >= tab.sizeHint().width()


def test_a_problem_of_many_servers_is_reported_once_with_their_names(page: LivePage) -> None:
    gate = notes.notice(
        "gate", gate={"sentences": ["It answers 'Pong!' with 45 bytes on the wire."]}
    )
    gates = [gate.note(1, server=each) for each in (*TWO, "null")]
    feed(page, [*until_point(session(2, 2), 0), *gates])
    named(page, "Events").click()
    QApplication.processEvents()  # new rows are to be seen with the next event
    answers = "it answers 'Pong!'"
    assert says(page, f"asyncio streams, asyncio Protocol, Null server: {answers}")
    assert len([each for each in page.findChildren(QLabel) if answers in each.text()]) == 1


def test_a_server_whose_lowest_rate_is_inconclusive_is_reported_with_the_cause(
    page: LivePage,
) -> None:
    feed(page, session(2, 4, untrusted_from=1))
    QApplication.processEvents()  # new rows are to be seen with the next event
    cause = f"asyncio streams at 2,250/s cannot be judged. {LATE.text()}"
    assert page.alert.text == cause
    lines = [line.text for line in page.board.side.events.lines]
    points = "Not judged: asyncio streams and asyncio Protocol at 2,250/s."
    assert sum(line.endswith(points) for line in lines) == 1
    assert "asyncio streams unknown" in heard(page.board.side.legend)


def test_a_warning_takes_one_line_of_the_charts_and_none_of_the_servers(
    qtbot: QtBot, page: LivePage
) -> None:
    feed(page, until_point(session(9, 8), 3))
    before = page.board.side.legend.height()
    page.board.warned.emit("The clients were late from 8,300/s on; their points are hollow.")
    qtbot.waitUntil(lambda: 0 < page.alert.height() <= 40)
    assert page.alert.width() < page.board.width() - page.board.side.width()
    assert page.board.side.legend.height() == before
