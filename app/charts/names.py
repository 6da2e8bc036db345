"""The names at the line ends, as an axis at the right of the plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QPainter

from app.charts.axes import ChartAxis
from app.charts.curve import Curve
from app.charts.drawing import draw_marker, draw_tag, draw_text, name_among, text_width
from app.charts.plot import DIM, Plot
from app.charts.sizes import FOOT
from app.theme import Weight, font


class Name(NamedTuple):
    """A name with its marker: where its line ends, or, placed, its left edge and its middle."""

    key: str
    """Empty: the place of a text that says how many more there are."""
    x: float
    y: float
    width: float
    rank: int = 0
    """The lowest are named where not all names fit, of equals the highest."""


_COLUMN_GAP = 7.0
"""Between a name and the marker of the next column, in line heights / 14.5."""


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


def place(ends: Sequence[Name], room: QRectF, line: float, least: float) -> list[Name]:
    """Place names in the gutter. Lines are `line` high, and as low as `least` before names stand in
    two columns, if these hold them whole.
    """
    if not ends:
        return []
    low, high = room.top() + line / 2, room.bottom() - line / 2

    def tightest(names: int) -> float:
        return min(line, max(least, (high - low) / max(1, names - 1)))

    fit = max(1, int((high - low) / tightest(len(ends)) + 1e-6) + 1)
    half, gap = room.width() / 2, _COLUMN_GAP * line / 14.5
    columns = 1 if len(ends) <= fit or max(end.width for end in ends) > half - gap else 2
    named = sorted(ends, key=lambda e: (e.y, e.rank, e.x))
    if len(ends) > (places := columns * fit):
        best = sorted(ends, key=lambda e: (e.rank, e.y, e.x))[: places - 1]
        named = sorted(best, key=lambda e: (e.y, e.rank, e.x))
        named.append(Name("", 0.0, high, room.width() / columns))
    rows = [named[i : i + columns] for i in range(0, len(named), columns)]
    wanted = [min(max(sum(end.y for end in row) / len(row), low), high) for row in rows]
    ys = spread(wanted, tightest(len(rows)), low, high)
    return [
        Name(end.key, room.left() + column * half, y, min(end.width, room.width()))
        for row, y in zip(rows, ys, strict=True)
        for column, end in enumerate(row)
    ]


_BESIDE = 14.0
"""Unscaled, from the plot to a name's marker."""
_TAG = 17.0
"""Unscaled, of a session's letter and the gap before the next."""
_LEAST_LETTERS = 5
"""Of a shortened name, with its ellipsis."""
_NEAR = 22.0
"""Unscaled: lines of one server that end closer have one name."""


