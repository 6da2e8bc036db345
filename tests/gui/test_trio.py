"""The linked charts as a user sees them: lines, names, markers, in every size and theme."""

from __future__ import annotations

import dataclasses
from itertools import combinations, product

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.marks import Marks
from app.charts.series import Quantity
from app.charts.sizes import Sizes
from app.charts.view_state import Look
from app.theme import mix
from tests.gui.trios import at, colour_of, near, seen, shown, texts
from tests.synthetic import CONTESTANTS, searches, session
from workbench.documents import PointStart, PointStop, RunStart, Window

R, T, E = Quantity


@pytest.mark.parametrize("quantity", Quantity)
def test_every_server_is_drawn_at_its_data_in_its_colour(qtbot: QtBot, quantity: Quantity) -> None:
    trio = shown(qtbot, session(3, 8))
    chart = trio.charts[quantity]
    image = seen(chart)
    for server in trio.model.series:
        for index in (-1, -2) if quantity is not T else (2, 3):
            assert near(image, at(chart, server, index), colour_of(trio, server))


@pytest.mark.parametrize("servers", [1, 7, 12])
@pytest.mark.parametrize("give_up", [False, True])
def test_names_never_overlap_and_none_is_missing(qtbot: QtBot, servers: int, give_up: bool) -> None:
    trio = shown(qtbot, session(servers, 30, give_up=give_up))
    for chart in trio.charts.values():
        seen(chart)
        placed = chart.names.placed
        assert {label.key for label in placed} == set(trio.model.series)
        for a, b in combinations(placed, 2):
            across = a.x < b.x + b.width - 0.5 and b.x < a.x + a.width - 0.5
            assert not (across and abs(a.y - b.y) < 12)


def test_servers_that_were_not_run_yet_take_no_width_of_the_plots(qtbot: QtBot) -> None:
    documents = session(24, 12)
    early = documents[: len(documents) // 4]
    few = shown(qtbot, early, (1400, 560)).charts[Quantity.REPLIES].plot_rect().width()
    assert few > shown(qtbot, documents, (1400, 560)).charts[Quantity.REPLIES].plot_rect().width()


@pytest.mark.parametrize("servers", [2, 7, 12])
@pytest.mark.parametrize("moment", ["within its last point", "after it"])
def test_the_name_of_the_running_server_covers_no_other(
    qtbot: QtBot, servers: int, moment: str
) -> None:
    equals = [dataclasses.replace(each, capacity_per_s=1e6) for each in CONTESTANTS[:servers]]
    documents = session(equals, 6)[:-1]
    last = max(i for i, d in enumerate(documents) if isinstance(d, PointStart))
    trio = shown(qtbot, documents if moment == "after it" else documents[: last + 4])
    for chart in trio.charts.values():
        seen(chart)
        boxes = [QRectF(label.x, label.y - 6, label.width, 12) for label in chart.names.placed]
        words = texts(chart)
        assert {label.key for label in chart.names.placed} == set(trio.model.series)
        assert not any(a.intersects(b) for a, b in combinations([*boxes, *words[:2]], 2))


def test_unreliable_points_are_hollow(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 8, untrusted_from=7000))
    chart, (server,) = trio.charts[R], trio.model.series
    image = seen(chart)
    hollow, full = at(chart, server, -1), at(chart, server, 1)
    ground = QColor(theme.LIGHT.card)
    assert image.pixelColor(hollow.toPoint()) == ground
    assert near(image, hollow, colour_of(trio, server), within=5)
    assert image.pixelColor(full.toPoint()) != ground


def test_an_unreliable_point_stays_hollow_while_it_is_pointed_at(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 8, untrusted_from=7000))
    chart, (server,) = trio.charts[R], trio.model.series
    filled = {}
    for index in (-1, 1):
        trio.highlight(server, trio.model.series[server].points[index].x)
        middle = seen(chart).pixelColor(at(chart, server, index).toPoint())
        filled[index] = middle != QColor(theme.LIGHT.card)
    assert filled == {-1: False, 1: True}


