"""Cuts lines at the edges of a rectangle: what writes SVG does not clip. Pure arithmetic, no Qt."""

from __future__ import annotations

import numpy as np

from app.charts.labels import Box, Polyline


def clipped(points: Polyline, box: Box) -> list[Polyline]:
    """Return the parts of a line within the box (left, top, right, bottom), in order; points of NaN
    are gaps.
    """
    left, top, right, foot = box
    x, y = points.T
    with np.errstate(invalid="ignore"):
        outside = (x < left) | (x > right) | (y < top) | (y > foot)
    if not outside.any():
        return [points] if len(points) else []
    # Liang and Barsky: each edge narrows the stretch of a segment that is inside.
    start, way = points[:-1], np.diff(points, axis=0)
    first, last = np.zeros(len(way)), np.ones(len(way))
    edges = ((0, -1.0, left), (0, 1.0, right), (1, -1.0, top), (1, 1.0, foot))
    with np.errstate(invalid="ignore", divide="ignore"):
        for axis, sign, edge in edges:
            speed, room = sign * way[:, axis], sign * (edge - start[:, axis])
            at = room / speed
            first = np.where(speed < 0, np.maximum(first, at), first)
            last = np.where(speed > 0, np.minimum(last, at), last)
            last = np.where((speed == 0) & (room < 0), -1.0, last)
        inside = (first < last) & ~np.isnan(way).any(axis=1)
    parts: list[list[Polyline]] = []
    for i in np.flatnonzero(inside):
        begin, end = start[i] + way[i] * first[i], start[i] + way[i] * last[i]
        if parts and first[i] == 0 and inside[i - 1] and last[i - 1] == 1:
            parts[-1].append(end)
        else:
            parts.append([begin, end])
    return [np.array(part) for part in parts]


def joined(parts: list[Polyline]) -> Polyline:
    """Return several lines as one with gaps."""
    gap = np.full((1, 2), np.nan)
    found = [each for part in parts for each in (part, gap)]
    return np.concatenate(found[:-1]) if found else np.empty((0, 2))
