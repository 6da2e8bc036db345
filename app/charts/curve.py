"""One server's line on one chart."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from app.charts.drawing import (
    Polyline,
    clipped,
    draw_cross,
    draw_markers,
    draw_text,
    segments,
    side_style,
    stroke,
    stroke_segments,
    text_width,
)
from app.charts.series import Series, Values
from app.theme import SeriesStyle, Weight, font, mix

PALE = 0.5
"""Opacity of a line where it must not be trusted."""
PASS = 0.30
"""Opacity of a single pass."""
_LARGE = 4.0 * 1.65
"""Unscaled, the radius of the marker at a sustained rate."""

_DOTTED = [2.0, 2.5]
"""The dashes of a line that must not be trusted: (drawn, left out) in line widths."""
_OVER = 1.1
"""The widest text of a value, as a share of its bar's place: it is in the bar's card, too."""

_AROUND = (-0.5, -3.0, 1.0, 3.5)
"""Pixels beyond the plot's left, top, right and bottom in which a line along its edge is drawn
whole.
"""


class Curve:
    """One server's line in the pixels of its chart; only what lies in the plot is drawn."""

    def __init__(self, chart: Any, series: Series) -> None:
        """`chart`: the `Plot`, which is made of these and so cannot be named here."""
        self.series = series
        full = chart.theme.series(series.index)
        self.style = side_style(full, series.place, chart.theme)
        self.full = replace(full, dots=series.place)
        """In full colour and width, whatever its session: while it is highlighted."""
        self.values = Values.of([])
        self.beside: Values | None = None
        """A second percentile; None: none is shown."""
        self.passes: list[Values] = []
        self.drawn_version = (-1, 0)
        """The version of the series, and the pass drawn by itself (0: all together)."""
        self._chart = chart
        self._sure = self.values.trusted
        """Whether the line is trusted from each of its points to the next."""
        self._frame: object = None
        """What its pixels are computed for; None: for nothing yet."""
        self._points, self._shown = np.empty((0, 2)), self._sure
        self._rows = np.empty((0, 3))
        """What of the line lies in the plot, and whether it is trusted; empty: not computed yet."""
        self._box = (0.0, 0.0, 0.0, 0.0)
        self._doubtful = False
        """Whether any point has another marker than a plain one."""
        self._knee = np.empty(0, dtype=np.intp)
        """The place of its point at the highest sustained rate, if there is one."""

    def take(self, values: Values, beside: Values | None) -> None:
        self.values, self.beside, self._frame = values, beside, None
        self._sure = values.trusted & np.append(values.trusted[1:], False)
        self._doubtful = bool((~values.trusted | values.faulty).any())
        self._knee = np.flatnonzero(values.x == self.series.knee)[:1]

    def _fit(self) -> None:
        """Compute its pixels, unless nothing has moved."""
        chart = self._chart
        if self._frame is chart.frame:
            return
        self._frame, self._rows = chart.frame, np.empty((0, 3))
        self._points = chart.pixels(self.values.x, self.values.y)
        self._points[:, 1] -= chart.raised(self.series.id)
        left, top, right, foot = self._box = tuple(
            edge + more for edge, more in zip(chart.plot_rect().getCoords(), _AROUND, strict=True)
        )
        x, y = self._points.T
        self._shown = (x >= left) & (x <= right) & (y >= top) & (y <= foot)

    def pixels(self) -> Polyline:
        """Return its points in the scene's pixels, (n, 2); NaN in gaps."""
        self._fit()
        return self._points

    def seen(self) -> Polyline:
        """Return the pixels of what of the line lies in the plot."""
        self._fit()
        if not len(self._rows):
            self._rows = clipped(np.column_stack((self._points, self._sure)), self._box)
        return self._rows[:, :2]

    def pen(self, width: float, *, sure: bool) -> QPen:
        return QPen(_pen(self.style, width, sure, self._chart.theme.card))

    def trusts(self, rate: float) -> bool:
        return bool(self.values.trusted[self.values.x == rate].all())

    def draw(self, painter: QPainter, width: float) -> None:
        """Draw its bar, or its line: solid where both ends are trusted; else thin, pale, broken."""
        if self._chart.model.bars:
            self._draw_bar(painter)
            return
        self.seen()
        each, begins = segments(self._rows)
        trusted = self._rows[begins, 2] > 0
        for sure in (False, True):
            if (mine := trusted == sure).any():
                pen = _pen(self.style, width, sure, self._chart.theme.card)
                stroke_segments(painter, each[mine], pen)

    def _draw_bar(self, painter: QPainter) -> None:
        """Draw its bar with its value; pale, with an outline, where it is not trusted."""
        value, chart = self.value_box(), self._chart
        if value.isEmpty():
            return
        px, plot, half = chart.sizes.px, chart.plot_rect(), chart.bar_width / 2
        top, foot = self.pixels()[0, 1], chart.at(0, 0).y()
        box = QRectF(value.center().x() - half, top, 2 * half, max(1.0, foot - top)) & plot
        if self.values.trusted[0]:
            painter.fillRect(box, QColor(self.style.colour))
        else:
            painter.fillRect(box, self.style.tint(0.25))
            painter.setPen(QPen(QColor(self.style.colour), px(1.2)))
            painter.drawRect(box)
        text, size = chart.text_of(self.values.y[0]), font(px(11), Weight.Medium, figures=True)
        if self._shown[0] and text_width(text, size) <= _OVER * chart.place_width:
            draw_text(painter, value.center(), text, size, chart.theme.text, "middle")

    def value_box(self) -> QRectF:
        """Return the box of the value above its bar, and above lines of published figures that
        would cross it; empty: there is none."""
        if not len(self.values.x) or np.isnan(self.values.y[0]):
            return QRectF()
        (x, top), chart, px = self.pixels()[0].tolist(), self._chart, self._chart.sizes.px
        box = QRectF(x - px(22), top - px(17), px(44), px(16))
        stated = (value for _, at, _, value in chart.published() if at == self.values.x[0])
        for y in sorted((chart.at(0, v).y() for v in stated if v is not None), reverse=True):
            if box.top() - px(4) < y < box.bottom() + px(4):
                # With room for the label of a line that is not the bar's own end.
                box.moveBottom(y - px(4 if y > top - px(4) else 23))
        return box

    def draw_beside(
        self, painter: QPainter, values: Values, width: float = 1.0, opacity: float = 1.0
    ) -> None:
        """Draw another of its lines. `width`: unscaled."""
        chart = self._chart
        pen = self.style.pen(max(1.0, chart.sizes.px(width)))
        pen.setColor(QColor(mix(chart.theme.card, self.style.colour, opacity)))
        line = clipped(chart.pixels(values.x, values.y), chart.plot_rect().getCoords())
        stroke(painter, line, pen)

    def draw_passes(self, painter: QPainter) -> None:
        """Draw each pass by itself; only the first session's, of several."""
        for values in () if self.series.place else self.passes:
            self.draw_beside(painter, values, opacity=PASS)

    def draw_markers(self, painter: QPainter, radius: float = 4.0) -> None:
        """Draw the markers, of a sweep staggered so that servers on one line show side by side:
        hollow ones where the point must not be trusted, crossed ones where the server is faulty.
        """
        points, known, values = self.pixels(), self._shown, self.values
        if not len(points):
            return
        px, theme = self._chart.sizes.px, self._chart.theme
        radius, searched = radius * self.style.weight, self.series.searched
        marked = slice(None) if searched else _staggered(points, px(70), self.series.index)
        plain = points[marked][(known & values.trusted)[marked]]
        draw_markers(painter, self.style, plain, px(radius), theme.card)
        if not self._doubtful:
            return
        hollow = _apart(points[known & ~values.trusted], 0 if searched else px(12))
        draw_markers(painter, self.style, hollow, px(radius * 0.95), theme.card, hollow=True)
        for at in _apart(points[known & values.faulty], px(14)).tolist():
            draw_cross(painter, QPointF(*at), px(radius * 1.35), theme)

    def draw_knee(self, painter: QPainter) -> None:
        points, knee, chart = self.pixels(), self._knee, self._chart
        if len(knee) and self._shown[knee]:
            hollow, radius = not self.values.trusted[knee].all(), chart.sizes.px(_LARGE)
            radius *= self.style.weight
            draw_markers(painter, self.style, points[knee], radius, chart.theme.card, hollow=hollow)

    def draw_band(self, painter: QPainter) -> None:
        beside, values, chart = self.beside, self.values, self._chart
        if beside is None or len(beside.x) != len(values.x):
            return
        whole, room = QPainterPath(), QPainterPath()
        for part in np.ma.clump_unmasked(np.ma.masked_invalid(values.y + beside.y)):
            there, back = (chart.pixels(c.x[part], c.y[part]) for c in (values, beside))
            outline = np.vstack((there, back[::-1])).tolist()
            whole.addPolygon(QPolygonF([QPointF(*at) for at in outline]))
            whole.closeSubpath()
        room.addRect(chart.plot_rect())
        painter.setPen(Qt.PenStyle.NoPen)
        # What writes SVG does not clip.
        painter.fillPath(whole.intersected(room), self.style.tint(0.16))
        self.draw_beside(painter, beside)

    def distance(self, at: QPointF) -> float:
        points = self.pixels()
        known = points[~np.isnan(points).any(axis=1)] - at.toTuple()
        if not len(known):
            return inf
        way = np.diff(known, axis=0, append=known[-1:])
        lengths = np.maximum((way**2).sum(axis=1), 1e-12)
        along = np.clip(-(known * way).sum(axis=1) / lengths, 0, 1)
        return float(np.hypot(*(known + way * along[:, None]).T).min())


@lru_cache(maxsize=256)
def _pen(style: SeriesStyle, width: float, sure: bool, card: str) -> QPen:
    pen = style.pen(width if sure else max(1.0, width * 0.5))
    if not sure:
        pen.setColor(QColor(mix(card, style.colour, PALE)))
        pen.setDashPattern(_DOTTED)
    return pen


def _apart(points: Polyline, gap: float) -> Polyline:
    """Return those points that are at least this far right of the one before, and the last one."""
    kept, last = [], -inf
    for n, x in enumerate(points[:, 0].tolist()):
        if x - last >= gap:
            last = x
            kept.append(n)
    if kept:
        kept[-1] = len(points) - 1
    return points[kept] if kept else points[:0]


def _staggered(points: NDArray[np.float64], spacing: float, index: int) -> slice:
    """Choose points to mark, about `spacing` pixels apart, shifted from server to server by the
    golden ratio, which spreads any number of servers evenly.
    """
    across = points[-1, 0] - points[0, 0]
    step = max(1, round(spacing * (len(points) - 1) / across)) if across > 0 else 1
    return slice(int(step * (index * 0.618034 % 1)), None, step)
