"""Places the card of a point: near the top left, where it covers no line, text or axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QSize

from app.charts import labels
from app.charts.chart import Chart
from app.charts.clipping import joined
from app.charts.series import Quantity
from app.charts.stack import Stack

_CELL = 4
"""Side of the squares, in pixels; each is empty, text or data."""
_RIM = 7
"""The margin around the card in pixels, for the markers."""
_HALO = 12.0
_TEXT, _DATA, _HEAD, _SELECTED = 4, 10, 50, 5000
"""The cost of a covered square where every place covers something; highest for the selected line.
"""

Squares = NDArray[np.int64]
Shape = TypeVar("Shape")


class Card(Protocol[Shape]):
    """What is placed: a widget with several layouts, the preferred one first."""

    @property
    def SHAPES(self) -> Sequence[Shape]: ...

    def take(self, shape: Shape) -> QSize:
        """Apply a layout; returns the size that the card then needs."""
        ...

    def move(self, at: QPoint, /) -> None: ...

    def pos(self) -> QPoint: ...

    def isVisible(self) -> bool: ...


def place(stack: Stack, card: Card[Shape], beside: Iterable[tuple[float, float]] = ()) -> None:
    """Choose the card's layout and place. Where a low chart has no room, another part of the stack
    is used, or a lower card, or one with less text. The card stays in place as long as it covers
    nothing there; where every place covers something, it covers the least. `beside`: pixels that it
    covers last of all.
    """
    covered = _covered(stack)
    for x, y in beside:
        row, column = int(y // _CELL), int(x // _CELL)
        covered[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3] = _SELECTED
    # Sums over all squares above and left of each, so that any box is the sum of four of them.
    sums = np.pad(covered.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    best: tuple[int, Shape, QPoint] | None = None
    for shape in card.SHAPES:
        size = card.take(shape)
        if best is not None and size.width() > stack.width():
            continue
        cost, at = _cheapest(stack, card, size, sums)
        if best is None or cost < best[0]:
            best = cost, shape, at
        if not cost:
            break
    assert best is not None
    card.take(best[1])
    card.move(best[2])


def _cheapest(stack: Stack, card: Card[Any], size: QSize, sums: Squares) -> tuple[int, QPoint]:
    """Return the least that a card of this size covers, and the place."""
    here = card.pos()
    stays = card.isVisible() and stack.rect().contains(QRect(here, size))
    if stays and not _cost(np.array([here.x()]), np.array([here.y()]), size, sums).any():
        return 0, here
    plot = stack.charts[Quantity.REPLIES].plot_rect()
    x = np.arange(0, max(1, stack.width() - size.width()), _CELL)
    y = np.arange(0, max(1, stack.height() - size.height()), _CELL)
    cost = _cost(x, y, size, sums)
    least = int(cost.min())
    down, across = np.nonzero(cost == least)
    best = np.hypot(x[across] - plot.left() - 8, y[down] - plot.top() - 2).argmin()
    return least, QPoint(int(x[across[best]]), int(y[down[best]]))


def _cost(x: Squares, y: Squares, size: QSize, sums: Squares) -> Squares:
    """Return the cost of cards at all of these left and top edges, shape (y, x)."""
    (rows, columns), (wide, high) = sums.shape, (size.width(), size.height())
    left, right = (x - _RIM) // _CELL, -((x + wide + _RIM) // -_CELL)
    top, foot = (y - _RIM) // _CELL, -((y + high + _RIM) // -_CELL)
    left, right = left.clip(0, columns - 1), right.clip(0, columns - 1)
    top, foot = top.clip(0, rows - 1), foot.clip(0, rows - 1)
    across = sums[:, right] - sums[:, left]
    cost: Squares = across[foot] - across[top]
    return cost


def _covered(stack: Stack) -> Squares:
    """Return the content of each square of the stack, shape (rows, columns)."""
    squares = np.zeros((ceil(stack.height() / _CELL), ceil(stack.width() / _CELL)), dtype=np.int64)
    for boxes, cost in zip(_texts(stack), (_TEXT, _HEAD), strict=True):
        edges = np.array(boxes).reshape(-1, 4).clip(min=0) / _CELL
        edges[:, 2:] = np.ceil(edges[:, 2:])
        for left, top, right, foot in edges.astype(np.int64).tolist():
            squares[top:foot, left:right] = cost
    rows, columns = squares.shape
    for selected, cost in ((False, _DATA), (True, _SELECTED)):
        points = (_along(_lines(stack, selected=selected)) / _CELL).astype(np.int64)
        squares[points[:, 1].clip(0, rows - 1), points[:, 0].clip(0, columns - 1)] = cost
    return squares


def _along(line: labels.Polyline) -> labels.Polyline:
    """Return the points of a line with gaps, interpolated so that no square is skipped."""
    known = ~np.isnan(line).any(axis=1)
    drawn = known[:-1] & known[1:]
    starts, ways = line[:-1][drawn], np.diff(line, axis=0)[drawn]
    steps = np.ceil(np.abs(ways).max(axis=1, initial=1.0) / _CELL).astype(int)
    which = np.repeat(np.arange(len(steps)), steps)
    step = np.arange(len(which)) - np.repeat(np.cumsum(steps) - steps, steps)
    between = starts[which] + ways[which] * (step / steps[which])[:, None]
    return np.concatenate((line[known], between))


def _lines(stack: Stack, *, selected: bool) -> labels.Polyline:
    """Return the lines of the selected server, or of the other visible ones, as one with gaps."""
    found = []
    for chart in _shown(stack):
        seen = chart.curves.keys() - chart.hidden
        lines = [chart.curves[id_].seen() for id_ in seen if (id_ == chart.highlighted) is selected]
        found.append(joined(lines) + np.array([chart.x(), chart.y()]))
    return joined(found)


def _texts(stack: Stack) -> tuple[list[labels.Box], list[labels.Box]]:
    """Return the boxes of axes, names, the running point, and whatever else lies over the charts;
    and those of headers.
    """
    found: list[labels.Box] = []
    heads: list[labels.Box] = []
    for chart in _shown(stack):
        x, y, plot = chart.x(), chart.y(), chart.plot_rect()
        height = chart.sizes.label_px
        (*head, foot), *words = chart.ground.words()
        heads.append((head[0], head[1] + y, head[2], foot + y))
        own = [*words, *chart.names.at_ceiling, *chart.names.boxes()]
        own.append((0.0, plot.top() - height / 2, plot.left(), plot.bottom() + height / 2))
        if chart.lowest:
            own.append((plot.left(), plot.bottom(), plot.right(), float(chart.height())))
        if chart.names.running is not None:
            own.append(chart.names.running.getCoords())
        if (halo := chart.running_at()) is not None:
            px = chart.sizes.px(_HALO)
            own.append((halo.x() - px, halo.y() - px, halo.x() + px, halo.y() + px))
        found += [(a + x, b + y, c + x, d + y) for a, b, c, d in own]
    for other in stack.foreign():
        at = other.geometry()
        found.append((at.left(), at.top(), at.right(), at.bottom()))
    return found, heads


def _shown(stack: Stack) -> Iterable[Chart]:
    return [chart for chart in stack.charts.values() if chart.isVisibleTo(stack)]
