"""Sizes of everything on a chart, the heights of a trio's charts, and the width of the gutter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtGui import QFont

from app.charts.series import Quantity
from app.theme import font


@dataclass(frozen=True)
class Sizes:
    """Sizes in pixels; `scale` 1 in the window, more on projectors and in pictures."""

    scale: float = 1.0
    gutter: float = 118.0
    """Unscaled, for the names right of the plot."""
    head: float = 13.0
    """Unscaled, of the charts' titles."""
    line: float = 2.0
    """Unscaled width of a line."""

    def px(self, size: float) -> float:
        return size * self.scale

    @property
    def axis_font(self) -> QFont:
        return font(self.px(11), figures=True)

    @property
    def label_px(self) -> float:
        return self.px(12)

    def bottom(self, lowest: bool) -> float:
        return self.px(46 if lowest else 10)


LEFT, TOP, GAP = 56.0, 28.0, 8.0
"""Unscaled: left of and above a plot, and between two charts."""
LEAST_OF_THREE = 290.0
"""Unscaled; below this height two charts are shown, because three would be illegible."""

_SHARES = {Quantity.REPLIES: 0.44, Quantity.TIME: 0.32, Quantity.ERRORS: 0.24}
_ALIKE = {Quantity.REPLIES: 0.3, Quantity.TIME: 0.5, Quantity.ERRORS: 0.2}
"""Where replies show no difference between servers."""
FOOT = 4.0
"""Unscaled, below the lowest of more than ten names."""

_NARROWEST, _WIDEST = 118.0, 216.0
_SHARE_OF_TWO = 0.35
"""The largest share of the width for names in two columns."""


def heights(
    shown: Sequence[Quantity], sizes: Sizes, names: int, height: float, *, alike: bool = False
) -> dict[Quantity, float]:
    """Return the height of every chart in pixels, by their shares of the space left for plots;
    where possible, each chart has room for all names in one column. `alike`: replies show no
    difference, so that response times are the largest chart.
    """
    each = _ALIKE if alike else _SHARES
    bare = {q: sizes.px(TOP) + sizes.bottom(q is shown[-1]) for q in shown}
    plots = max(0.0, height - sizes.px(GAP) * (len(shown) - 1) - sum(bare.values()))
    shares = sum(each[q] for q in shown)
    fair = {q: bare[q] + plots * each[q] / shares for q in shown}
    least = {q: _least(q, shown, sizes, names) for q in shown}
    lacking = sum(max(0.0, least[q] - fair[q]) for q in shown)
    spare = sum(max(0.0, fair[q] - least[q]) for q in shown)
    if not lacking or lacking > spare:
        return fair
    return {
        q: max(least[q], fair[q] - max(0.0, fair[q] - least[q]) * lacking / spare) for q in shown
    }


def names_fit(found: Mapping[Quantity, float], sizes: Sizes, names: int) -> bool:
    """Whether all names fit in one column in charts of these heights."""
    shown = tuple(found)
    return all(height + 1 >= _least(q, shown, sizes, names) for q, height in found.items())


def gutter(longest: float, width: float, *, crowded: bool) -> float:
    """Return the gutter's width for names up to `longest` wide; two columns of them where they are
    crowded and these hold them whole. Unscaled, like `width`.
    """
    one, two = min(max(_NARROWEST, longest + 36), _WIDEST), 2 * longest + 60
    return max(one, two) if crowded and two <= width * _SHARE_OF_TWO else one


def least_height(names: int) -> float:
    """Return the height of a trio, unscaled, with room for names in one column everywhere."""
    sizes = Sizes()
    fixed = sum(TOP + sizes.bottom(q is Quantity.ERRORS) for q in Quantity) + 2 * GAP
    column = names * (sizes.label_px + 1) + 7 + FOOT
    plot = column - TOP - sizes.bottom(False)
    return fixed + max(0.0, plot) / _SHARES[Quantity.TIME]


def _least(quantity: Quantity, shown: Sequence[Quantity], sizes: Sizes, names: int) -> float:
    """Return the height that a chart needs for all names in one column."""
    # Few names stay clear of the rates below the axis; see `names`.
    below = sizes.bottom(quantity is shown[-1])
    under = below - sizes.px(8) if names <= 10 else sizes.px(FOOT)
    rows = sizes.label_px + sizes.px(3.5) + max(0, names - 1) * (sizes.label_px + sizes.px(1))
    return rows + under + sizes.px(3)
