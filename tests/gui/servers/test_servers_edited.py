"""The code of servers is shown, and that of the user's own can be edited."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import theme
from app.choices import Choice, Tick
from app.colour import contrast
from app.context import Desk
from app.pages.servers import ServersPage
from app.servers.code import lexer_for
from app.servers.detail import FactsCard
from app.servers.own import NewServer
from app.shell.main_window import MainWindow
from app.widgets import Elided
from tests.gui.servers.steps import Open, choose, make, names, saved, type_over
from tests.gui.windows import control, press, says, sees, the
from workbench.servers import user_servers
from workbench.servers.catalogue import Catalogue

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_two_servers_stand_side_by_side(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "twisted")
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_B)
    choose(page, "gevent")
    assert "StreamServer" in page.pane.code.toPlainText()
    assert "loseConnection" in page.other.code.toPlainText()
    assert page.other.isVisible()
    assert page.pane.code.isReadOnly()
    control(page.other, "Close the pinned code").click()
    assert not page.other.isVisible()


def test_line_numbers_end_where_the_code_ends(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "twisted")
    page.detail.pin()  # so that lines are longer than the code is wide
    choose(page, "gevent")
    code = page.pane.code
    qtbot.waitUntil(code.horizontalScrollBar().isVisible)
    numbers = code.childAt(QPoint(8, code.viewport().y() + 8))
    qtbot.waitUntil(lambda: numbers.geometry().bottom() == code.viewport().geometry().bottom())


@pytest.mark.parametrize(("width", "wanted"), [(801, 280), (1196, 312), (3756, 480)])
def test_the_facts_have_more_room_in_a_wide_window(
    qtbot: QtBot, page: ServersPage, width: int, wanted: int
) -> None:
    page.resize(width, 800)
    card = the(page, FactsCard)
    qtbot.waitUntil(lambda: card.width() == wanted)


def test_what_is_known_of_code_is_shown_whole_or_not_at_all(page: ServersPage) -> None:
    choose(page, "twisted")
    page.detail.pin()
    known = choose(page, "gevent")
    assert known.entry is not None
    whole = f"{known.entry.style}, {known.lines} lines"
    (about,) = (each for each in page.pane.findChildren(Elided) if each.whole == whole)
    shown = set()
    for width in range(850, 1600, 30):
        page.resize(width, 700)
        QApplication.processEvents()
        shown.add(about.text())
    assert shown == {"", whole}


@pytest.mark.parametrize("which", [theme.DARK, theme.LIGHT], ids=lambda t: t.name)
def test_code_is_coloured_and_can_be_read_in_both_themes(
    page: ServersPage, which: theme.Theme, request: pytest.FixtureRequest
) -> None:
    choose(page, "gevent")
    request.addfinalizer(partial(theme.use, theme.current()))
    theme.use(which)
    QApplication.sendEvent(page.pane.code, QEvent(QEvent.Type.StyleChange))
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


def test_a_name_that_is_taken_is_refused_next_to_the_field(qtbot: QtBot, page: ServersPage) -> None:
    page.own.new()
    make(qtbot, page, "Tornado")
    dialog = page.findChild(NewServer)
    assert dialog is not None
    qtbot.waitUntil(lambda: "with the id 'tornado'" in dialog.wrong.text)
    assert dialog.isVisible()
    dialog.reject()


def test_a_copy_of_a_shipped_server_can_be_written(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "gevent")
    control(page, "Duplicate to edit").click()
    make(qtbot, page, "gevent (copy)")
    qtbot.waitUntil(lambda: page.pane.known is not None and page.pane.known.id == "gevent-copy")
    assert not page.pane.code.isReadOnly()
    assert "StreamServer" in page.pane.code.toPlainText()


def test_a_file_shared_by_several_servers_is_read_only(opened: Open) -> None:
    user_servers.duplicate(Catalogue.load()["waitress"], "Mine")
    page = opened()
    known = choose(page, "mine")
    assert known.shared
    page.pane.go_to(known.shared[0], 1)
    assert page.pane.file == known.shared[0]
    assert page.pane.code.isReadOnly()
    page.pane.go_to("server.yaml", 1)
    assert not page.pane.code.isReadOnly()


def test_an_error_is_reported_next_to_its_line_before_saving(
    qtbot: QtBot, opened: Open, desk: Desk
) -> None:
    folder = user_servers.new("Mine").folder
    page = opened()
    choose(page, "mine")
    type_over(page, "import socket\n", "import socket,\n")
    sees(qtbot, page, "Line 3: Syntax error")
    assert page.pane.code.fault(3)
    sees(qtbot, page, "Unsaved: server.py.")
    control(page, "Revert").click()
    sees(qtbot, page, "No errors.")
    type_over(page, "one reply", "just one reply")
    saved(qtbot, page, desk)
    assert "just one reply" in (folder / "server.py").read_text()
    sees(qtbot, page, "No errors.")


def test_the_code_fills_the_window_with_errors_next_to_their_lines(
    qtbot: QtBot, opened: Open
) -> None:
    user_servers.new("Mine")
    page = opened()
    choose(page, "mine")
    before = page.pane.code.height()
    control(page, "Fill the window").click()
    assert not page.finding.isVisible()
    assert page.pane.code.hasFocus()
    qtbot.waitUntil(lambda: page.pane.code.height() > 1.5 * before)
    top = page.pane.code.cursorRect().top()
    clean = page.pane.code.viewport().grab().toImage()
    type_over(page, "import socket\n", "import socket,\n")
    sees(qtbot, page, "Line 3: Syntax error")
    assert page.pane.code.cursorRect().top() == top  # no line of code has moved
    wrong = page.pane.code.viewport().grab().toImage()
    line = page.pane.code.cursorRect().height()
    right = [clean.width() // 2, clean.width() - 40]  # far behind the code of that line
    differ = any(
        clean.pixel(x, y) != wrong.pixel(x, y)
        for x in range(*right)
        for y in range(2 * line, 4 * line)
    )
    assert differ
    page.fill_window()
    assert page.finding.isVisible()


def test_saving_leaves_the_cursor_where_it_is(qtbot: QtBot, opened: Open, desk: Desk) -> None:
    user_servers.new("Mine")
    page = opened()
    choose(page, "mine")
    code = page.pane.code
    code.go_to(5)
    qtbot.keyClicks(code, "# here")
    with qtbot.waitSignal(desk.servers_changed):
        qtbot.keyClick(code, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "# here" in page.pane.known.texts["server.py"])  # type: ignore[union-attr]
    assert code.textCursor().block().text().startswith("# here")
    code.undo()
    assert "# here" not in code.toPlainText()
    assert says(page, "Unsaved: server.py.")


def test_a_fault_in_another_file_leads_there(qtbot: QtBot, opened: Open) -> None:
    user_servers.new("Mine")
    page = opened()
    choose(page, "mine")
    page.pane.go_to("server.yaml", 1)
    type_over(page, "protocols: [pong]", "protocols: [ping]")
    page.pane.go_to("server.py", 1)
    sees(qtbot, page, "server.yaml, line 15: protocols")
    control(page, "Show").click()
    assert page.pane.file == "server.yaml"
    assert page.pane.code.textCursor().block().text().startswith("protocols")


def test_requirements_can_be_added(qtbot: QtBot, opened: Open, desk: Desk) -> None:
    folder = user_servers.new("Mine").folder
    page = opened()
    choose(page, "mine")
    files = the(page.pane, Choice)
    files.activated.emit(files.findText("Add requirements.txt"))
    assert page.pane.file == "requirements.txt"
    saved(qtbot, page, desk)
    assert "name==version" in (folder / "requirements.txt").read_text()


def test_unsaved_changes_survive_another_selection_and_a_restart(
    qtbot: QtBot, opened: Open, desk: Desk
) -> None:
    user_servers.new("Mine")
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
    sees(qtbot, again, "Unsaved: server.py.")


def test_a_file_changed_elsewhere_is_not_overwritten(qtbot: QtBot, opened: Open) -> None:
    folder = user_servers.new("Mine").folder
    page = opened()
    choose(page, "mine")
    type_over(page, "one reply", "ours")
    (folder / "server.py").write_text("# theirs\n")
    control(page, "Save").click()
    sees(qtbot, page, "was changed by another program meanwhile")
    assert (folder / "server.py").read_text() == "# theirs\n"
    assert "ours" in page.pane.code.toPlainText()


def test_a_deleted_server_comes_back_with_its_unsaved_changes(
    qtbot: QtBot, opened: Open, desk: Desk, own_servers: Path
) -> None:
    user_servers.new("Mine")
    page = opened()
    choose(page, "mine")
    page.pane.code.setPlainText("# mine\n")
    with qtbot.waitSignal(desk.servers_changed):
        page.detail.delete()
    qtbot.waitUntil(lambda: "Mine" not in names(page))
    assert not (own_servers / "mine").exists()
    assert says(page, "Moved the server “Mine” to the trash")
    press(page, "Undo")
    qtbot.waitUntil(lambda: "Mine" in names(page))
    choose(page, "mine")
    assert page.pane.code.toPlainText() == "# mine\n"


def test_a_new_server_is_offered_on_the_first_page(qtbot: QtBot, desk: Desk) -> None:
    window = MainWindow(desk)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.built):
        window.show()
    qtbot.waitUntil(lambda: bool(window.start.findChildren(Tick)))
    before = window.start.ticked()
    window.show_page("Servers")
    page = window.page("Servers")
    assert isinstance(page, ServersPage)
    qtbot.waitUntil(lambda: bool(page.servers()))
    page.own.new()
    make(qtbot, page, "Brand new")
    window.show_page("Start")

    def offered() -> bool:
        return any(t.text() == "Brand new" for t in window.start.findChildren(Tick))

    qtbot.waitUntil(offered)
    assert window.start.ticked() == before
