"""How everything looks: colours, the twelve series styles, fonts, icons and the stylesheet.

Chrome is neutral; saturated colour belongs to data and status. A chart or widget takes a `Theme`
and asks it, so that dark and light are one code path.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
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
    QPalette,
    QPen,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from workbench.errors import PongbenchError
from workbench.paths import RESOURCES

Weight = QFont.Weight
SANS = "Inter"
MONO = "JetBrains Mono"
ICON_STROKE = "1.75"


class Marker(Enum):
    """Shapes that stay apart at 8 px."""

    CIRCLE = "circle"
    SQUARE = "square"
    UP = "triangle up"
    DIAMOND = "diamond"
    DOWN = "triangle down"
    PENTAGON = "pentagon"


@dataclass(frozen=True)
class SeriesStyle:
    """How one server is drawn, everywhere: told from the others by colour, and without it."""

    colour: str
    dashed: bool
    marker: Marker

    @property
    def dash(self) -> tuple[float, float] | None:
        """(drawn, left out) in line widths; None: solid."""
        return (4.0, 2.4) if self.dashed else None

    def tint(self, opacity: float = 1.0) -> QColor:
        """Its colour, `opacity` from 0 to 1."""
        return with_opacity(self.colour, opacity)

    def pen(self, width: float = 2.0, opacity: float = 1.0) -> QPen:
        """A cosmetic pen, `width` in pixels."""
        pen = QPen(self.tint(opacity), width)
        pen.setCosmetic(True)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap if self.dash else Qt.PenCapStyle.RoundCap)
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
    """Of cards that float over data."""
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
        """The style of a session's server `index`; after twelve they come again."""
        index %= 12
        second = index // 6
        markers = tuple(Marker)
        return SeriesStyle(
            self.hues[index % 6], bool(second), markers[(index + 3 * second) % len(markers)]
        )

    def tinted(self, colour: str) -> str:
        """The quiet background of a chip or an inline card in `colour`."""
        return mix(self.card, colour, 0.16 if self.dark else 0.10)


DARK = Theme(
    name="dark",
    bg="#0B0F14",
    rail="#0E1319",
    sunken="#0E1319",
    card="#131920",
    raised="#1B232D",
    floating="#1B232D",
    line="#222B36",
    line2="#33404F",
    edge="#66758A",
    text="#EDF2F7",
    soft="#C3CDD8",
    muted="#8F9CAC",
    primary="#EDF2F7",
    on_primary="#0B0F14",
    focus="#7FB2FF",
    ok="#5CD6A0",
    warn="#F2B84B",
    bad="#FF7A70",
    hues=("#6CCBF8", "#B57F1C", "#C3F4D3", "#EE4A8C", "#F0DC3C", "#7B78FA"),
)
LIGHT = Theme(
    name="light",
    bg="#F3F5F8",
    rail="#FFFFFF",
    sunken="#F7F9FB",
    card="#FFFFFF",
    raised="#F3F5F8",
    floating="#FFFFFF",
    line="#E2E7ED",
    line2="#C6CFD9",
    edge="#848F9C",
    text="#151C24",
    soft="#3B4754",
    muted="#5E6B7A",
    primary="#151C24",
    on_primary="#FFFFFF",
    focus="#1F5FD1",
    ok="#0B7A4B",
    warn="#955F00",
    bad="#C4302B",
    hues=("#2F80ED", "#8F3B00", "#0B3B34", "#C2527E", "#9A8A00", "#3C16C0"),
)
THEMES = {theme.name: theme for theme in (DARK, LIGHT)}


def system_theme() -> Theme:
    """The one the desktop asks for; light where it asks for none."""
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return DARK if dark else LIGHT


def wanted(colours: str) -> Theme:
    """By the setting: dark, light, or as the system has it."""
    return THEMES.get(colours) or system_theme()


def with_opacity(colour: str, opacity: float) -> QColor:
    """`colour` with an alpha from 0 to 1."""
    tint = QColor(colour)
    tint.setAlphaF(opacity)
    return tint


def mix(a: str, b: str, share: float) -> str:
    """`share` of `b` in `a`, as a colour name."""
    x, y = QColor(a), QColor(b)
    channels = zip(x.getRgb()[:3], y.getRgb()[:3], strict=True)
    return QColor(*(round(p + (q - p) * share) for p, q in channels)).name()


