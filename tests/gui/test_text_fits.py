"""Text is seen whole, on every page and at every size of text and window."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import furniture
import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app import page_registry, theme
from app.fields import Segments
from app.plain import Label
from app.settings import Settings, use_size
from app.shell.main_window import MainWindow
from app.widgets import TopBar, button, dress
from tests.gui.cutting import cut, is_cut
from tests.gui.windows import control, lists_are_full, name_of, pages, says, sees, shown, the
from tests.recording import record_session
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support")

AT_150 = QSize(853, 533)
"""A screen of 1280 x 800 at 150 %."""
SIZES = [QSize(1280, 800), QSize(1024, 768), QSize(960, 620), AT_150]


@pytest.fixture(autouse=True)
def home(one_home: Path) -> Path:
    return one_home


@pytest.fixture(scope="module")
def furnished(patient: QtBot, one_home: Path) -> Iterator[MainWindow]:
    """With a session of many servers and machines in every state."""
    path = one_home / "data" / "sessions" / "nine.pong.yaml"
    record_session(path, session(9, 6))
    with shown(patient) as window:
        furniture.machines(window.desk.settings.more)
        window.open(path)
        patient.waitUntil(lambda: window.film.isVisible() and window.film.board.model.over)
        yield window


@pytest.fixture
def large(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """As much of a window as fits on a screen of 1024 x 768 at 200 %."""
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    record_session(tmp_path / "data" / "sessions" / "two.pong.yaml", session(2, 4))
    with shown(qtbot, Settings(size=200)) as window:
        window.setMinimumSize(1, 1)
        window.resize(512, 384)
        yield window


def test_at_twice_the_size_tab_brings_every_control_into_view(
    qtbot: QtBot, large: MainWindow
) -> None:
    for name, page in pages(qtbot, large):
        if name == "Machines":  # lays out anew when it has read this computer
            sees(qtbot, page, "Usable cores")
            QApplication.processEvents()
        if QApplication.focusWidget() is page:
            assert page.visibleRegion().contains(QPoint(0, 0)), name  # its title
        stops, unseen = set[QWidget](), []
        while (at := QApplication.focusWidget()) not in stops:
            assert at is not None
            stops.add(at)
            if at.visibleRegion().isEmpty():
                unseen.append(f"{type(at).__name__} {name_of(at)!r}")
            qtbot.keyClick(at, Qt.Key.Key_Tab)
            if QApplication.focusWidget() is at:  # an editor, which indents
                at.nextInFocusChain().setFocus(Qt.FocusReason.TabFocusReason)
            QApplication.processEvents()  # as between the keys of a person
        assert len(stops) > 8, name
        assert not unseen, name


def test_the_size_is_kept(qtbot: QtBot, large: MainWindow) -> None:
    large.show_page("Settings")
    assert not says(large, "Applies at the next start")
    control(large.page("Settings"), "Text size: 150 %").click()
    assert large.desk.settings.size == 150
    assert says(large, "Applies at the next start")


def test_a_size_is_what_qt_scales_by_unless_the_environment_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("QT_SCALE_FACTOR", raising=False)
    use_size(100)
    use_size(77)  # not one of ours: by hand, in the file
    assert "QT_SCALE_FACTOR" not in os.environ
    monkeypatch.setenv("QT_SCALE_FACTOR", "1.25")
    use_size(200)
    assert os.environ["QT_SCALE_FACTOR"] == "1.25"
    monkeypatch.delenv("QT_SCALE_FACTOR")
    use_size(150)
    assert os.environ["QT_SCALE_FACTOR"] == "1.5"


@pytest.mark.parametrize("name", list(page_registry.ALL))
def test_no_text_of_a_page_is_cut(qtbot: QtBot, furnished: MainWindow, name: str) -> None:
    window = furnished
    window.show_page(name)
    page = window.page(name)
    qtbot.waitUntil(lambda: lists_are_full(page))

    def nothing_is_cut() -> None:
        assert not cut(page)

    for size in SIZES:
        window.resize(size)
        qtbot.waitUntil(lambda size=size: window.size() == size)
        qtbot.waitUntil(nothing_is_cut)


@pytest.mark.parametrize("name", list(page_registry.ALL))
def test_at_150_percent_a_small_screen_shows_every_button_of_a_page_head(
    qtbot: QtBot, furnished: MainWindow, name: str
) -> None:
    window = furnished
    window.show_page(name)
    window.resize(AT_150)
    page, foot = window.page(name), window.rail.entries["Settings"]

    def all_is_seen() -> None:
        heads = [b for head in page.findChildren(TopBar) for b in head.findChildren(QPushButton)]
        for each in (page, foot, *(head for head in heads if head.isVisible())):
            assert each.visibleRegion().boundingRect() == each.rect(), name_of(each)
            assert not isinstance(each, QPushButton) or each.text() or each.toolTip()

    qtbot.waitUntil(all_is_seen)


@pytest.mark.parametrize("width", range(440, 760, 7))
def test_a_page_head_has_no_gap_between_its_buttons(qtbot: QtBot, width: int) -> None:
    head = TopBar("Compare")
    head.show_text("Compare", "9 servers in both sessions · 18 of 18 lines shown")
    made = [button(text, "film") for text in ("Passes", "Published", "Sessions")]
    made.append(button("Add a session…", "plus"))
    for each in made:
        head.actions.addWidget(each)
    dress(head, theme.LIGHT)
    window = QWidget()  # by itself the head would take the width that it wants
    head.setParent(window)
    head.resize(width, 60)
    qtbot.addWidget(window)
    window.show()

    def side_by_side() -> None:
        for left, right in pairwise(made):
            assert right.x() - left.geometry().right() - 1 == head.actions.spacing()
        assert not any(each.text() and is_cut(each) for each in made)
        short = [not each.text() for each in made]
        assert short == sorted(short, reverse=True), "from the left"

    QApplication.processEvents()
    for _ in range(3):  # it stays so
        QApplication.processEvents()
        side_by_side()


@pytest.mark.parametrize("name", list(page_registry.ALL))
def test_a_notice_pushes_no_page_out_of_the_window(
    qtbot: QtBot, furnished: MainWindow, name: str
) -> None:
    window = furnished
    window.resize(1280, 800)
    window.show_page(name)
    window.desk.notice.emit("The settings cannot be kept: no space left on device.", "warn")
    page, foot = window.page(name), window.rail.entries["Settings"]
    qtbot.waitUntil(lambda: page.mapTo(window, QPoint()).y() >= window.notice.height() > 40)
    assert all(each.visibleRegion().boundingRect() == each.rect() for each in (page, foot))
    window.show_log(shown=True)
    whole = [page, foot, window.drawer]
    qtbot.waitUntil(lambda: all(w.visibleRegion().boundingRect() == w.rect() for w in whole))
    window.show_log(shown=False)
    window.notice.put_away()


def test_no_server_of_a_small_plan_has_to_be_scrolled_to(
    qtbot: QtBot, furnished: MainWindow
) -> None:
    furnished.resize(1440, 1000)
    furnished.show_page("Plan")
    servers = furnished.plan.form.servers.chosen
    qtbot.waitUntil(lambda: servers.count() == 7)
    qtbot.waitUntil(lambda: servers.verticalScrollBar().maximum() == 0)


def test_each_part_of_a_switch_has_room_around_its_text(
    qtbot: QtBot, furnished: MainWindow
) -> None:
    furnished.resize(1280, 800)
    furnished.show_page("Plan")
    switch = the(furnished, Segments, "Method")
    parts = switch.findChildren(QAbstractButton)
    bold = QFontMetrics(theme.font(12, theme.Weight.DemiBold))
    qtbot.waitUntil(lambda: all(p.width() >= bold.horizontalAdvance(p.text()) + 16 for p in parts))


def test_no_server_of_the_legend_is_cut(qtbot: QtBot, furnished: MainWindow) -> None:
    furnished.resize(1280, 800)
    furnished.show_page("Film")
    legend = furnished.film.board.side.legend
    rows = legend.rows.values()
    for height in range(100, 400, 13):
        legend.setFixedHeight(height)
        qtbot.waitUntil(lambda height=height: legend.height() == height)

        def no_row_is_cut() -> None:
            seen = [each.visibleRegion().boundingRect().height() for each in rows]
            assert set(seen) <= {0, *(each.height() for each in rows)}
            assert max(seen) > 0

        qtbot.waitUntil(no_row_is_cut)


LONG = (
    "/home/somebody/.local/share/pongbench/servers/the-one-that-i-wrote/server.py",
    "SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDqd0vOi2Hy7ZyQ3kE",
    "tests.gui.test_text_fits.test_a_long_word_is_wrapped_and_copied_as_it_was_written",
    "--rate 18,000/s for 30 s\nand a second line",
)


@pytest.fixture(params=LONG)
def long_label(qtbot: QtBot, request: pytest.FixtureRequest) -> Label:
    made = Label(request.param)
    made.setWordWrap(True)
    made.setFont(theme.font(13))
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    qtbot.addWidget(made)
    made.resize(250, 200)
    made.show()
    made.setFocus()
    return made


def test_a_long_word_is_wrapped_and_copied_as_it_was_written(
    qtbot: QtBot, long_label: Label
) -> None:
    text = long_label.text()
    assert long_label.minimumSizeHint().width() <= 250
    assert name_of(long_label) == text
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(long_label, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(long_label, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == text


def test_the_menu_of_a_text_copies_it_as_it_was_written(qtbot: QtBot, long_label: Label) -> None:
    def choose(title: str) -> None:
        at = QPoint(5, 5)
        where = long_label.mapToGlobal(at)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, where)
        QApplication.sendEvent(long_label, event)
        (menu,) = long_label.findChildren(QMenu)
        (action,) = [each for each in menu.actions() if each.text() == title]
        action.trigger()
        with qtbot.waitSignal(menu.destroyed):
            menu.close()

    QGuiApplication.clipboard().clear()
    choose("Select all")
    choose("Copy")
    assert QGuiApplication.clipboard().text() == long_label.text()
