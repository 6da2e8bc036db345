"""A theme for Qt: its palette, and the style sheet for the components."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from app.colour import mix
from app.theme import Theme, font, load_fonts
from workbench.paths import RESOURCES

FUSION = ("-style", "Fusion")
"""Arguments of every application with widgets."""


def apply(app: QApplication, theme: Theme) -> None:
    """Apply a theme to the whole application; it may be called again with another."""
    sheet = stylesheet(theme)
    if app.styleSheet() == sheet:
        return
    if not app.styleSheet():
        load_fonts()
        app.setFont(font(13))
    app.setPalette(palette(theme))
    if app.styleSheet():
        _replace(app, sheet)
    else:
        app.setStyleSheet(sheet)


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
    """Rules for the components: frames by object name, buttons by the property `kind`.

    Frames: card, sunken, floating, rail, top, hair. Buttons: primary (one a page), plain
    (no property), danger, ghost. Labels: property
    `tone` = soft, muted, ok, warn, bad. A chip is a QFrame with object name chip and a `tone`.
    """
    t = theme
    hover = mix(t.card, t.text, 0.06)
    down = mix(t.card, t.text, 0.12)
    chosen = t.raised if t.dark else t.line

    # A style sheet cannot set the colour of a picture.
    check, chevron = (
        (RESOURCES / "style" / f"{name}-{t.name}.svg").as_posix()
        for name in ("check", "chevron-down")
    )

    def quiet(tone: str, colour: str) -> str:
        """Muted text must be readable on a soft background, too."""
        return t.tinted(t.muted if tone == "soft" else colour)

    tones = "\n".join(
        f'QLabel[tone="{tone}"] {{ color: {colour}; }}'
        f'QFrame#chip[tone="{tone}"] {{ background: {t.tinted(colour)}; }}'
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
{tones}
QFrame#card {{ background: {t.card}; border: 1px solid {t.line}; border-radius: 10px; }}
QFrame#sunken {{ background: {t.sunken}; border: 1px solid {t.line}; border-radius: 8px; }}
QFrame#floating {{ background: {t.floating}; border: 1px solid {t.line2}; border-radius: 10px; }}
QFrame#rail {{ background: {t.rail}; border: none; border-right: 1px solid {t.line}; }}
QFrame#top {{ background: {t.rail}; border: none; border-bottom: 1px solid {t.line}; }}
QFrame#hair {{ background: {t.line}; border: none; }}
QFrame#drawer {{ background: {t.card}; border: none; border-top: 1px solid {t.line2}; }}
QFrame#notice {{ border: none; border-bottom: 1px solid {t.line}; }}
QSplitter::handle {{ background: {t.line}; }}
QFrame#chip {{ border: none; border-radius: 11px; min-height: 22px; max-height: 22px; }}
QPushButton {{ background: {t.card}; color: {t.text}; border: 1px solid {t.edge};
    border-radius: 7px; padding: 0 12px; min-height: 30px; font-weight: 500; }}
QPushButton:hover {{ background: {hover}; }}
QPushButton:pressed, QPushButton:checked {{ background: {down}; }}
QPushButton:checked {{ border-color: {t.text}; }}
QPushButton:disabled {{ color: {t.muted}; border-color: {t.line2}; }}
QPushButton:focus {{ border: 2px solid {t.focus}; padding: 0 11px; min-height: 28px; }}
QPushButton:focus, QToolButton:focus, QComboBox:focus {{ outline: none; }}
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
QPushButton[kind="link"] {{ background: transparent; border: 1px solid transparent; padding: 0;
    min-height: 16px; text-align: left; font-weight: 400; color: {t.muted};
    text-decoration: underline; }}
QPushButton[kind="link"]:hover {{ color: {t.text}; }}
QPushButton[kind="link"]:focus {{ border: 1px solid {t.focus}; padding: 0; min-height: 16px; }}
QPushButton[kind="tab"] {{ background: transparent; border: 1px solid transparent;
    color: {t.muted}; padding: 0 10px; min-height: 26px; }}
QPushButton[kind="tab"]:hover {{ background: {hover}; }}
QPushButton[kind="tab"]:checked {{ background: {chosen}; color: {t.text};
    border-color: {t.line2}; }}
QPushButton[kind="tab"]:focus {{ border: 2px solid {t.focus}; padding: 0 9px; min-height: 24px; }}
QFrame#segments {{ background: {t.sunken}; border: 1px solid {t.line2}; border-radius: 8px; }}
QPushButton[kind="segment"] {{ background: transparent; border: 1px solid transparent;
    border-radius: 6px; color: {t.muted}; padding: 0 2px; min-height: 26px; font-size: 12px; }}
QPushButton[kind="segment"]:hover {{ color: {t.soft}; }}
QPushButton[kind="segment"]:checked {{ background: {t.raised if t.dark else t.card};
    border-color: {t.edge}; color: {t.text}; }}
QPushButton[kind="segment"]:focus {{ border: 2px solid {t.focus}; padding: 0 1px;
    min-height: 24px; }}
QToolButton[kind="rail"] {{ background: transparent; border: 2px solid transparent;
    border-radius: 8px; color: {t.muted}; padding: 4px 0 2px 0; }}
QToolButton[kind="rail"]:hover {{ background: {mix(t.rail, t.text, 0.06)}; }}
QToolButton[kind="rail"]:checked {{ background: {t.raised}; color: {t.text}; }}
QToolButton[kind="rail"]:focus {{ border-color: {t.focus}; }}
QLineEdit, QComboBox, QPlainTextEdit {{ background: {t.sunken}; color: {t.text};
    border: 1px solid {t.edge}; border-radius: 7px; padding: 0 10px;
    selection-background-color: {t.focus}; selection-color: {t.on_primary};
    placeholder-text-color: {t.muted}; }}
QLineEdit, QComboBox {{ min-height: 30px; }}
QLineEdit:read-only {{ background: transparent; border-color: {t.line2}; color: {t.soft}; }}
QPlainTextEdit {{ padding: 6px 8px; }}
QComboBox {{ padding: 0 4px 0 10px; }}
QComboBox:disabled {{ color: {t.muted}; border-color: {t.line2}; }}
QComboBox::drop-down {{ border: none; background: transparent; width: 22px; }}
QComboBox::down-arrow {{ image: url("{chevron}"); width: 14px; height: 14px; }}
QComboBox QAbstractItemView {{ background: {t.floating}; color: {t.text};
    border: 1px solid {t.line2}; selection-background-color: {chosen};
    selection-color: {t.text}; }}
QLineEdit:focus, QComboBox:focus, QPlainTextEdit:focus {{
    border: 2px solid {t.focus}; padding: 0 9px; }}
QLineEdit:focus, QComboBox:focus {{ min-height: 28px; }}
QComboBox:focus {{ padding: 0 3px 0 9px; }}
QPlainTextEdit:focus {{ padding: 5px 7px; }}
QPlainTextEdit[kind="log"] {{ border: none; border-radius: 0; padding: 6px 18px; }}
QPlainTextEdit[kind="log"]:focus {{ border: 2px solid {t.focus}; padding: 4px 16px; }}
QPlainTextEdit#code {{ background: {t.card}; color: {t.soft}; border: 2px solid transparent;
    border-radius: 8px; padding: 0; }}
QPlainTextEdit#code:focus {{ border-color: {t.focus}; padding: 0; }}
QPlainTextEdit[kind="figures"] {{ padding: 3px 8px 2px 8px; }}
QPlainTextEdit[kind="figures"]:focus {{ padding: 2px 7px 1px 7px; }}
QLineEdit[tone="warn"] {{ border-color: {t.warn}; }}
QLineEdit[tone="bad"], QPlainTextEdit[tone="bad"] {{ border-color: {t.bad}; }}
QCheckBox, QRadioButton {{ spacing: 8px; min-height: 26px; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.muted}; }}
QCheckBox:focus, QRadioButton:focus {{ outline: none; }}
QCheckBox::indicator, QRadioButton::indicator, QAbstractItemView::indicator {{ width: 16px;
    height: 16px; background: {t.sunken}; border: 1px solid {t.edge}; border-radius: 5px; }}
QRadioButton::indicator {{ border-radius: 9px; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{ background: {t.primary};
    border-color: {t.primary}; image: url("{check}"); }}
QRadioButton::indicator:checked {{ width: 6px; height: 6px; background: {t.on_primary};
    border: 6px solid {t.primary}; }}
QCheckBox::indicator:disabled {{ background: {t.sunken}; border-color: {t.line2}; }}
QCheckBox::indicator:focus, QRadioButton::indicator:focus:!checked {{ width: 14px; height: 14px;
    border: 2px solid {t.focus}; }}
QRadioButton::indicator:checked:focus {{ border-color: {t.focus}; }}
QTableView, QTreeView, QListView {{ background: {t.card}; color: {t.text}; border: none;
    gridline-color: {t.line}; selection-background-color: {chosen}; selection-color: {t.text};
    outline: none; }}
QTableView::item, QTreeView::item {{ border-bottom: 1px solid {t.line}; padding: 0 8px; }}
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected {{
    background: {chosen}; color: {t.text}; }}
QListView[kind="framed"] {{ background: {t.sunken}; border: 1px solid {t.edge}; padding: 3px;
    border-radius: 7px; }}
QListView[kind="framed"]:focus {{ padding: 2px; }}
QListView[kind="ticks"], QListView[kind="tags"] {{ background: transparent;
    border: 2px solid transparent; border-radius: 7px; }}
QListView[kind="ticks"]::item {{ padding: 0; border-radius: 5px; }}
QListView[kind="ticks"]::item:focus {{ background: {chosen}; }}
QListView[kind="tags"]::item {{ background: {t.sunken}; border: 1px solid {t.line2};
    border-radius: 7px; margin: 0 6px 6px 0; padding: 0 6px; }}
QListView[kind="tags"]::item:selected {{ border-color: {t.text}; background: {chosen}; }}
QListView[kind="bars"], QListView[kind="bars"]:focus {{ background: transparent; border: none; }}
QTableView[kind="presets"] {{ background: transparent; }}
QTableView[kind="presets"]::item {{ padding: 6px 0; border: none; }}
QTableView:focus, QTreeView:focus, QListView:focus, QListView[kind="ticks"]:focus,
QListView[kind="tags"]:focus {{ border: 2px solid {t.focus}; }}
QTableView[kind="rows"], QTableView[kind="rows"]:focus {{
    border: 2px solid transparent; border-radius: 9px; }}
QHeaderView::section {{ background: {t.card}; color: {t.muted}; border: none;
    border-bottom: 1px solid {t.line2}; padding: 4px 8px; font-size: 11px; font-weight: 500; }}
QMessageBox QLabel#qt_msgbox_label {{ font-size: 15px; font-weight: 600; min-width: 380px; }}
QMessageBox QLabel#qt_msgbox_informativelabel {{ color: {t.soft}; min-width: 380px; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QMessageBox QDialogButtonBox, QInputDialog QDialogButtonBox {{ padding-top: 8px; }}
QProgressBar {{ background: {t.sunken}; border: 1px solid {t.line2}; border-radius: 3px; }}
QProgressBar::chunk {{ background: {t.text}; border-radius: 2px; }}
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
QMenu::item {{ padding: 6px 28px 6px 14px; border-radius: 5px; }}
QMenu::item:selected {{ background: {chosen}; }}
QMenu::item:disabled {{ color: {t.muted}; }}
"""
