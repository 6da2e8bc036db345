"""The command palette: whatever the window can do is found in three letters and run by Enter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
)
from pytestqt.qtbot import QtBot

from app import actions, page_registry, theme
from app.machines.records import HERE
from app.pages.machines import MachinesPage
from app.pages.servers import ServersPage
from app.settings import Settings
from app.shell.main_window import MainWindow
from tests.gui.windows import control, name_of, says, shown, the
from tests.recording import record_session
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def window(qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    record_session(home / "data" / "sessions" / "three.pong.yaml", session(3, 6))
    with shown(qtbot) as made:
        qtbot.waitUntil(lambda: bool(made.start.ticked()) and bool(made.desk.shelf))
        yield made


def field(window: MainWindow) -> QLineEdit:
    return the(window, QLineEdit, "Find")


def is_open(window: MainWindow) -> bool:
    return any(e.isVisible() and name_of(e) == "Find" for e in window.findChildren(QLineEdit))


def call(qtbot: QtBot, window: MainWindow, typed: str = "") -> None:
    """Press Ctrl+K wherever the focus is, and type."""
    at = QApplication.focusWidget() or window
    qtbot.keyClick(at, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert field(window).hasFocus()
    qtbot.keyClicks(field(window), typed)


def listed(window: MainWindow) -> list[str]:
    model = the(window, QListView, "Found").model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def run(qtbot: QtBot, window: MainWindow, typed: str) -> str:
    """Run the first that is found; return its text."""
    call(qtbot, window, typed)
    first = listed(window)[0]
    qtbot.keyClick(field(window), Qt.Key.Key_Return)
    assert not is_open(window)
    return first


def test_every_page_is_three_letters_away(qtbot: QtBot, window: MainWindow) -> None:
    for name in page_registry.RAIL:
        assert run(qtbot, window, name[:3].lower()) == name
        assert window.page(name).isVisible()


def test_a_session_a_server_a_preset_and_a_machine_are_shown(
    qtbot: QtBot, window: MainWindow
) -> None:
    servers: ServersPage = window.page("Servers")  # type: ignore[assignment]
    assert run(qtbot, window, "torn") == "Tornado"
    qtbot.waitUntil(lambda: servers.pane.known is not None and servers.pane.known.name == "Tornado")
    assert run(qtbot, window, "thorough") == "Thorough"
    assert says(window.page("Plan"), "Thorough")
    machines: MachinesPage = window.page("Machines")  # type: ignore[assignment]
    assert run(qtbot, window, "this computer") == "This computer"
    qtbot.waitUntil(lambda: machines.isVisible() and machines.listing.selected == HERE)
    assert run(qtbot, window, "socket november") == window.desk.shelf[0].title
    qtbot.waitUntil(window.film.isVisible)
    window.show_page("Start")
    for file in ("three pong november", "three.pong.yaml", ".yaml"):
        window.show_page("Start")
        assert run(qtbot, window, file) == window.desk.shelf[0].title
    qtbot.waitUntil(window.film.isVisible)


def test_settings_apply_at_once_and_their_page_says_so(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("Settings")
    assert run(qtbot, window, "dark") == "Colours: dark"
    assert window.desk.settings.colours == "dark"
    assert window.desk.theme is theme.DARK
    run(qtbot, window, "light")
    assert window.desk.theme is theme.LIGHT
    run(qtbot, window, "reduce motion")
    assert window.desk.settings.calm


def test_the_size_of_text_is_found_and_the_page_says_when_it_applies(
    qtbot: QtBot, window: MainWindow
) -> None:
    for typed in ("size 125", "text size 150", "200 %"):
        run(qtbot, window, typed)
    assert window.desk.settings.size == 200
    assert control(window, "Text size: 200 %").isChecked()
    assert says(window, "Applies at the next start of Pongbench.")


def test_every_control_of_the_settings_is_found(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("Settings")
    buttons = window.page("Settings").findChildren(QAbstractButton)
    names = [name_of(each) for each in buttons if each.isVisible() and not each.isChecked()]
    assert "About Pongbench" in names
    window.show_page("Start")
    for name in names:
        call(qtbot, window, name.partition(" (")[0].rstrip("…"))
        assert [e for e in listed(window) if name.startswith(e)], name
        qtbot.keyClick(field(window), Qt.Key.Key_Escape)


def test_an_action_shows_its_shortcut_also_to_screen_readers(
    qtbot: QtBot, window: MainWindow
) -> None:
    call(qtbot, window, "open a session")
    assert listed(window)[0] == "Open a session…"
    about = (
        the(window, QListView, "Found")
        .model()
        .index(0, 0)
        .data(Qt.ItemDataRole.AccessibleDescriptionRole)
    )
    assert "Ctrl+O" in about


def test_escape_gives_the_focus_back_and_keys_do_not_reach_the_page(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.show_page("Sessions")
    before = QApplication.focusWidget()
    assert before is not None
    call(qtbot, window)
    qtbot.keyClick(field(window), Qt.Key.Key_Tab)
    assert field(window).hasFocus()
    qtbot.keyClick(field(window), Qt.Key.Key_Escape)
    assert before.hasFocus()


def test_a_click_outside_and_another_page_close_it(qtbot: QtBot, window: MainWindow) -> None:
    call(qtbot, window)
    qtbot.mouseClick(window.rail, Qt.MouseButton.LeftButton)
    assert not is_open(window)
    call(qtbot, window)
    qtbot.keyClick(field(window), Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    assert window.page("Sessions").isVisible()
    assert not is_open(window)


def test_the_last_used_action_is_offered_first_also_after_a_restart(qtbot: QtBot) -> None:
    kept = Settings()
    with shown(qtbot, kept) as first:
        run(qtbot, first, "settings")
        run(qtbot, first, "compare")
    with shown(qtbot, kept) as window:
        call(qtbot, window)
        assert listed(window)[:2] == ["Compare", "Settings"]


def test_an_empty_result_is_stated(qtbot: QtBot, window: MainWindow) -> None:
    call(qtbot, window, "zzzz")
    assert says(window, "Nothing matches “zzzz”.")
    text = the(window, QLabel, "Nothing matches “zzzz”.")
    assert text.contentsRect().height() >= text.fontMetrics().height()
    qtbot.keyClick(field(window), Qt.Key.Key_Return)
    assert is_open(window)


def test_charts_take_the_keys_that_the_palette_sends(qtbot: QtBot, window: MainWindow) -> None:
    window.open(window.desk.shelf[0].path)
    qtbot.waitUntil(window.film.isVisible)
    qtbot.waitUntil(lambda: window.film.board.model.over)
    before = window.film.board.trio.log
    assert run(qtbot, window, "response time: log") == "Response time: logarithmic or linear"
    assert window.film.board.trio.log is not before


@pytest.mark.parametrize("name", [n for n, place in page_registry.ALL.items() if place.offers])
def test_actions_a_page_offers_elsewhere_are_among_its_buttons(
    window: MainWindow, name: str
) -> None:
    names = {each.accessibleName() for each in window.page(name).findChildren(QPushButton)}
    assert set(page_registry.ALL[name].offers) <= names


def test_every_action_has_a_handler(window: MainWindow) -> None:
    for action in actions.WINDOW:
        assert callable(getattr(window, action.method))
    for action in (*actions.PAGES, *actions.RUN):
        pages = [action.page] if action.page else page_registry.ALL
        assert any(callable(getattr(window.page(name), action.method, None)) for name in pages)