def test_the_line_into_an_unreliable_point_is_thin_pale_and_dashed(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 4, untrusted_from=6000))
    chart, (server,) = trio.charts[R], trio.model.series
    image, colour = seen(chart), colour_of(trio, server)
    first, last = at(chart, server, -2), at(chart, server, -1)
    between = [first + (last - first) * share / 60 for share in range(20, 41)]
    drawn = [near(image, place, mix("#FFFFFF", colour, 0.5), within=1) for place in between]
    assert any(drawn)
    assert not all(drawn)
    assert not any(near(image, place, colour, within=3) for place in between)


def test_every_point_of_a_search_is_marked(qtbot: QtBot) -> None:
    trio = shown(qtbot, searches(1), (620, 400))
    chart, (server,) = trio.charts[R], trio.model.series
    image, series = seen(chart), trio.model.series[server]
    places = [chart.at(p.x, p.value(R.value, trio.view)) for p in series.shown if p.trusted]
    assert len(places) > 5
    for place in places:
        for aside in product((-0.8, 0.8), repeat=2):
            assert near(image, place + QPointF(*aside), colour_of(trio, server), within=0)


def test_two_charts_have_more_room_and_the_lower_one_shows_the_rates(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 4))
    before = trio.charts[T].height()
    trio.show_charts([R, T])
    assert not trio.charts[E].isVisible()
    assert trio.charts[T].height() > before
    assert trio.charts[T].geometry().bottom() >= trio.height() - 2
    trio.show_charts(Quantity)
    assert trio.charts[T].height() == before


def test_without_height_for_three_charts_two_are_shown_in_full(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(3, 8))
    trio.resize(818, 200)
    assert not trio.charts[Quantity.ERRORS].isVisible()
    for quantity in (R, T):
        chart = trio.charts[quantity]
        assert trio.rect().contains(chart.geometry())
        assert chart.plot_rect().height() > 25
    assert trio.charts[T].lowest
    trio.resize(818, 400)
    assert trio.charts[Quantity.ERRORS].isVisible()
    assert trio.charts[Quantity.ERRORS].lowest


def test_the_percentile_and_the_clock_change_charts_and_text(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 8))
    chart, (server,) = trio.charts[T], trio.model.series
    latency = at(chart, server, 3)
    assert near(seen(chart), latency, colour_of(trio, server))
    trio.set_view(percentile="p50")
    assert chart.title_text()[1] == "p50, from scheduled time, log scale"
    assert near(seen(chart), at(chart, server, 3), colour_of(trio, server))
    trio.set_view(clock="service")
    trio.toggle_log()
    assert chart.title_text()[1] == "p50, from send"
    assert near(seen(chart), at(chart, server, -1), colour_of(trio, server))


def test_the_running_point_has_a_halo_and_its_name(qtbot: QtBot) -> None:
    documents = session(2, 8)
    starts = [i for i, d in enumerate(documents) if isinstance(d, PointStart)]
    trio = shown(qtbot, documents[: starts[-2] + 5])
    chart, running = trio.charts[R], trio.model.running
    assert running and running.server == "asyncio-protocol"
    where = chart.at(running.x, running.value(R.value, trio.view))
    colour = colour_of(trio, "asyncio-protocol")
    image = seen(chart)
    assert image.pixelColor(where.toPoint()) == QColor(theme.LIGHT.card)
    assert near(image, where + QPointF(4, 0), colour, within=1)
    trio.set_paused(True)
    image = seen(chart)
    assert near(image, where, colour, within=1)


def test_live_and_replayed_charts_end_up_the_same(qtbot: QtBot) -> None:
    documents = session(3, 6, repeats=2)
    live = shown(qtbot, [])
    for document in documents:
        live.model(document)
        if isinstance(document, PointStop):
            live.refresh()
            seen(live.charts[T])
    live.set_model(live.model)  # until then its axes stay as they were while it ran
    opened = shown(qtbot, documents)
    for quantity in Quantity:
        assert seen(live.charts[quantity]) == seen(opened.charts[quantity])


