"""At 200 % every page scrolls up and down only: what has no room side by side stands one below
another. In a low window the page says which of two charts it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSize
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app import page_registry
from app.charts.series import Quantity
from app.pages.compare import ComparePage
from app.scrolling import Scrolled, Whole
from app.settings import Settings
from app.shell.main_window import MainWindow
from tests import furniture
from tests.gui.cutting import cut
from tests.gui.windows import lists_are_full, name_of, offers, shown, the
from tests.recording import record_session
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support")

SIZES = [QSize(640, 400), QSize(720, 450)]
"""At 200 %, screens of 1280 x 800 and 1440 x 900."""
AT_150 = QSize(853, 533)


@pytest.fixture(autouse=True)
def home(one_home: Path) -> Path:
    return one_home


@pytest.fixture(scope="module")
def window(patient: QtBot, one_home: Path) -> Iterator[MainWindow]:
    """With two sessions compared, one of them in a film, and machines in every state."""
    paths = [one_home / "data" / "sessions" / f"{name}.pong.yaml" for name in ("nine", "again")]
    for seed, path in enumerate(paths):
        record_session(path, session(9, 6, seed=seed))
    with shown(patient, Settings(size=200)) as made:
        made.setMinimumSize(1, 1)
        furniture.machines(made.desk.settings.more)
        made.open(paths[0])
        patient.waitUntil(lambda: made.film.isVisible() and made.film.board.model.over)
        made.desk.compare_requested.emit(paths)
        compare = made.page("Compare")
        assert isinstance(compare, ComparePage)
        patient.waitUntil(lambda: len(compare.selection.sides) == 2)
        yield made


def beyond(page: QWidget) -> list[str]:
    """What of a page is to be seen only by scrolling sideways, or not at all."""
    found = []
    for each in page.findChildren(QWidget):
        if not each.isVisible():
            continue
        if isinstance(each, QScrollArea) and each.widget().width() > each.viewport().width():
            found.append(f"the contents of {type(each).__name__} {name_of(each)}")
        if isinstance(each, QAbstractButton | QComboBox | QLineEdit):
            left = each.mapTo(page, QPoint()).x()
            if left < 0 or left + each.width() > page.width():
                found.append(f"{type(each).__name__} {name_of(each)}")
    return found


@pytest.mark.parametrize("name", list(page_registry.ALL))
def test_at_200_percent_a_page_scrolls_up_and_down_only(
    qtbot: QtBot, window: MainWindow, name: str
) -> None:
    window.show_page(name)
    page, area = window.page(name), window.findChild(Whole)
    assert isinstance(area, Whole)
    qtbot.waitUntil(lambda: lists_are_full(page))

    def fits() -> None:
        assert area.horizontalScrollBar().maximum() == 0
        assert not beyond(page)
        assert not cut(page)
        assert page.minimumSizeHint().height() <= page.height(), "it is squeezed"

    for size in SIZES:
        window.resize(size)
        qtbot.waitUntil(lambda size=size: window.size() == size)
        qtbot.waitUntil(fits)


def test_where_two_charts_have_room_the_lower_one_is_named_and_can_be_chosen(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.show_page("Film")
    film, charts = window.film, window.film.board.trio.charts
    lower, times = charts[Quantity.ERRORS], charts[Quantity.TIME]

    def choice() -> QComboBox:
        return the(film, QComboBox, "Bottom chart")

    def texts() -> list[str]:
        return [choice().itemText(n) for n in range(choice().count())]

    def choose(text: str) -> None:
        choice().setCurrentIndex(texts().index(text))
        choice().activated.emit(choice().currentIndex())

    window.resize(AT_150)
    qtbot.waitUntil(lambda: choice().currentText() == "Response time")
    assert times.isVisible() and not lower.isVisible()
    choose("Errors")
    qtbot.waitUntil(lambda: lower.isVisible() and not times.isVisible())
    assert choice().currentText() == "Errors"
    choose("Response time")
    qtbot.waitUntil(lambda: times.isVisible() and not lower.isVisible())
    window.resize(1280, 900)
    qtbot.waitUntil(lambda: times.isVisible() and lower.isVisible())
    named = [box for box in film.findChildren(QComboBox) if box.accessibleName() == "Bottom chart"]
    assert not any(box.isVisible() and box.findText("Response time") >= 0 for box in named)


@pytest.mark.parametrize("name", ["Start", "Settings", "Help"])
def test_a_page_that_scrolls_has_one_bar(qtbot: QtBot, window: MainWindow, name: str) -> None:
    window.resize(SIZES[0])
    window.show_page(name)
    area = window.findChild(Whole)
    assert isinstance(area, Whole)
    bars = [each.verticalScrollBar() for each in (area, *window.page(name).findChildren(Scrolled))]
    high = area.viewport().height()

    def one_is_shown() -> bool:
        shown = [bar for bar in bars if bar.isVisible() and bar.height() > high // 2]
        return len(shown) == 1 and shown[0].maximum() > 0

    qtbot.waitUntil(one_is_shown)


def test_a_page_without_sessions_needs_no_scrolling(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    with shown(qtbot, Settings(size=200)) as window:
        window.setMinimumSize(1, 1)
        window.resize(SIZES[0])
        window.show_page("Sessions")
        qtbot.waitUntil(lambda: offers(window, "Choose servers"))
        page, area = window.page("Sessions"), window.findChild(Whole)
        assert isinstance(area, Whole)
        qtbot.waitUntil(lambda: page.width() < SIZES[0].width())
        assert page.minimumHeight() <= area.viewport().height()