def contrast(a: str, b: str) -> float:
    """The WCAG contrast ratio of two colours, 1 to 21."""

    def luminance(colour: str) -> float:
        def linear(v: float) -> float:
            return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4

        c = QColor(colour)
        r, g, b = (linear(v) for v in (c.redF(), c.greenF(), c.blueF()))
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@cache
def font(
    px: float,
    weight: Weight = Weight.Normal,
    *,
    mono: bool = False,
    figures: bool = False,
) -> QFont:
    """The interface's font; `figures` gives digits of one width (and wider hyphens: only there)."""
    made = QFont(MONO if mono else SANS)
    made.setPixelSize(max(1, round(px)))
    made.setWeight(weight)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if figures:
        made.setFeature(QFont.Tag("tnum"), 1)
    if mono:
        made.setFeature(QFont.Tag("calt"), 0)
    return made


@cache
def load_fonts() -> None:
    """Make the bundled fonts known to Qt. Needs an application; asked twice it does nothing."""
    for path in sorted((RESOURCES / "fonts").glob("*.ttf")):
        if QFontDatabase.addApplicationFont(str(path)) < 0:
            raise PongbenchError(f"The font {path} cannot be read. Install Pongbench again.")


def icon(name: str, colour: str, px: int = 18) -> QIcon:
    """The line icon `name` of resources/icons in one colour."""
    return QIcon(icon_pixmap(name, colour, px))


@cache
def icon_pixmap(name: str, colour: str, px: int = 18, ratio: float = 2.0) -> QPixmap:
    """As `icon`, drawn for `ratio` device pixels per pixel."""
    pixmap = QPixmap(QSize(px, px) * ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    paint_icon(painter, name, colour, QRectF(0, 0, px * ratio, px * ratio))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def paint_icon(painter: QPainter, name: str, colour: str, rect: QRectF) -> None:
    """Draw an icon as lines, whatever is painted on."""
    svg = (RESOURCES / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    svg = svg.replace("currentColor", colour)
    svg = svg.replace('stroke-width="2"', f'stroke-width="{ICON_STROKE}"')
    QSvgRenderer(QByteArray(svg.encode())).render(painter, rect)


def apply(app: QApplication, theme: Theme) -> None:
    """Dress the whole application; may be called again to change between dark and light."""
    load_fonts()
    app.setStyle("Fusion")
    app.setFont(font(13))
    app.setPalette(palette(theme))
    app.setStyleSheet(stylesheet(theme))


def palette(theme: Theme) -> QPalette:
    """`setColorScheme` does nothing on bare X11 and offscreen: colours go by the palette."""
    made = QPalette()
    role = QPalette.ColorRole
    for which, colour in {
        role.Window: theme.bg,
        role.WindowText: theme.text,
        role.Base: theme.card,
        role.AlternateBase: theme.sunken,
        role.Text: theme.text,
        role.PlaceholderText: theme.muted,
        role.Button: theme.card,
        role.ButtonText: theme.text,
        role.BrightText: theme.bad,
        role.Highlight: theme.focus,
        role.HighlightedText: theme.on_primary if theme.dark else "#FFFFFF",
        role.Accent: theme.focus,
        role.Link: theme.focus,
        role.LinkVisited: theme.focus,
        role.ToolTipBase: theme.floating,
        role.ToolTipText: theme.text,
        role.Light: theme.raised,
        role.Midlight: theme.line,
        role.Mid: theme.line2,
        role.Dark: theme.edge,
        role.Shadow: theme.bg,
    }.items():
        made.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.muted))
    return made


