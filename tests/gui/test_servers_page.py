"""The page of servers as a person uses it: real folders, a real server tried."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.choices import Tick
from app.colour import contrast
from app.desk import Desk
from app.pages.servers import ServersPage
from app.servers.columns import COLUMNS, column
from app.servers.highlight import lexer_for
from app.servers.known import FIRST, NOT, RUNS, Known
from app.servers.naming import NewServer
from app.shell.main_window import MainWindow
from app.widgets import dress
from workbench import paths
from workbench.plans import Plan
from workbench.servers import own
from workbench.servers.catalogue import Catalogue

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

PATIENCE_MS = 60_000
MUTE = """\
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=int(sys.argv[3]))
kept = []
while True:
    kept.append(listener.accept())
"""
SLEEPER = "import time\ntime.sleep(3600)\n"
GONE = """\
name: Lost and gone
family: socket
unavailable: {reason: Its source is nowhere to be had., tried: "2026-11-01", instead: gevent}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return paths.data_dir() / "servers"


Open = Callable[[], ServersPage]


@pytest.fixture
def opened(qtbot: QtBot, desk: Desk) -> Open:
    """Makes a page and waits until it shows the catalogue."""

    def make() -> ServersPage:
        page = ServersPage(desk)
        dress(page, desk.theme)
        qtbot.addWidget(page)
        page.resize(1280, 800)
        page.show()
        page.activateWindow()
        qtbot.waitUntil(lambda: bool(page.servers()), timeout=PATIENCE_MS)
        return page

    return make


@pytest.fixture
def page(opened: Open) -> ServersPage:
    return opened()


def choose(page: ServersPage, id: str) -> Known:
    known = next(known for known in page.servers() if known.id == id)
    assert page.table.choose(known.key)
    return known


def names(page: ServersPage) -> list[str]:
    return [known.name for known in page.servers()]


def button(page: QWidget, name: str) -> QAbstractButton:
    named = [b for b in page.findChildren(QAbstractButton) if b.accessibleName() == name]
    (shown,) = [each for each in named if each.isVisible()]
    return shown


def says(page: QWidget, text: str) -> bool:
    """Is it to be read on a visible label?"""
    return any(text in label.text() for label in page.findChildren(QLabel) if label.isVisible())


def sees(qtbot: QtBot, page: QWidget, text: str) -> None:
    qtbot.waitUntil(lambda: says(page, text), timeout=20_000)


def seek(qtbot: QtBot, page: ServersPage, text: str, found: Callable[[], bool]) -> None:
    page.search()
    field = page.findChild(QLineEdit)
    assert field is not None
    field.clear()
    qtbot.keyClicks(field, text)
    qtbot.waitUntil(found)


def saved(qtbot: QtBot, page: ServersPage, desk: Desk) -> None:
    with qtbot.waitSignal(desk.servers_changed, timeout=PATIENCE_MS):
        button(page, "Save").click()


def type_over(page: ServersPage, old: str, new: str) -> None:
    text = page.pane.code.toPlainText()
    assert old in text
    page.pane.code.setPlainText(text.replace(old, new))


def make(qtbot: QtBot, page: ServersPage, name: str) -> None:
    """Fill the dialog that asks for a name."""
    dialog = page.findChild(NewServer)
    assert dialog is not None
    dialog.field.setText(name)
    button(dialog, "Make it").click()


# The table


def test_every_server_that_can_be_compared_is_listed(qtbot: QtBot, page: ServersPage) -> None:
    assert {known.id for known in page.servers() if known.entry} == {
        entry.id for entry in Catalogue.load().contestants()
    }
    sees(qtbot, page, f"{len(page.servers()):,} servers")


def test_a_search_looks_through_names_facts_and_code(qtbot: QtBot, page: ServersPage) -> None:
    seek(qtbot, page, "greenlet stream", lambda: 0 < len(names(page)) < 10)
    assert "gevent" in names(page)
    seek(qtbot, page, "create_server((", lambda: "gevent" not in names(page))


