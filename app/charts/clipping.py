"""Cuts lines at the edges of a rectangle: what writes SVG does not clip. Pure arithmetic, no Qt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Polyline = NDArray[np.float64]
"""Shape (n, 2); points of NaN are gaps."""

Segments = NDArray[np.float64]
"""Shape (n, 4): x and y of both ends."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_NO_WAY = 1e-200
"""In place of zero, by which nothing can be divided."""


def clipped(points: Polyline, box: Box) -> Polyline:
    """Return what of a line lies within the box (left, top, right, bottom), in order. Columns
    beyond x and y belong to the segment that begins at a point, and stay so.
    """
    at, low, high = points[:, :2], np.array(box[:2]), np.array(box[2:])
    inside = ((low <= at) & (at <= high)).all(axis=1)
    if inside.all():
        return points
    start, end = at[:-1], at[1:]
    way = end - start
    along = way == 0
    way[along] = _NO_WAY
    # Each edge narrows the part of a segment that is seen, as Liang and Barsky found.
    to_low, to_high = (low - start) / way, (high - start) / way
    to_high[along & (start <= high)] = np.inf
    first = np.minimum(to_low, to_high).max(axis=1).clip(min=0)[:, None]
    last = np.maximum(to_low, to_high).min(axis=1).clip(max=1)[:, None]
    seen = np.append(first < last, False)
    before = np.append(False, seen[:-1])
    begins = (seen & ~(before & inside)) | (inside & ~seen & ~before)
    # A gap before each part, where a segment begins, and where it ends.
    rows = np.repeat(points[:, None], 3, axis=1)
    rows[:, 0, :2] = np.nan
    rows[:-1, 1, :2] = np.where(inside[:-1, None], start, start + first * way)
    rows[:-1, 2, :2] = np.where(inside[1:, None], end, start + last * way)
    rows[:-1, 2, 2:] = points[np.arange(len(seen) - 1) + inside[1:], 2:]
    found: Polyline = rows[np.column_stack((begins, begins, seen))]
    return found[1:]


def segments(line: Polyline) -> tuple[Segments, NDArray[np.intp]]:
    """Return the segments of a line, and the index of the point at which each begins."""
    each = np.hstack((line[:-1, :2], line[1:, :2]))
    (begin,) = np.nonzero(~np.isnan(each).any(axis=1))
    return each[begin], begin


def begins(each: Segments) -> NDArray[np.bool_]:
    """Return which segments do not begin where the one before ends."""
    apart = (each[1:, :2] != each[:-1, 2:]).any(axis=1)
    return np.concatenate((np.ones(min(1, len(each)), dtype=np.bool_), apart))


def chained(each: Segments) -> list[Polyline]:
    """Return segments as lines without gaps."""
    parts = np.split(each, np.flatnonzero(begins(each))[1:]) if len(each) else []
    return [np.vstack((part[:1, :2], part[:, 2:])) for part in parts]


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(first, end) of the runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
