"""The appearance: colour tokens, the styles of series, fonts and icons.

Controls are neutral; saturated colour is reserved for data and status. A chart or widget receives a
`Theme` and takes all colours from it, so that dark and light share one code path.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import Literal

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontDatabase,
    QGuiApplication,
    QIcon,
    QPainter,
    QPen,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer

from app.style_places import STYLES
from workbench.errors import PongbenchError
from workbench.paths import RESOURCES

Weight = QFont.Weight
SANS = "Inter"
MONO = "JetBrains Mono"
ICON_STROKE = "1.75"
_RATIO = 2
"""Device pixels of an icon per pixel."""


def with_opacity(colour: str, opacity: float) -> QColor:
    """Return `colour` with an alpha from 0 to 1."""
    tint = QColor(colour)
    tint.setAlphaF(opacity)
    return tint


@lru_cache(maxsize=1024)
def mix(a: str, b: str, share: float) -> str:
    """Return a mix of `a` and `b` as a colour name; `share` is the part of `b`."""
    x, y = QColor(a), QColor(b)
    channels = zip(x.getRgb()[:3], y.getRgb()[:3], strict=True)
    return QColor(*(round(p + (q - p) * share) for p, q in channels)).name()


def contrast(a: str, b: str) -> float:
    """Return the WCAG contrast ratio of two colours, 1 to 21."""

    def luminance(colour: str) -> float:
        def linear(v: float) -> float:
            return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4

        c = QColor(colour)
        r, g, b = (linear(v) for v in (c.redF(), c.greenF(), c.blueF()))
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


class Marker(Enum):
    """Marker shapes that can be distinguished at 8 px."""

    CIRCLE = "circle"
    SQUARE = "square"
    UP = "triangle up"
    DIAMOND = "diamond"
    DOWN = "triangle down"
    PENTAGON = "pentagon"
    PLUS = "plus"
    CROSS = "cross"


_PATTERNS: tuple[tuple[float, ...], ...] = ((), (4.0, 2.4), (10.0, 2.4, 1.6, 2.4))


@dataclass(frozen=True)
class SeriesStyle:
    """How one server is drawn everywhere; it can be recognised by its colour, and without it."""

    colour: str
    pattern: tuple[float, ...]
    """(drawn, left out, ...) in line widths; empty: a solid line."""
    marker: Marker
    weight: float = 1.0
    """Relative line width."""
    dots: int = 0
    """Dots between two dashes: they distinguish sessions in one chart."""

    def __hash__(self) -> int:
        return hash(self.colour)  # of all fields it takes long, and a key is needed at every stroke

    @property
    def dashed(self) -> bool:
        return bool(self.pattern)

    @property
    def dash(self) -> tuple[float, ...] | None:
        """(drawn, left out, ...) in line widths; None: solid."""
        if self.dots:
            dash = (6.0 if self.dashed else 16.0) / min(self.dots, 2)
            return (dash, 2.5, *(1.6, 2.5) * self.dots)
        return self.pattern or None

    def tint(self, opacity: float = 1.0) -> QColor:
        """Return its colour with an `opacity` from 0 to 1."""
        return with_opacity(self.colour, opacity)

    def pen(self, width: float = 2.0) -> QPen:
        """Return a cosmetic pen, `width` in pixels."""
        pen = QPen(self.tint(), max(width * self.weight, min(width, 1.0)))
        pen.setCosmetic(True)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        cap = Qt.PenCapStyle
        pen.setCapStyle(cap.FlatCap if self.dash else cap.RoundCap)
        if self.dash:
            pen.setDashPattern(list(self.dash))
        return pen

    def brush(self, opacity: float = 1.0) -> QBrush:
        return QBrush(self.tint(opacity))


@dataclass(frozen=True)
class Theme:
    """Colour tokens. `line` and `line2` are decoration; `edge` bounds what can be operated."""

    name: Literal["dark", "light"]
    bg: str
    rail: str
    sunken: str
    card: str
    raised: str
    floating: str
    """For cards that float over data."""
    line: str
    line2: str
    edge: str
    text: str
    soft: str
    muted: str
    primary: str
    on_primary: str
    focus: str
    ok: str
    warn: str
    bad: str
    hues: tuple[str, ...]

    @property
    def dark(self) -> bool:
        return self.name == "dark"

    def series(self, index: int) -> SeriesStyle:
        """Return the style of server `index` of a session. Styles repeat after `STYLES`; servers
        with the same hue differ in marker and line pattern.
        """
        row, hue = divmod(index % STYLES, len(self.hues))
        markers = tuple(Marker)
        marker = markers[(hue + 3 * row) % len(markers)]
        return SeriesStyle(self.hues[hue], _PATTERNS[row], marker)

    def tinted(self, colour: str) -> str:
        """Return the muted background of a chip or an inline card in `colour`."""
        return mix(self.card, colour, 0.16 if self.dark else 0.10)


_TOKENS = {
    "bg": ("#0B0F14", "#F3F5F8"),
    "rail": ("#0E1319", "#FFFFFF"),
    "sunken": ("#0E1319", "#F7F9FB"),
    "card": ("#131920", "#FFFFFF"),
    "raised": ("#1B232D", "#F3F5F8"),
    "floating": ("#1B232D", "#FFFFFF"),
    "line": ("#222B36", "#E2E7ED"),
    "line2": ("#33404F", "#C6CFD9"),
    "edge": ("#66758A", "#848F9C"),
    "text": ("#EDF2F7", "#151C24"),
    "soft": ("#C3CDD8", "#3B4754"),
    "muted": ("#8F9CAC", "#5E6B7A"),
    "primary": ("#EDF2F7", "#151C24"),
    "on_primary": ("#0B0F14", "#FFFFFF"),
    "focus": ("#7FB2FF", "#1F5FD1"),
    "ok": ("#5CD6A0", "#0B7A4B"),
    "warn": ("#F2B84B", "#955F00"),
    "bad": ("#FF7A70", "#C4302B"),
    "hues": (
        ("#6CCBF8", "#B57F1C", "#C3F4D3", "#EE4A8C", "#F0DC3C", "#7B78FA", "#F39E00", "#AAC292"),
        ("#1686F6", "#173800", "#00756A", "#541564", "#948831", "#FD0EAD", "#9D4306", "#5013CD"),
    ),
}
"""Of the dark and of the light theme."""
DARK = Theme("dark", **{token: of[0] for token, of in _TOKENS.items()})
LIGHT = Theme("light", **{token: of[1] for token, of in _TOKENS.items()})
THEMES = {theme.name: theme for theme in (DARK, LIGHT)}
_current = [LIGHT]


def use(theme: Theme) -> None:
    """Make it the theme of widgets made from now on; `widgets.dress` gives it to the others."""
    _current[0] = theme


def current() -> Theme:
    return _current[0]


def system_theme() -> Theme:
    """Return the theme of the desktop; light if it has no preference."""
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return DARK if dark else LIGHT


def theme_for(colours: str) -> Theme:
    """Return the theme for the setting: dark, light, or that of the system."""
    return THEMES.get(colours) or system_theme()


@cache
def font(
    px: float, weight: Weight = Weight.Normal, *, mono: bool = False, figures: bool = False
) -> QFont:
    """Return the interface's font; `figures` gives tabular digits (and wider hyphens, so use it for
    numbers only).
    """
    made = QFont(MONO if mono else SANS)
    made.setPixelSize(max(1, round(px)))
    made.setWeight(weight)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    # Contextual alternates change characters: Inter writes an x between digits as ×.
    made.setFeature(QFont.Tag("calt"), 0)
    if figures:
        made.setFeature(QFont.Tag("tnum"), 1)
    return made


@cache
def load_fonts() -> None:
    """Register the fonts. Needs an application; a second call does nothing."""
    for path in sorted((RESOURCES / "fonts").glob("*.ttf")):
        if QFontDatabase.addApplicationFont(str(path)) < 0:
            raise PongbenchError(f"The font {path} cannot be read. Install Pongbench again.")


def icon(name: str, colour: str, px: int = 18) -> QIcon:
    """Return the line icon `name` of resources/icons in one colour."""
    return QIcon(icon_pixmap(name, colour, px))


@cache
def icon_pixmap(name: str, colour: str, px: int = 18) -> QPixmap:
    pixmap = QPixmap(QSize(px, px) * _RATIO)
    pixmap.fill(QColor(0, 0, 0, 0))
    painter = QPainter(pixmap)
    paint_icon(painter, name, colour, QRectF(0, 0, px * _RATIO, px * _RATIO))
    painter.end()
    pixmap.setDevicePixelRatio(_RATIO)
    return pixmap


def paint_icon(painter: QPainter, name: str, colour: str, rect: QRectF) -> None:
    """Draw an icon as vector lines on any paint device."""
    svg = (RESOURCES / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    svg = svg.replace("currentColor", colour)
    svg = svg.replace('stroke-width="2"', f'stroke-width="{ICON_STROKE}"')
    QSvgRenderer(QByteArray(svg.encode())).render(painter, rect)
