"""Names that do not fit are shortened but stay recognisable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.charts.chart import Chart
from app.charts.drawing import distinct_names, text_width
from app.charts.series import Quantity
from app.theme import Weight, font
from app.widgets import Elided
from tests.gui.trios import live_board, shown, written
from tests.synthetic import contestants, session
from workbench.servers.catalogue import Catalogue

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

SIZE = font(12, Weight.Medium)


def test_names_that_begin_alike_are_shortened_to_the_word_in_which_they_differ(
    qtbot: QtBot,
) -> None:
    names = frozenset(["asyncio streams", "asyncio Protocol", "Circuits (epoll)", "gevent"])
    assert distinct_names(names, SIZE, 60) == {
        "asyncio streams": "…streams",
        "asyncio Protocol": "…Protocol",
        "Circuits (epoll)": "Circuits …",
        "gevent": "gevent",
    }


def test_names_that_begin_alike_in_one_word_keep_both_ends(qtbot: QtBot) -> None:
    reported = distinct_names(frozenset(["gevent.pywsgi-plain", "gevent.pywsgi-fast"]), SIZE, 68)
    assert [name[-2:] for name in sorted(reported.values())] == ["st", "in"]


def test_a_name_with_which_others_begin_keeps_its_beginning(qtbot: QtBot) -> None:
    name = "Flask on Gunicorn"
    reported = distinct_names(frozenset([name, f"{name}, keep-alive", f"{name}, pooled"]), SIZE, 90)
    assert reported[name].startswith("Flask on")
    assert [reported[f"{name}, {kind}"] for kind in ("keep-alive", "pooled")] == [
        "…keep-alive",
        "…pooled",
    ]


@pytest.mark.parametrize("width", [68, 80, 100])
def test_no_two_servers_of_the_catalogue_read_the_same(qtbot: QtBot, width: float) -> None:
    names = frozenset(entry.name for entry in Catalogue.load())
    reported = distinct_names(names, SIZE, width)
    assert len(set(reported.values())) == len(names)
    assert all(text_width(short, SIZE) <= width for short in reported.values())


def test_a_name_of_which_too_little_would_be_left_is_left_out(qtbot: QtBot) -> None:
    chart = shown(qtbot, session(3, 2)).charts[Quantity.REPLIES]
    read = {
        width: [chart.names.shortened(curve, SIZE, width) for curve in chart.curves.values()]
        for width in (60, 30, -3)
    }
    assert sorted(read[60]) == ["gevent", "…Protocol", "…streams"]
    assert read[30] == read[-3] == ["", "", ""]


def test_servers_whose_names_begin_alike_can_be_told_apart_in_the_legend(qtbot: QtBot) -> None:
    name = "Flask on Gunicorn with several workers and keep-alive connections, "
    names = [f"{name}{kind}" for kind in ("gthread", "gevent")]
    board = live_board(qtbot)
    board.resize(1000, 700)
    board.side.setFixedWidth(220)
    found = [replace(c, name=name) for c, name in zip(contestants(2), names, strict=True)]
    for document in session(found, 4):
        board.consume(document)
    board.refresh()
    board.grab()
    lines = [line for line in board.side.findChildren(Elided) if line.whole in names]
    assert [line.text() in names for line in lines] == [False, False]
    assert len({line.text() for line in lines}) == 2


@pytest.mark.parametrize("size", [(792, 500), (930, 560), (818, 240)])
def test_names_at_lines_are_whole_and_the_others_counted(
    qtbot: QtBot, size: tuple[int, int]
) -> None:
    trio = shown(qtbot, session(24, 12), size)
    text = written(trio)
    for chart in filter(Chart.isVisible, trio.charts.values()):
        chart.grab()
        names = chart.names
        named = [chart.curves[label.key].series.name for label in names.placed]
        assert all(name in text for name in named)
        assert names.more is None or f"and {24 - len(named)} more" in text


def test_a_server_that_is_only_counted_is_named_while_it_is_highlighted(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(24, 12), (700, 240))
    trio.show_charts([Quantity.TIME])
    chart = trio.charts[Quantity.TIME]
    chart.grab()
    counted = chart.curves.keys() - {label.key for label in chart.names.placed}
    assert counted
    for server in counted:
        name = chart.curves[server].series.name
        once = written(trio).count(name)
        trio.highlight(server)
        assert written(trio).count(name) > once
        trio.highlight("")
