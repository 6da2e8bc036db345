"""Places the names at the line ends: none overlaps, none is cut. Pure arithmetic, no Qt.

All values are in pixels, y downwards. A line that reaches the right edge is labelled in the gutter
beside the chart; where that is too low for all names, those that stand alone come first, then the
best ranked. A line that ends earlier is labelled at its end where that covers neither a line nor a
name, and in the gutter otherwise. Leaders to the gutter begin at its edge: across the plot they
would be taken for data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, hypot

import numpy as np
from numpy.typing import NDArray

from app.charts.clipping import Box, Polyline, joined

Leader = tuple[tuple[float, float], ...]


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
    """A placed name: its left edge, its middle, and the leader to it."""

    key: str
    """Empty: the place of a text that says how many more there are."""
    x: float
    y: float
    width: float
    leader: Leader
    """In the gutter to the name's row: of two names in a row both leaders end before the first."""

    def box(self, height: float) -> Box:
        return self.x, self.y - height / 2, self.x + self.width, self.y + height / 2


@dataclass(frozen=True)
class Room:
    """The plot (left, top, right, bottom) and the gutter to the right of it."""

    left: float
    top: float
    right: float
    bottom: float
    gutter_top: float
    gutter_bottom: float
    gutter_width: float
    line_height: float
    least_height: float
    """Lines are set this tight before names are placed in two columns, if these hold them whole."""


LEADER = 24.0
"""Length of a leader in the gutter, in line heights / 14.5."""
_COLUMN_GAP = 7.0
"""Between a name and the marker of the next column, in line heights / 14.5."""
_APART = 4.0
"""Leaders that begin nearer to one another cannot be told apart, in line heights / 14.5."""
_NEAR = 10.0
_STEPS = (0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5)
"""Where a name is placed beside a line's end, in line heights from it."""
_CLEAR = 7.0
"""How much of a leader the marker at its end covers, in line heights / 14.5."""
_RIM = 3.0
"""Around a name and its leader, for the markers of lines, in line heights / 14.5."""
_STUB = 20.0
"""The longest leader in a plot, in line heights / 14.5: it is not taken for data."""


def place(
    ends: Sequence[End], room: Room, lines: Sequence[Polyline] = (), words: Sequence[Box] = ()
) -> list[Placed]:
    """Place the names of the line ends. `lines` and `words` are what names inside the plot must not
    cover.
    """
    unit = room.line_height / 14.5
    whole = joined(lines)
    inside: list[Placed] = []
    outside: list[End] = []
    for end in sorted(ends, key=lambda e: -e.x):
        placed = None
        if end.x < room.right - _STUB * unit:
            taken = [*words, *(other.box(room.line_height) for other in inside)]
            placed = _beside(end, room, whole, taken)
        if placed:
            inside.append(placed)
        else:
            outside.append(end)
    return inside + _in_gutter(outside, room)


def moved(label: Placed, key: str, line: Polyline, room: Room) -> Placed | None:
    """Return a place in the gutter for the name of another line; None: that is not seen."""
    if not len(line):
        return None
    [leader] = _leaders([float(line[-1, 1])], [label.y], room)
    return replace(label, key=key, leader=leader)


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


def freest(places: Sequence[Box], taken: Sequence[Box], lines: Sequence[Polyline]) -> Box:
    """Return the first place that touches nothing; without one, the place that covers the fewest
    lines among those that touch nothing `taken`; at last the place that touches the least of it.
    """
    touched = _touched(places, taken)
    least = min(touched)
    free = [box for box, count in zip(places, touched, strict=True) if count == least]
    return free[int(crossings(free, joined(lines)).argmin())]


def _touched(places: Sequence[Box], taken: Sequence[Box]) -> list[int]:
    """Return how many of `taken` each place overlaps."""
    left, top, right, bottom = np.array(places).T[:, :, None]
    others = np.array(taken).reshape(-1, 4).T
    over = (left < others[2]) & (others[0] < right) & (top < others[3]) & (others[1] < bottom)
    return over.sum(axis=1).tolist()


def touch(a: Box, b: Box) -> bool:
    """Whether two boxes overlap."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def crossings(boxes: Sequence[Box], lines: Polyline) -> NDArray[np.int64]:
    """Count the line segments that touch each of the boxes (left, top, right, bottom); points of
    NaN are gaps.
    """
    each = np.array(boxes).reshape(-1, 4)
    left, top, right, foot = each.T[:, :, None]
    start, end = lines[:-1], lines[1:]
    low, high = np.minimum(start, end), np.maximum(start, end)
    near = ((low <= each[:, 2:].max(axis=0)) & (high >= each[:, :2].min(axis=0))).all(axis=1)
    (ax, ay), (low_x, low_y), (high_x, high_y) = start[near].T, low[near].T, high[near].T
    across, down = (end - start)[near].T
    beside = (low_x <= right) & (high_x >= left) & (low_y <= foot) & (high_y >= top)
    # Of those, the ones that do not have the whole box on one side.
    sides = [across * (v - ay) - down * (h - ax) for h in (left, right) for v in (top, foot)]
    touching = beside & (np.min(sides, axis=0) <= 0) & (np.max(sides, axis=0) >= 0)
    return np.count_nonzero(touching, axis=1)


def _beside(end: End, room: Room, lines: Polyline, taken: Sequence[Box]) -> Placed | None:
    h, unit = room.line_height, room.line_height / 14.5
    near = _NEAR * unit
    right, middle, left = end.x + near, end.x - end.width / 2, end.x - near - end.width
    places = [(right, end.y + step * h) for step in _STEPS]
    places += [(x, end.y + step * h) for x in (middle, left) for step in _STEPS if abs(step) >= 1]
    boxes = [(x, y - h / 2, x + end.width, y + h / 2) for x, y in places]
    within = [b for b in boxes if room.left <= b[0] and b[2] <= room.right]
    within = [b for b in within if room.top <= b[1] and b[3] <= room.bottom]
    free = [b for b in within if not any(touch(b, other) for other in taken)]
    whole = [_grown(each, _RIM * unit) for box in free for each in (box, _along(end, box, unit))]
    hits = crossings(whole, lines).reshape(-1, 2).sum(axis=1) if free else ()
    for box, count in zip(free, hits, strict=True):
        if not count:
            y = (box[1] + box[3]) / 2
            leader = () if abs(y - end.y) < h / 4 else ((end.x, end.y), _nearest(end, box))
            return Placed(end.key, box[0], y, end.width, leader)
    return None


def _nearest(end: End, box: Box) -> tuple[float, float]:
    """Return where a leader from a line's end arrives at the box of its name."""
    return min(max(end.x, box[0] - 1), box[2]), min(max(end.y, box[1]), box[3])


