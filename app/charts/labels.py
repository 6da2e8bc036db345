"""Places the names at the line ends: none overlaps, none is cut. Pure arithmetic, no Qt.

All values are in pixels, y downwards. Names stand at the right of the chart, as high as their lines
end; where that is too low for all of them, those that stand alone come first, then the best ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class End:
    """A line's last point and the width of its name with the marker before it."""

    key: str
    x: float
    y: float
    width: float
    rank: int = 0
    """Of lines in a crowd the lowest are named where not all names fit, of equals the highest."""


@dataclass(frozen=True)
class Placed:
    """A placed name: its left edge and its middle."""

    key: str
    """Empty: the place of a text that says how many more there are."""
    x: float
    y: float
    width: float


@dataclass(frozen=True)
class Room:
    """The gutter at the right of a plot."""

    left: float
    top: float
    bottom: float
    width: float
    line_height: float
    least_height: float
    """Lines are set this tight before names are placed in two columns, if these hold them whole."""


_COLUMN_GAP = 7.0
"""Between a name and the marker of the next column, in line heights / 14.5."""
_NEAR = 8.0
"""Lines that end nearer to one another are a crowd, in line heights / 14.5."""


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return ascending positions at least `gap` apart, nearest by least squares to the ascending
    `wanted` ones.

    Pool adjacent violators: positions that would overlap move as one block around their mean. The
    result stays within low..high as long as (n - 1) x gap does.
    """
    blocks: list[tuple[float, int]] = []
    for i, value in enumerate(wanted):
        mean, size = value - i * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, n = blocks.pop()
            mean, size = (before * n + mean * size) / (n + size), n + size
        blocks.append((mean, size))
    top = max(low, high - (len(wanted) - 1) * gap)
    flat = [min(max(mean, low), top) for mean, size in blocks for _ in range(size)]
    return [value + i * gap for i, value in enumerate(flat)]


def place(ends: Sequence[End], room: Room) -> list[Placed]:
    """Place the names of the line ends, in the order of these."""
    if not ends:
        return []
    low, high = room.top + room.line_height / 2, room.bottom - room.line_height / 2
    fit = max(1, int((high - low) / _tightest(room, len(ends), high - low) + 1e-6) + 1)
    half, gap = room.width / 2, _COLUMN_GAP * room.line_height / 14.5
    columns = 1 if len(ends) <= fit or max(end.width for end in ends) > half - gap else 2
    named = sorted(ends, key=lambda e: (e.y, e.rank, e.x))
    if len(ends) > (places := columns * fit):
        named = sorted(_preferred(ends, room)[: places - 1], key=lambda e: (e.y, e.rank, e.x))
        named.append(End("", 0.0, high, room.width / columns))
    rows = [named[i : i + columns] for i in range(0, len(named), columns)]
    wanted = [min(max(sum(end.y for end in row) / len(row), low), high) for row in rows]
    ys = spread(wanted, _tightest(room, len(rows), high - low), low, high)
    return [
        Placed(end.key, room.left + column * half, y, min(end.width, room.width))
        for row, y in zip(rows, ys, strict=True)
        for column, end in enumerate(row)
    ]


def _preferred(ends: Sequence[End], room: Room) -> list[End]:
    """Return the ends in the order in which they are named where not all names fit: first those
    that stand alone or in pairs, since those of a crowd are counted where it is.
    """
    at = np.array([(end.x, end.y) for end in ends])
    near = (np.abs(at[:, None] - at) < _NEAR * room.line_height / 14.5).all(axis=2).sum(axis=1)
    crowded = {end.key: count > 2 for end, count in zip(ends, near.tolist(), strict=True)}
    return sorted(ends, key=lambda e: (crowded[e.key], e.rank, e.y, e.x))


def _tightest(room: Room, names: int, height: float) -> float:
    """Return the distance of lines in which as many names as possible fit into a height."""
    return min(room.line_height, max(room.least_height, height / max(1, names - 1)))