def stylesheet(theme: Theme) -> str:
    """Rules for the components: frames by object name, buttons by the property `kind`.

    Frames: card, sunken, raised, floating, rail, top, hair. Buttons: primary (one a page), plain
    (no property), danger, ghost. Labels: property `tone` = soft, muted, ok, warn, bad; property
    `role` = title, section, figure. A chip is a QFrame with object name chip and a `tone`.
    """
    t = theme
    hover = mix(t.card, t.text, 0.06)
    down = mix(t.card, t.text, 0.12)
    chosen = t.raised if t.dark else t.line

    def quiet(tone: str, colour: str) -> str:
        """Muted words stand on a soft one, too."""
        return t.tinted(t.muted if tone == "soft" else colour)

    tones = "\n".join(
        f'QLabel[tone="{tone}"] {{ color: {colour}; }}'
        f'QFrame#chip[tone="{tone}"] {{ background: {t.tinted(colour)}; }}'
        f'QFrame#chip[tone="{tone}"] QLabel {{ color: {colour}; }}'
        f'QFrame#inline[tone="{tone}"] {{ background: {quiet(tone, colour)};'
        f" border: 1px solid {mix(t.card, colour, 0.45)}; border-radius: 10px; }}"
        f'QFrame#notice[tone="{tone}"] {{ background: {t.tinted(colour)}; }}'
        for tone, colour in {
            "soft": t.soft,
            "muted": t.muted,
            "focus": t.focus,
            "ok": t.ok,
            "warn": t.warn,
            "bad": t.bad,
        }.items()
    )
    return f"""
QLabel {{ background: transparent; }}
QLabel[role="title"] {{ font-size: 16px; font-weight: 600; }}
QLabel[role="section"] {{ font-size: 14px; font-weight: 600; }}
QLabel[role="figure"] {{ font-size: 20px; font-weight: 600; }}
{tones}
QFrame#card {{ background: {t.card}; border: 1px solid {t.line}; border-radius: 10px; }}
QFrame#sunken {{ background: {t.sunken}; border: 1px solid {t.line}; border-radius: 8px; }}
QFrame#raised {{ background: {t.raised}; border: 1px solid {t.line2}; border-radius: 10px; }}
QFrame#floating {{ background: {t.floating}; border: 1px solid {t.line2}; border-radius: 10px; }}
QFrame#rail {{ background: {t.rail}; border: none; border-right: 1px solid {t.line}; }}
QFrame#top {{ background: {t.rail}; border: none; border-bottom: 1px solid {t.line}; }}
QFrame#hair {{ background: {t.line}; border: none; }}
QFrame#drawer {{ background: {t.card}; border: none; border-top: 1px solid {t.line2}; }}
QFrame#notice {{ border: none; border-bottom: 1px solid {t.line}; }}
QSplitter::handle {{ background: {t.line}; }}
QFrame#chip {{ border: none; border-radius: 11px; min-height: 22px; max-height: 22px; }}
QFrame#chip QLabel {{ font-size: 12px; font-weight: 500; }}
QPushButton {{ background: {t.card}; color: {t.text}; border: 1px solid {t.edge};
    border-radius: 7px; padding: 0 12px; min-height: 30px; font-weight: 500; }}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed, QPushButton:checked {{ background: {down}; }}
QPushButton:checked {{ border-color: {t.text}; }}
QPushButton:disabled {{ color: {t.muted}; border-color: {t.line2}; }}
QPushButton:focus {{ border: 2px solid {t.focus}; padding: 0 11px; min-height: 28px; }}
QPushButton[kind="primary"] {{ background: {t.primary}; color: {t.on_primary};
    border: 1px solid {t.primary}; font-weight: 600; }}
QPushButton[kind="primary"]:hover {{ background: {mix(t.primary, t.card, 0.12)}; }}
QPushButton[kind="primary"]:disabled {{ background: {mix(t.card, t.text, 0.10)};
    border-color: transparent; color: {t.muted}; }}
QPushButton[kind="primary"]:focus {{ border: 2px solid {t.focus}; }}
QPushButton[kind="danger"] {{ color: {t.bad}; border-color: {t.bad}; }}
QPushButton[kind="danger"]:disabled {{ color: {t.muted}; border-color: {t.line2}; }}
QPushButton[kind="danger"]:focus {{ border-color: {t.focus}; }}
QPushButton[kind="ghost"] {{ background: transparent; border: 1px solid transparent;
    color: {t.soft}; padding: 0 8px; }}
QPushButton[kind="ghost"]:hover {{ background: {hover}; }}
QPushButton[kind="ghost"]:disabled {{ color: {t.muted}; }}
QPushButton[kind="ghost"]:focus {{ border: 2px solid {t.focus}; padding: 0 7px; }}
QPushButton[kind="tab"] {{ background: transparent; border: 1px solid transparent;
    color: {t.muted}; padding: 0 10px; min-height: 26px; }}
QPushButton[kind="tab"]:hover {{ background: {hover}; }}
QPushButton[kind="tab"]:checked {{ background: {chosen}; color: {t.text};
    border-color: {t.line2}; }}
QPushButton[kind="tab"]:focus {{ border: 2px solid {t.focus}; padding: 0 9px; min-height: 24px; }}
QToolButton[kind="rail"] {{ background: transparent; border: 2px solid transparent;
    border-radius: 8px; color: {t.muted}; padding: 4px 0 2px 0; }}
QToolButton[kind="rail"]:hover {{ background: {mix(t.rail, t.text, 0.06)}; }}
QToolButton[kind="rail"]:checked {{ background: {t.raised}; color: {t.text}; }}
QToolButton[kind="rail"]:focus {{ border-color: {t.focus}; }}
QLineEdit, QComboBox, QAbstractSpinBox, QPlainTextEdit {{ background: {t.sunken}; color: {t.text};
    border: 1px solid {t.edge}; border-radius: 7px; padding: 0 10px; min-height: 30px;
    selection-background-color: {t.focus}; selection-color: {t.on_primary};
    placeholder-text-color: {t.muted}; }}
QLineEdit:read-only {{ background: transparent; border-color: {t.line2}; color: {t.soft}; }}
QPlainTextEdit {{ padding: 6px 8px; }}
QComboBox {{ padding-right: 24px; }}
QComboBox::drop-down {{ border: none; background: transparent; width: 0; }}
QComboBox QAbstractItemView {{ background: {t.floating}; color: {t.text};
    border: 1px solid {t.line2}; selection-background-color: {chosen};
    selection-color: {t.text}; }}
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus, QPlainTextEdit:focus {{
    border: 2px solid {t.focus}; padding: 0 9px; min-height: 28px; }}
QPlainTextEdit:focus {{ padding: 5px 7px; }}
QPlainTextEdit[kind="log"] {{ border: none; border-radius: 0; padding: 6px 18px; }}
QPlainTextEdit[kind="log"]:focus {{ border: 2px solid {t.focus}; padding: 4px 16px; }}
QLineEdit[tone="warn"] {{ border-color: {t.warn}; }}
QLineEdit[tone="bad"] {{ border-color: {t.bad}; }}
QCheckBox, QRadioButton {{ spacing: 8px; }}
QCheckBox:focus, QRadioButton:focus {{ outline: 2px solid {t.focus}; }}
QTableView, QTreeView, QListView {{ background: {t.card}; color: {t.text}; border: none;
    gridline-color: {t.line}; selection-background-color: {chosen}; selection-color: {t.text};
    outline: none; }}
QTableView::item, QTreeView::item {{ border-bottom: 1px solid {t.line}; padding: 0 8px; }}
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected {{
    background: {chosen}; color: {t.text}; }}
QListView[kind="framed"] {{ background: {t.sunken}; border: 1px solid {t.edge}; padding: 3px;
    border-radius: 7px; }}
QListView[kind="framed"]:focus {{ padding: 2px; }}
QTableView:focus, QTreeView:focus, QListView:focus {{ border: 2px solid {t.focus}; }}
QHeaderView::section {{ background: {t.card}; color: {t.muted}; border: none;
    border-bottom: 1px solid {t.line2}; padding: 4px 8px; font-size: 11px; font-weight: 500; }}
QMessageBox QLabel#qt_msgbox_label {{ font-size: 15px; font-weight: 600; min-width: 380px; }}
QMessageBox QLabel#qt_msgbox_informativelabel {{ color: {t.soft}; min-width: 380px; }}
QMessageBox QDialogButtonBox, QInputDialog QDialogButtonBox {{ padding-top: 8px; }}
QToolTip {{ background: {t.floating}; color: {t.text}; border: 1px solid {t.line2};
    padding: 4px 6px; }}
QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: 10px; margin: 0; }}
QScrollBar::handle {{ background: {t.edge}; border-radius: 3px; margin: 2px; min-height: 24px;
    min-width: 24px; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{
    background: transparent; border: none; width: 0; height: 0; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
QMenu {{ background: {t.floating}; color: {t.text}; border: 1px solid {t.line2}; padding: 4px; }}
QMenu::item {{ padding: 6px 14px; border-radius: 5px; }}
QMenu::item:selected {{ background: {chosen}; }}
QMenu::item:disabled {{ color: {t.muted}; }}
"""
