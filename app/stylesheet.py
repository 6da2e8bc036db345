"""A theme for Qt: its palette, and the style sheet of `resources/style/window.qss`."""

from __future__ import annotations

from dataclasses import asdict
from string import Template

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from app.theme import Theme, font, load_fonts, mix
from workbench.paths import RESOURCES

FUSION = ("-style", "Fusion")
"""Arguments of every application with widgets."""


def apply(app: QApplication, theme: Theme) -> None:
    """Apply a theme to the whole application; it may be called again with another."""
    sheet = stylesheet(theme)
    if app.styleSheet() == sheet:
        return
    app.setPalette(palette(theme))
    if app.styleSheet():
        _replace(app, sheet)
    else:
        load_fonts()
        app.setStyleSheet(sheet)
    # Last: a style sheet brings back the fonts that Windows has for lists, menus and tips.
    if app.font("QMenu") != font(13):
        app.setFont(font(13))


def _replace(app: QApplication, sheet: str) -> None:
    """Set another style sheet. Qt itself would polish a widget once for each of its ancestors
    (`updateObjects` in its qstylesheetstyle.cpp), which takes seconds; of what it has forgotten, it
    polishes nothing.
    """
    style = app.style()
    style.unpolish(app)
    app.setStyleSheet(sheet)
    changed = QEvent(QEvent.Type.StyleChange)
    for widget in app.allWidgets():
        style.polish(widget)
        app.sendEvent(widget, changed)


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
    """Return the rules of `resources/style/window.qss` and of tones in the colours of a theme.
    Frames are known by their object names, buttons by their property `kind`.
    """
    t, style = theme, RESOURCES / "style"
    colours = asdict(t) | {
        "hover": mix(t.card, t.text, 0.06),
        "down": mix(t.card, t.text, 0.12),
        "chosen": t.raised if t.dark else t.line,
        "primary_hover": mix(t.primary, t.card, 0.12),
        "primary_off": mix(t.card, t.text, 0.10),
        "rail_hover": mix(t.rail, t.text, 0.06),
        "segment_on": t.raised if t.dark else t.card,
    }
    rules = Template((style / "window.qss").read_text(encoding="utf-8"))
    tones = (_rules_of(t, tone) for tone in ("soft", "muted", "focus", "ok", "warn", "bad"))
    # A style sheet cannot set the colour of a picture, so there is one of each theme.
    return rules.substitute(colours, style=style.as_posix()) + "".join(tones)


def _rules_of(theme: Theme, tone: str) -> str:
    colour = getattr(theme, tone)
    # Muted text must be readable on a soft background, too.
    quiet = theme.tinted(theme.muted if tone == "soft" else colour)
    return f"""
QLabel[tone="{tone}"] {{ color: {colour}; }}
QFrame#chip[tone="{tone}"], QFrame#notice[tone="{tone}"] {{ background: {theme.tinted(colour)}; }}
QFrame#inline[tone="{tone}"] {{ background: {quiet}; border-radius: 10px;
    border: 1px solid {mix(theme.card, colour, 0.45)}; }}
"""
