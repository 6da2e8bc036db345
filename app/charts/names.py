"""The names at the line ends, and the text at the client limit."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app.charts import labels, layout
from app.charts.background import Ground
from app.charts.clipping import Polyline, joined
from app.charts.curve import Curve
from app.charts.drawing import draw_leader, draw_text, text_width
from app.charts.markers import Markers
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.charts.shortening import name_within
from app.colour import mix, with_opacity
from app.theme import Weight, font

_FURTHER = (16, 32, 40, 48, 60, 64, 80)
"""Unscaled, above and below a running point: where its name is placed when other text is beside it.
"""

_HALO, _MARKER, _BESIDE = 14.0, 6.0, 21.0
"""Unscaled: from a running point with a halo, and from one without, to the end of a leader to its
name; and to a name without one.
"""


class EndNames:
    """Places and paints them in the scene's pixels."""

    def __init__(self, chart: Plot, ground: Ground) -> None:
        """`ground`: whose texts no name may cover."""
        self._chart, self._ground = chart, ground
        self.placed: list[labels.Placed] = []
        self.more: labels.Placed | None = None
        """The place of the text that says how many more servers there are."""
        self._unnamed = 0
        self._ranked_of: object = None
        self._ranks: dict[str, int] = {}
        self.running: QRectF | None = None
        """The box of the running server's name; None: it has none yet."""
        self.at_ceiling: list[labels.Box] = []
        """The box of the text at the client limit."""
        self._ceiling_text = ""

    def forget(self) -> None:
        """Handle another model: there is no name until it is painted."""
        self.placed, self.more, self.running, self.at_ceiling = [], None, None, []

    def place(self, curves: Iterable[Curve]) -> None:
        """Place the names of the curves that have a point."""
        chart = self._chart
        sizes, plot = chart.sizes, chart.plot_rect()
        px, size = sizes.px, font(sizes.label_px, Weight.DemiBold)  # as wide as they become
        ranks = self._rank()
        ends: list[labels.End] = []
        timeout = self._ground.timeout()
        lines = [timeout, *([chart.ideal()] if chart.has_ideal else [])]
        for curve in curves:
            if len(seen := curve.seen()):
                lines.append(seen)
                id_, width = curve.series.id, px(14) + self.width(curve, size)
                ends.append(labels.End(id_, *seen[-1].tolist(), width, ranks.get(id_, 0)))
        lines.append(self._running_line())
        foot = chart.height() - px(layout.FOOT) if len(ends) > 10 else plot.bottom() + px(8)
        top, least = self._gutter_top, sizes.label_px + px(1)
        if len(timeout) and timeout[-1, 1] + len(ends) * least <= foot:
            # No line ends above it, and a name at its end would be taken for its own.
            top = max(top, float(timeout[-1, 1]))
        self._room = labels.Room(
            plot.left(),
            plot.top(),
            plot.right(),
            plot.bottom(),
            gutter_top=top,
            gutter_bottom=foot,
            gutter_width=px(sizes.gutter),
            line_height=sizes.label_px + px(3.5),
            least_height=least,
        )
        placed = labels.place(ends, self._room, lines, self._ground.words())
        self.placed = [label for label in placed if label.key]
        self.more = next((label for label in placed if not label.key), None)
        self._unnamed = len(ends) - len(self.placed)

    def _rank(self) -> dict[str, int]:
        """Return each server's place among all."""
        model = self._chart.model
        if self._ranked_of != (model, model.version):
            self._ranked_of = model, model.version
            self._ranks = {series.id: rank for rank, series in enumerate(model.ranked())}
        return self._ranks

    def crossed(self) -> tuple[str, ...]:
        """Return whose names the running server's line reaches."""
        if not self.placed or len(line := self._running_line()) < 2:
            return ()
        boxes = [label.box(self._room.line_height) for label in self.placed]
        hits = labels.crossings(boxes, line)
        return tuple(label.key for label, count in zip(self.placed, hits, strict=True) if count)

    def _running_line(self) -> Polyline:
        chart = self._chart
        running = chart.curves.get(chart.model.running_server)
        if running is None or running.series.id in chart.hidden:
            return np.empty((0, 2))
        return running.seen()

    def name(self, curve: Curve) -> str:
        """Return the text for a server where there is room."""
        return curve.series.name

    def ceiling(self) -> str:
        """Return the text at the client limit where there is room."""
        return "beyond the client limit"

    def shortened(self, curve: Curve, size: QFont, room: float) -> str:
        """Return its name within `room` pixels; no other server's reads the same. Empty: too little
        of it would be left, so its marker stands alone.
        """
        name = self.name(curve)
        if text_width(name, size) <= room:
            return name
        names = frozenset(map(self.name, self._chart.curves.values()))
        return name_within(name, names, size, room)

    def width(self, curve: Curve, size: QFont) -> float:
        """Return the width of what `write` draws, in pixels."""
        return text_width(self.name(curve), size)

    def write(  # noqa: PLR0917 - read like draw_text
        self, painter: QPainter, at: QPointF, curve: Curve, size: QFont, room: float, strong: bool
    ) -> None:
        """Draw a name, within `room` pixels unless it is the highlighted server's."""
        theme = self._chart.theme
        name = self.name(curve) if strong else self.shortened(curve, size, room)
        draw_text(painter, at, name, size, theme.text if strong else theme.soft)

    def paint_leaders(self, painter: QPainter) -> None:
        """Draw leaders under the lines, whose last markers they touch."""
        theme = self._chart.theme
        self._paint_leaders(painter, self.placed, mix(theme.card, theme.muted, 0.7))

    def paint(self, painter: QPainter) -> None:
        self._paint_all(painter, self.placed, strong=False)
        if self.more is not None:
            size, at = font(self._chart.sizes.label_px), QPointF(self.more.x, self.more.y)
            draw_text(painter, at, f"and {self._unnamed} more", size, self._chart.theme.muted)

    def boxes(self) -> list[labels.Box]:
        """Return the boxes of all names, and of the text that says how many more there are."""
        height = self._chart.sizes.label_px + self._chart.sizes.px(1)
        more = [self.more] if self.more is not None else []
        return [label.box(height) for label in (*self.placed, *more)]

    def paint_strong(self, painter: QPainter, server: str) -> None:
        """Draw the highlighted server's name in place of the dimmed one, or of the text that says
        how many more there are.
        """
        chart, curve = self._chart, self._chart.curves[server]
        label = next((label for label in self.placed if label.key == server), None)
        if label is None and self.more is not None and server != chart.model.running_server:
            label = labels.moved(self.more, server, curve.seen(), self._room)
        if label is None:
            return
        left, top, right, foot = label.box(chart.sizes.label_px + chart.sizes.px(1))
        painter.fillRect(QRectF(left, top, right - left, foot - top), QColor(chart.theme.card))
        self._paint_leaders(painter, [label], chart.theme.text)
        self._paint_all(painter, [label], strong=True)

    def paint_running(self, painter: QPainter, curve: Curve, at: QPointF, *, halo: bool) -> None:
        """Draw the name of a running server, which has no line end yet, beside it or its halo."""
        chart = self._chart
        px, size = chart.sizes.px, font(chart.sizes.label_px, Weight.DemiBold)
        box = self._free_box(at, text_width(curve.series.name, size) + px(6))
        draw_leader(painter, box, at, chart.theme.muted, px(_HALO if halo else _MARKER), px(1))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(chart.theme.card, 0.8))
        painter.drawRoundedRect(box, px(4), px(4))
        where = QPointF(box.left() + px(3), box.center().y())
        draw_text(painter, where, curve.series.name, size, chart.theme.text)
        self.running = box

    def _free_box(self, at: QPointF, width: float) -> QRectF:
        """Return a box for a name beside a point, where it covers no other text, and if possible no
        line.
        """
        chart = self._chart
        px, plot = chart.sizes.px, chart.plot_rect()
        right, left = at.x() + px(_BESIDE), at.x() - px(_BESIDE) - width
        places = [(right, 0.0), (left, -20.0), (left, 0.0), (right, 20.0), (right, -20.0)]
        places += [(x, side * down) for down in _FURTHER for side in (-1, 1) for x in (left, right)]
        boxes = [(x, at.y() + px(down - 9), x + width, at.y() + px(down + 9)) for x, down in places]
        top = self._gutter_top
        end, foot = chart.width() - px(1), plot.bottom() + px(9)
        within = [b for b in boxes if plot.left() <= b[0] and b[2] <= end]
        within = [b for b in within if top <= b[1] and b[3] <= foot]
        taken = [*self.boxes(), *self._ground.words(), *self.at_ceiling]
        shown = (c for id_, c in chart.curves.items() if id_ not in chart.hidden)
        lines = [curve.seen() for curve in shown]
        left, top, right, foot = labels.freest(within or boxes[2:3], taken, lines)
        return QRectF(left, top, right - left, foot - top)

    @property
    def _gutter_top(self) -> float:
        """Return the space at the top in pixels: the window's controls lie over the response time,
        and a long header beside any plot.
        """
        chart = self._chart
        over = chart.sizes.controls if chart.quantity is Quantity.TIME else 2
        _, _, end, foot = self._ground.words()[0]
        return max(chart.sizes.px(over), foot if end > chart.plot_rect().right() else 0.0)

    def at(self, pixel: QPointF) -> str:
        """Return the server whose name is at a pixel; empty: none."""
        half = self._chart.sizes.label_px / 2
        for label in self.placed:
            across = label.x <= pixel.x() <= label.x + label.width
            if across and abs(label.y - pixel.y()) <= half:
                return label.key
        return ""

    def _paint_leaders(
        self, painter: QPainter, placed: Iterable[labels.Placed], colour: QColor | str
    ) -> None:
        """Draw them in an ink that no line of data has; dotted through the plot, where a line ends
        before its edge.
        """
        px = self._chart.sizes.px
        whole: dict[tuple[float, ...], None] = {}  # what several share is drawn once
        dotted = []
        for label in placed:
            whole.update(dict.fromkeys((*a, *b) for a, b in pairwise(label.leader) if a != b))
            seen = self._chart.curves[label.key].seen()
            if label.leader and len(seen):
                (end, level), (edge, y) = seen[-1].tolist(), label.leader[0]
                if edge - end > px(2 * _MARKER) and label.x > edge:
                    dotted.append(QLineF(end + px(_MARKER), level, edge, y))
        pen = QPen(QColor(colour), px(1))
        painter.setPen(pen)
        painter.drawLines([QLineF(*each) for each in whole])
        pen.setDashPattern([1, 3])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLines(dotted)

    def _paint_all(
        self, painter: QPainter, placed: Iterable[labels.Placed], *, strong: bool
    ) -> None:
        chart = self._chart
        px, card, right = chart.sizes.px, chart.theme.card, chart.plot_rect().right()
        size = font(chart.sizes.label_px, Weight.DemiBold if strong else Weight.Medium)
        markers = Markers(painter, card)
        for label in placed:
            curve = chart.curves[label.key]
            if label.x < right:  # no line is there, but the grid
                left, top, end, foot = label.box(chart.sizes.label_px + px(1))
                painter.fillRect(QRectF(left, top, end - left, foot - top), QColor(card))
            markers.add(curve.style, np.array([(label.x + px(4), label.y)]), px(3.6))
            at = QPointF(label.x + px(12), label.y)
            self.write(painter, at, curve, size, label.width - px(11), strong)
        markers.finished()

    def place_ceiling(self, curves: Iterable[Curve]) -> None:
        """Place the text vertically at the limit's left edge, where it covers the fewest lines."""
        chart = self._chart
        plot, px, ceiling = chart.plot_rect(), chart.sizes.px, chart.ceiling
        self.at_ceiling = []
        if ceiling is None:
            return
        x = max(plot.left(), chart.at(ceiling, 1).x()) + px(4)
        self._ceiling_text = self.ceiling()
        length = self._ceiling_length(self._ceiling_text)
        if length > plot.height():
            self._ceiling_text = "client limit"
            length = self._ceiling_length(self._ceiling_text)
        if length > plot.height() or x + px(18) > plot.right():
            return
        lines = joined([curve.seen() for curve in curves])
        tops = plot.top() + (plot.height() - length) * np.linspace(0.98, 0.02, 25)
        boxes = [(x, top, x + px(17), top + length) for top in tops.tolist()]
        self.at_ceiling = [boxes[int(labels.crossings(boxes, lines).argmin())]]

    def paint_ceiling(self, painter: QPainter) -> None:
        """Draw the limit, never dimmed: it applies to every server."""
        chart = self._chart
        px = chart.sizes.px
        for left, top, right, foot in self.at_ceiling:
            box = QRectF(left, top, right - left, foot - top)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(with_opacity(chart.theme.card, 0.85))
            painter.drawRoundedRect(box, px(4), px(4))
            painter.save()
            painter.translate(box.center())
            painter.rotate(-90)
            size, soft = self._ceiling_font(), chart.theme.soft
            draw_text(painter, QPointF(0, 0), self._ceiling_text, size, soft, "middle")
            painter.restore()

    def _ceiling_font(self) -> QFont:
        return font(self._chart.sizes.px(11), Weight.Medium)

    def _ceiling_length(self, text: str) -> float:
        return text_width(text, self._ceiling_font()) + self._chart.sizes.px(10)
