"""The list of sessions: what it shows of real files, and of what happens to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.sessions import SessionsPage
from app.sessions.table import COLUMNS
from app.sessions.thumbnail import Outlines, Thumbnail
from tests.gui.sessions.steps import PATIENCE_MS, cell, click, listed, made, names, record, rows
from tests.gui.windows import control, offers, painted, says, sees, the
from tests.recording import record_session
from tests.synthetic import session
from workbench import paths
from workbench.documents import VERSION
from workbench.sessions.library import shelf
from workbench.sessions.recorder import claim

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_the_latest_session_comes_first_and_is_chosen(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    for month, name in ((3, "march"), (9, "september"), (5, "may")):
        record(home / f"{name}.pong.yaml", f"In {name}", month=month)
    listed(qtbot, desk, page, 3)
    assert names(page) == ["september", "may", "march"]
    assert page.card.title.text() == "In september"
    rows(page).horizontalHeader().setSortIndicator(
        COLUMNS.index("Session"), Qt.SortOrder.AscendingOrder
    )
    assert names(page) == ["march", "may", "september"]


def test_a_thumbnail_shows_the_servers_in_the_colours_of_the_charts(
    qtbot: QtBot, desk: Desk, home: Path
) -> None:
    record(home / "a.pong.yaml", servers=3, points=6)
    (one,) = shelf()
    thumbnail = Thumbnail(desk, one)
    qtbot.addWidget(thumbnail)
    thumbnail.show()

    def drawn() -> bool:
        image = thumbnail.grab().toImage()
        seen = {
            image.pixelColor(x, y).name()
            for x in range(image.width())
            for y in range(image.height())
        }
        wanted = {QColor(desk.theme.series(index).colour).name() for index in range(3)}
        return wanted <= seen

    qtbot.waitUntil(drawn, timeout=PATIENCE_MS)


def test_only_thumbnails_that_are_seen_are_read(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml")
    (one,) = shelf()
    many = [replace(one, path=home / f"{n}.pong.yaml", modified_ns=n) for n in range(3000)]
    desk.set_shelf(many)
    assert path.exists()
    assert len(names(page)) == 3000
    outlines = Outlines.of(desk)
    read: list[object] = []
    outlines.changed.connect(lambda: read.append(None))
    page.grab()
    qtbot.waitUntil(lambda: not outlines.awaited, timeout=PATIENCE_MS)
    assert 0 < len(read) < 40


def test_a_list_that_grows_stays_where_it_was_scrolled_to(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml")
    (one,) = shelf()
    many = [replace(one, path=home / f"{n}.pong.yaml", modified_ns=n) for n in range(99)]
    desk.set_shelf(many)
    scroll = rows(page).verticalScrollBar()
    scroll.setValue(scroll.maximum() // 2)
    before = scroll.value()
    assert before > 0
    desk.set_shelf([replace(many[0], size_bytes=5), *many[1:]])
    assert scroll.value() == before
    assert "5 bytes" in cell(page, 98, "Size") + cell(page, 0, "Size")
    desk.set_shelf([*many, replace(one, path=home / "new.pong.yaml")])
    assert len(names(page)) == 100
    assert scroll.value() == before


def test_a_session_that_appears_is_listed_by_itself(
    qtbot: QtBot, desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.sessions.REFRESH_EVERY_MS", 50)
    page = made(qtbot, desk)
    record(home / "a.pong.yaml")
    qtbot.waitUntil(lambda: names(page) == ["a"], timeout=PATIENCE_MS)


def test_sessions_that_are_damaged_cut_off_or_growing_say_so(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path, request: pytest.FixtureRequest
) -> None:
    recording = record(home / "growing.pong.yaml", month=3, end="crashed").open("ab")
    request.addfinalizer(recording.close)
    claim(recording.fileno())
    record(home / "cut.pong.yaml", month=2, end="crashed")
    (home / "torn.pong.yaml").write_text("# pongbench session\n---\nkind: run_st")
    newer = record(home / "newer.pong.yaml", month=1)
    newer.write_text(newer.read_text().replace(f"v: {VERSION}\n", "v: 9\n", 1))
    listed(qtbot, desk, page, 4)
    ended = {name: cell(page, row, "Ended") for row, name in enumerate(names(page))}
    assert ended["growing"] == "being recorded"
    assert ended["cut"] == "cut off"
    assert ended["torn"] == "unreadable"
    click(qtbot, page, names(page).index("torn"))
    problem = {each.path.name: each.problem for each in desk.shelf}
    assert says(page.card, problem["torn.pong.yaml"][1:])
    assert not page.card.buttons["Replay"].isEnabled()
    assert page.card.buttons["Move to trash"].isEnabled()
    click(qtbot, page, names(page).index("newer"))
    assert says(page.card, problem["newer.pong.yaml"][1:])
    assert page.card.buttons["Replay"].isEnabled()
    click(qtbot, page, names(page).index("growing"))
    assert page.card.buttons["Replay"].isEnabled()
    assert not page.card.buttons["Move to trash"].isEnabled()


def test_an_empty_list_says_what_belongs_there_and_a_search_without_a_match_what_was_searched(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    assert says(page, "Reading the sessions…") and not offers(page, "Choose servers")
    desk.set_shelf([])
    assert says(page, "No sessions yet. Choose servers to start a run.")
    page.setFocus()
    assert control(page, "Choose servers").hasFocus()
    record(home / "a.pong.yaml")
    listed(qtbot, desk, page, 1)
    assert not says(page, "No sessions yet")
    qtbot.keyClicks(the(page, QLineEdit, "Search sessions"), "nothing like it")
    assert says(page, "“nothing like it”")


def test_sessions_of_one_title_and_minute_are_told_apart_by_their_files(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    for name in ("one", "two"):
        record(home / f"{name}.pong.yaml", "Plan")
    record(home / "later.pong.yaml", "Plan", month=12)
    listed(qtbot, desk, page, 3)
    titles = {cell(page, row, "Session") for row in range(3)}
    assert titles == {"Plan", "Plan · one", "Plan · two"}
    click(qtbot, page, names(page).index("one"))
    qtbot.keyClick(rows(page), Qt.Key.Key_F2)
    qtbot.keyClicks(page.card.title, "Mine")
    rows(page).setFocus()
    renamed = {"Plan", "Mine · one", "Mine · two"}  # the second is a copy of the first
    qtbot.waitUntil(lambda: {cell(page, n, "Session") for n in range(3)} == renamed)


@pytest.mark.parametrize("width", [769, 1196, 1836])
def test_a_title_is_whole_at_every_width_of_the_window(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path, width: int
) -> None:
    record(home / "a.pong.yaml", "Socket ping-pong", servers=9)
    page.resize(width, 533)
    listed(qtbot, desk, page, 1)
    painted_on = painted(rows(page))
    assert "Socket ping-pong" in painted_on
    assert "complete" in painted_on


def test_markup_in_a_session_is_shown_as_text(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "<b>bold</b>")
    listed(qtbot, desk, page, 1)
    assert cell(page, 0, "Session") == "<b>bold</b>"
    assert "<b>" not in cell(page, 0, "Session", Qt.ItemDataRole.ToolTipRole)
    page.trash()
    sees(qtbot, page, "Moved “<b>bold</b>” to the trash")


def test_a_session_that_grows_keeps_its_thumbnail_while_it_is_read_again(
    qtbot: QtBot, desk: Desk, home: Path
) -> None:
    record(home / "a.pong.yaml")
    (one,) = shelf()
    outlines = Outlines.of(desk)
    assert outlines.get(one) is None
    qtbot.waitUntil(lambda: outlines.get(one) is not None, timeout=PATIENCE_MS)
    grown = replace(one, size_bytes=one.size_bytes + 5, modified_ns=one.modified_ns + 1)
    assert outlines.get(grown) == outlines.get(one)


@pytest.mark.parametrize("plan", [{"workload": "pong", "name": ["a"]}, {"workload": [], "name": 3}])
def test_a_session_with_an_invalid_plan_is_still_listed(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path, plan: dict[str, object]
) -> None:
    start = msgspec.to_builtins(session(1, 2, seconds=1.0)[0])
    line = msgspec.json.encode({**start, "plan": plan})
    (home / "a.pong.yaml").write_bytes(b"# pongbench session\n---\n" + line + b"\n---\n")
    listed(qtbot, desk, page, 1)
    page.grab()
    assert ", plan." in shelf(paths.data_dir() / "sessions")[0].problem


def test_a_session_without_a_plan_is_still_listed(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    start, *rest = session(1, 2, seconds=1.0)
    record_session(home / "a.pong.yaml", (msgspec.structs.replace(start, plan={}), *rest))
    listed(qtbot, desk, page, 1)
    page.grab()
    outlines = Outlines.of(desk)
    qtbot.waitUntil(lambda: not outlines.awaited, timeout=PATIENCE_MS)
    page.run_this()
    qtbot.waitUntil(lambda: page.error.text.startswith("plan a.pong.yaml"), timeout=PATIENCE_MS)
