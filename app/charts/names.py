"""The names at the line ends, as an axis at the right of the plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QGraphicsSceneWheelEvent

from app.charts.axes import Head, ScaleAxis
from app.charts.curve import Curve
from app.charts.drawing import draw_marker, draw_text, name_within, text_width
from app.charts.plot import DIM, Plot
from app.charts.series import Quantity
from app.charts.session_tags import draw_tag
from app.charts.sizes import FOOT
from app.theme import Weight, font


@dataclass(frozen=True)
class End:
    """A line's last point and the width of its name with the marker before it."""

    key: str
    x: float
    y: float
    width: float
    rank: int = 0
    """The lowest are named where not all names fit, of equals the highest."""


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
        best = sorted(ends, key=lambda e: (e.rank, e.y, e.x))[: places - 1]
        named = sorted(best, key=lambda e: (e.y, e.rank, e.x))
        named.append(End("", 0.0, high, room.width / columns))
    rows = [named[i : i + columns] for i in range(0, len(named), columns)]
    wanted = [min(max(sum(end.y for end in row) / len(row), low), high) for row in rows]
    ys = spread(wanted, _tightest(room, len(rows), high - low), low, high)
    return [
        Placed(end.key, room.left + column * half, y, min(end.width, room.width))
        for row, y in zip(rows, ys, strict=True)
        for column, end in enumerate(row)
    ]


def _tightest(room: Room, names: int, height: float) -> float:
    """Return the distance of lines in which as many names as possible fit into a height."""
    return min(room.line_height, max(room.least_height, height / max(1, names - 1)))


_BESIDE = 14.0
"""Unscaled, from the plot to a name's marker."""


