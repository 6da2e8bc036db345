"""Cuts lines at the edges of a rectangle: what writes SVG does not clip. Pure arithmetic, no Qt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Polyline = NDArray[np.float64]
"""Shape (n, 2)."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def clipped(points: Polyline, box: Box) -> list[Polyline]:
    """Return the parts of a line within the box (left, top, right, bottom), in order; points of NaN
    are gaps.
    """
    left, top, right, foot = box
    x, y = points.T
    before, beyond, above, below = x < left, x > right, y < top, y > foot
    unknown = np.isnan(x) | np.isnan(y)
    inside = ~(before | beyond | above | below | unknown)
    if inside.all():
        return [points] if len(points) else []
    stretches = runs(inside)
    parts = {a: [points[a:b]] for a, b in stretches}
    ends = {b - 1: a for a, b in stretches}
    missed = inside[:-1] & inside[1:]  # and those that no line of the box can cut
    for side in (before, beyond, above, below):
        missed |= side[:-1] & side[1:]
    missed |= unknown[:-1] | unknown[1:]
    for i in np.flatnonzero(~missed).tolist():
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
    (x, y), (across, down) = start.tolist(), (end - start).tolist()
    left, top, right, foot = box
    first, last = 0.0, 1.0
    edges = ((-across, x - left), (across, right - x), (-down, y - top), (down, foot - y))
    for speed, room in edges:
        if speed < 0:
            first = max(first, room / speed)
        elif speed > 0:
            last = min(last, room / speed)
        elif room < 0:
            return np.empty((0, 2))
    if first >= last:
        return np.empty((0, 2))
    return np.array([(x + across * share, y + down * share) for share in (first, last)])