def test_axes_do_not_jump_while_a_session_runs(qtbot: QtBot) -> None:
    documents = session(2, 6)
    trio = shown(qtbot, documents[:1])
    limits = {quantity: chart.limits for quantity, chart in trio.charts.items()}
    for document in documents[1:-1]:
        trio.model(document)
    trio.refresh()
    assert {quantity: chart.limits for quantity, chart in trio.charts.items()} == limits


@pytest.mark.parametrize("chosen", [theme.DARK, theme.LIGHT], ids=["dark", "light"])
def test_a_change_of_theme_repaints_everything(qtbot: QtBot, chosen: theme.Theme) -> None:
    trio = shown(qtbot, session(2, 8))
    trio.set_theme(chosen)
    chart = trio.charts[R]
    image = seen(chart)
    assert image.pixelColor(3, image.height() - 3) == QColor(chosen.card)
    style = chosen.series(0)
    assert near(image, at(chart, "asyncio-streams", -1), style.colour)


def test_a_projector_gets_larger_fonts_and_lines(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(4, 8), size=(1920, 1080))
    trio.set_sizes(Sizes(scale=2.0))
    image = seen(trio.charts[R])
    where = (at(trio.charts[R], "tornado", -1) + at(trio.charts[R], "tornado", -2)) / 2
    column = [image.pixelColor(round(where.x()), round(where.y()) + dy) for dy in range(-5, 6)]
    assert sum(colour != QColor(theme.LIGHT.card) for colour in column) >= 4


def test_charts_that_are_painted_before_a_session_has_been_drawn_survive_its_log_axes(
    qtbot: QtBot,
) -> None:
    """A refresh follows some time after the documents, and the window may paint before."""
    trio = shown(qtbot, session(3, 8))
    start, *others = session(3, 8, rates=[500.0 * 2**n for n in range(8)])
    assert isinstance(start, RunStart)
    trio.model(replace(start, axis=replace(start.axis, scale="log")))
    assert not seen(trio.charts[R]).isNull()
    for document in others:
        trio.model(document)
    trio.refresh()
    assert trio.charts[R].axis_text().endswith("log scale")


@pytest.mark.qt_log_ignore("saved states")
def test_a_chart_that_cannot_be_drawn_does_not_end_the_program(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Marks, "under", fail)
    shown(qtbot, session(1, 1)).grab()
    assert {record.message for record in caplog.records} == {"Drawing cannot be drawn."}
    assert isinstance(caplog.records[0].exc_info, tuple)
    assert caplog.records[0].exc_info[0] is ZeroDivisionError


def test_a_session_in_which_time_runs_backwards_is_drawn_over_time(qtbot: QtBot) -> None:
    start, *rest = session(1, 1)
    points = [each for each in rest if isinstance(each, PointStart | Window | PointStop)]
    backwards = [replace(each, t_us=-(n * 10**6)) for n, each in enumerate(points)]
    trio = shown(qtbot, [start, *backwards])
    trio.project(Look("time"))
    trio.grab()
    for chart in trio.charts.values():
        left, right, low, high = chart.limits
        assert left < right and low < high


def test_where_all_servers_answer_all_times_are_large_and_lines_can_be_drawn_apart(
    qtbot: QtBot,
) -> None:
    trio = shown(qtbot, session(3, rates=[200.0, 400.0, 600.0]))
    replies, time = (trio.charts[each] for each in (Quantity.REPLIES, Quantity.TIME))
    assert time.height() > replies.height()
    qtbot.keyClick(trio, Qt.Key.Key_O)
    assert "lines offset" in replies.title_text()[1]
    servers = list(trio.model.series)
    for server in servers:
        x, y = replies.curves[server].pixels()[1]
        assert replies.nearest(QPointF(x, y)) == (server, 400.0)
    trio.toggle(servers[0])
    trio.toggle(servers[1])
    assert replies.curves[servers[2]].pixels()[1, 1] == replies.at(400, 400).y(), "alone in place"
    mixed = shown(qtbot, session(3, rates=[200.0, 20_000.0]))
    assert mixed.charts[Quantity.TIME].height() < mixed.charts[Quantity.REPLIES].height()
