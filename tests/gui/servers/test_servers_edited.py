"""The code of servers is shown, and the user's own are made, followed and deleted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import theme
from app.context import Desk
from app.fields import Choice, TickList
from app.pages.servers import FactsCard, ServersPage
from app.servers.code import lexer_for
from app.shell.main_window import MainWindow
from app.theme import contrast
from tests.gui.servers.steps import Open, choose, make, names, pick
from tests.gui.windows import control, press, says, sees, the
from workbench.servers import user_servers

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.mark.parametrize(("width", "wanted"), [(801, 296), (3756, 480)])
def test_the_facts_have_more_room_in_a_wide_window(
    qtbot: QtBot, page: ServersPage, width: int, wanted: int
) -> None:
    page.resize(width, 800)
    card = the(page, FactsCard)
    qtbot.waitUntil(lambda: card.width() == wanted)


@pytest.mark.parametrize("which", [theme.DARK, theme.LIGHT], ids=lambda t: t.name)
def test_code_is_coloured_and_can_be_read_in_both_themes(
    page: ServersPage, which: theme.Theme, request: pytest.FixtureRequest
) -> None:
    choose(page, "gevent")
    request.addfinalizer(partial(theme.use, theme.current()))
    theme.use(which)
    page.pane.set_theme(which)
    document = page.pane.code.document()
    found = {
        word: document.find(word, 0, document.FindFlag.FindWholeWords)
        .charFormat()
        .foreground()
        .color()
        .name()
        for word in ("import", "def", "pong")
    }
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


def test_a_name_that_is_taken_is_refused(qtbot: QtBot, page: ServersPage) -> None:
    page.new()
    make(page, "Tornado")
    qtbot.waitUntil(lambda: "with the id 'tornado'" in page.error.text)


def test_a_copy_of_a_shipped_server_is_shown(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "gevent")
    control(page, "Duplicate to edit").click()
    make(page, "gevent (copy)")
    qtbot.waitUntil(lambda: page.pane.known is not None and page.pane.known.id == "gevent-copy")
    assert "StreamServer" in page.pane.code.toPlainText()


def test_the_files_of_a_server_are_read_again_once_they_are_saved(
    qtbot: QtBot, opened: Open, desk: Desk
) -> None:
    source = user_servers.new("Mine").folder / "server.py"
    page = opened()
    choose(page, "mine")
    pick(the(page.pane, Choice), "server.yaml")
    assert "protocols: [pong]" in page.pane.code.toPlainText()
    source.write_text(source.read_text("utf-8").replace("import socket\n", "import socket,\n"))
    desk.servers_changed.emit()
    sees(qtbot, page, "server.py, line 3: Syntax error")
    assert page.pane.file == "server.yaml"
    page.pane.show_file("server.py")
    assert "import socket,\n" in page.pane.code.toPlainText()


def test_a_deleted_server_comes_back(
    qtbot: QtBot, opened: Open, desk: Desk, own_servers: Path
) -> None:
    user_servers.new("Mine")
    page = opened()
    choose(page, "mine")
    with qtbot.waitSignal(desk.servers_changed):
        page.delete()
    qtbot.waitUntil(lambda: "Mine" not in names(page))
    assert not (own_servers / "mine").exists()
    assert says(page, "Moved the server “Mine” to the trash")
    press(page, "Undo")
    qtbot.waitUntil(lambda: "Mine" in names(page))


def test_a_new_server_is_offered_on_the_first_page(qtbot: QtBot, desk: Desk) -> None:
    window = MainWindow(desk)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.built):
        window.show()
    offered = the(window.start, TickList)
    qtbot.waitUntil(lambda: bool(offered.ids()))
    before = window.start.compare.ticked()
    window.show_page("Servers")
    page = window.page("Servers")
    assert isinstance(page, ServersPage)
    qtbot.waitUntil(lambda: bool(page.table.model().servers()))
    page.new()
    make(page, "Brand new")
    window.show_page("Start")

    qtbot.waitUntil(lambda: "brand-new" in offered.ids())
    assert window.start.compare.ticked() == before