class NamesAxis(ChartAxis):
    """Names every line at the height where it ends; none overlaps another."""

    side = "right"

    def __init__(self, chart: Plot) -> None:
        super().__init__(chart)
        self.placed: list[Name] = []
        self.more: Name | None = None
        """The place of the text that says how many more servers there are."""
        self._together: dict[str, list[str]] = {}
        """Curves by the key of their common name: a server's in several sessions."""
        self._placed_for: object = None

    def room(self) -> QRectF:
        left = self._chart.plot_rect().right() + self._chart.sizes.px(_BESIDE - 1)
        return QRectF(left, 0, self._chart.width() - left, self._chart.height())

    def place(self) -> None:
        chart = self._chart
        px, size = chart.sizes.px, font(chart.sizes.label_px, Weight.DemiBold)  # as wide as may be
        named = {} if chart.model.bars else chart.shown
        found = {id_: at for id_, curve in named.items() if (at := self._end(curve))}
        wanted = chart.frame, found
        if wanted == self._placed_for:
            return
        self._placed_for = wanted
        ranks = {series.id: rank for rank, series in enumerate(chart.model.ranked())}
        plot = chart.plot_rect()
        rows = plot.height() / (chart.sizes.label_px + px(3.5))
        near = px(_NEAR) if len(found) <= rows else inf
        self._together = {keys[0]: keys for keys in self._by_server(found, near)}
        ends = []
        for first, keys in self._together.items():
            x, y = (sum(found[key][n] for key in keys) / len(keys) for n in (0, 1))
            series = chart.curves[first].series
            wide = px(14) + text_width(series.label, size)
            wide += px(_TAG * len(keys) + 4) * bool(series.tag)
            ends.append(Name(first, x, y, wide, min(ranks[key] for key in keys)))
        foot = chart.height() - px(FOOT) if len(ends) > 10 else plot.bottom() + px(8)
        head = chart.head.box()  # which may be long, and no name may cover
        left, top = plot.right(), head.bottom() if head.right() > plot.right() else px(2)
        room = QRectF(QPointF(left, top), QPointF(left + px(chart.sizes.gutter), foot))
        room.setLeft(left + px(_BESIDE))
        high = chart.sizes.label_px
        placed = place(ends, room, high + px(3.5), high + px(1))
        self.placed = [label for label in placed if label.key]
        self.more = next((label for label in placed if not label.key), None)

    def _by_server(
        self, found: Mapping[str, tuple[float, float]], near: float
    ) -> Iterator[list[str]]:
        """Yield the curves that have one name: of a server in several sessions, ending near."""
        curves = self._chart.curves
        by_label: dict[str, list[str]] = {}
        for key in sorted(found, key=lambda key: found[key][1]):
            label = curves[key].series.label if curves[key].series.tag else key
            by_label.setdefault(label, []).append(key)
        for keys in by_label.values():
            ys = [found[key][1] for key in keys]
            apart = [n for n, (above, below) in enumerate(pairwise(ys), 1) if below - above > near]
            for first, end in pairwise([0, *apart, len(keys)]):
                yield sorted(keys[first:end], key=lambda key: curves[key].series.place)

    def renew(self) -> None:
        before = self._placed_for
        self.place()
        if self._placed_for is not before:
            self.update()

    def _end(self, curve: Curve) -> tuple[float, float] | None:
        """Return where a line ends in the plot, in whole pixels: a name does not tremble."""
        chart = self._chart
        running = chart.running_at() if curve.series.id == chart.model.running_server else None
        ends = [running.toTuple()] if running else curve.seen()[-1:].tolist()
        return next(((round(x), round(y)) for x, y in ends), None)

    def shortened(self, curve: Curve, size: QFont, room: float) -> str:
        """Return its name in `room` pixels, unlike any other; empty: too little would be left."""
        name, names = curve.series.label, (c.series.label for c in self._chart.curves.values())
        short = name_among(name, names, size, room)
        return short if short == name or len(short) > _LEAST_LETTERS else ""

    def _write(  # noqa: PLR0917 - read like draw_text
        self, painter: QPainter, at: QPointF, curve: Curve, size: QFont, room: float, strong: bool
    ) -> None:
        """Draw a name, shortened unless it is marked, with the letters of its sessions."""
        px, theme, series = self._chart.sizes.px, self._chart.theme, curve.series
        together = self._together.get(series.id, (series.id,))
        drawn = (self._chart.curves[key].series for key in together)
        tagged = [each for each in drawn if each.tag]
        room -= px(_TAG * len(tagged) + 3) * bool(tagged)
        name = series.label if strong else self.shortened(curve, size, room)
        colour = theme.muted if series.place else theme.text if series.tag else theme.soft
        colour = theme.text if strong else colour
        width = draw_text(painter, at, name, size, colour)
        for place, each in enumerate(tagged):
            left = at.x() + width + px(6 + _TAG * place)
            box = QRectF(left, at.y() - px(6.5), px(14), px(13))
            draw_tag(painter, box, each.tag, theme)

    def at(self, pixel: QPointF) -> str:
        half = self._chart.sizes.label_px / 2
        for label in self.placed:
            across = label.x <= pixel.x() <= label.x + label.width
            if across and abs(label.y - pixel.y()) <= half:
                keys = self._together[label.key]
                tag = (label.x + label.width - pixel.x()) / self._chart.sizes.px(_TAG)
                return keys[-1 - int(tag)] if tag < len(keys) else keys[0]
        return ""

    def _names(self, label: Name, key: str) -> bool:
        """Whether a label is the name of a curve, alone or among others."""
        return key in self._together.get(label.key, (label.key,))

    def draw(self, painter: QPainter) -> None:
        self.place()
        chart, strong = self._chart, self._chart.highlighted
        placed = [label for label in self.placed if label.key in chart.curves]
        counted = strong in chart.shown and not any(self._names(n, strong) for n in placed)
        if self.more is not None and counted:
            # In place of the text that says how many more there are.
            placed.append(self.more._replace(key=strong))
        elif self.more is not None:
            size, at = font(chart.sizes.label_px), QPointF(self.more.x, self.more.y)
            text = f"and {len(self._together) - len(self.placed)} more"
            draw_text(painter, at, text, size, chart.theme.muted)
        bold = strong or chart.model.running_server
        px, radius = chart.sizes.px, chart.sizes.px(3.6)
        for label in sorted(placed, key=lambda label: self._names(label, strong)):
            dim = strong and not self._names(label, strong)
            painter.setOpacity(DIM if dim else 1.0)
            curve, marked = chart.curves[label.key], self._names(label, bold)
            dot = QPointF(label.x + px(4), label.y)
            draw_marker(painter, curve.style, dot, radius, chart.theme.card)
            size = font(chart.sizes.label_px, Weight.DemiBold if marked else Weight.Medium)
            at = QPointF(label.x + px(12), label.y)
            self._write(painter, at, curve, size, label.width - px(11), marked)
