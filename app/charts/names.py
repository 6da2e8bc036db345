"""The names at the line ends, as an axis at the right of the plot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QGraphicsSceneWheelEvent

from app.charts import labels, layout
from app.charts.background import Head
from app.charts.curve import Curve
from app.charts.drawing import draw_text, text_width
from app.charts.markers import Markers
from app.charts.plot import DIM, Plot
from app.charts.series import Quantity
from app.charts.shortening import name_within
from app.charts.ticks import ScaleAxis
from app.theme import Weight, font

_BESIDE = 14.0
"""Unscaled, from the plot to a name's marker."""


class NamesAxis(ScaleAxis):
    """Names every line at the height where it ends; none overlaps another."""

    def __init__(self, chart: Plot, head: Head) -> None:
        """`head`: whose text no name may cover."""
        super().__init__(chart, "right", lambda _: [])
        self._head = head
        self.placed: list[labels.Placed] = []
        self.more: labels.Placed | None = None
        """The place of the text that says how many more servers there are."""
        self._unnamed = 0
        self._ranked_of: object = None
        self._ranks: dict[str, int] = {}
        self._placed_for: object = None

    def wheelEvent(self, event: QGraphicsSceneWheelEvent) -> None:
        self.linkedView().zoom_at_end(event)

    def forget(self) -> None:
        """Handle another model: there is no name until it is painted."""
        self.placed, self.more, self._placed_for = [], None, None

    def boundingRect(self) -> QRectF:
        chart = self._chart
        plot = chart.plot_rect()
        room = QRectF(plot.right(), 0, chart.width() - plot.right(), chart.height())
        return room.translated(-self.scenePos())

    def place(self) -> None:
        """Place the names of the curves that have a point."""
        chart = self._chart
        px, size = chart.sizes.px, font(chart.sizes.label_px, Weight.DemiBold)  # as wide as may be
        seen = {id_: self._end(curve) for id_, curve in chart.curves.items()}
        found = {id_: at for id_, at in seen.items() if at is not None and id_ not in chart.hidden}
        wanted = chart.frame, found
        if wanted == self._placed_for:
            return
        self._placed_for, ranks = wanted, self._rank()
        ends = [
            labels.End(id_, x, y, px(14) + self.text_width(chart.curves[id_], size), ranks[id_])
            for id_, (x, y) in found.items()
        ]
        plot = chart.plot_rect()
        foot = chart.height() - px(layout.FOOT) if len(ends) > 10 else plot.bottom() + px(8)
        room = labels.Room(
            plot.right() + px(_BESIDE),
            self._top,
            foot,
            px(chart.sizes.gutter - _BESIDE),
            line_height=chart.sizes.label_px + px(3.5),
            least_height=chart.sizes.label_px + px(1),
        )
        placed = labels.place(ends, room)
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

    def _rank(self) -> dict[str, int]:
        """Return each server's place among all."""
        model = self._chart.model
        if self._ranked_of != (model, model.version):
            self._ranked_of = model, model.version
            self._ranks = {series.id: rank for rank, series in enumerate(model.ranked())}
        return self._ranks

    def name(self, curve: Curve) -> str:
        """Return the text for a server where there is room."""
        return curve.series.name

    def shortened(self, curve: Curve, size: QFont, room: float) -> str:
        """Return its name within `room` pixels; no other server's reads the same. Empty: too little
        of it would be left, so its marker stands alone.
        """
        name = self.name(curve)
        if text_width(name, size) <= room:
            return name
        names = frozenset(map(self.name, self._chart.curves.values()))
        return name_within(name, names, size, room)

    def text_width(self, curve: Curve, size: QFont) -> float:
        """Return the width of what `write` draws, in pixels."""
        return text_width(self.name(curve), size)

    def write(  # noqa: PLR0917 - read like draw_text
        self, painter: QPainter, at: QPointF, curve: Curve, size: QFont, room: float, strong: bool
    ) -> None:
        """Draw a name, within `room` pixels unless it is the highlighted server's."""
        theme = self._chart.theme
        name = self.name(curve) if strong else self.shortened(curve, size, room)
        draw_text(painter, at, name, size, theme.text if strong else theme.soft)

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
            placed.append(labels.Placed(strong, more.x, more.y, more.width))
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

    def _draw(self, painter: QPainter, placed: Sequence[labels.Placed], strong: str) -> None:
        chart, px = self._chart, self._chart.sizes.px
        markers = Markers(painter, chart.theme.card)
        for label in placed:
            curve, bold = chart.curves[label.key], label.key == strong
            markers.add(curve.style, np.array([(label.x + px(4), label.y)]), px(3.6))
            size = font(chart.sizes.label_px, Weight.DemiBold if bold else Weight.Medium)
            at = QPointF(label.x + px(12), label.y)
            self.write(painter, at, curve, size, label.width - px(11), bold)
        markers.finished()
