"""A film on its page: steps, marks, repeats."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from app.charts.view_state import DISTRIBUTION
from app.context import Desk
from app.live.film import Reel, load
from app.pages.film import FilmPage
from tests.gui.live_pages import TWO, named, read, says, until_point
from tests.recording import record_session
from tests.repeats import with_repeats
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStop

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def opened(qtbot: QtBot, desk: Desk, sessions: Path, documents: list[AnyDocument]) -> FilmPage:
    path = sessions / "film.pong.yaml"
    record_session(path, documents)
    page = FilmPage(desk)
    qtbot.addWidget(page, before_close_func=lambda _: page)
    page.resize(1300, 820)
    with qtbot.waitExposed(page):
        page.show()
    page.open(path)
    qtbot.waitUntil(lambda: page.board.model.over)
    return page


def place(page: FilmPage) -> str:
    """What the controls say the film shows."""
    return page.transport.where.whole


def test_a_film_steps_by_point_and_by_server(qtbot: QtBot, desk: Desk, sessions: Path) -> None:
    page = opened(qtbot, desk, sessions, session(3, 4))
    steps = [
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, ""),
        (
            Qt.Key.Key_Right,
            Qt.KeyboardModifier.ShiftModifier,
            "Point 4 of 12: 9,000/s, asyncio streams",
        ),
        (
            Qt.Key.Key_Right,
            Qt.KeyboardModifier.NoModifier,
            "Point 5 of 12: 2,250/s, asyncio Protocol",
        ),
        (
            Qt.Key.Key_Left,
            Qt.KeyboardModifier.NoModifier,
            "Point 4 of 12: 9,000/s, asyncio streams",
        ),
        (
            Qt.Key.Key_Right,
            Qt.KeyboardModifier.ShiftModifier,
            "Point 8 of 12: 9,000/s, asyncio Protocol",
        ),
        (
            Qt.Key.Key_Left,
            Qt.KeyboardModifier.ShiftModifier,
            "Point 4 of 12: 9,000/s, asyncio streams",
        ),
        (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, "Point 12 of 12: 9,000/s, gevent"),
    ]
    for key, modifier, expected in steps:
        qtbot.keyClick(page, key, modifier)
        qtbot.waitUntil(lambda e=expected: place(page)[: len(e) or None] == e)


def test_arrows_move_the_film_unless_a_point_is_pinned(
    qtbot: QtBot, desk: Desk, sessions: Path
) -> None:
    page = opened(qtbot, desk, sessions, session(2, 4))
    trio = page.board.trio
    trio.setFocus()
    qtbot.keyClick(trio, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: not place(page))
    for point in ("Point 1 of 8", "Point 2 of 8"):
        qtbot.keyClick(trio, Qt.Key.Key_Right)
        qtbot.waitUntil(lambda p=point: p in place(page))
    drawn = page.board.model.series["asyncio-streams"]
    qtbot.waitUntil(lambda: len(drawn.stops) == 2)
    trio.highlight("asyncio-streams", 4500.0)
    qtbot.keyClick(trio, Qt.Key.Key_Left)
    assert "at 2,250/s offered" in trio.accessibleDescription()
    assert "Point 2 of 8" in place(page)


def test_within_a_servers_sweep_a_film_says_that_its_figure_is_one_so_far(
    qtbot: QtBot, desk: Desk, sessions: Path
) -> None:
    page = opened(qtbot, desk, sessions, session(2, 4))
    legend = page.board.side.legend
    assert not says(legend, "so far")
    qtbot.keyClick(page, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: not place(page))
    for point in ("Point 1 of 8", "Point 2 of 8"):
        qtbot.keyClick(page, Qt.Key.Key_Right)
        qtbot.waitUntil(lambda p=point: p in place(page))
    qtbot.waitUntil(lambda: says(legend, "so far"))
    assert read(legend, "asyncio streams") == "asyncio streams sustains so far ≥ 4,500/s"
    page.board.views.choose(DISTRIBUTION)
    table = page.board.findChild(QTableWidget)
    qtbot.waitUntil(lambda: bool(table.item(0, 1)) and table.item(0, 1).text() == "4,500/s so far")
    qtbot.keyClick(page, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: not says(legend, "so far"))
    qtbot.waitUntil(lambda: table.rowCount() == 2)
    assert not any("so far" in table.item(line, 1).text() for line in range(2))


def test_the_speed_of_a_film_is_chosen_with_keys(qtbot: QtBot, desk: Desk, sessions: Path) -> None:
    page = opened(qtbot, desk, sessions, session(1, 4))
    assert named(page, "1x").isChecked()
    for expected in ("10x", "60x"):
        qtbot.keyClick(page, Qt.Key.Key_Plus)
        assert named(page, expected).isChecked()


async def test_a_film_marks_where_something_happened(sessions: Path) -> None:
    path = sessions / "marked.pong.yaml"
    documents = session(2, 8, untrusted_from=7000)
    record_session(path, documents)
    reel: Reel = await load(path)
    stops = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    first = [
        next(d.t_us for d in stops if d.server == s and d.rate_per_s > 7000)
        for s in ("asyncio-streams", "asyncio-protocol")
    ]
    assert [alert.t_us for alert in reel.alerts] == first


def test_what_a_films_timeline_marks_is_described_in_text(
    qtbot: QtBot, desk: Desk, sessions: Path
) -> None:
    page = opened(qtbot, desk, sessions, session(2, 8, untrusted_from=7000))
    happened = page.board.side.events
    points = "Not judged: asyncio streams and asyncio Protocol at 7,875/s."
    qtbot.waitUntil(lambda: sum(line.text.endswith(points) for line in happened.lines) == 1)


def test_a_film_shows_repeats_and_the_calibration_of_the_clients(
    qtbot: QtBot, desk: Desk, sessions: Path
) -> None:
    page = opened(qtbot, desk, sessions, with_repeats(session(2, 8), 4500, *TWO))
    assert place(page) == "Point 18 of 18: 4,500/s, second try, asyncio Protocol"
    for wanted in ("4,500/s, second try, asyncio Protocol", "4,500/s, second try, asyncio streams"):
        before = page.transport.at.at_us
        qtbot.keyClick(page, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
        qtbot.waitUntil(lambda at=before: page.transport.at.at_us < at)
        assert place(page).endswith(wanted)
    reel = page.reel
    assert reel is not None
    page.transport.seek_requested.emit(float(sum(reel.asides["client calibration"]) // 2))
    qtbot.waitUntil(lambda: place(page) == "Client calibration")


def test_a_film_of_a_run_killed_before_its_first_point_shows_none(
    qtbot: QtBot, desk: Desk, sessions: Path
) -> None:
    page = opened(qtbot, desk, sessions, until_point(session(2, 8), 0))
    qtbot.waitUntil(lambda: says(page, "not run"))
    assert not says(page, "not run yet")
    assert page.board.model.over