def test_a_search_without_a_find_says_so_and_leads_back(qtbot: QtBot, page: ServersPage) -> None:
    seek(qtbot, page, "no such word", lambda: not names(page))
    sees(qtbot, page, "No server here says “no such word”.")
    button(page, "Show all servers").click()
    qtbot.waitUntil(lambda: len(names(page)) > 5)


def test_a_family_and_what_runs_here_narrow_the_table(page: ServersPage) -> None:
    page.filters.family = "wsgi"
    assert {known.family for known in page.servers()} == {"wsgi"}
    page.filters.family = ""
    ticks = {tick.text(): tick for tick in page.filters.findChildren(Tick)}
    ticks[RUNS].setChecked(False)
    ticks[NOT].setChecked(False)
    assert {known.state.kind for known in page.servers()} == {FIRST}
    assert "gevent" in names(page)


@pytest.mark.parametrize("rising", [True, False])
def test_every_column_sorts_and_what_is_not_known_comes_last(
    page: ServersPage, rising: bool
) -> None:
    for place, each in enumerate(COLUMNS):
        page.table.sort_by(place, rising=rising)
        texts = [each.text(known) for known in page.servers()]
        known = [text for text in texts if text]
        assert texts == known + [""] * (len(texts) - len(known)), each.name
    page.table.sort_by(column("Released (Today)"), rising=rising)
    dates = [d for d in (COLUMNS[column("Released (Today)")].text(k) for k in page.servers()) if d]
    assert dates == sorted(dates, reverse=not rising)


def test_the_table_of_2009_is_shown_and_put_away(page: ServersPage) -> None:
    choose(page, "tornado")
    place = column("Twitter (2009, as published)")
    assert COLUMNS[place].text(page.pane.known) == "Yes"  # type: ignore[arg-type]
    assert not page.table.facts.isColumnHidden(place)
    ticks = {tick.text(): tick for tick in page.filters.findChildren(Tick)}
    ticks["2009, as published"].setChecked(False)
    assert page.table.facts.isColumnHidden(place)


def test_keys_choose_and_tick_and_the_ticked_lead_on_to_a_plan(
    qtbot: QtBot, page: ServersPage, desk: Desk
) -> None:
    choose(page, "gevent")
    page.table.names.setFocus()
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    choose(page, "tornado")
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    sees(qtbot, page, "2 ticked")
    with qtbot.waitSignal(desk.plan_wanted, timeout=PATIENCE_MS) as led:
        button(page, "Compare 2 in a plan").click()
    (plan,) = led.args
    assert isinstance(plan, Plan)
    assert (plan.servers, plan.workload.protocol) == (["gevent", "tornado"], "pong")


def test_messages_are_tried_but_not_compared(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "zeromq-req-rep")
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    assert not says(page, "ticked")
    assert page.trial.go.isEnabled()


def test_servers_of_http_lead_on_to_a_plan_over_http(
    qtbot: QtBot, page: ServersPage, desk: Desk
) -> None:
    for id_ in ("wsgiref", "waitress"):
        choose(page, id_)
        qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    with qtbot.waitSignal(desk.plan_wanted, timeout=PATIENCE_MS) as led:
        page.compare_these()
    assert led.args[0].workload.protocol == "http/1.0"


def test_a_click_on_the_box_ticks_and_one_beside_it_only_chooses(
    qtbot: QtBot, page: ServersPage
) -> None:
    view = page.table.names
    room = view.visualRect(view.model().index(1, 0))
    left = Qt.MouseButton.LeftButton
    qtbot.mouseClick(view.viewport(), left, pos=room.center())
    assert page.table.current() is page.servers()[1]
    assert not says(page, "ticked")
    at = room.topLeft()
    at.setX(20)
    at.setY(room.center().y())
    qtbot.mouseClick(view.viewport(), left, pos=at)
    sees(qtbot, page, "1 ticked")
    qtbot.mouseClick(view.viewport(), left, pos=at)
    assert not says(page, "ticked")