class NamesAxis(ScaleAxis):
    """Names every line at the height where it ends; none overlaps another."""

    def __init__(self, chart: Plot, head: Head) -> None:
        """`head`: whose text no name may cover."""
        super().__init__(chart, "right", lambda _: [])
        self._head = head
        self.placed: list[Placed] = []
        self.more: Placed | None = None
        """The place of the text that says how many more servers there are."""
        self._unnamed = 0
        self._placed_for: object = None

    def wheelEvent(self, event: QGraphicsSceneWheelEvent) -> None:
        self.linkedView().zoom_at_end(event)

    def forget(self) -> None:
        """Handle another model: there is no name until it is painted."""
        self.placed, self.more, self._placed_for = [], None, None

    def room(self) -> QRectF:
        left = self._chart.plot_rect().right() + self._chart.sizes.px(_BESIDE - 1)
        return QRectF(left, 0, self._chart.width() - left, self._chart.height())

    def place(self) -> None:
        """Place the names of the curves that have a point."""
        chart = self._chart
        px, size = chart.sizes.px, font(chart.sizes.label_px, Weight.DemiBold)  # as wide as may be
        seen = {id_: self._end(curve) for id_, curve in chart.curves.items()}
        found = {id_: at for id_, at in seen.items() if at is not None and id_ not in chart.hidden}
        wanted = chart.frame, found
        if wanted == self._placed_for:
            return
        self._placed_for = wanted
        ranks = {series.id: rank for rank, series in enumerate(chart.model.ranked())}
        ends = [
            End(id_, x, y, px(14) + self.text_width(chart.curves[id_], size), ranks[id_])
            for id_, (x, y) in found.items()
        ]
        plot = chart.plot_rect()
        foot = chart.height() - px(FOOT) if len(ends) > 10 else plot.bottom() + px(8)
        room = Room(
            plot.right() + px(_BESIDE),
            self._top,
            foot,
            px(chart.sizes.gutter - _BESIDE),
            line_height=chart.sizes.label_px + px(3.5),
            least_height=chart.sizes.label_px + px(1),
        )
        placed = place(ends, room)
        self.placed = [label for label in placed if label.key]
        self.more = next((label for label in placed if not label.key), None)
        self._unnamed = len(ends) - len(self.placed)

    def renew(self) -> None:
        """Paint the names anew if they have moved."""
        before = self._placed_for
        self.place()
        if self._placed_for is not before:
            self.update()

    def _end(self, curve: Curve) -> tuple[float, float] | None:
        """Return where a line ends in the plot, in whole pixels: a name does not tremble."""
        at = self._chart.running_at() if curve.series.id == self._running else None
        if at is not None:
            return round(at.x()), round(at.y())
        at = curve.end()
        return (round(at[0]), round(at[1])) if at else None

    @property
    def _running(self) -> str:
        return self._chart.model.running_server

    def shortened(self, curve: Curve, size: QFont, room: float) -> str:
        """Return its name within `room` pixels; no other server's reads the same. Empty: too little
        of it would be left, so its marker stands alone.
        """
        name = curve.series.label
        if text_width(name, size) <= room:
            return name
        names = frozenset(each.series.label for each in self._chart.curves.values())
        return name_within(name, names, size, room)

    def text_width(self, curve: Curve, size: QFont) -> float:
        """Return the width of what `write` draws, in pixels."""
        tag = self._chart.sizes.px(21) if curve.series.tag else 0
        return text_width(curve.series.label, size) + tag

    def write(  # noqa: PLR0917 - read like draw_text
        self, painter: QPainter, at: QPointF, curve: Curve, size: QFont, room: float, strong: bool
    ) -> None:
        """Draw a name, within `room` pixels unless it is the highlighted server's; of several
        sessions, with the letter of its own.
        """
        px, theme, series = self._chart.sizes.px, self._chart.theme, curve.series
        room -= px(20) if series.tag else 0
        name = series.label if strong else self.shortened(curve, size, room)
        colour = theme.text if strong or series.tag else theme.soft
        if series.place and not strong:
            colour = theme.muted
        width = draw_text(painter, at, name, size, colour)
        if series.tag:
            box = QRectF(at.x() + width + px(6), at.y() - px(6.5), px(14), px(13))
            draw_tag(painter, box, series.tag, theme, filled=not series.place)

    def at(self, pixel: QPointF) -> str:
        """Return the server whose name is at a pixel; empty: none."""
        half = self._chart.sizes.label_px / 2
        for label in self.placed:
            across = label.x <= pixel.x() <= label.x + label.width
            if across and abs(label.y - pixel.y()) <= half:
                return label.key
        return ""

    @property
    def _top(self) -> float:
        """Return the space at the top in pixels: the window's controls lie over the response time,
        and a long header beside any plot.
        """
        chart = self._chart
        over = chart.sizes.controls if chart.quantity is Quantity.TIME else 2
        head = self._head.box()
        wide = head.right() > chart.plot_rect().right()
        return max(chart.sizes.px(over), head.bottom() if wide else 0.0)

    def draw(self, painter: QPainter) -> None:
        self.place()
        chart, strong = self._chart, self._chart.highlighted
        placed = [label for label in self.placed if label.key in chart.curves]
        counted = strong and self.more and all(label.key != strong for label in placed)
        if counted and strong in chart.curves and strong not in chart.hidden:
            # In place of the text that says how many more there are.
            more = self.more
            placed.append(Placed(strong, more.x, more.y, more.width))
        elif self.more is not None:
            size, at = font(chart.sizes.label_px), QPointF(self.more.x, self.more.y)
            draw_text(painter, at, f"and {self._unnamed} more", size, chart.theme.muted)
        # Each opacity at once.
        for mine in (
            [n for n in placed if n.key != strong],
            [n for n in placed if n.key == strong],
        ):
            if mine:
                others = DIM if mine[0].key != strong else 1.0
                painter.setOpacity(others if strong else 1.0)
                self._draw(painter, mine, strong or self._running)

    def _draw(self, painter: QPainter, placed: Sequence[Placed], strong: str) -> None:
        chart, px = self._chart, self._chart.sizes.px
        for label in placed:
            curve, bold = chart.curves[label.key], label.key == strong
            dot = QPointF(label.x + px(4), label.y)
            draw_marker(painter, curve.style, dot, px(3.6), chart.theme.card)
            size = font(chart.sizes.label_px, Weight.DemiBold if bold else Weight.Medium)
            at = QPointF(label.x + px(12), label.y)
            self.write(painter, at, curve, size, label.width - px(11), bold)
