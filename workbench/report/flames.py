"""Flame graphs of a report, as SVG without scripts: a box tells its share under the pointer."""

from __future__ import annotations

from html import escape

from workbench.analysis.flame import OTHER, Box, flame, hue
from workbench.formatting import percent
from workbench.messages.notes import Profile

_WIDTH, _ROW = 1100, 20
_NARROWEST_PX = 1.0
"""Narrower boxes are left out."""
_CHARACTER_PX = 7.0
"""The width of a character, of 12 pixels' height."""


def flame_svg(profile: Profile) -> str:
    """Return an SVG element to stand in an HTML page; foreign names are escaped."""
    root = flame(profile)
    boxes = [box for box in root.all() if box.share * _WIDTH >= _NARROWEST_PX]
    height = (max((box.depth for box in boxes), default=0) + 1) * _ROW
    drawn = "".join(_drawn(box, root.samples) for box in boxes)
    about = escape(f"Flame graph of {profile.name}: {profile.shares()}", quote=True)
    return (
        f'<svg class="flame" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{about}">'
        f"{drawn}</svg>"
    )


def _drawn(box: Box, samples: int) -> str:
    x, y, width = box.start * _WIDTH, box.depth * _ROW, box.share * _WIDTH
    inside = width - 1 if width > 3 else width
    own = percent(100 * box.own / samples)
    about = f"{box.name}: {percent(100 * box.share)} ({box.samples:,}), itself {own}"
    place = f'x="{x:.1f}" y="{y}" width="{inside:.1f}" height="{_ROW - 1}"'
    name = _fitted(box.name, inside - 8)
    text = f'<text x="{x + 4:.1f}" y="{y + 14}">{escape(name)}</text>' if name else ""
    return f'<g><title>{escape(about)}</title><rect class="{_colour(box)}" {place}/>{text}</g>'


def _fitted(name: str, width: float) -> str:
    """Cut a name to a width, by the fonts that browsers fall back to; empty: nothing fits."""
    most = int(width / _CHARACTER_PX)
    if len(name) <= most:
        return name
    return f"{name[: most - 1]}…" if most > 2 else ""


def _colour(box: Box) -> str:
    """One of --h0, --h1, ... of the page."""
    if box.parent is None or box.name == OTHER:
        return "h"
    return f"h{hue(box)}"