def test_names_and_facts_stay_on_one_line(qtbot: QtBot, page: ServersPage) -> None:
    def aligned() -> bool:
        current = page.table.facts.currentIndex().row()
        names, facts = (
            v.rowViewportPosition(current) for v in (page.table.names, page.table.facts)
        )
        room = page.table.facts.viewport().height()
        return names == facts and 0 <= facts < room

    last = page.servers()[-1]
    choose(page, last.id)
    qtbot.waitUntil(aligned)
    page.filters.family = "socket"
    page.table.sort_by(1, rising=False)
    choose(page, "twisted")
    qtbot.waitUntil(aligned)
    page.filters.family = ""
    page.table.sort_by(0, rising=True)
    choose(page, last.id)
    qtbot.waitUntil(aligned)
    page.table.facts.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: page.table.names.verticalScrollBar().value() == 0)


def test_a_broken_folder_is_told_in_words_and_hides_no_other(
    qtbot: QtBot, opened: Open, home: Path
) -> None:
    (home / "oops").mkdir(parents=True)
    (home / "oops" / "server.yaml").write_text("name: Oops\nfamily: sockets\n")
    page = opened()
    choose(page, "oops")
    sees(qtbot, page, "expected hello, macro, message, socket")
    assert len(names(page)) > 5
    assert not page.trial.go.isEnabled()


def test_an_unavailable_server_says_why_and_what_lives(
    qtbot: QtBot, opened: Open, home: Path
) -> None:
    (home / "gone").mkdir(parents=True)
    (home / "gone" / "server.yaml").write_text(GONE)
    page = opened()
    choose(page, "gone")
    sees(qtbot, page, "Its source is nowhere to be had.")
    sees(qtbot, page, "Its nearest living relative is gevent.")
    page.table.names.setFocus()
    page._rows.toggle(page.pane.known)  # type: ignore[arg-type]
    assert not says(page, "ticked")


# The code


def test_two_servers_stand_side_by_side(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "twisted")
    page.table.names.setFocus()
    qtbot.keyClick(page.table.names, Qt.Key.Key_B)
    choose(page, "gevent")
    assert "StreamServer" in page.pane.code.toPlainText()
    assert "loseConnection" in page.other.code.toPlainText()
    assert page.other.isVisible()
    assert page.pane.code.isReadOnly()
    button(page.other, "Close this code").click()
    assert not page.other.isVisible()


@pytest.mark.parametrize("which", [theme.DARK, theme.LIGHT], ids=lambda t: t.name)
def test_code_is_coloured_and_can_be_read_in_both_themes(
    page: ServersPage, which: theme.Theme
) -> None:
    choose(page, "gevent")
    page.pane.code.set_theme(which)
    found: dict[str, str] = {}
    block = page.pane.code.document().begin()
    while block.isValid():
        for part in block.layout().formats():
            word = block.text()[part.start : part.start + part.length]
            found[word] = part.format.foreground().color().name()
        block = block.next()
    assert found["import"] == found["def"] != found["pong"]
    assert all(contrast(colour, which.card) >= 4.5 for colour in found.values())


@pytest.mark.parametrize(
    "name",
    ["a.py", "a.js", "a.go", "a.rb", "a.erl", "a.scala", "a.java", "a.yaml", "gunicorn.conf.py"],
)
def test_the_languages_of_the_catalogue_are_known(name: str) -> None:
    assert lexer_for(name) is not None


def test_an_unknown_language_is_shown_plainly() -> None:
    assert lexer_for("notes.unheard-of") is None


# One's own


