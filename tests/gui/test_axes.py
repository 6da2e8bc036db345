"""Axes do not move: during a session, when it ends, and from a film's first to its last
picture."""

from __future__ import annotations

import itertools

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app.charts import axes
from app.charts.series import Quantity
from app.charts.view_state import Showing
from app.live.film import whole_of
from app.live.run import Trial
from app.live.session_view import Board
from tests.gui.trios import live_board
from tests.gui.windows import says, sees
from tests.synthetic import session
from workbench.axis import Axis, concurrency, rate
from workbench.documents import AnyDocument, PointStart, PointStop, RunStart, Window

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def board(qtbot: QtBot) -> Board:
    return live_board(qtbot)


def patient(documents: list[AnyDocument], timeout_s: float) -> list[AnyDocument]:
    """The same documents with this timeout."""
    start = documents[0]
    assert isinstance(start, RunStart)
    workload = {**start.plan.get("workload", {}), "timeout_s": timeout_s}
    return [replace(start, plan={**start.plan, "workload": workload}), *documents[1:]]


def limits(board: Board) -> tuple[tuple[float, ...], ...]:
    """Of all three charts."""
    board.refresh()
    return tuple(chart.limits for chart in board.trio.charts.values())


@pytest.mark.parametrize("log", [True, False], ids=["log", "linear"])
@pytest.mark.parametrize("repeats", [1, 2])
def test_the_axes_of_a_film_never_move(board: Board, log: bool, repeats: int) -> None:
    documents = session(3, 6, repeats=repeats)
    board.trio.show_part(Showing(log={"time": log}))
    board.clear(whole_of(documents)[1])
    seen = set()
    for document in documents:
        board.consume(document)
        if isinstance(document, RunStart | PointStop | Window):
            seen.add(limits(board))
    board.end()
    seen.add(limits(board))
    for document in documents[: len(documents) // 2]:  # a jump back
        board.consume(document)
    assert {*seen, limits(board)} == {limits(board)}


def test_everything_a_film_shows_lies_within_its_axes(board: Board) -> None:
    documents = session(3, 6)
    board.clear(whole_of(documents)[1])
    chart = board.trio.charts[Quantity.TIME]
    for document in documents:
        board.consume(document)
        if isinstance(document, Window):
            limits(board)
            at = chart.running_at()
            assert at is None or chart.plot_rect().adjusted(-1, -1, 1, 1).contains(at)


def test_the_axes_do_not_change_when_a_run_ends(board: Board) -> None:
    documents = session(3, 6)
    board.clear()
    for document in documents[:-1]:
        board.consume(document)
    running = limits(board)
    board.consume(documents[-1])
    board.end()
    assert limits(board) == running


def test_the_axes_do_not_change_when_a_prepared_run_starts(board: Board) -> None:
    documents = patient(session(3, 6), 2.0)
    board.clear()
    board.model.expect(rate("connections", [1000.0, 9000.0]), timeout_s=2.0)
    board.refresh()
    prepared = limits(board)
    board.consume(documents[0])
    assert limits(board) == prepared


def varied(axis: Axis) -> list[AnyDocument]:
    """A session at 200/s, or 200 connections, whose points are at the values of an axis."""
    rates = {200 + n / 100: x for n, x in enumerate(axis.values)}
    start, *rest = session(2, rates=list(rates), ceiling=False)
    assert isinstance(start, RunStart)
    return [
        replace(start, axis=axis),
        *(
            replace(document, x=rates[document.x], rate_per_s=0.0)
            if isinstance(document, PointStart | PointStop) and document.purpose == "sweep"
            else document
            for document in rest
        ),
    ]


@pytest.mark.parametrize(
    ("axis", "marks"),
    [
        (concurrency([1.0, 2.0, 3.0]), [1, 2, 3]),
        (concurrency([1.0, 2.0, 5.0, 10.0, 50.0, 100.0]), [1, 10, 50, 100]),
        (concurrency([n + 1.0 for n in range(20)]), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]),
        (
            Axis(key="size", label="Size", unit="bytes", scale="log", values=[64.0, 1024.0, 9e4]),
            [64, 1024, 90_000],
        ),
        (rate("connections", [200.0, 400.0]), [0, 50, 100, 150, 200, 250, 300, 350, 400]),
    ],
    ids=["few", "crowded", "many", "log", "rates"],
)
def test_the_axis_is_labelled_with_the_planned_values_or_round_ones(
    board: Board, axis: Axis, marks: list[float]
) -> None:
    for document in varied(axis):
        board.consume(document)
    board.refresh()
    assert [x for x, _ in axes.across(board.trio.charts[Quantity.ERRORS])] == marks


def test_without_an_offered_rate_the_replies_fill_their_axis(board: Board) -> None:
    for document in varied(concurrency([1.0, 2.0, 3.0])):
        board.consume(document)
    board.refresh()
    assert board.trio.charts[Quantity.REPLIES].limits[2:] == (0, 250)


def test_a_live_run_without_a_limit_shows_the_reply_rates(qtbot: QtBot, board: Board) -> None:
    axis = concurrency([1.0, 2.0, 3.0])
    board.clear()
    board.model.expect(axis)
    board.refresh()
    start, *rest = varied(axis)
    assert isinstance(start, RunStart)
    board.prepare(Trial(tuple((each.id, each.name) for each in start.servers)))
    for document in [start, *rest]:
        board.consume(document)
        board.refresh()
        warming = board.model.running and board.model.running.start.purpose == "warm_up"
        assert not (warming and board.trio.charts[Quantity.REPLIES].running_at())
    sees(qtbot, board, "200/s")
    assert says(board, "most replies")
    assert not says(board, "sustain")


def test_a_workloads_field_is_drawn_on_the_scale_that_it_declares(board: Board) -> None:
    sizes = [64.0, 256.0, 1024.0, 4096.0, 16384.0]
    axis = Axis(key="size", label="Size", unit="bytes", scale="log", values=sizes)
    for document in varied(axis):
        board.consume(document)
    board.refresh()
    chart = board.trio.charts[Quantity.REPLIES]
    assert chart.accessibleName() == "Successful replies over the size"
    places = [chart.at(size, 100).x() for size in sizes]
    apart = {round(after - before) for before, after in itertools.pairwise(places)}
    assert max(apart) - min(apart) <= 1  # powers of four
    plot = chart.plot_rect()
    assert plot.left() < places[0] and places[-1] <= plot.right() + 1
    for curve in chart.curves.values():
        assert list(curve.pixels()[:, 0]) == pytest.approx(places, abs=0.5)
    there = chart.model.reading(next(iter(chart.curves)), 1024.0)
    assert there is not None and chart.model.place(there.x) == "1,024 bytes"
