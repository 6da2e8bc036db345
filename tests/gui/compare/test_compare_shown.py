"""How a comparison is restored, and how it fits windows of any size."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.pages.compare import ComparePage
from tests.gui.compare.steps import RATES, compare, holds
from tests.gui.windows import control, offers, press, says, shown
from tests.recording import record_session
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_sessions_asked_to_be_compared_are_shown_in_the_window(
    qtbot: QtBot, a: Path, b: Path
) -> None:
    with shown(qtbot) as window:
        window.desk.compare_requested.emit([a, b])
        page = window.page("Compare")
        assert isinstance(page, ComparePage)
        holds(qtbot, page, a, b)
        assert page.isVisible()


def test_in_a_narrow_window_the_side_column_opens_on_request(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    page.resize(876, 620)
    qtbot.waitUntil(lambda: not page.ranking.isVisible())
    press(page, "Show side column")
    assert page.ranking.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_F9)
    assert not page.ranking.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_F9)
    page.resize(1196, 800)
    qtbot.waitUntil(lambda: not offers(page, "Show side column"))
    assert page.ranking.isVisible()


@pytest.mark.parametrize("size", [(1196, 800), (876, 620), (1836, 1080)])
def test_nothing_is_cut_off_at_any_size(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path, size: tuple[int, int]
) -> None:
    compare(qtbot, page, a, b)
    page.resize(*size)
    qtbot.waitUntil(lambda: page.trio.width() > 0)
    assert page.size().toTuple() == size
    for action in ("Charts", "Figures", "Add a session…"):
        found = control(page, action)
        right = found.mapTo(page, QPoint(found.width(), 0)).x()
        assert right <= page.width()


def test_charts_of_an_empty_page_stay_within_their_card_at_150_percent(
    qtbot: QtBot, page: ComparePage
) -> None:
    page.resize(769, 533)
    card = page.trio.parentWidget()
    assert card is not None

    def within() -> None:
        assert card.rect().contains(page.trio.geometry())
        assert card.geometry().right() < page.side.geometry().left()
        assert page.side.parentWidget().rect().contains(page.side.geometry())

    qtbot.waitUntil(within)


def test_sessions_of_one_title_and_minute_have_the_names_of_their_files(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    again = record_session(tmp_path / "again.pong.yaml", session(3, rates=RATES, seed=5))
    compare(qtbot, page, a, again)
    for path in (a, again):
        assert says(page.sessions, f"{path.name} · ")
    compare(qtbot, page, a)
    assert not says(page.sessions, a.name)
