"""Names at line ends: none overlaps, none is missing."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from app.charts.names import Name, place, spread
from app.charts.sizes import Sizes, gutter

ROOM, WIDE = QRectF(814, 2, 104, 234), QRectF(814, 2, 226, 234)
LINE, LEAST = 15.5, 13.0


def laid(ends: list[Name], room: QRectF = ROOM, line: float = LINE) -> list[Name]:
    return place(ends, room, line, LEAST)


def boxes_overlap(a: Name, b: Name, height: float) -> bool:
    across = a.x < b.x + b.width - 0.01 and b.x < a.x + a.width - 0.01
    return across and abs(a.y - b.y) < height - 0.01


ends = st.lists(
    st.tuples(st.floats(56, 800), st.floats(28, 228), st.floats(30, 99)), min_size=1, max_size=24
)


@given(ends)
def test_no_two_names_overlap_and_none_is_missing_unless_it_is_counted(
    found: list[tuple[float, float, float]],
) -> None:
    placed = laid([Name(str(i), *end) for i, end in enumerate(found)])
    names = {label.key for label in placed if label.key}
    assert len(names) == len(found) or (len(names) >= 16 and len(names) == len(placed) - 1)
    for i, a in enumerate(placed):
        assert not any(boxes_overlap(a, b, LEAST) for b in placed[i + 1 :])


@given(ends)
def test_names_stay_within_their_chart(found: list[tuple[float, float, float]]) -> None:
    for label in laid([Name(str(i), *end) for i, end in enumerate(found)]):
        assert ROOM.top() <= label.y - LEAST / 2 + 0.01
        assert label.y + LEAST / 2 <= ROOM.bottom() + 0.01
        assert label.x + label.width <= ROOM.right() + 0.01


def test_names_in_the_gutter_keep_the_order_of_their_lines() -> None:
    placed = laid([Name(str(i), 800, 100 + i * 0.1, 60) for i in range(12)])
    assert [label.key for label in sorted(placed, key=lambda p: p.y)] == [str(i) for i in range(12)]


def test_names_stand_in_two_columns_where_these_hold_them_whole() -> None:
    placed = laid([Name(str(i), 800, 100 + i * 0.1, 99) for i in range(30)], WIDE)
    first, second = sorted({label.x for label in placed})
    assert len(placed) == 30
    assert {label.width for label in placed} == {99}
    assert first + 99 <= second - 6
    assert second + 99 <= WIDE.right()


def test_where_not_all_fit_the_highest_lines_are_named_and_the_others_counted() -> None:
    placed = laid([Name(str(i), 800, 100 + i * 0.1, 90) for i in range(24)])
    *named, more = sorted(placed, key=lambda label: label.y)
    assert [label.key for label in named] == [str(i) for i in range(len(named))]
    assert {label.width for label in named} == {90}
    assert not more.key


def test_where_not_all_fit_the_best_ranked_are_named_in_the_order_of_their_lines() -> None:
    ends = [Name(str(i), 800, 100 + i * 0.1, 90, rank=23 - i) for i in range(24)]
    *named, more = sorted(laid(ends), key=lambda label: label.y)
    assert [label.key for label in named] == [str(i) for i in range(24 - len(named), 24)]
    assert not more.key


def test_names_in_two_columns_go_on_in_the_second() -> None:
    placed = laid([Name(str(i), 800, 100 + i * 0.1, 99) for i in range(30)], WIDE)
    assert [p.key for p in sorted(placed, key=lambda p: (p.y, p.x))] == [str(i) for i in range(30)]


def test_a_name_far_from_the_others_is_written_at_the_height_of_its_line() -> None:
    (only,) = laid([Name("a", 400, 120, 60)])
    assert (only.x, only.y) == (ROOM.left(), 120)


@given(st.lists(st.floats(0, 500), min_size=1, max_size=20), st.floats(1, 20))
def test_spread_keeps_the_gap_and_the_limits(wanted: list[float], gap: float) -> None:
    found = spread(sorted(wanted), gap, 0, 500)
    assert all(b - a >= gap - 1e-6 for a, b in pairwise(found))
    assert min(found) >= -1e-6
    assert max(found) <= 500 + 1e-6


def test_spread_moves_nothing_that_is_apart() -> None:
    assert spread([10, 50, 90], 15, 0, 100) == [10, 50, 90]


def test_spread_moves_neighbours_evenly() -> None:
    assert spread([50, 50], 10, 0, 100) == [45, 55]


def test_a_gutter_for_two_columns_holds_them_whole() -> None:
    sizes = Sizes()
    unscaled = gutter(110, 1000, crowded=True)
    height = sizes.label_px + 3.5
    room = QRectF(814, 2, unscaled - 14, 234)
    placed = laid([Name(str(i), 800, 100 + i * 0.1, 110 + 14) for i in range(30)], room, height)
    assert len({label.x for label in placed}) == 2
    assert not any(label.key == "" for label in placed)
