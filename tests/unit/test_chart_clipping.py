"""Lines end at the edges of the plot, and each part keeps what belongs to it."""

from __future__ import annotations

import numpy as np

from app.charts.drawing import chained, clipped, segments

BOX = (0.0, 0.0, 10.0, 10.0)
NOTHING = np.nan, np.nan


def parts(*points: tuple[float, ...]) -> list[list[list[float]]]:
    """What is seen of a line, without its gaps."""
    seen = clipped(np.array(points, dtype=float), BOX)
    gaps = np.flatnonzero(np.isnan(seen[:, 0]))
    return [part[~np.isnan(part[:, 0])].tolist() for part in np.split(seen, gaps) if len(part)]


def test_a_line_that_leaves_and_comes_back_has_two_parts() -> None:
    found = parts((-5, 5), (5, 5), (5, 15), (8, 15), (8, 5))
    assert found == [[[0, 5], [5, 5], [5, 10]], [[8, 10], [8, 5]]]


def test_a_line_between_two_points_outside_is_cut_at_both_edges() -> None:
    assert parts((-5, 5), (15, 5)) == [[[0, 5], [10, 5]]]
    assert parts((-5, 5), (5, 25)) == []


def test_a_gap_is_no_line() -> None:
    assert parts((1, 1), NOTHING, (3, 3), (4, 4)) == [[[1, 1]], [[3, 3], [4, 4]]]
    assert parts((1, 1), NOTHING) == [[[1, 1]]]
    assert parts(NOTHING) == []
    assert len(clipped(np.empty((0, 2)), BOX)) == 0


def test_a_line_along_an_edge_or_without_a_way_is_seen() -> None:
    assert parts((-5, 10), (0, 10), (0, 10), (5, 10)) == [[[0, 10], [0, 10], [5, 10]]]
    assert parts((3, 12), (3, 12)) == []


def test_what_belongs_to_a_segment_is_kept_where_it_is_cut() -> None:
    found = parts((-5, 5, 1), (5, 5, 0), (15, 5, 1))
    assert found == [[[0, 5, 1], [5, 5, 0], [10, 5, 0]]]


def test_segments_of_a_line_make_up_its_parts_again() -> None:
    line = np.array([(1, 1), (2, 3), (4, 4), NOTHING, (5, 5), NOTHING, (6, 1), (7, 2)])
    each, begin = segments(line)
    assert begin.tolist() == [0, 1, 6]
    assert [part.tolist() for part in chained(each)] == [[[1, 1], [2, 3], [4, 4]], [[6, 1], [7, 2]]]
    assert chained(np.empty((0, 4))) == []