def test_a_new_server_runs_at_once(qtbot: QtBot, page: ServersPage) -> None:
    button(page, "New server").click()
    make(qtbot, page, "Mine")
    qtbot.waitUntil(lambda: page.pane.known is not None and page.pane.known.id == "mine")
    sees(qtbot, page, "Nothing is wrong with these files.")
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.table.names.setFocus()
    qtbot.keyClick(page.table.names, Qt.Key.Key_Return)
    assert button(page, "Cancel").isVisible()
    assert button(page, "Cancel").hasFocus()
    qtbot.waitUntil(lambda: page.trial.chip.text == "Works", timeout=PATIENCE_MS)
    assert button(page, "Try again").hasFocus()
    sees(qtbot, page, "It answers 'Pong!'")
    assert not says(page, "Content-Length")
    button(page, "Show what was on the wire").click()
    sees(qtbot, page, "Content-Length: 5")
    qtbot.waitUntil(lambda: page.pane.known.state.word == "Works")  # type: ignore[union-attr]


def test_a_name_that_is_taken_is_refused_beside_the_field(qtbot: QtBot, page: ServersPage) -> None:
    page.own.new()
    make(qtbot, page, "Tornado")
    dialog = page.findChild(NewServer)
    assert dialog is not None
    qtbot.waitUntil(lambda: "with the id 'tornado'" in dialog.wrong.text)
    assert dialog.isVisible()
    dialog.reject()


def test_a_copy_of_a_shipped_server_can_be_written(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "gevent")
    button(page, "Duplicate as one of your own").click()
    make(qtbot, page, "gevent, mine")
    qtbot.waitUntil(lambda: page.pane.known is not None and page.pane.known.id == "gevent-mine")
    assert not page.pane.code.isReadOnly()
    assert "StreamServer" in page.pane.code.toPlainText()


def test_a_file_that_several_servers_run_is_nobodys_to_write(opened: Open) -> None:
    own.duplicate(Catalogue.load()["waitress"], "Mine")
    page = opened()
    known = choose(page, "mine")
    assert known.shared
    page.pane.go_to(known.shared[0], 1)
    assert page.pane.file == known.shared[0]
    assert page.pane.code.isReadOnly()
    page.pane.go_to("server.yaml", 1)
    assert not page.pane.code.isReadOnly()


def test_a_slip_is_told_beside_its_line_before_it_is_saved(
    qtbot: QtBot, opened: Open, desk: Desk
) -> None:
    folder = own.new("Mine").folder
    page = opened()
    choose(page, "mine")
    type_over(page, "import socket\n", "import socket,\n")
    sees(qtbot, page, "Line 3: Python stops reading here")
    assert page.pane.code.fault(3)
    sees(qtbot, page, "Not saved yet: server.py.")
    button(page, "Revert").click()
    sees(qtbot, page, "Nothing is wrong with these files.")
    type_over(page, "one reply", "just one reply")
    saved(qtbot, page, desk)
    assert "just one reply" in (folder / "server.py").read_text()
    sees(qtbot, page, "Nothing is wrong with these files.")


def test_saving_leaves_the_cursor_where_it_is(qtbot: QtBot, opened: Open, desk: Desk) -> None:
    own.new("Mine")
    page = opened()
    choose(page, "mine")
    code = page.pane.code
    code.go_to(5)
    qtbot.keyClicks(code, "# here")
    with qtbot.waitSignal(desk.servers_changed, timeout=PATIENCE_MS):
        qtbot.keyClick(code, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "# here" in page.pane.known.texts["server.py"])  # type: ignore[union-attr]
    assert code.textCursor().block().text().startswith("# here")
    code.undo()
    assert "# here" not in code.toPlainText()
    assert says(page, "Not saved yet: server.py.")


def test_a_fault_in_another_file_leads_there(qtbot: QtBot, opened: Open) -> None:
    own.new("Mine")
    page = opened()
    choose(page, "mine")
    page.pane.go_to("server.yaml", 1)
    type_over(page, "protocols: [pong]", "protocols: [ping]")
    page.pane.go_to("server.py", 1)
    sees(qtbot, page, "server.yaml, line 15: protocols")
    button(page, "Go there").click()
    assert page.pane.file == "server.yaml"
    assert page.pane.code.textCursor().block().text().startswith("protocols")


