"""In a window smaller than its page needs, only the page scrolls: the rail, a notice and the log
stay in view, and the keys do not push a page sideways.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app import dialogs, page_registry
from app.pages.preferences import AboutBox
from app.scrolling import Whole
from app.settings import Settings
from app.shell.main_window import MainWindow
from app.shell.rail import Rail
from tests.gui.windows import lists_are_full, offers, press, shown

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

AT_150, AT_200 = QSize(853, 533), QSize(640, 400)
"""A screen of 1280 x 800."""


@pytest.fixture(autouse=True)
def home(one_home: Path) -> Path:
    return one_home


@pytest.fixture(scope="module")
def same(patient: QtBot, one_home: Path) -> Iterator[MainWindow]:
    """One for the tests that only look at it."""
    with shown(patient, Settings(size=200)) as made:
        made.setMinimumSize(1, 1)
        yield made


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with shown(qtbot, Settings(size=200)) as made:
        made.setMinimumSize(1, 1)
        yield made


def is_whole(*widgets: QWidget) -> bool:
    return all(each.visibleRegion().boundingRect() == each.rect() for each in widgets)


def area(window: MainWindow) -> Whole:
    """What the pages scroll in."""
    found = window.findChild(Whole)
    assert isinstance(found, Whole)
    return found


@pytest.mark.parametrize("size", [QSize(960, 620), AT_150, AT_200])
@pytest.mark.parametrize("name", ["Live", "Machines", "Servers"])
def test_the_log_a_notice_and_the_rail_are_in_view(
    qtbot: QtBot, same: MainWindow, name: str, size: QSize
) -> None:
    window = same
    window.resize(size)
    window.show_page(name)
    window.desk.notice.emit("Settings cannot be saved: the disk is full.", "warn")
    window.show_log(shown=True)
    drawer = window.drawer
    qtbot.waitUntil(lambda: is_whole(drawer, window.notice, *window.rail.entries.values()))
    assert drawer.body.viewport().height() > 50
    assert area(window).height() > 100
    assert area(window).horizontalScrollBar().maximum() == 0
    window.show_log(shown=False)
    window.notice.put_away()


@pytest.mark.parametrize("name", ["Settings", "Help", "Servers", "Live"])
def test_a_page_begins_at_its_left_edge_with_its_entry_marked(
    qtbot: QtBot, same: MainWindow, name: str
) -> None:
    window = same
    window.resize(AT_200)
    window.show_page(name)
    page = window.page(name)
    qtbot.waitUntil(lambda: lists_are_full(page))
    entry = window.rail.entries[page_registry.ALL[name].rail]
    qtbot.waitUntil(lambda: is_whole(entry))
    assert entry.isChecked()
    assert page.mapTo(area(window).viewport(), QPoint()).x() == 0


def test_the_mark_of_a_page_is_as_long_without_names(qtbot: QtBot, window: MainWindow) -> None:
    entry = window.rail.entries["Settings"]
    window.show_page("Settings")
    lengths = []
    for size in (QSize(1280, 800), AT_150):
        window.resize(size)
        qtbot.waitUntil(lambda size=size: (entry.width() < Rail.NARROW) == (size == AT_150))
        image = entry.grab().toImage()
        column = [image.pixelColor(1, y).name() for y in range(image.height())]
        lengths.append(column.count(window.desk.theme.text.lower()))
    assert lengths[0] == lengths[1] > 15


def test_by_keys_a_wide_control_shows_its_beginning_and_a_narrow_one_all_of_it(
    qtbot: QtBot,
) -> None:
    body = QWidget()
    inside = QVBoxLayout(body)
    first, wide, narrow = QPushButton("first"), QPushButton("wide"), QPushButton("narrow")
    first.setFixedWidth(80)
    wide.setFixedSize(700, 500)
    inside.addWidget(first)
    inside.addWidget(wide)
    inside.addWidget(narrow, 0, Qt.AlignmentFlag.AlignRight)
    whole = Whole(body)
    qtbot.addWidget(whole)
    whole.resize(400, 300)
    with qtbot.waitExposed(whole):
        whole.show()
    whole.activateWindow()
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is wide
    assert whole.horizontalScrollBar().value() == 0
    assert wide.visibleRegion().contains(QPoint(0, 0))
    qtbot.keyClick(wide, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is narrow
    assert is_whole(narrow)


def test_the_log_is_offered_only_while_it_is_hidden(window: MainWindow) -> None:
    entry = window.rail.entries["Log"]
    window.desk.notice.emit("Settings cannot be saved: the disk is full.", "warn")
    press(window.notice, "Show log")
    assert entry.isChecked()
    assert not offers(window.notice, "Show log")
    press(window, "Log")
    assert not entry.isChecked()
    assert offers(window.notice, "Show log")


@pytest.mark.parametrize(("width", "columns"), [(853, 1), (1920, 2)])
def test_the_help_has_as_many_columns_as_there_is_room_for(
    qtbot: QtBot, same: MainWindow, width: int, columns: int
) -> None:
    window = same
    window.show_page("Help")
    window.resize(width, 800)
    cards = window.page("Help").findChildren(QFrame, "card")
    qtbot.waitUntil(lambda: len({card.x() for card in cards}) == columns)
    assert len({(card.x(), card.y()) for card in cards}) == 3


def test_the_about_box_gives_up_room_before_it_scrolls(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = AT_200 - QSize(16, 48)
    monkeypatch.setattr(dialogs, "room_on", lambda _screen: room)
    window.show_page("Settings")
    press(window, "About Pongbench")
    box = window.findChild(AboutBox)
    assert isinstance(box, AboutBox)
    qtbot.waitUntil(lambda: box.parts.count() > 0)
    assert box.size().boundedTo(room) == box.size()
    assert is_whole(box.parts, box.text)
    box.accept()
