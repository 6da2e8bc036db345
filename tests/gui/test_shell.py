"""The whole window: log, unexpected errors, help, keys."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from itertools import count

import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import actions, page_registry, theme
from app.context import Desk
from app.log import LogBook
from app.pages.preferences import AboutBox
from app.shell.main_window import MainWindow
from app.theme import Theme
from app.widgets import Sign
from tests.gui.windows import appearing, control, press, says, shown
from workbench.servers import user_servers

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def book() -> Iterator[LogBook]:
    """The log of a started program, restored afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    hooks = sys.excepthook, sys.unraisablehook, threading.excepthook
    levels = {name: logging.getLogger(name).level for name in ("app", "workbench")}
    made = LogBook()
    made.install()
    yield made
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)
    logging.captureWarnings(False)
    sys.excepthook, sys.unraisablehook, threading.excepthook = hooks


@pytest.fixture
def window(qtbot: QtBot, book: LogBook) -> Iterator[MainWindow]:
    with shown(qtbot, book=book) as made:
        yield made


# Help and versions


def test_f1_shows_shortcuts_and_glossary(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    page = window.page("Help")
    assert page.isVisible()
    for text in ("Ctrl+Shift+C", "Copy the chart", "From the scheduled time of a call"):
        assert says(page, text)


def test_escape_returns_from_help_and_settings(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("Sessions")
    qtbot.keyClick(window, Qt.Key.Key_F1)
    window.show_page("Settings")
    assert window.page("Settings").isVisible()
    qtbot.keyClick(window.page("Settings"), Qt.Key.Key_Escape)
    assert window.page("Sessions").isVisible()


def test_a_server_put_into_the_folder_appears_when_the_window_is_active_again(
    qtbot: QtBot, window: MainWindow
) -> None:
    received: list[None] = []
    window.desk.servers_changed.connect(lambda: received.append(None))
    names = (f"Dropped in {n}" for n in count())

    def come_back_to_another_server() -> bool:
        user_servers.new(next(names))
        QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
        return bool(received)

    # The first times may come before the folder was read at all.
    qtbot.waitUntil(come_back_to_another_server)
    with qtbot.waitSignal(window.desk.servers_changed):
        qtbot.keyClick(window, Qt.Key.Key_F5)


def test_versions_and_licences_can_be_read_and_copied(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("Settings")
    press(window, "About Pongbench")
    box = window.findChild(AboutBox)
    assert box is not None
    qtbot.waitUntil(lambda: box.parts.count() > 0)
    press(box, "Copy versions")
    copied = QGuiApplication.clipboard().text()
    for name in ("Pongbench", "Python", "Qt", "PySide6", "pyqtgraph", "asyncssh", "gevent"):
        assert name in copied
    for place in range(box.parts.count()):
        box.parts.setCurrentRow(place)
        assert len(box.text.toPlainText()) > 40
    box.accept()


# Log and unexpected errors


def test_an_unexpected_error_is_one_sentence_and_the_rest_is_in_the_log(
    window: MainWindow, qtbot: QtBot
) -> None:
    def slot() -> None:
        raise ZeroDivisionError("a slot divided by zero")

    QTimer.singleShot(0, slot)
    qtbot.waitUntil(window.notice.isVisible)
    assert "ZeroDivisionError: a slot divided by zero" in window.notice.text
    assert "Traceback" not in window.notice.text
    press(window.notice, "Show log")
    assert "in slot" in window.drawer.body.toPlainText()


def test_the_dot_of_live_says_whether_the_run_is_paused(window: MainWindow) -> None:
    entry, desk = window.rail.entries["Live"], window.desk
    desk.paused_changed.emit(False)
    assert not entry.accessibleDescription()
    desk.set_busy(True)
    going = entry.grab().toImage()
    desk.paused_changed.emit(True)
    assert entry.accessibleDescription() == "Run paused"
    assert entry.grab().toImage() != going
    desk.paused_changed.emit(False)
    assert entry.accessibleDescription() == "Run in progress"
    assert entry.grab().toImage() == going
    desk.set_busy(False)
    assert not entry.accessibleDescription()


@pytest.mark.parametrize("chosen", theme.THEMES.values(), ids=theme.THEMES)
def test_the_sign_of_the_first_notice_has_the_colours_of_the_window(
    qtbot: QtBot, desk: Desk, chosen: Theme
) -> None:
    desk.theme = chosen
    window = MainWindow(desk)
    qtbot.addWidget(window)
    window.notice.show_text("The settings are damaged.", "warn")
    (sign,) = window.notice.findChildren(Sign)
    assert (sign.tone, sign.theme) == ("warn", chosen)


def test_an_error_in_a_thread_or_in_the_engine_is_not_lost(
    window: MainWindow, qtbot: QtBot
) -> None:
    def fails() -> None:
        raise OSError("the thread tripped")

    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: "the thread tripped" in window.notice.text)

    async def trips() -> None:
        raise KeyError("the engine tripped")

    window.desk.bridge.submit(trips())
    qtbot.waitUntil(
        lambda: any("the engine tripped" in str(line) for line in window.desk.log.lines())
    )
    qtbot.waitUntil(lambda: control(window.notice, "Next (1 more)").isEnabled())
    press(window.notice, "Next (1 more)")
    assert "Unexpected error" in window.notice.text


def test_a_warning_puts_a_dot_on_the_log_until_it_is_read(window: MainWindow, qtbot: QtBot) -> None:
    entry = window.rail.entries["Log"]
    assert entry.accessibleDescription() == ""
    logging.getLogger("app.test").warning("The clock jumped by 3 s.")
    qtbot.waitUntil(lambda: entry.accessibleDescription() != "")
    press(window, "Log")
    assert entry.accessibleDescription() == ""
    assert "The clock jumped by 3 s." in window.drawer.body.toPlainText()
    qtbot.keyClick(window.drawer, Qt.Key.Key_Escape)
    assert not window.drawer.isVisible()


def test_the_log_is_copied(window: MainWindow) -> None:
    logging.getLogger("app.test").warning("The clock jumped.\nBy 3 s.")
    window.show_log(shown=True)
    press(window.drawer, "Copy the log")
    assert "The clock jumped." in QGuiApplication.clipboard().text()


# Keys


def test_every_entry_of_the_side_bar_has_its_key(window: MainWindow, qtbot: QtBot) -> None:
    for place, name in enumerate(page_registry.RAIL, start=1):
        qtbot.keyClick(window, Qt.Key(Qt.Key.Key_0 + place), Qt.KeyboardModifier.ControlModifier)
        assert window.page(name).isVisible()
        assert window.rail.entries[name].isChecked()


def test_no_other_window_appears_while_pages_are_made_and_laid_out(
    qtbot: QtBot, book: LogBook
) -> None:
    with appearing() as windows, shown(qtbot, book=book) as window:
        for size in ((1280, 800), (660, 420), (1280, 800)):
            window.resize(*size)
            for name in (*page_registry.RAIL, "Settings", "Help"):
                window.show_page(name)
                qtbot.waitUntil(window.page(name).isVisible)
        assert windows == {window}


def test_every_action_has_a_handler(window: MainWindow) -> None:
    for action in actions.WINDOW:
        assert callable(getattr(window, action.method))
    for action in (*actions.PAGES, *actions.RUN):
        pages = [action.page] if action.page else page_registry.ALL
        assert any(callable(getattr(window.page(name), action.method, None)) for name in pages)