def test_requirements_can_be_added(qtbot: QtBot, opened: Open, desk: Desk) -> None:
    folder = own.new("Mine").folder
    page = opened()
    choose(page, "mine")
    files = page.pane._files
    files.activated.emit(files.findText("Add requirements.txt"))
    assert page.pane.file == "requirements.txt"
    saved(qtbot, page, desk)
    assert "name==version" in (folder / "requirements.txt").read_text()


def test_what_is_not_saved_survives_another_server_and_the_end_of_the_program(
    qtbot: QtBot, opened: Open, desk: Desk
) -> None:
    own.new("Mine")
    page = opened()
    choose(page, "mine")
    type_over(page, "one reply", "not saved")
    choose(page, "gevent")
    choose(page, "mine")
    assert "not saved" in page.pane.code.toPlainText()
    again = opened()
    assert again.pane.known is not None
    assert again.pane.known.id == "mine"
    assert "not saved" in again.pane.code.toPlainText()
    sees(qtbot, again, "Not saved yet: server.py.")


def test_a_file_changed_elsewhere_is_not_overwritten(qtbot: QtBot, opened: Open) -> None:
    folder = own.new("Mine").folder
    page = opened()
    choose(page, "mine")
    type_over(page, "one reply", "ours")
    (folder / "server.py").write_text("# theirs\n")
    button(page, "Save").click()
    sees(qtbot, page, "was changed by another program meanwhile")
    assert (folder / "server.py").read_text() == "# theirs\n"
    assert "ours" in page.pane.code.toPlainText()


def test_deleting_asks_first_and_keeps_the_folder_aside(
    qtbot: QtBot, opened: Open, desk: Desk, home: Path
) -> None:
    own.new("Mine")
    page = opened()
    choose(page, "mine")
    page.detail.delete()
    (asked,) = page.findChildren(QMessageBox)
    keep, away = (next(b for b in asked.buttons() if b.text() == t) for t in ("Keep", "Delete"))
    assert asked.defaultButton() is keep
    with qtbot.waitSignal(desk.servers_changed, timeout=PATIENCE_MS):
        away.click()
    qtbot.waitUntil(lambda: "Mine" not in names(page))
    assert not (home / "mine").exists()
    assert len(list((home / own.REMOVED).glob("mine-*/server.py"))) == 1


# Trying


def test_a_trial_can_be_cancelled_and_leaves_nothing_behind(qtbot: QtBot, opened: Open) -> None:
    made = own.new("Sleeper")
    made.source_path.write_text(SLEEPER)
    with (made.folder / "server.yaml").open("a") as entry:
        entry.write("ready_within_s: 600\n")
    page = opened()
    choose(page, "sleeper")
    page.detail.try_it()
    sees(qtbot, page, "Starting Sleeper on port")
    button(page, "Cancel").click()
    sees(qtbot, page, "It was cancelled.")
    qtbot.waitUntil(lambda: not running("sleeper"))
    assert button(page, "Try again").isEnabled()


def test_a_server_that_is_mute_does_not_work(qtbot: QtBot, opened: Open) -> None:
    made = own.new("Mute")
    made.source_path.write_text(MUTE)
    page = opened()
    choose(page, "mute")
    page.detail.try_it()
    qtbot.waitUntil(lambda: page.trial.chip.text == "Does not work")
    sees(qtbot, page, "It did not answer within 5 s.")
    qtbot.waitUntil(lambda: page.pane.known.state.kind == NOT)  # type: ignore[union-attr]


def test_a_server_that_dies_says_its_last_words(qtbot: QtBot, opened: Open) -> None:
    made = own.new("Dead")
    made.source_path.write_text("raise SystemExit('no more of this')\n")
    page = opened()
    choose(page, "dead")
    page.detail.try_it()
    qtbot.waitUntil(lambda: page.trial.chip.text == "Does not work", timeout=PATIENCE_MS)
    sees(qtbot, page, "Dead on this computer ended with status 1 before it listened")
    button(page, "Show what was on the wire").click()
    sees(qtbot, page, "no more of this")


