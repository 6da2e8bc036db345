"""Zooming and panning of the charts by wheel, drag and keys, and what they show of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.charts import axes
from app.charts.chart import Chart
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.charts.view_state import ACROSS, Showing
from app.export import picture
from tests.gui.trios import live_board, paint, shown, written
from tests.gui.windows import control, offers
from tests.synthetic import session
from workbench.documents import PointStart
from workbench.sessions.chart_notes import ChartNote

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
NONE, SHIFT, CTRL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)


def rates(chart: Chart) -> tuple[float, float]:
    """The lowest and the highest rate in the chart."""
    plot = chart.plot_rect()
    return chart.values_at(plot.bottomLeft())[0], chart.values_at(plot.topRight())[0]


def values(chart: Chart) -> tuple[float, float]:
    plot = chart.plot_rect()
    return chart.values_at(plot.bottomLeft())[1], chart.values_at(plot.topRight())[1]


def turn(chart: Chart, at: QPointF, notches: int, *, sideways: bool = False) -> None:
    """Turn the wheel."""
    view = chart.viewport()
    place = QPointF(view.mapToGlobal(at.toPoint()))
    phase = Qt.ScrollPhase.NoScrollPhase
    way = QPoint(120 * notches, 0) if sideways else QPoint(0, 120 * notches)
    event = QWheelEvent(at, place, QPoint(), way, Qt.MouseButton.NoButton, NONE, phase, False)
    QApplication.sendEvent(view, event)


def drag(
    qtbot: QtBot,
    chart: Chart,
    way: Sequence[QPointF],
    button: Qt.MouseButton = LEFT,
    keys: Qt.KeyboardModifier = NONE,
) -> None:
    view = chart.viewport()
    first, *between = (at.toPoint() for at in way)
    qtbot.mousePress(view, button, keys, first)
    for at in between:
        qtbot.mouseMove(view, at)
    qtbot.mouseRelease(view, button, keys, between[-1])


@pytest.fixture
def trio(qtbot: QtBot) -> Trio:
    return shown(qtbot, session(4, 12))


def test_the_wheel_zooms_all_charts_at_the_pointer(trio: Trio) -> None:
    chart = trio.charts[Quantity.TIME]
    at = chart.at(6000, 10)
    turn(chart, at, 3)
    for each in trio.charts.values():
        low, high = rates(each)
        assert 0 < low < 6000 < high < 9000
    assert abs(chart.at(6000, 10).x() - at.x()) < 3
    turn(chart, chart.plot_rect().center(), -12)
    assert rates(chart) == pytest.approx((0, 9000), abs=15)
    assert "zoomed" not in written(trio)


def test_a_wheel_turned_sideways_pans_within_the_whole(trio: Trio) -> None:
    chart = trio.charts[Quantity.TIME]
    centre = chart.plot_rect().center()
    turn(chart, centre, 1, sideways=True)
    assert rates(chart) == pytest.approx((0, 9000), abs=15)
    turn(chart, centre, 4)
    low, high = rates(chart)
    turn(chart, centre, 1, sideways=True)
    assert [rates(each)[0] < low for each in trio.charts.values()] == [True] * 3
    assert rates(chart)[1] - rates(chart)[0] == pytest.approx(high - low, abs=30)
    turn(chart, centre, -40, sideways=True)
    assert rates(chart)[1] == pytest.approx(9000, abs=15)


@pytest.mark.parametrize("left", [3, 36, -880], ids=["near", "far", "names"])
def test_the_wheel_over_the_values_zooms_those_of_one_chart(trio: Trio, left: int) -> None:
    time, replies = trio.charts[Quantity.TIME], trio.charts[Quantity.REPLIES]
    before = values(time), values(replies), rates(time)
    turn(time, QPointF(time.plot_rect().left() - left, time.plot_rect().center().y()), 4)
    low, high = values(time)
    assert before[0][0] < low < high < before[0][1]
    assert values(replies) == pytest.approx(before[1])
    assert rates(time) == pytest.approx(before[2])
    assert "log scale, zoomed" in written(trio)


def test_a_drag_selects_a_part_and_another_one_pans(qtbot: QtBot, trio: Trio) -> None:
    chart = trio.charts[Quantity.REPLIES]
    drag(qtbot, chart, [chart.at(3000, 100), chart.at(4000, 120), chart.at(5000, 100)])
    assert rates(chart) == pytest.approx((3000, 5000), abs=30)
    assert any(f"zoomed to {low}" in written(trio) for low in ("2,99", "3,00"))
    centre = chart.plot_rect().center()
    drag(qtbot, chart, [centre, centre - QPointF(60, 0), centre - QPointF(90, 0)])
    low, high = rates(chart)
    assert low > 3100
    assert high - low == pytest.approx(2000, abs=60)
    assert not trio.pointing.server, "a drag is no click"


@pytest.mark.parametrize(("button", "keys"), [(RIGHT, NONE), (LEFT, SHIFT)])
def test_in_a_zoom_the_right_button_or_shift_selects_a_smaller_part(
    qtbot: QtBot, trio: Trio, button: Qt.MouseButton, keys: Qt.KeyboardModifier
) -> None:
    chart = trio.charts[Quantity.REPLIES]
    drag(qtbot, chart, [chart.at(3000, 100), chart.at(5000, 100)])
    start, end = chart.at(3500, 3400), chart.at(4000, 3400)
    way = [start, QPointF(end.x(), start.y() + 4)]
    drag(qtbot, chart, way, button, keys)
    assert rates(chart) == pytest.approx((3500, 4000), abs=20)


def test_a_high_selection_zooms_the_values_of_its_chart_too(qtbot: QtBot, trio: Trio) -> None:
    chart = trio.charts[Quantity.REPLIES]
    drag(qtbot, chart, [chart.at(3000, 6000), chart.at(5000, 3000)])
    assert rates(chart) == pytest.approx((3000, 5000), abs=30)
    assert values(chart) == pytest.approx((3000, 6000), abs=120)


def test_a_double_click_shows_everything_and_keeps_what_is_selected(
    qtbot: QtBot, trio: Trio
) -> None:
    trio.highlight("asyncio-streams", 3000.0)
    chart = trio.charts[Quantity.REPLIES]
    drag(qtbot, chart, [chart.at(2500, 100), chart.at(5000, 100)])
    view, at = chart.viewport(), (chart.plot_rect().topLeft() + QPointF(30, 10)).toPoint()
    qtbot.mouseClick(view, LEFT, pos=at)
    qtbot.mouseDClick(view, LEFT, pos=at)
    qtbot.mouseRelease(view, LEFT, pos=at)
    assert rates(chart) == pytest.approx((0, 9000), abs=15)
    assert (trio.pointing.server, trio.pointing.rate) == ("asyncio-streams", 3000.0)


def test_keys_zoom_at_the_selected_point_pan_and_show_everything(qtbot: QtBot, trio: Trio) -> None:
    trio.highlight("asyncio-streams", 6000.0)
    chart = trio.charts[Quantity.ERRORS]
    qtbot.keyClick(trio, Qt.Key.Key_Plus, CTRL)
    qtbot.keyClick(trio, Qt.Key.Key_Equal, CTRL)
    low, high = rates(chart)
    assert low < 6000 < high < 9000
    qtbot.keyClick(trio, Qt.Key.Key_Left, CTRL)
    assert rates(chart)[0] < low
    qtbot.keyClick(trio, Qt.Key.Key_Minus, CTRL)
    assert rates(chart)[1] - rates(chart)[0] > high - low
    qtbot.keyClick(trio, Qt.Key.Key_0, CTRL)
    assert rates(chart) == pytest.approx((0, 9000), abs=15)


def test_a_zoom_into_nothing_says_so_and_how_to_get_back(qtbot: QtBot, trio: Trio) -> None:
    chart = trio.charts[Quantity.REPLIES]
    drag(qtbot, chart, [chart.at(1000, 8000), chart.at(2000, 5500)])
    assert "Nothing measured in this part. Double-click or Ctrl+0 shows all." in written(trio)
    qtbot.keyClick(trio, Qt.Key.Key_0, CTRL)
    assert "Nothing measured" not in written(trio)


def test_a_part_without_points_is_said_to_be_empty_once(qtbot: QtBot, trio: Trio) -> None:
    first = float(trio.charts[Quantity.REPLIES].curves["gevent"].values.x[0])
    trio.show_part(Showing({ACROSS: (0.2 * first, 0.8 * first)}))
    assert written(trio).count("Nothing measured in this part.") == 1


def test_nothing_is_drawn_outside_a_zoomed_plot(qtbot: QtBot, trio: Trio) -> None:
    """What writes SVG does not clip."""
    chart = trio.charts[Quantity.REPLIES]
    drag(qtbot, chart, [chart.at(3000, 6000), chart.at(5000, 3000)])
    size = trio.width(), trio.height()
    drawn = picture.svg(lambda painter: paint(trio, painter), size, "", "").decode()
    for points in re.findall(r'<polyline[^>]* points="([^"]*)"', drawn):
        for x, y in (map(float, each.split(",")) for each in points.split()):
            assert -1 <= x <= size[0] + 1
            assert -1 <= y <= size[1] + 1


@pytest.mark.parametrize("size", [(960, 640), (640, 420)])
def test_marks_differ_and_have_room_however_close_the_zoom(
    qtbot: QtBot, size: tuple[int, int]
) -> None:
    trio = shown(qtbot, session(4, 12), size)
    chart = trio.charts[Quantity.REPLIES]
    for _ in range(14):
        turn(chart, chart.plot_rect().center(), 2)
        for each in trio.charts.values():
            texts = [text for _, text in axes.up(each)]
            assert len(set(texts)) == len(texts) >= 2
        below = [text for _, text in axes.across(trio.charts[Quantity.ERRORS])]
        assert len(set(below)) == len(below) >= 2


def test_a_live_chart_keeps_its_zoom_until_the_button_resets_it(qtbot: QtBot) -> None:
    board = live_board(qtbot)
    documents = session(2, 8)
    begins = [i for i, d in enumerate(documents) if isinstance(d, PointStart)]
    for document in documents[: begins[-4]]:
        board.consume(document)
    board.refresh()
    assert not offers(board, "Reset zoom")
    chart = board.trio.charts[Quantity.REPLIES]
    turn(chart, chart.plot_rect().center(), 3)
    zoom = rates(chart)
    for document in documents[begins[-4] :]:
        board.consume(document)
        board.refresh()
    assert rates(chart) == pytest.approx(zoom)
    control(board, "Reset zoom").click()
    assert rates(chart) == pytest.approx((0, 9000), abs=15)
    assert not offers(board, "Reset zoom")


def test_a_line_is_selected_in_a_zoom_as_without_one(qtbot: QtBot, trio: Trio) -> None:
    chart = trio.charts[Quantity.REPLIES]
    turn(chart, chart.at(6000, 100), 5)
    series = trio.model.series["asyncio-streams"]
    point = next(p for p in series.points if rates(chart)[0] < p.x < rates(chart)[1])
    qtbot.mouseClick(chart.viewport(), LEFT, pos=chart.at(point.x, point.replies_per_s).toPoint())
    assert trio.pointing.server
    assert not isnan(trio.pointing.rate)
    assert trio.pointing.card.isVisible()


def test_what_belongs_to_the_sweep_stays_there_in_another_view(qtbot: QtBot) -> None:
    board = live_board(qtbot)
    for document in session(2, 8):
        board.consume(document)
    board.refresh()
    trio = board.trio
    trio.set_notes([ChartNote(4500.0, "here")])
    control(board, "Distribution").click()
    first = trio.charts[trio.drawn.charts[0]]
    turn(first, first.plot_rect().center(), 3)
    assert trio.showing.zoom
    assert not trio.own_showing.zoom, "an export draws the sweep"
    assert not first.notes
    control(board, "Sweep").click()
    assert trio.charts[Quantity.REPLIES].notes == (ChartNote(4500.0, "here"),)
