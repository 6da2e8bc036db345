"""The linked charts under a mouse and keys: what is pointed at, hidden, chosen and read."""

from __future__ import annotations

from functools import partial
from math import isnan, nan

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.chart_menu import open_menu
from app.charts.model import ChartModel
from app.charts.series import Quantity
from app.theme import mix
from tests.gui.trios import at, colour_of, near, seen, shown
from tests.outcomes import Contestant
from tests.repeats import with_repeats
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStop

R, T, E = Quantity


def test_hiding_a_server_hides_its_line_and_name_until_it_is_shown(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(3, 8))
    chart = trio.charts[R]
    where, colour = at(chart, "gevent", -1), colour_of(trio, "gevent")
    assert near(seen(chart), where, colour)
    with qtbot.waitSignal(trio.visibility_changed) as reported:
        trio.toggle("gevent")
    assert reported.args == ["gevent", False]
    assert not near(seen(chart), where, colour, within=2)
    assert "gevent" not in {label.key for label in chart.names.placed}
    trio.show_all()
    assert near(seen(chart), where, colour)


def test_pointing_at_a_line_dims_the_others_and_describes_its_point(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(3, 8))
    chart = trio.charts[E]
    mine, other = at(chart, "asyncio-streams", -1), at(chart, "gevent", -1)
    before = seen(chart)
    qtbot.mouseMove(chart.viewport(), (mine + QPointF(-6, 3)).toPoint())
    image = seen(chart)
    assert near(image, mine + QPointF(-20, 3), colour_of(trio, "asyncio-streams"))
    assert near(before, other, colour_of(trio, "gevent"))
    assert not near(image, other, colour_of(trio, "gevent"))
    assert trio.pointing.card.isVisible()
    message = trio.pointing.card.accessibleName()
    assert message.startswith("asyncio streams at 9,000/s offered: ")
    assert " calls failed (" in message
    assert {each.cursor_rate for each in trio.charts.values()} == {9000}


def test_the_card_shows_how_often_a_rate_was_measured(qtbot: QtBot) -> None:
    trio = shown(qtbot, with_repeats(session(2, 8), 4500.0, "asyncio-streams"))
    trio.highlight("asyncio-streams", 4500.0)
    assert "Measured 2 times; the last one counts." in trio.pointing.card.accessibleName()
    trio.highlight("asyncio-streams", 3375.0)
    assert "Measured" not in trio.pointing.card.accessibleName()


def test_the_card_disappears_when_the_mouse_leaves_the_lines(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 8))
    chart = trio.charts[R]
    qtbot.mouseMove(chart.viewport(), at(chart, "asyncio-streams", -2).toPoint())
    assert trio.pointing.card.isVisible()
    qtbot.mouseMove(chart.viewport(), QPoint(300, 60))
    assert not trio.pointing.card.isVisible()
    assert chart.highlighted == ""
    assert trio.crosshair.readout.isVisible()
    qtbot.mouseMove(chart.viewport(), QPoint(3, 3))
    assert not trio.crosshair.readout.isVisible()
    assert isnan(chart.cursor_rate)


def test_the_card_stays_within_charts_that_become_smaller(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 8), size=(1500, 760))
    trio.highlight("asyncio-protocol", 1125.0)
    for size in ((1000, 500), (795, 545)):
        trio.resize(*size)
        qtbot.waitUntil(lambda: trio.rect().contains(trio.pointing.card.geometry()))


def test_a_click_keeps_a_server_highlighted_until_the_next(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 8))
    chart = trio.charts[R]
    where = at(chart, "asyncio-protocol", -1).toPoint()
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.mouseMove(chart.viewport(), QPoint(300, 60))
    assert chart.highlighted == "asyncio-protocol"
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.mouseMove(chart.viewport(), QPoint(300, 60))
    assert chart.highlighted == ""


def test_a_name_can_be_pointed_at(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(3, 8))
    chart = trio.charts[T]
    seen(chart)
    label = next(label for label in chart.names.placed if label.key == "gevent")
    qtbot.mouseMove(chart.viewport(), QPointF(label.x + 30, label.y).toPoint())
    assert chart.highlighted == "gevent"


def test_up_and_down_move_between_servers_and_read_a_point(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(3, 8))
    press = partial(qtbot.keyClick, trio)
    press(Qt.Key.Key_Down)
    assert trio.pointing.card.accessibleName().startswith("gevent at 7,875/s offered")
    assert trio.accessibleDescription() == trio.pointing.card.accessibleName()
    press(Qt.Key.Key_Right)
    assert trio.pointing.card.accessibleName().startswith("gevent at 9,000/s offered")
    press(Qt.Key.Key_Down)
    assert trio.pointing.card.accessibleName().startswith("asyncio Protocol at 9,000/s offered")
    for _ in range(3):
        press(Qt.Key.Key_Left)
    assert trio.pointing.card.accessibleName().startswith("asyncio Protocol at 5,625/s offered")
    press(Qt.Key.Key_Escape)
    assert not trio.pointing.card.isVisible()
    assert trio.charts[R].highlighted == ""
    assert trio.accessibleDescription() == ""


