"""Components of a machine's cards: a header, and lines with an icon."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.plain import Label
from app.theme import LIGHT, Theme, Weight, icon_pixmap
from app.widgets import GAP, column, label, row

WIDEST = 2 * 700 + GAP
"""How wide two cards beside each other are at most."""
SIGNS = {
    "ok": "circle-check",
    "warn": "triangle-alert",
    "bad": "circle-x",
    "focus": "activity",
    "muted": "info",
}


class Sign(Label):
    """A small icon in the colour of its tone."""

    def __init__(self, tone: str, icon: str = "") -> None:
        super().__init__()
        self._tone, self._icon = tone, icon or SIGNS[tone]
        self._theme = LIGHT
        self.setFixedSize(16, 18)
        self.set_theme(self._theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.setPixmap(icon_pixmap(self._icon, getattr(theme, self._tone), 15))


class Card(QFrame):
    """A title with a muted remark and buttons at its right, and a body."""

    def __init__(self, title: str, theme: Theme = LIGHT) -> None:
        super().__init__()
        self.setObjectName("card")
        self.theme, self._content = theme, ""
        inside = column(self, margin=16, gap=10)
        self.head = row(gap=8)
        self.title = label(title, 14, Weight.DemiBold)
        self.aside = label("", 12, tone="muted")
        self.head.addWidget(self.title)
        self.head.addStretch(1)
        self.head.addWidget(self.aside)
        inside.addLayout(self.head)
        self.body = QVBoxLayout()
        self.body.setSpacing(6)
        inside.addLayout(self.body)
        self.foot = row()
        inside.addLayout(self.foot)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme

    def news(self, *what: object) -> bool:
        """Whether the content differs from the last: only then the card is rebuilt."""
        before, self._content = self._content, repr(what)
        return before != self._content


def remark(tone: str, text: str, strong: str = "", *, faded: bool = False) -> QWidget:
    """Return a sentence with its icon; `strong` comes before it. `faded`: without colour."""
    made = QWidget()
    across: QHBoxLayout = row(made, gap=8)
    sign = Sign("muted" if faded else tone, SIGNS[tone])
    across.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
    if strong:
        name = label(strong, 13, Weight.Medium)
        name.setFixedWidth(108)
        name.setWordWrap(True)
        across.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
    text_label = label(text, 13, tone="muted" if faded else "soft", wrap=True)
    text_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    across.addWidget(text_label, 1)
    made.setAccessibleName(f"{strong}: {text}" if strong else text)
    return made
