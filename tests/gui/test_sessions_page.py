"""The list of sessions as a user works with it: real files, and what happens to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app import theme
from app.bridge import Bridge
from app.context import Desk
from app.live.run import Where
from app.pages.sessions import SessionsPage
from app.sessions.table import COLUMNS
from app.sessions.thumbnail import Outlines, Thumbnail
from app.sessions.view import SessionsView
from app.settings import Settings
from app.widgets import dress
from tests.gui.windows import control, painted, press, says, sees, the
from tests.recording import record_session
from tests.synthetic import End, session
from workbench import paths, trash
from workbench.documents import MachineRecord, RunStart
from workbench.machines.profiles import Profile, remove_profile, save_profile
from workbench.plan.model import Plan
from workbench.sessions import Recorder, read_session
from workbench.sessions.claims import claim
from workbench.sessions.library import Shelved, shelf

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

PATIENCE_MS = 20_000


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    folder = paths.data_dir() / "sessions"
    folder.mkdir(parents=True)
    (tmp_path / "xdg").mkdir()
    return folder


@pytest.fixture
def desk(bridge: Bridge) -> Iterator[Desk]:
    made = Desk(bridge, theme.LIGHT, Settings())

    def read() -> None:
        work = asyncio.to_thread(lambda known: shelf(known=known), made.shelf)
        bridge.submit(work, made.set_shelf)

    made.shelf_stale.connect(read)
    yield made
    made.deleteLater()


@pytest.fixture
def page(qtbot: QtBot, desk: Desk, home: Path) -> SessionsPage:
    return made(qtbot, desk)


def made(qtbot: QtBot, desk: Desk) -> SessionsPage:
    page = SessionsPage(desk)
    dress(page, desk.theme)
    page.resize(1196, 740)
    qtbot.addWidget(page)
    page.show()
    return page


def record(
    path: Path,
    name: str = "",
    *,
    month: int = 11,
    servers: int = 2,
    points: int = 4,
    end: End = "done",
    machines: dict[str, list[str]] | None = None,
) -> Path:
    """`machines`: roles by name; None: this computer alone."""
    recorder = Recorder(path)
    start, *rest = session(servers, points, end=end, seconds=1.0, seed=month)
    assert isinstance(start, RunStart)
    plan = start.plan | ({"name": name} if name else {})
    began = f"2026-{month:02}-03T10:00:00Z"
    start = msgspec.structs.replace(start, started_utc=began, plan=plan)
    if machines is not None:
        known = [MachineRecord(name=name, roles=roles) for name, roles in machines.items()]
        start = msgspec.structs.replace(start, machines=known)
    for document in (start, *rest):
        recorder(document)
    recorder.close()
    return path


def listed(qtbot: QtBot, desk: Desk, page: SessionsPage, count: int) -> None:
    desk.shelf_stale.emit()
    qtbot.waitUntil(lambda: len(page.paths()) == count, timeout=PATIENCE_MS)


def names(page: SessionsPage) -> list[str]:
    return [path.name.partition(".")[0] for path in page.paths()]


def rows(page: SessionsPage) -> SessionsView:
    return the(page, SessionsView)


def cell(page: SessionsPage, row: int, column: str, role: int = Qt.ItemDataRole.DisplayRole) -> str:
    """What is read there."""
    return str(rows(page).model().index(row, COLUMNS.index(column)).data(role))


def row_at(page: SessionsPage, row: int) -> QPoint:
    shown = rows(page)
    return shown.visualRect(shown.model().index(row, 0)).center()


def click(qtbot: QtBot, page: SessionsPage, row: int, *, more: bool = False) -> None:
    keys = Qt.KeyboardModifier.ControlModifier if more else Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(rows(page).viewport(), Qt.MouseButton.LeftButton, keys, pos=row_at(page, row))


def test_the_latest_session_comes_first_and_is_chosen(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    for month, name in ((3, "march"), (9, "september"), (5, "may")):
        record(home / f"{name}.pong.yaml", f"In {name}", month=month)
    listed(qtbot, desk, page, 3)
    assert names(page) == ["september", "may", "march"]
    assert page.card.title.text() == "In september"
    rows(page).header().setSortIndicator(COLUMNS.index("Session"), Qt.SortOrder.AscendingOrder)
    assert names(page) == ["march", "may", "september"]


def test_a_thumbnail_shows_the_servers_in_the_colours_of_the_charts(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", servers=3, points=6)
    listed(qtbot, desk, page, 1)

    def drawn() -> bool:
        image = the(page.card, Thumbnail).grab().toImage()
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
    assert len(page.paths()) == 3000
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
    assert len(page.paths()) == 100
    assert scroll.value() == before


def test_a_title_and_notes_are_kept_and_found_and_the_file_stays_as_it_is(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Plan")
    record(home / "b.pong.yaml", "Other", month=2)
    before = path.read_bytes()
    listed(qtbot, desk, page, 2)
    page.setFocus()
    qtbot.keyClick(rows(page), Qt.Key.Key_F2)
    assert page.card.title.hasFocus()
    qtbot.keyClicks(page.card.title, "Before the new kernel")
    page.card.notes.setFocus()
    qtbot.keyClicks(page.card.notes, "Ask Lena")
    rows(page).setFocus()
    qtbot.waitUntil(lambda: shelf()[0].label.notes == "Ask Lena", timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: desk.shelf[0].label.notes == "Ask Lena", timeout=PATIENCE_MS)
    assert shelf()[0].title == "Before the new kernel"
    assert path.read_bytes() == before
    page.search()
    qtbot.keyClicks(the(page, QLineEdit, "Search sessions"), "lena kernel")
    assert names(page) == ["a"]


def test_a_title_and_notes_are_undone_and_done_again(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "Plan")
    listed(qtbot, desk, page, 1)

    def latest(what: str) -> bool:
        step = page.history.latest
        return step is not None and step.text.startswith(what)

    fields = (("Title", page.card.title, "Mine"), ("Notes", page.card.notes, "Ask Lena"))
    for what, field, text in fields:
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, text)
        rows(page).setFocus()
        qtbot.waitUntil(lambda what=what: latest(what))

    def reads(title: str, notes: str) -> bool:
        (kept,) = shelf()
        shown = page.card.title.text(), page.card.notes.toPlainText()
        return shown == (title, notes) == (kept.title, kept.label.notes)

    qtbot.waitUntil(lambda: reads("Mine", "Ask Lena"))
    page.history.undo()
    qtbot.waitUntil(lambda: reads("Mine", ""))
    page.history.undo()
    qtbot.waitUntil(lambda: reads("Plan", ""))
    page.history.redo()
    qtbot.waitUntil(lambda: reads("Mine", ""))


def test_text_being_typed_survives_a_refresh_of_the_list(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "Plan")
    listed(qtbot, desk, page, 1)
    page.card.notes.setFocus()
    qtbot.keyClicks(page.card.notes, "Half a sent")
    record(home / "b.pong.yaml", month=2)
    listed(qtbot, desk, page, 2)
    assert page.card.notes.toPlainText() == "Half a sent"
    assert page.card.notes.hasFocus()


def test_a_title_that_cannot_be_saved_is_reported(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "Plan")
    (home / "titles.yaml").write_text("- [not, closed\n")
    listed(qtbot, desk, page, 1)
    page.card.title.setFocus()
    page.card.title.selectAll()
    qtbot.keyClicks(page.card.title, "Mine")
    rows(page).setFocus()
    qtbot.waitUntil(lambda: "titles.yaml" in page.error.text, timeout=PATIENCE_MS)
    assert page.error.isVisible()


def test_enter_opens_one_session_and_compares_several(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    for month in (1, 2, 3):
        record(home / f"{month}.pong.yaml", month=month)
    listed(qtbot, desk, page, 3)
    click(qtbot, page, 1)
    with qtbot.waitSignal(desk.open_requested) as opened:
        qtbot.keyClick(rows(page), Qt.Key.Key_Return)
    assert opened.args == [home / "2.pong.yaml"]
    click(qtbot, page, 2, more=True)
    with qtbot.waitSignal(desk.compare_requested) as compared:
        qtbot.keyClick(rows(page), Qt.Key.Key_Return)
    assert compared.args == [[home / "2.pong.yaml", home / "1.pong.yaml"]]


def test_a_session_runs_again_with_its_plan_unless_one_is_running(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Mine")
    listed(qtbot, desk, page, 1)
    with qtbot.waitSignal(desk.run_requested) as run:
        page.card.buttons["Run again"].click()
    (plan,) = run.args
    assert isinstance(plan, Plan)
    assert plan.name == "Mine"
    assert plan.rates_per_s == read_session(path).start.plan["rates"]
    desk.set_busy(True)
    assert not page.card.buttons["Run again"].isEnabled()


def test_a_session_runs_again_on_its_machines_or_says_which_are_gone(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    save_profile(Profile("bolt", roles=["client"]))
    save_profile(Profile("cedar", roles=["client"]))
    machines = {"localhost": ["target"], "bolt": ["client"], "cedar": ["client"]}
    record(home / "a.pong.yaml", "Mine", machines=machines)
    listed(qtbot, desk, page, 1)
    with qtbot.waitSignal(desk.run_on_requested, timeout=PATIENCE_MS) as run:
        page.card.buttons["Run again"].click()
    plan, where = run.args
    assert plan.name == "Mine"
    assert where == Where("localhost", ("bolt", "cedar"))
    remove_profile("cedar")
    with (
        qtbot.waitSignal(desk.plan_requested, timeout=PATIENCE_MS) as shown,
        qtbot.waitSignal(desk.notice, timeout=PATIENCE_MS) as reported,
    ):
        page.card.buttons["Run again"].click()
    assert shown.args == [plan]
    assert reported.args[0] == (
        "This session ran on localhost, load from bolt, cedar. cedar has no profile: "
        "choose other machines, or add them on the Machines page."
    )


def test_deleted_sessions_are_restored_by_undo_and_deleted_again_by_redo(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Mine")
    record(home / "b.pong.yaml", "Stays", month=2)
    listed(qtbot, desk, page, 2)
    before = path.read_bytes()
    page.setFocus()
    qtbot.keyClick(rows(page), Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: names(page) == ["b"], timeout=PATIENCE_MS)
    assert not path.exists()
    assert page.card.title.text() == "Stays"
    sees(qtbot, page, "Moved “Mine” to the trash, which keeps it for 30 days.")
    press(page, "Undo")
    qtbot.waitUntil(lambda: sorted(names(page)) == ["a", "b"], timeout=PATIENCE_MS)
    assert path.read_bytes() == before
    assert page.card.title.text() == "Mine"
    assert not says(page, "Moved “Mine”")
    page.history.redo()
    qtbot.waitUntil(lambda: names(page) == ["b"], timeout=PATIENCE_MS)


def test_undo_never_replaces_what_another_program_wrote_meanwhile(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Mine")
    listed(qtbot, desk, page, 1)
    page.trash()
    qtbot.waitUntil(lambda: not path.exists(), timeout=PATIENCE_MS)
    sees(qtbot, page, "Moved “Mine”")
    record(path, "Theirs")
    theirs = path.read_bytes()
    page.history.undo()
    qtbot.waitUntil(lambda: "There is another" in page.error.text, timeout=PATIENCE_MS)
    assert path.read_bytes() == theirs


def test_a_trash_that_cannot_be_written_keeps_the_session_and_says_so(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml")
    listed(qtbot, desk, page, 1)
    trash.folder().write_text("in the way")
    page.trash()
    qtbot.waitUntil(lambda: "to the trash" in page.error.text, timeout=PATIENCE_MS)
    assert path.exists()


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
    newer.write_text(newer.read_text().replace("v: 1\n", "v: 9\n", 1))
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


def test_the_sort_order_of_the_list_is_saved(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "small.pong.yaml", month=1, points=3)
    record(home / "large.pong.yaml", month=2, points=9)
    listed(qtbot, desk, page, 2)
    rows(page).header().setSortIndicator(COLUMNS.index("Size"), Qt.SortOrder.AscendingOrder)
    page.hide()
    again = SessionsPage(desk)
    qtbot.addWidget(again)
    assert names(again) == ["small", "large"]


def test_markup_in_a_session_is_shown_as_text(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "<b>bold</b>")
    listed(qtbot, desk, page, 1)
    assert cell(page, 0, "Session") == "<b>bold</b>"
    assert "<b>" not in cell(page, 0, "Session", Qt.ItemDataRole.ToolTipRole)
    page.trash()
    sees(qtbot, page, "Moved “<b>bold</b>” to the trash")


def test_a_thumbnail_on_another_page_is_drawn_when_it_gets_a_session(
    qtbot: QtBot, desk: Desk, home: Path
) -> None:
    record(home / "a.pong.yaml")
    (one,) = shelf()
    small = Thumbnail(desk)
    qtbot.addWidget(small)
    small.show()
    before = small.grab().toImage()
    assert isinstance(one, Shelved)
    small.show(one)
    qtbot.waitUntil(lambda: small.grab().toImage() != before, timeout=PATIENCE_MS)


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
