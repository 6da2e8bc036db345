"""Where the card of a point goes: near the top left, where it covers no line, words or axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import hypot
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QSize
from PySide6.QtWidgets import QWidget

from app.charts import labels
from app.charts.series import Quantity

if TYPE_CHECKING:
    from app.charts.chart import Chart
    from app.charts.hover import HoverCard
    from app.charts.trio import Trio

_ROWS, _COLUMNS = 12, 9
"""How many places are tried in each direction."""
_RIM = 6.0
"""Around the card: markers are that wide."""
_WEIGHT_OF_DATA = 10
"""Where every place covers something, words rather than lines."""


def place(trio: Trio, card: HoverCard) -> None:
    """Shape the card and move it. A low chart has no room for it: then another part of the trio
    has, or a wider and lower card fits. It stays where it is as long as it covers nothing there."""
    lines, words = _lines(trio), np.reshape(_words(trio), (-1, 4))
    best: tuple[float, int, QPoint] | None = None
    for wide in card.WIDTHS:
        size = card.shape(wide)
        places = list(_places(trio, card, size.width(), size.height()))
        boxes = [_around(at, size) for at in places]
        for at, box, cut in zip(places, boxes, _covered(np.array(boxes), words), strict=True):
            if best is not None and cut >= best[0]:
                continue
            hits = cut + _WEIGHT_OF_DATA * labels.crosses(box, lines)
            if best is None or hits < best[0]:
                best = hits, wide, at
            if not hits:
                card.move(at)
                return
    assert best is not None
    card.shape(best[1])
    card.move(best[2])


def _covered(boxes: NDArray[np.float64], words: NDArray[np.float64]) -> list[int]:
    """What each box (n x 4) costs the words (m x 4) it touches: words cut in two are worse than
    words that are gone."""
    left, top, right, foot = (boxes[:, i, None] for i in range(4))
    a, b, c, d = words.T
    touched = (left < c) & (a < right) & (top < d) & (b < foot)
    whole = (left <= a) & (top <= b) & (c <= right) & (d <= foot)
    cost: list[int] = np.where(touched, np.where(whole, 1, 3), 0).sum(axis=1).tolist()
    return cost


def _around(at: QPoint, size: QSize) -> labels.Box:
    """The card there, and markers' width around it."""
    right, foot = at.x() + size.width(), at.y() + size.height()
    return at.x() - _RIM, at.y() - _RIM, right + _RIM, foot + _RIM


def _places(trio: Trio, card: HoverCard, wide: int, high: int) -> Iterator[QPoint]:
    """Where it is, the top left of the plot of the replies, and then ever further from that."""
    if card.isVisible() and trio.rect().contains(card.geometry()):
        yield card.pos()
    plot = trio.charts[Quantity.REPLIES].plot_rect()
    corner = QPoint(round(plot.left()) + 8, round(plot.top()) + 2)
    right, foot = trio.width() - wide - 2, trio.height() - high - 2
    xs = np.linspace(0, max(0, right), _COLUMNS).round()
    ys = np.linspace(0, max(0, foot), _ROWS).round()
    grid = [QPoint(int(x), int(y)) for y in ys for x in xs]
    yield corner
    yield from sorted(grid, key=lambda at: hypot(at.x() - corner.x(), at.y() - corner.y()))


def _lines(trio: Trio) -> list[labels.Polyline]:
    """Of the servers that are shown, as one with gaps."""
    gap = np.full((1, 2), np.nan)
    found = [gap]
    for chart in _shown(trio):
        for id_, curve in chart.curves.items():
            if id_ not in chart.hidden:
                found += [curve.pixels() + np.array([chart.x(), chart.y()]), gap]
    return [np.concatenate(found)]


def _words(trio: Trio) -> list[labels.Box]:
    """Heads, axes, names, and what else lies over the charts."""
    found: list[labels.Box] = []
    for chart in _shown(trio):
        x, y, plot = chart.x(), chart.y(), chart.plot_rect()
        height = chart.look.label_px
        own = [*chart.ground.words(), *chart.names.at_ceiling]
        own += [label.box(height) for label in chart.names.placed]
        own.append((0.0, plot.top(), plot.left(), plot.bottom()))
        if chart.lowest:
            own.append((plot.left(), plot.bottom(), plot.right(), float(chart.height())))
        if chart.names.running is not None:
            own.append(chart.names.running.getCoords())
        found += [(a + x, b + y, c + x, d + y) for a, b, c, d in own]
    for other in _beside(trio):
        at = other.geometry()
        found.append((at.left(), at.top(), at.right(), at.bottom()))
    return found


def _beside(trio: Trio) -> Iterable[QWidget]:
    """Controls a page has put over the charts."""
    children = (child for child in trio.children() if isinstance(child, QWidget))
    return [each for each in children if each.isVisible() and trio.is_foreign(each)]


def _shown(trio: Trio) -> Iterable[Chart]:
    return [chart for chart in trio.charts.values() if chart.isVisibleTo(trio)]
