"""Cuts lines at the edges of a rectangle: what writes SVG does not clip. Pure arithmetic, no Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Polyline = NDArray[np.float64]
"""Shape (n, 2)."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

_UNKNOWN = 16
"""The code of a point that is a gap; those of others are below."""


def clipped(points: Polyline, box: Box) -> list[Polyline]:
    """Return the parts of a line within the box (left, top, right, bottom), in order; points of NaN
    are gaps. Columns beyond x and y belong to the segment that begins at a point, and stay so.
    """
    left, top, right, foot = box
    x, y = points[:, 0], points[:, 1]
    # A bit for each side beyond which a point lies, as Cohen and Sutherland found.
    codes = (x < left) + 2 * (x > right) + 4 * (y < top) + 8 * (y > foot)
    codes[np.isnan(x + y)] = _UNKNOWN
    inside = codes == 0
    if inside.all():
        return [points] if len(points) else []
    stretches = runs(inside)
    parts = {a: [points[a:b]] for a, b in stretches}
    ends = {b - 1: a for a, b in stretches}
    # Neither inside, nor beyond the same side, nor without an end.
    either = codes[:-1] | codes[1:]
    crossing = (either > 0) & (either < _UNKNOWN) & (codes[:-1] & codes[1:] == 0)
    for i in np.flatnonzero(crossing).tolist():
        cut = _cut(points[i], points[i + 1], box)
        if inside[i + 1]:
            parts[i + 1].insert(0, cut[:1])
        elif inside[i]:
            parts[ends[i]].append(cut[1:])
        elif len(cut):
            parts[i] = [cut]
    return [np.concatenate(parts[at]) for at in sorted(parts)]


def joined(parts: Sequence[Polyline]) -> Polyline:
    """Return several lines as one with gaps."""
    gap = np.full((1, 2), np.nan)
    found = [each for part in parts for each in (part, gap)]
    return np.concatenate(found[:-1]) if found else np.empty((0, 2))


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """(first, end) of the runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _cut(start: Polyline, end: Polyline, box: Box) -> Polyline:
    """Return the ends of the part of one segment that is inside; empty: none is. Each edge narrows
    the stretch, as Liang and Barsky found.
    """
    (x, y, *more), (across, down, *_) = start.tolist(), (end - start).tolist()
    left, top, right, foot = box
    first, last = 0.0, 1.0
    edges = ((-across, x - left), (across, right - x), (-down, y - top), (down, foot - y))
    for speed, room in edges:
        if speed < 0:
            first = max(first, room / speed)
        elif speed > 0:
            last = min(last, room / speed)
        elif room < 0:
            return np.empty((0, len(start)))
    if first >= last:
        return np.empty((0, len(start)))
    return np.array([(x + across * share, y + down * share, *more) for share in (first, last)])
