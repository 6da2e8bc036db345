"""Computes the pixels of all lines of a chart at once: numpy takes as long for one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan

import numpy as np
from numpy.typing import NDArray

from app.charts.clipping import Box, Polyline, clipped, segments
from app.charts.curve import Curve, Fitted
from app.charts.series import Floats


def fit(
    curves: Sequence[Curve],
    frame: object,
    pixels_of: Callable[[Floats, Floats], Polyline],
    box: Box,
) -> None:
    """Set the pixels of these lines for what a chart shows now, its `frame`. `pixels_of`: values on
    both axes; `box`: what is seen.
    """
    ends = np.cumsum([len(curve.data) for curve in curves])
    data = np.concatenate([curve.data for curve in curves])
    number = np.searchsorted(ends, np.arange(len(data)), side="right")
    pixels = pixels_of(data[:, 0], data[:, 1])
    shown = _within(pixels, box)
    seen = clipped(np.column_stack((pixels, data[:, 2], number)), box)
    each, at = segments(seen)
    sure, owner = seen[at, 2] > 0, seen[at, 3]
    places = np.arange(len(curves) + 1)
    parts = np.searchsorted(seen[:, 3], places).tolist()
    pieces = np.searchsorted(owner, places).tolist()
    begin = 0
    for n, (curve, end) in enumerate(zip(curves, ends.tolist(), strict=True)):
        part = seen[parts[n] : parts[n + 1], :2]
        gap = int(len(part) > 0 and isnan(part[0, 0]))
        own, mine = slice(begin, end - 1), slice(pieces[n], pieces[n + 1])
        curve.fit(frame, Fitted(pixels[own], shown[own], part[gap:], each[mine], sure[mine]))
        begin = end


def _within(points: Polyline, box: Box) -> NDArray[np.bool_]:
    left, top, right, foot = box
    x, y = points.T
    return (x >= left) & (x <= right) & (y >= top) & (y <= foot)
