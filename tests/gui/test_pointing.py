"""Hovered objects are released in time."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.live.headline import lead
from app.live.session_view import Board
from tests.gui.trios import live_board
from tests.synthetic import session
from workbench.documents import Note

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def board(qtbot: QtBot) -> Board:
    """A session of two servers, with the side column."""
    made = live_board(qtbot)
    for document in session(2, 8):
        made.consume(document)
    made.refresh()
    return made


def test_another_session_begins_with_nothing_pinned(board: Board) -> None:
    trio = board.trio
    trio.highlight("asyncio-streams", 4500.0)
    board.clear()
    for document in session(2, 5)[:-1]:
        board.consume(document)
    board.refresh()
    assert all(isnan(chart.cursor_rate) for chart in trio.charts.values())
    assert {chart.highlighted for chart in trio.charts.values()} == {""}
    assert not trio.pointing.card.isVisible()
    reported = lead(trio.model, trio.pointing.server, trio.pointing.rate)
    assert [figure.caption for figure in reported.figures] == ["offered", "answered"]


def test_hiding_a_server_in_its_row_dims_no_other(qtbot: QtBot, board: Board) -> None:
    chart = board.trio.charts[Quantity.REPLIES]
    before = chart.grab().toImage()
    buttons = board.findChildren(QAbstractButton)
    (eye,) = (each for each in buttons if each.accessibleName() == "Show asyncio streams")
    row = eye.parentWidget()
    qtbot.mouseMove(row, row.rect().center() - QPoint(1, 0))
    qtbot.mouseMove(row, row.rect().center())
    assert chart.highlighted == "asyncio-streams"
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton)
    hidden = chart.grab().toImage()
    assert chart.highlighted == ""
    last = chart.model.series["asyncio-protocol"].points[-1]
    other = chart.at(last.x, last.replies_per_s).toPoint()
    assert hidden.pixelColor(other) == before.pixelColor(other)


def test_the_client_limit_stays_readable_while_a_server_is_pointed_at(board: Board) -> None:
    chart = board.trio.charts[Quantity.REPLIES]
    board.model(Note(t_us=0, topic="ceiling", text="", data={"ceiling_per_s": 6000}))
    board.refresh()
    before = chart.grab().toImage()
    words = chart.marks.limit()[1].toRect().adjusted(2, 2, -2, -2)
    darkest = min(before.pixelColor(x, y).lightness() for x, y in within(words))
    board.trio.highlight("asyncio-streams", 4500.0)
    pointed = chart.grab().toImage()
    assert min(pointed.pixelColor(x, y).lightness() for x, y in within(words)) <= darkest


def within(area: QRect) -> Iterator[tuple[int, int]]:
    xs, ys = range(area.left(), area.right()), range(area.top(), area.bottom())
    return ((x, y) for x in xs for y in ys)
