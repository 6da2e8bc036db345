"""One server's line on one chart."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPen, QTransform
from PySide6.QtWidgets import QWidget

from app.charts.backend import pg
from app.charts.clipping import Box, Polyline, clipped, runs
from app.charts.drawing import (
    Segments,
    draw_cross,
    draw_marker,
    draw_markers,
    draw_pieces,
    draw_ring,
    is_vector,
    pieces,
    stroke,
)
from app.charts.series import Floats, Series, Values
from app.charts.sizes import Sizes
from app.colour import mix
from app.theme import Theme

PALE = 0.5
"""Opacity of a line where it must not be trusted."""

_THICK = 3.0
"""Pixels beside the plot in which a line along its edge is drawn whole."""

_DOTTED = [2.0, 2.5]
"""The dashes of a line that must not be trusted: (drawn, left out) in line widths."""


class Curve(pg.PlotCurveItem):
    """One server's line. Its data are in view coordinates (logarithms are already taken); only what
    lies in the plot is drawn.
    """

    def __init__(self, series: Series, theme: Theme) -> None:
        super().__init__()
        self.series = series
        self.style = theme.series(series.index)
        none, never = np.empty(0), np.empty(0, dtype=bool)
        self.values = Values(none, none, never, never, never)
        self.beside: Values | None = None
        """A second percentile; None: none is shown."""
        self.width = 2.0
        self.drawn_version = (-1, 0)
        """The version of the series, and the pass drawn by itself (0: all together)."""
        self._theme = theme
        self._fitted: QTransform | None = None
        """What these are computed for; None: for nothing yet."""
        self._pixels: Polyline = np.empty((0, 2))
        self._box: Box = (0, 0, 0, 0)
        self._sure = never
        """Whether the line is trusted from each of its points to the next."""
        self._parts: list[Polyline] = []
        """Those in the plot, (n, 3): pixels, and `_sure`."""
        self._pieces: list[tuple[Segments, QPen]] = []
        self._pieces_width = 0.0

    def place(self, x: Floats, y: Floats) -> None:
        """Set where its values are drawn, in view coordinates."""
        self._fitted = None
        trusted = self.values.trusted
        self._sure = trusted & np.append(trusted[1:], False)
        self.setData(x, y, connect="finite")

    def pixels(self) -> Polyline:
        """Return its points in the scene's pixels, (n, 2); NaN in gaps."""
        self._fit()
        return self._pixels

    def seen(self) -> list[Polyline]:
        """Return the pixels of the parts of the line that lie in the plot."""
        self._fit()
        return [part[:, :2] for part in self._parts]

    def _fit(self) -> None:
        """Compute where it lies, unless nothing has moved. The transform depends on the axes and on
        the size of the plot.
        """
        self.getViewBox().updateMatrix()  # by itself only when it is painted
        t = self.sceneTransform()
        if self._fitted is not None and self._fitted == t:
            return
        self._fitted, self._pieces_width = t, 0.0
        x, y = self.getData()
        self._box = self._plot()
        self._pixels = np.empty((0, 2))
        if x is not None and len(x):
            self._pixels = np.column_stack((x * t.m11() + t.dx(), y * t.m22() + t.dy()))
        self._parts = clipped(np.column_stack((self._pixels, self._sure)), self._box)

    def draw(self, painter: QPainter, width: float) -> None:
        """Draw it in the scene's pixels: solid where both ends are trusted; else thin, pale and
        broken.
        """
        if is_vector(painter):
            for points, pen in self._strokes(width):
                stroke(painter, points, pen)
            return
        self._fit()
        if self._pieces_width != width:
            self._pieces_width = width
            self._pieces = [(pieces(points, pen), pen) for points, pen in self._strokes(width)]
        for lines, pen in self._pieces:
            draw_pieces(painter, lines, pen)

    def pen(self, width: float, *, sure: bool) -> QPen:
        """Return its pen; if not `sure`, thin, pale and broken."""
        pen = self.style.pen(width if sure else max(1.0, width * 0.5))
        if not sure:
            pen.setColor(QColor(mix(self._theme.card, self.style.colour, PALE)))
            pen.setDashPattern(_DOTTED)
        return pen

    def trusts(self, rate: float) -> bool:
        """Whether its point at this rate is trusted."""
        return bool(self.values.trusted[self.values.x == rate].all())

    def _strokes(self, width: float) -> Iterator[tuple[NDArray[np.float64], QPen]]:
        self._fit()
        for is_sure in (True,) if self.values.trusted.all() else (False, True):
            pen = self.pen(width, sure=is_sure)
            for part in self._parts:
                for first, end in runs(part[:-1, 2] == is_sure):
                    yield part[first : end + 1, :2], pen

    def _plot(self) -> Box:
        """Return the plot's left, top, right and bottom in pixels, with room for a line along its
        edge.
        """
        left, top, right, foot = self.getViewBox().sceneBoundingRect().getCoords()
        return left - 0.5, top - _THICK, right + 0.5, foot + _THICK

    def paint(self, painter: QPainter, option: object, widget: QWidget | None) -> None:
        """Paint it as an item: only moving curves are painted so; see the chart."""
        back, _ = self.sceneTransform().inverted()
        painter.save()
        painter.setTransform(back, True)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.draw(painter, self.width)
        painter.restore()

    def draw_markers(
        self, painter: QPainter, sizes: Sizes, radius: float = 4.0, *, knee: bool = False
    ) -> None:
        """Draw the markers, staggered so that servers on one line show side by side: hollow ones
        where the point must not be trusted, crossed ones where the server is faulty, ringed ones
        where an audit failed; with `knee` a large one at the highest sustained rate.
        """
        px, card = sizes.px, self._theme.card
        points, trusted = self.pixels(), self.values.trusted
        if not len(points):
            return
        left, top, right, foot = self._box
        x, y = points.T
        known = (x >= left) & (x <= right) & (y >= top) & (y <= foot)
        marked = np.zeros(len(points), dtype=np.bool_)
        marked[_staggered(points, px(70), self.series.index)] = True
        plain = points[marked & trusted & known].tolist()
        draw_markers(painter, self.style, plain, px(radius), card)
        last = -np.inf
        for i in np.flatnonzero(~trusted & known):
            if points[i][0] - last >= px(12):
                last = points[i][0]
                at = QPointF(*points[i])
                draw_marker(painter, self.style, at, px(radius * 0.95), card, hollow=True)
        last = -np.inf
        for i in np.flatnonzero(self.values.faulty & known):
            if points[i][0] - last >= px(14):
                last = points[i][0]
                draw_cross(painter, QPointF(*points[i]), px(radius * 1.35), self._theme)
        (knees,) = np.nonzero(self.values.x == self.series.knee)
        large = knees[:1] if knee else knees[:0]
        last = -np.inf
        for i in np.flatnonzero(self.values.tainted & trusted & known):
            if points[i][0] - last >= px(14) or i in large:
                last = points[i][0]
                at, size = QPointF(*points[i]), radius * 1.65 if i in large else radius * 0.85
                draw_ring(painter, at, px(max(size * 1.35, radius * 1.75)), self._theme)
                draw_marker(painter, self.style, at, px(size), card)
        for i in large[known[large]]:
            draw_marker(painter, self.style, QPointF(*points[i]), px(radius * 1.65), card)

    def distance(self, at: QPointF) -> float:
        """Return the distance from a pixel to the line; infinite where there is none."""
        points = self.pixels()
        known = points[~np.isnan(points).any(axis=1)] - at.toTuple()
        if not len(known):
            return inf
        if len(known) == 1:
            return float(np.hypot(*known[0]))
        start, way = known[:-1], np.diff(known, axis=0)
        lengths = np.maximum((way**2).sum(axis=1), 1e-12)
        along = np.clip(-(start * way).sum(axis=1) / lengths, 0, 1)
        return float(np.hypot(*(start + way * along[:, None]).T).min())


def _staggered(points: NDArray[np.float64], spacing: float, index: int) -> slice:
    """Choose points to mark, about `spacing` pixels apart, shifted from server to server by the
    golden ratio, which spreads any number of servers evenly.
    """
    across = points[-1, 0] - points[0, 0]
    step = max(1, round(spacing * (len(points) - 1) / across)) if across > 0 else 1
    return slice(int(step * (index * 0.618034 % 1)), None, step)
