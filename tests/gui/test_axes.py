"""Axes stay where they are: while a session runs, when it ends, and from a film's first to its last
picture."""

from __future__ import annotations

import itertools

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app import theme
from app.charts import words
from app.charts.full_session import Whole
from app.charts.series import Quantity
from app.live.session_view import Board
from tests.synthetic import session
from workbench.axis import Axis
from workbench.documents import AnyDocument, PointStop, RunStart, Window

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def board(qtbot: QtBot) -> Board:
    made = Board(theme.LIGHT, live=True)
    qtbot.addWidget(made, before_close_func=lambda _: made)
    made.resize(1300, 760)
    with qtbot.waitExposed(made):
        made.show()
    return made


def patient(documents: list[AnyDocument], timeout_s: float) -> list[AnyDocument]:
    """The same, each call given up after so long."""
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
    board.trio.set_log(log)
    board.clear(Whole(documents))
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


def test_whatever_a_film_shows_lies_within_its_axes(board: Board) -> None:
    documents = session(3, 6)
    board.clear(Whole(documents))
    chart = board.trio.charts[Quantity.TIME]
    for document in documents:
        board.consume(document)
        if isinstance(document, Window):
            limits(board)
            at = chart.running_at()
            assert at is None or chart.plot_rect().adjusted(-1, -1, 1, 1).contains(at)


def test_the_axes_stay_when_a_run_ends(board: Board) -> None:
    documents = session(3, 6)
    board.clear()
    for document in documents[:-1]:
        board.consume(document)
    running = limits(board)
    board.consume(documents[-1])
    board.end()
    assert limits(board) == running


def test_the_axes_stay_when_a_run_that_was_prepared_begins(board: Board) -> None:
    documents = patient(session(3, 6), 2.0)
    board.clear()
    board.expect(9000.0, 2.0)
    prepared = limits(board)
    board.consume(documents[0])
    assert limits(board) == prepared


def test_a_workloads_field_is_drawn_on_the_scale_that_it_declares(board: Board) -> None:
    sizes = [64.0, 256.0, 1024.0, 4096.0, 16384.0]
    axis = Axis(key="size", label="Size", unit="bytes", scale="log", values=sizes)
    start, *rest = session(2, rates=sizes, ceiling=False)
    assert isinstance(start, RunStart)
    for document in [replace(start, axis=axis), *rest]:
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
    there = chart.reading(next(iter(chart.curves)), 1024.0)
    assert there is not None and words.offered(there) == "1,024 bytes"