def test_digits_show_and_hide_servers_and_0_shows_all(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(3, 8))
    chart = trio.charts[R]
    where, colour = at(chart, "gevent", -1), colour_of(trio, "gevent")
    qtbot.keyClick(trio, Qt.Key.Key_3)
    assert not near(seen(chart), where, colour, within=2)
    qtbot.keyClick(trio, Qt.Key.Key_1)
    assert not trio.is_shown("asyncio-streams")
    qtbot.keyClick(trio, Qt.Key.Key_0)
    assert near(seen(chart), where, colour)
    assert trio.is_shown("asyncio-streams")


def test_l_and_p_change_the_scale_and_the_percentile(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 8))
    with qtbot.waitSignal(trio.view_changed):
        qtbot.keyClick(trio, Qt.Key.Key_L)
    qtbot.keyClick(trio, Qt.Key.Key_P)
    assert trio.charts[T].title_text()[1] == "p99.9, from scheduled time"


def test_a_clicked_point_stays_described_when_the_mouse_leaves(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 8))
    chart = trio.charts[R]
    where = at(chart, "asyncio-streams", -2).toPoint()
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.mouseMove(chart.viewport(), QPoint(300, 60))
    assert trio.pointing.card.isVisible()
    assert trio.pointing.card.accessibleName().startswith("asyncio streams at 7,875/s offered")
    qtbot.keyClick(trio, Qt.Key.Key_Escape)
    assert not trio.pointing.card.isVisible()


def test_a_pinned_point_is_shown_again_after_a_jump_back(qtbot: QtBot) -> None:
    documents = session(2, 4)
    trio = shown(qtbot, documents)
    trio.highlight("asyncio-streams", 4500.0)
    model = ChartModel()
    trio.set_model(model)
    assert not trio.pointing.card.isVisible()
    for document in documents:
        model(document)
    trio.refresh()
    assert trio.pointing.card.isVisible()
    assert trio.charts[T].highlighted == "asyncio-streams"


def test_charts_with_keyboard_focus_show_a_ring(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 4))
    trio.activateWindow()
    edge = QPoint(trio.width() // 2, 1)
    assert trio.grab().toImage().pixelColor(edge) != QColor(theme.LIGHT.focus)
    trio.clearFocus()
    trio.setFocus(Qt.FocusReason.TabFocusReason)
    assert near(trio.grab().toImage(), QPointF(edge), theme.LIGHT.focus, within=1)


def test_error_bars_are_drawn_only_for_the_highlighted_server(qtbot: QtBot) -> None:
    def shaken(document: AnyDocument) -> AnyDocument:
        if isinstance(document, PointStop) and document.pass_number == 2:
            return replace(document, replies_per_s=0.7 * document.replies_per_s)
        return document

    trio = shown(qtbot, map(shaken, session(2, rates=[4000.0, 8000.0], repeats=2)))
    chart, server = trio.charts[R], "asyncio-streams"
    low, high = trio.model.series[server].points[0].spread(R.value, trio.view) or (0, 0)
    bar = chart.at(4000, low + (high - low) / 4)
    assert not near(seen(chart), bar, mix("#FFFFFF", colour_of(trio, server), 0.8), within=2)
    trio.highlight(server)
    assert near(seen(chart), bar, mix("#FFFFFF", colour_of(trio, server), 0.8), within=2)


@pytest.mark.parametrize(
    "documents",
    [
        [],
        session(3, 8)[:1],
        session(1, 1),
        session([Contestant("dead", "Dead", "", 0, 100, 1 << 20)], 4),
        session(2, 4, end="crashed"),
        session(2, 4, end="interrupted"),
        session(2, 4, untrusted_from=1),
    ],
    ids=["nothing", "begun", "one point", "all failed", "crashed", "aborted", "untrusted"],
)
def test_any_valid_session_can_be_shown_and_explored(
    qtbot: QtBot, documents: list[AnyDocument]
) -> None:
    trio = shown(qtbot, documents, size=(520, 400))
    for chart in trio.charts.values():
        assert not seen(chart).isNull()
        for x in range(0, 520, 40):
            qtbot.mouseMove(chart.viewport(), QPoint(x, chart.height() // 2))
    for server, series in trio.model.series.items():
        trio.highlight(server, next((point.x for point in series.shown), nan))
        seen(trio.charts[T])


@pytest.mark.qt_log_ignore("does not support")
def test_the_menu_offers_which_response_time_is_drawn(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 4))
    menu = open_menu(trio, trio.mapToGlobal(QPoint(10, 10)))
    for which, text in (("Percentile", "p50"), ("Response time", "Service time (from send)")):
        (inside,) = [each.menu() for each in menu.actions() if each.text() == which]
        (choice,) = [each for each in inside.actions() if each.text() == text]
        assert not choice.isChecked()
        choice.trigger()
    menu.close()
    assert (trio.view.percentile, trio.view.clock) == ("p50", "service")
