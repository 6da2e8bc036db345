"""The values of all servers at one rate, under the mouse and by keys."""

from __future__ import annotations

from math import isnan

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.charts.trio import Trio
from tests.gui.trios import beside_lines, live_board, rest, shown, texts
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def trio(qtbot: QtBot) -> Trio:
    return shown(qtbot, session(4, 12), (1200, 800))


def said(trio: Trio) -> str:
    return trio.crosshair.readout.accessibleName()


@pytest.mark.parametrize("quantity", [Quantity.REPLIES, Quantity.TIME])
def test_between_lines_all_values_at_the_nearest_rate_are_listed_in_order(
    qtbot: QtBot, trio: Trio, quantity: Quantity
) -> None:
    chart = trio.charts[quantity]
    rest(qtbot, chart, beside_lines(chart, 6100))
    text = said(trio)
    assert text.startswith("6,000/s offered: ")
    listed = [part.strip() for part in text.removeprefix("6,000/s offered: ").split(";")]
    readings = {
        series.name: next(p for p in series.points if p.x == 6000).value(chart.metric, trio.view)
        for series in trio.model.series.values()
    }
    expected = sorted(readings, key=lambda name: -readings[name])
    assert [next(n for n in readings if part.startswith(n)) for part in listed] == expected
    assert all("Replies/s" in part and "p99" in part and "Errors" in part for part in listed)
    assert trio.crosshair.readout.isVisible()
    assert {each.cursor_rate for each in trio.charts.values()} == {6000.0}


def test_the_list_covers_no_value_at_its_rate_and_leaves_with_the_mouse(
    qtbot: QtBot, trio: Trio
) -> None:
    chart = trio.charts[Quantity.TIME]
    rest(qtbot, chart, beside_lines(chart, 6000))
    covered = QRectF(trio.crosshair.readout.geometry())
    for each in trio.charts.values():
        for series in trio.model.series.values():
            point = next(p for p in series.points if p.x == 6000)
            value = point.value(each.metric, trio.view)
            if not isnan(value):
                assert not covered.contains(each.at(6000, value) + each.pos().toPointF())
    rest(qtbot, chart, QPoint(4, 4))
    assert not trio.crosshair.readout.isVisible()
    assert isnan(chart.cursor_rate)


def test_at_a_line_its_card_takes_over(qtbot: QtBot, trio: Trio) -> None:
    chart = trio.charts[Quantity.REPLIES]
    rest(qtbot, chart, beside_lines(chart, 6000))
    series = trio.model.series["asyncio-streams"]
    point = next(p for p in series.points if p.x == 7500)
    rest(qtbot, chart, chart.at(7500, point.replies_per_s).toPoint())
    assert trio.pointing.card.isVisible()
    assert not trio.crosshair.readout.isVisible()


def test_hidden_servers_are_not_listed(qtbot: QtBot, trio: Trio) -> None:
    trio.set_shown("asyncio-streams", False)
    chart = trio.charts[Quantity.TIME]
    rest(qtbot, chart, beside_lines(chart, 6000))
    assert "asyncio streams" not in said(trio)


def test_a_key_lists_the_values_and_others_go_from_rate_to_rate(qtbot: QtBot, trio: Trio) -> None:
    qtbot.keyClick(trio, Qt.Key.Key_V)
    assert said(trio).startswith("4,500/s offered: ")
    assert trio.accessibleDescription() == said(trio)
    qtbot.keyClick(trio, Qt.Key.Key_Right)
    assert said(trio).startswith("5,250/s offered: ")
    qtbot.keyClick(trio, Qt.Key.Key_V)
    assert not trio.crosshair.readout.isVisible()


def test_the_list_follows_the_selected_point(qtbot: QtBot, trio: Trio) -> None:
    trio.highlight("asyncio-streams", 3000.0)
    qtbot.keyClick(trio, Qt.Key.Key_V)
    qtbot.keyClick(trio, Qt.Key.Key_Right)
    assert said(trio).startswith("3,750/s offered: ")
    assert not trio.pointing.card.isVisible()
    qtbot.keyClick(trio, Qt.Key.Key_V)
    assert trio.pointing.card.isVisible()


def test_a_kept_list_and_a_card_never_lie_on_one_another(qtbot: QtBot, trio: Trio) -> None:
    qtbot.keyClick(trio, Qt.Key.Key_V)
    chart = trio.charts[Quantity.REPLIES]
    series = trio.model.series["asyncio-streams"]
    point = next(p for p in series.points if p.x == 7500)
    rest(qtbot, chart, chart.at(7500, point.replies_per_s).toPoint())
    assert trio.pointing.card.isVisible()
    assert not trio.crosshair.readout.isVisible()
    trio.crosshair.again()  # as other data do
    assert not trio.crosshair.readout.isVisible()
    rest(qtbot, chart, beside_lines(chart, 6000))
    assert said(trio).startswith("4,500/s offered: ")
    assert trio.crosshair.readout.isVisible()
    assert not trio.pointing.card.isVisible()


def test_a_drag_leaves_no_values_of_where_it_began(qtbot: QtBot, trio: Trio) -> None:
    chart = trio.charts[Quantity.TIME]
    start = beside_lines(chart, 3000)
    end = QPoint(int(chart.at(7500, 1).x()), start.y())
    rest(qtbot, chart, start)
    assert trio.crosshair.readout.isVisible()
    qtbot.mousePress(chart.viewport(), Qt.MouseButton.LeftButton, pos=start)
    for at in ((start + end) / 2, end):
        qtbot.mouseMove(chart.viewport(), at)
    qtbot.mouseRelease(chart.viewport(), Qt.MouseButton.LeftButton, pos=end)
    assert trio.showing.zoom
    assert not trio.crosshair.readout.isVisible()
    assert isnan(chart.cursor_rate)


def test_a_long_list_fits_over_low_charts(qtbot: QtBot) -> None:
    board = live_board(qtbot)
    board.resize(1164, 480)
    for document in session(24, 12):
        board.consume(document)
    board.refresh()
    board.grab()
    qtbot.keyClick(board.trio, Qt.Key.Key_V)
    readout = board.trio.crosshair.readout
    assert readout.isVisible() and board.trio.rect().contains(readout.geometry())
    for series in board.model.series.values():
        assert series.name in readout.accessibleName()
    qtbot.keyClick(board.trio, Qt.Key.Key_V)
    assert not readout.isVisible()


def test_a_long_list_covers_no_head(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(24, 12), (1200, 800))
    qtbot.keyClick(trio, Qt.Key.Key_V)
    covered = QRectF(trio.crosshair.readout.geometry())
    for chart in trio.charts.values():
        assert not covered.intersects(texts(chart)[0].translated(0, chart.y()))
