"""Where the card of a point goes: near the top left, where it covers no line, words or axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import hypot
from typing import TYPE_CHECKING

import numpy as np
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
    lines, words = _lines(trio), _words(trio)
    best: tuple[float, int, QPoint] | None = None
    for wide in card.WIDTHS:
        size = card.shape(wide)
        for at in _places(trio, card, size.width(), size.height()):
            box = _around(at, size)
            hits = sum(_covered(box, other) for other in words)
            if best is not None and hits >= best[0]:
                continue
            hits += _WEIGHT_OF_DATA * labels.crosses(box, lines)
            if best is None or hits < best[0]:
                best = hits, wide, at
            if not hits:
                card.move(at)
                return
    assert best is not None
    card.shape(best[1])
    card.move(best[2])


def _covered(box: labels.Box, word: labels.Box) -> int:
    """Words cut in two are worse than words that are gone."""
    if not labels.touch(box, word):
        return 0
    whole = box[0] <= word[0] and box[1] <= word[1] and word[2] <= box[2] and word[3] <= box[3]
    return 1 if whole else 3


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
