"""One line of the events; one about a server or a point leads to it in the charts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.plain import tip
from app.theme import Theme, icon_pixmap
from app.widgets import label, row
from workbench import formatting

_AROUND = 5, 3, 4, 3
"""Pixels at the left, top, right and bottom, where the focus ring is."""


def entry(
    theme: Theme,
    t_us: int,
    text: str,
    *,
    is_warning: bool,
    lead: Callable[[], object] | None = None,
) -> QWidget:
    """Return a line; `lead`: shows in the charts what it is about."""
    made = _Link(theme, text, lead) if lead is not None else QWidget()
    line = row(made)
    line.setContentsMargins(*_AROUND)
    sign = label()
    name, tone = ("triangle-alert", "warn") if is_warning else ("info", "muted")
    sign.setPixmap(icon_pixmap(name, getattr(theme, tone), 14))
    when = label(formatting.clock(t_us / 1e6), 12, tone="muted", figures=True)
    when.setFixedWidth(38)
    said = label(text, 12, tone="soft", wrap=True)
    for part in (sign, when):
        line.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
    line.addWidget(said, 1)
    for part in (sign, when, said):
        part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, lead is not None)
    return made


class _Link(QAbstractButton):
    """Has a line's labels in its layout."""

    def __init__(self, theme: Theme, text: str, lead: Callable[[], object]) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(text)
        self.setToolTip(tip("Show it in the charts"))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)  # a button's own one keeps it as wide as its text
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(lambda _checked=False: lead())

    def paintEvent(self, event: QPaintEvent) -> None:
        if not (self.underMouse() or self.hasFocus()):
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QPen(QColor(self._theme.focus), 2) if self.hasFocus() else Qt.PenStyle.NoPen
        painter.setPen(ring)
        painter.setBrush(QColor(self._theme.raised))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)
        painter.end()