def _along(end: End, box: Box, unit: float) -> Box:
    """Return the box of a leader beyond the marker at a line's end."""
    x, y = _nearest(end, box)
    share = min(1.0, _CLEAR * unit / max(1.0, hypot(x - end.x, y - end.y)))
    start_x, start_y = end.x + share * (x - end.x), end.y + share * (y - end.y)
    return min(x, start_x), min(y, start_y), max(x, start_x), max(y, start_y)


def _grown(box: Box, rim: float) -> Box:
    return box[0] - rim, box[1] - rim, box[2] + rim, box[3] + rim


def _in_gutter(ends: Sequence[End], room: Room) -> list[Placed]:
    if not ends:
        return []
    unit = room.line_height / 14.5
    low = room.gutter_top + room.line_height / 2
    high = room.gutter_bottom - room.line_height / 2
    fit = max(1, int((high - low) / _tightest(room, len(ends), high - low) + 1e-6) + 1)
    first, wide = room.right + LEADER * unit, room.gutter_width - LEADER * unit
    half, gap = wide / 2, _COLUMN_GAP * unit
    columns = 1 if len(ends) <= fit or max(end.width for end in ends) > half - gap else 2
    named = sorted(ends, key=lambda e: (e.y, e.x))
    if len(ends) > (places := columns * fit):
        named = sorted(_preferred(ends, room)[: places - 1], key=lambda e: (e.y, e.x))
        named.append(End("", room.right, high, wide / columns))
    rows = [named[i : i + columns] for i in range(0, len(named), columns)]
    wanted = [min(max(sum(end.y for end in row) / len(row), low), high) for row in rows]
    ys = spread(wanted, _tightest(room, len(rows), high - low), low, high)
    placed = [
        Placed(end.key, first + column * half, y, min(end.width, wide), ())
        for row, y in zip(rows, ys, strict=True)
        for column, end in enumerate(row)
    ]
    leaders = _leaders([end.y for end in named], [label.y for label in placed], room)
    return [replace(label, leader=each) for label, each in zip(placed, leaders, strict=True)]


def _preferred(ends: Sequence[End], room: Room) -> list[End]:
    """Return the ends in the order in which they are named where not all names fit: first those
    that stand alone or in pairs, since those of a crowd are counted where it is.
    """
    at = np.array([(end.x, end.y) for end in ends])
    near = (np.abs(at[:, None] - at) < 2 * _APART * room.line_height / 14.5).all(axis=2).sum(axis=1)
    crowded = {end.key: count > 2 for end, count in zip(ends, near.tolist(), strict=True)}
    return sorted(ends, key=lambda e: (crowded[e.key], e.rank, e.y, e.x))


def _tightest(room: Room, names: int, height: float) -> float:
    """Return the distance of lines in which as many names as possible fit into a height."""
    return min(room.line_height, max(room.least_height, height / max(1, names - 1)))


def _leaders(ends: Sequence[float], names: Sequence[float], room: Room) -> list[Leader]:
    """Return leaders from the edge of the plot at these heights, ascending, to the rows of names at
    those. Where they would begin too close to be told apart, they run together, between a bracket
    around the ends and one around the names, which are in the same order.
    """
    unit = room.line_height / 14.5
    left, right = (floor(room.right + x * unit) + 0.5 for x in (4, LEADER - 5))  # sharp
    starts = np.clip(ends, room.top, room.bottom)
    apart = np.flatnonzero(np.diff(starts) >= _APART * unit) + 1
    found: list[Leader] = []
    for group, rows in zip(np.split(starts, apart), np.split(names, apart), strict=True):
        (top, foot), (first, last) = group[[0, -1]].tolist(), rows[[0, -1]].tolist()
        leaves = min(max((first + last) / 2, top), foot)
        arrives = min(max(leaves, first), last)
        found += [
            (
                (left - 2 * unit, start),
                (left, start),
                (left, leaves),
                (right, arrives),
                (right, row),
                (right + 3 * unit, row),
            )
            for start, row in zip(group.tolist(), rows.tolist(), strict=True)
        ]
    return found