def test_what_is_not_saved_is_saved_before_it_is_tried(qtbot: QtBot, opened: Open) -> None:
    made = own.new("Mine")
    page = opened()
    choose(page, "mine")
    type_over(page, "Pong!", "Ping!")
    page.detail.try_it()
    qtbot.waitUntil(lambda: page.trial.chip.text == "Does not work", timeout=PATIENCE_MS)
    sees(qtbot, page, "It answered 'Ping!' instead of 'Pong!'.")
    assert "Ping!" in made.source_path.read_text()


def test_all_that_are_listed_are_tried_one_after_the_other(qtbot: QtBot, opened: Open) -> None:
    for name in ("First", "Second"):
        own.new(name)
    page = opened()
    page.filters.family = "own"
    button(page, "Try all listed").click()
    sees(qtbot, page, "First is tried, 1 of 2")
    qtbot.waitUntil(
        lambda: [known.state.word for known in page.servers()] == ["Works"] * 2,
        timeout=PATIENCE_MS,
    )
    assert button(page, "Try all listed").isEnabled()


def test_nothing_is_tried_while_a_run_is_under_way(
    qtbot: QtBot, page: ServersPage, desk: Desk
) -> None:
    choose(page, "gevent")
    desk.set_busy(True)
    page.detail.try_it()
    assert not page.trial.under_way
    sees(qtbot, page, "A run is under way; servers can be tried when it is over.")
    desk.set_busy(False)
    assert page.trial.go.isEnabled()


# Between starts, and with the rest of the window


def test_selection_filter_ticks_and_order_are_kept_between_starts(
    qtbot: QtBot, opened: Open
) -> None:
    page = opened()
    page.filters.family = "socket"
    page.table.sort_by(column("Licence (Today)"), rising=False)
    choose(page, "twisted")
    page.detail.pin()
    choose(page, "gevent")
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    again = opened()
    assert names(again) == names(page)
    assert again.filters.family == "socket"
    assert again.pane.known is not None
    assert again.pane.known.id == "gevent"
    assert again.other.known is not None
    assert again.other.known.id == "twisted"
    sees(qtbot, again, "1 ticked")


def test_settings_that_make_no_sense_are_passed_over(opened: Open, desk: Desk) -> None:
    desk.settings.more["Servers"] = {
        "family": 7,
        "kinds": "x",
        "groups": None,
        "column": "?",
        "ticked": [1],
        "edits": [],
        "chosen": None,
    }
    assert len(names(opened())) > 5


def test_a_new_server_is_offered_on_the_first_page(qtbot: QtBot, desk: Desk) -> None:
    window = MainWindow(desk)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.built, timeout=PATIENCE_MS):
        window.show()
    qtbot.waitUntil(lambda: bool(window.start.findChildren(Tick)), timeout=PATIENCE_MS)
    before = window.start.ticked()
    window.show_page("Servers")
    page = window.page("Servers")
    assert isinstance(page, ServersPage)
    qtbot.waitUntil(lambda: bool(page.servers()), timeout=PATIENCE_MS)
    page.own.new()
    make(qtbot, page, "Brand new")
    window.show_page("Start")

    def offered() -> bool:
        return any(t.text() == "Brand new" for t in window.start.findChildren(Tick))

    qtbot.waitUntil(offered, timeout=PATIENCE_MS)
    assert window.start.ticked() == before


def test_everything_that_can_be_operated_has_a_name(page: ServersPage) -> None:
    choose(page, "gevent")
    for each in page.findChildren(QAbstractButton):
        if each.isVisible():
            assert each.accessibleName() or each.text(), each
    index = page.table.names.currentIndex()
    assert re.match(r"gevent, .+, greenlets", index.data(Qt.ItemDataRole.AccessibleTextRole))


def running(part: str) -> bool:
    """Is there a process of a server deployed under this name?"""
    for each in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if f"servers/{part}-" in str(each.readlink()):
                return True
        except OSError:
            continue
    QApplication.processEvents()
    return False
