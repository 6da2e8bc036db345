"""One server's line on one chart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts.clipping import Polyline, Segments
from app.charts.drawing import draw_cross, draw_ring
from app.charts.markers import Markers
from app.charts.series import Flags, Series, Values
from app.charts.sizes import Sizes
from app.charts.strokes import Piece, draw_pieces, is_vector, pieces, stroke_segments
from app.colour import mix
from app.theme import SeriesStyle, Theme

PALE = 0.5
"""Opacity of a line where it must not be trusted."""

_DOTTED = [2.0, 2.5]
"""The dashes of a line that must not be trusted: (drawn, left out) in line widths."""


class Pixels(Protocol):
    """The chart of a line, which computes the pixels of all its lines at once."""

    theme: Theme

    def fit(self) -> None:
        """Have the pixels of every line computed, unless nothing has moved."""


@dataclass(frozen=True)
class Fitted:
    """A line in the pixels of its chart."""

    points: Polyline
    """NaN in gaps."""
    shown: Flags
    """Which of the points lie in the plot or on its edge."""
    seen: Polyline
    """What of the line lies in the plot."""
    segments: Segments
    """The same, as what is drawn."""
    sure: Flags
    """Which of the segments are trusted."""


_NOTHING = Fitted(
    np.empty((0, 2)), np.empty(0, bool), np.empty((0, 2)), np.empty((0, 4)), np.empty(0, bool)
)


class Curve:
    """One server's line in the pixels of its chart; only what lies in the plot is drawn."""

    def __init__(self, chart: Pixels, series: Series) -> None:
        self.series = series
        self.style = chart.theme.series(series.index)
        none, never = np.empty(0), np.empty(0, dtype=bool)
        self.values = Values(none, none, never, never, never)
        self.beside: Values | None = None
        """A second percentile; None: none is shown."""
        self.drawn_version = (-1, 0)
        """The version of the series, and the pass drawn by itself (0: all together)."""
        self.data = np.full((1, 3), np.nan)
        """The x and y of its points, and whether the line is trusted from each to the next; then a
        gap.
        """
        self.frame: object = None
        """What its pixels are computed for; None: for nothing yet."""
        self._chart = chart
        self._fitted = _NOTHING
        self._cuts: dict[tuple[float, SeriesStyle], list[Piece]] = {}
        """What is drawn of it on a screen, in a width and a style."""
        self._doubtful = False
        """Whether any point has another marker than a plain one."""
        self._knee = np.empty(0, dtype=np.intp)
        """The place of its point at the highest sustained rate, if there is one."""

    def take(self, values: Values, beside: Values | None) -> None:
        """Set its values."""
        self.values, self.beside, self.frame = values, beside, None
        sure = values.trusted & np.append(values.trusted[1:], False)
        gap = np.full((1, 3), np.nan)
        self.data = np.vstack((np.column_stack((values.x, values.y, sure)), gap))
        self._doubtful = bool((~values.trusted | values.faulty | values.tainted).any())
        self._knee = np.flatnonzero(values.x == self.series.knee)[:1]

    def fit(self, frame: object, fitted: Fitted) -> None:
        """Set its pixels."""
        self.frame, self._fitted, self._cuts = frame, fitted, {}

    def pixels(self) -> Polyline:
        """Return its points in the scene's pixels, (n, 2); NaN in gaps."""
        self._chart.fit()
        return self._fitted.points

    def seen(self) -> Polyline:
        """Return the pixels of what of the line lies in the plot."""
        self._chart.fit()
        return self._fitted.seen

    @property
    def ratio(self) -> float:
        """Device pixels per pixel."""
        return self._chart.devicePixelRatioF()

    def pen(self, width: float, *, sure: bool) -> QPen:
        """Return its pen; if not `sure`, thin, pale and broken."""
        return QPen(_pen(self.style, width, sure, self._chart.theme.card))

    def trusts(self, rate: float) -> bool:
        """Whether its point at this rate is trusted."""
        return bool(self.values.trusted[self.values.x == rate].all())

    def draw(self, painter: QPainter, width: float) -> None:
        """Draw it in the scene's pixels."""
        if is_vector(painter):
            for each, pen in self.strokes(width):
                stroke_segments(painter, each, pen)
            return
        if not self.is_cut(width):
            cut([(self, width)])
        for each, pen in self._cuts[width, self.style]:
            draw_pieces(painter, each, pen)

    def is_cut(self, width: float) -> bool:
        """Whether it is known what is drawn of it on a screen in a width."""
        self._chart.fit()
        return (width, self.style) in self._cuts

    def take_cut(self, width: float, found: list[Piece]) -> None:
        """Set what is drawn of it on a screen in a width."""
        self._cuts[width, self.style] = found

    def strokes(self, width: float) -> list[Piece]:
        """Return what of it is drawn: solid where both ends are trusted; else thin, pale and
        broken.
        """
        self._chart.fit()
        each, sure = self._fitted.segments, self._fitted.sure
        style, card = self.style, self._chart.theme.card
        if sure.all():
            return [(each, _pen(style, width, True, card))]
        return [(each[sure == kind], _pen(style, width, kind, card)) for kind in (False, True)]

    def draw_markers(
        self, markers: Markers, sizes: Sizes, radius: float = 4.0, *, knee: bool = False
    ) -> None:
        """Draw the markers, of a sweep staggered so that servers on one line show side by side:
        hollow ones where the point must not be trusted, crossed ones where the server is faulty,
        ringed ones where an audit failed; with `knee` there is room for that of `draw_knee`.
        """
        points, values = self.pixels(), self.values
        if not len(points):
            return
        shown = self._fitted.shown
        searched = self.series.searched
        marked = slice(None) if searched else _staggered(points, sizes.px(70), self.series.index)
        plain = points[marked][(shown & values.trusted)[marked]]
        markers.add(self.style, plain, sizes.px(radius))
        if self._doubtful:
            self._draw_doubts(markers, sizes, radius, self._knee if knee else self._knee[:0])

    def draw_knee(self, markers: Markers, sizes: Sizes, radius: float = 4.0) -> None:
        """Draw the large marker at the highest sustained rate, if there is one."""
        points, knee = self.pixels(), self._knee
        if len(knee) and self._fitted.shown[knee]:
            markers.add(self.style, points[knee], sizes.px(radius * 1.65))

    def _draw_doubts(
        self, markers: Markers, sizes: Sizes, radius: float, large: NDArray[np.intp]
    ) -> None:
        """Draw hollow, crossed and ringed markers."""
        px, theme = sizes.px, self._chart.theme
        points, known, values = self._fitted.points, self._fitted.shown, self.values
        trusted, last = values.trusted, -inf
        hollow = _apart(points[known & ~trusted], 0 if self.series.searched else px(12))
        markers.add(self.style, hollow, px(radius * 0.95), hollow=True)
        for at in _apart(points[known & values.faulty], px(14)).tolist():
            draw_cross(markers.finished(), QPointF(*at), px(radius * 1.35), theme)
        for i in np.flatnonzero(values.tainted & trusted & known).tolist():
            at = QPointF(*points[i].tolist())
            if at.x() - last >= px(14) or i in large:
                last = at.x()
                size = radius * 1.65 if i in large else radius * 0.85
                draw_ring(markers.finished(), at, px(max(size * 1.35, radius * 1.75)), theme)
                markers.add(self.style, points[[i]], px(size))

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


def cut(lines: Iterable[tuple[Curve, float]]) -> None:
    """Compute what is drawn on a screen of lines in these widths, of all at once, for `draw`."""
    new = [(c, width, c.strokes(width)) for c, width in lines if not c.is_cut(width)]
    if not new:
        return
    ratio = new[0][0].ratio  # all are of one chart
    found = iter(pieces([stroke for _, _, strokes in new for stroke in strokes], ratio))
    for curve, width, strokes in new:
        curve.take_cut(width, [next(found) for _ in strokes])


@lru_cache(maxsize=256)
def _pen(style: SeriesStyle, width: float, sure: bool, card: str) -> QPen:
    """Return the pen of a line in this style, on a ground."""
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
