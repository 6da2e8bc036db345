"""The command palette: whatever the window can do is found in a few letters and run by Enter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QTreeWidget
from pytestqt.qtbot import QtBot

from app import page_registry, theme
from app.machines.records import HERE
from app.pages.machines import MachinesPage
from app.pages.servers import ServersPage
from app.shell.main_window import MainWindow
from app.shell.palette import Palette
from tests.gui.windows import control, name_of, says, shown, the
from tests.recording import record_session
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def window(qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    record_session(home / "data" / "sessions" / "three.pong.yaml", session(3, 6))
    with shown(qtbot) as made:
        qtbot.waitUntil(lambda: bool(made.start.compare.ticked()) and bool(made.desk.shelf))
        yield made


def opened(window: MainWindow) -> list[Palette]:
    return [each for each in window.findChildren(Palette) if each.isVisible()]


def call(qtbot: QtBot, window: MainWindow, typed: str = "") -> QLineEdit:
    """Press Ctrl+K wherever the focus is, and type."""
    at = QApplication.focusWidget() or window
    qtbot.keyClick(at, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    field = the(opened(window)[0], QLineEdit, "Find")
    qtbot.keyClicks(field, typed)
    return field


def listed(window: MainWindow) -> list[str]:
    found = the(opened(window)[0], QTreeWidget, "Found")
    return [found.topLevelItem(row).text(0) for row in range(found.topLevelItemCount())]


def run(qtbot: QtBot, window: MainWindow, typed: str, expected: str) -> None:
    """Run the first that is found, once it is the expected one."""
    field = call(qtbot, window, typed)
    qtbot.waitUntil(lambda: listed(window)[:1] == [expected])
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert not opened(window)


def test_every_page_is_three_letters_away(qtbot: QtBot, window: MainWindow) -> None:
    for name in page_registry.RAIL:
        run(qtbot, window, name[:3].lower(), name)
        assert window.page(name).isVisible()


def test_a_session_a_server_a_preset_and_a_machine_are_shown(
    qtbot: QtBot, window: MainWindow
) -> None:
    servers: ServersPage = window.page("Servers")  # type: ignore[assignment]
    run(qtbot, window, "torn", "Tornado")
    qtbot.waitUntil(lambda: servers.pane.known is not None and servers.pane.known.name == "Tornado")
    run(qtbot, window, "thorough", "Thorough")
    assert says(window.page("Plan"), "Thorough")
    machines: MachinesPage = window.page("Machines")  # type: ignore[assignment]
    run(qtbot, window, "this comp", "This computer")
    qtbot.waitUntil(lambda: machines.isVisible() and machines.listing.selected == HERE)
    run(qtbot, window, "three.pong.yaml", window.desk.shelf[0].title)
    qtbot.waitUntil(window.film.isVisible)


def test_every_control_of_the_settings_is_found_and_applies_at_once(
    qtbot: QtBot, window: MainWindow
) -> None:
    buttons = window.page("Settings").findChildren(QAbstractButton)
    names = [name_of(e) for e in buttons if e.isEnabled() and not e.isChecked() and name_of(e)]
    field = call(qtbot, window)
    for name in names:
        field.setText(name)
        assert name in listed(window)
    field.setText("dark")
    dark = listed(window)[0]
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    run(qtbot, window, "dark", dark)
    assert window.desk.theme is theme.DARK
    run(qtbot, window, "size: 125", "Text size: 125 %")
    assert control(window, "Text size: 125 %").isChecked()


def test_escape_gives_the_focus_back(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("Sessions")
    before = QApplication.focusWidget()
    assert before is not None
    qtbot.keyClick(call(qtbot, window), Qt.Key.Key_Escape)
    assert not opened(window)
    assert before.hasFocus()


def test_a_click_outside_and_another_page_close_it(qtbot: QtBot, window: MainWindow) -> None:
    call(qtbot, window)
    qtbot.mouseClick(opened(window)[0], Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert not opened(window)
    field = call(qtbot, window)
    qtbot.keyClick(field, Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier)
    assert window.page("Sessions").isVisible()
    assert not opened(window)


def test_the_keys_of_the_field_choose_in_the_list(qtbot: QtBot, window: MainWindow) -> None:
    field = call(qtbot, window, "s")
    found = the(opened(window)[0], QTreeWidget, "Found")
    qtbot.keyClick(field, Qt.Key.Key_Down)
    assert found.currentIndex().row() == 1
    field.setText("zzzz")
    assert says(opened(window)[0], "Nothing matches “zzzz”.")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert opened(window)


def test_charts_take_the_keys_that_the_palette_sends(qtbot: QtBot, window: MainWindow) -> None:
    window.open(window.desk.shelf[0].path)
    qtbot.waitUntil(window.film.isVisible)
    qtbot.waitUntil(lambda: window.film.board.model.over)
    before = window.film.board.trio.is_log("time")
    run(qtbot, window, "response time: log", "Response time: logarithmic or linear")
    assert window.film.board.trio.is_log("time") is not before
