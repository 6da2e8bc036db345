"""Lines end at the edges of the plot, and each part keeps what belongs to it."""

from __future__ import annotations

import numpy as np

from app.charts.clipping import clipped

BOX = (0.0, 0.0, 10.0, 10.0)


def parts(*points: tuple[float, ...]) -> list[list[list[float]]]:
    return [part.tolist() for part in clipped(np.array(points), BOX)]


def test_a_line_that_leaves_and_comes_back_has_two_parts() -> None:
    found = parts((-5, 5), (5, 5), (5, 15), (8, 15), (8, 5))
    assert found == [[[0, 5], [5, 5], [5, 10]], [[8, 10], [8, 5]]]


def test_a_line_between_two_points_outside_is_cut_at_both_edges() -> None:
    assert parts((-5, 5), (15, 5)) == [[[0, 5], [10, 5]]]
    assert parts((-5, 5), (5, 25)) == []


def test_a_gap_is_no_line() -> None:
    assert parts((1, 1), (np.nan, np.nan), (3, 3), (4, 4)) == [[[1, 1]], [[3, 3], [4, 4]]]


def test_what_belongs_to_a_segment_is_kept_where_it_is_cut() -> None:
    found = parts((-5, 5, 1), (5, 5, 0), (15, 5, 1))
    assert found == [[[0, 5, 1], [5, 5, 0], [10, 5, 0]]]
