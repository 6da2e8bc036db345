"""Places the card of a point in a corner of a plot, where it covers no line if there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, product
from typing import Protocol, TypeVar

import numpy as np
from PySide6.QtCore import QPoint, QRectF, QSize

from app.charts import labels
from app.charts.chart import Chart
from app.charts.clipping import Box, Polyline, joined
from app.charts.stack import Stack

_RIM = 7.0
"""Around the card in pixels, for the markers."""
_SELECTED, _BESIDE, _TEXT = 1000, 50, 2
"""The cost of a covered segment of the selected line, of a text beside a plot, and of one in it, in
other segments.
"""
_COLUMNS, _ROWS, _MOST = 12, 24, 20
"""Places beside and below one another, and how many are compared with all lines."""

Shape = TypeVar("Shape")


class Card(Protocol[Shape]):
    """What is placed: a widget with several layouts, the preferred one first."""

    @property
    def SHAPES(self) -> Sequence[Shape]: ...

    def take(self, shape: Shape) -> QSize:
        """Apply a layout; returns the size that the card then needs."""
        ...

    def move(self, at: QPoint, /) -> None: ...


def place(stack: Stack, card: Card[Shape], beside: Iterable[tuple[float, float]] = ()) -> None:
    """Choose the card's layout and place: the first that covers nothing, else the one that covers
    the least. `beside`: pixels that it covers last of all.
    """
    charts = [chart for chart in stack.charts.values() if chart.isVisibleTo(stack)]
    mine, others = (_lines(charts, selected=selected) for selected in (True, False))
    if points := list(beside):
        mine = joined([mine, np.repeat(np.array(points), 2, axis=0)])
    texts, outside = _texts(stack, charts)
    best: tuple[int, Shape, QPoint] | None = None
    for shape in card.SHAPES:
        size = card.take(shape)
        if best is not None and size.width() > stack.width():
            continue
        places = _places(stack, charts, size)
        boxes = [
            (x - _RIM, y - _RIM, x + size.width() + _RIM, y + size.height() + _RIM)
            for x, y in places
        ]
        costs = _SELECTED * labels.crossings(boxes, mine)
        bare = [(x, y, x + size.width(), y + size.height()) for x, y in places]
        costs += _BESIDE * np.array(labels.touched(bare, outside))
        costs += _TEXT * np.array(labels.touched(bare, texts))
        # The other lines are many.
        (least,) = np.nonzero(costs < costs.min() + _BESIDE)
        least = least[:: -(-len(least) // _MOST)]
        costs = costs[least] + labels.crossings([boxes[n] for n in least], others)
        first = int(costs.argmin())
        if best is None or costs[first] < best[0]:
            best = int(costs[first]), shape, QPoint(*places[least[first]])
        if not costs[first]:
            break
    assert best is not None
    card.take(best[1])
    card.move(best[2])


def _places(stack: Stack, charts: Sequence[Chart], size: QSize) -> list[tuple[int, int]]:
    """Return the left and top edges of places in the plots, those at their tops and feet first."""
    plots = [chart.plot_rect().translated(chart.pos()) for chart in charts]
    left, right = plots[0].left() + _RIM + 1, stack.width() - size.width() - 1.0
    across = np.linspace(left, max(left, right), _COLUMNS)
    edges = [(p.top(), p.bottom() - size.height() - _RIM) for p in plots]
    between = np.linspace(edges[0][0], stack.height() - size.height(), _ROWS)
    down = [*chain(*edges), *between.tolist()]
    room = stack.rect().size() - size
    return [
        (int(min(max(x, 0), max(room.width(), 0))), int(min(max(y, 0), max(room.height(), 0))))
        for y, x in product(down, across.tolist())
    ]


def _lines(charts: Sequence[Chart], *, selected: bool) -> Polyline:
    """Return the lines of the selected server, or of the other visible ones, as one with gaps."""
    found = []
    for chart in charts:
        for id_, curve in chart.curves.items():
            if id_ not in chart.hidden and (id_ == chart.highlighted) is selected:
                line = curve.seen() + np.array([chart.x(), chart.y()])
                # A single point has no segment.
                found.append(np.repeat(line, 2, axis=0) if len(line) == 1 else line)
    return joined(found)


def _texts(stack: Stack, charts: Sequence[Chart]) -> tuple[list[Box], list[Box]]:
    """Return the boxes of texts in plots and of the running point; and those of headers, names and
    axes, and of what lies over the charts.
    """
    texts: list[Box] = []
    outside: list[Box] = [QRectF(each.geometry()).getCoords() for each in stack.foreign()]
    for chart in charts:
        x, y, plot = chart.x(), chart.y(), chart.plot_rect()
        head, *words = chart.texts()
        own = list(words)
        if (halo := chart.running_at()) is not None:
            half = chart.sizes.px(12)
            own.append((halo.x() - half, halo.y() - half, halo.x() + half, halo.y() + half))
        axis = 0.0, plot.top(), plot.left(), plot.bottom()
        for found, boxes in ((texts, own), (outside, [head, axis, *chart.names.boxes()])):
            found += [(a + x, b + y, c + x, d + y) for a, b, c, d in boxes]
    return texts, outside
