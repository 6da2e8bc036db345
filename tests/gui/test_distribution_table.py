"""The percentiles of every server below their chart."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QTableWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.view_state import DISTRIBUTION
from app.live.session_view import Board
from tests.synthetic import session

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def opened(qtbot: QtBot, servers: int, size: tuple[int, int]) -> tuple[Board, QTableWidget]:
    board = Board(theme.LIGHT, live=False)
    qtbot.addWidget(board, before_close_func=lambda _: board)
    board.resize(*size)
    with qtbot.waitExposed(board):
        board.show()
    for document in session(servers, 6):
        board.consume(document)
    board.end()
    board.refresh()
    board.views.choose(DISTRIBUTION)
    (table,) = board.findChildren(QTableWidget)
    qtbot.waitUntil(lambda: board.trio.geometry().bottom() < table.geometry().top())
    return board, table


@pytest.mark.parametrize("servers", [3, 24])
@pytest.mark.parametrize("size", [(620, 240), (830, 330), (1300, 500), (1900, 900)])
def test_the_table_covers_no_part_of_the_chart(
    qtbot: QtBot, servers: int, size: tuple[int, int]
) -> None:
    board, table = opened(qtbot, servers, size)
    assert board.trio.geometry().bottom() < table.geometry().top() or not table.height()
    qtbot.waitUntil(lambda: board.trio.geometry().bottom() < table.geometry().top())
    assert board.trio.height() >= board.trio.minimumSizeHint().height()
    if size[1] > 300:
        qtbot.waitUntil(lambda: table.height() > 50)


def test_the_table_follows_the_height_of_the_window(qtbot: QtBot) -> None:
    board, table = opened(qtbot, 24, (1300, 900))
    qtbot.waitUntil(lambda: table.height() > 200)
    before = table.height()
    board.resize(1300, 400)
    qtbot.waitUntil(lambda: table.height() < before)
    assert board.trio.geometry().bottom() < table.geometry().top()


def test_long_names_are_whole(qtbot: QtBot) -> None:
    _, table = opened(qtbot, 24, (700, 700))
    names = [table.item(line, 0).text() for line in range(table.rowCount())]
    assert len(set(names)) == 24
    assert not any("…" in name for name in names)


def test_the_figures_follow_the_names_on_a_wide_screen(qtbot: QtBot) -> None:
    _, table = opened(qtbot, 3, (2600, 900))
    assert table.columnWidth(0) < 200
