"""The list of pages at the left edge of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QByteArray, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QToolButton

from app.painted import Painting
from app.theme import Theme, Weight, current, font, icon
from app.widgets import beside, column, give_reason, stack

_MARK = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<polyline points="3,27 18,12 29,15" fill="none" stroke="{line}" stroke-width="2.6"
 stroke-linecap="round" stroke-linejoin="round"/>
<circle cx="24" cy="6.5" r="3.6" fill="{dot}"/>
<rect x="1" y="1" width="30" height="30" rx="6" fill="none" stroke="{ring}" stroke-width="2"/>
</svg>"""
_LOWEST = 28
"""The least height of an entry without its name."""


class Rail(QFrame):
    """One entry per page, of which exactly one is checked; others switch something on and off."""

    WIDTH, NARROW = 84, 52

    def __init__(self, on_home: Callable[[], None]) -> None:
        super().__init__(objectName="rail")
        self.setFixedWidth(self.WIDTH)
        self.entries: dict[str, RailEntry] = {}
        self._pages: dict[str, RailEntry] = {}
        mark = _Mark()
        mark.clicked.connect(lambda _checked: on_home())
        self._top, self._foot = stack(gap=6), stack(gap=6)
        self._inside = column(
            self, beside(None, mark, None, gap=0), 8, self._top, None, self._foot, gap=6
        )
        self._set_sides(8)

    def add(
        self,
        name: str,
        icon: str,
        on_click: Callable[[], None],
        *,
        foot: bool = False,
        page: bool = True,
    ) -> RailEntry:
        """Add an entry, at the top or at the foot; `page`: it leads to a page and is checked while
        that is shown.
        """
        entry = RailEntry(name, icon)
        if page:
            self._pages[name] = entry
        entry.clicked.connect(lambda _checked: on_click())
        (self._foot if foot else self._top).addWidget(entry)
        self.entries[name] = entry
        return entry

    def set_narrow(self, narrow: bool) -> None:
        """Show icons only, which stand closer where there is no height for them; the names are tool
        tips.
        """
        self.setFixedWidth(self.NARROW if narrow else self.WIDTH)
        self._set_sides(4 if narrow else 8)
        for entry in self.entries.values():
            entry.set_narrow(narrow)

    def _set_sides(self, side: int) -> None:
        """Leave as much room beside the entries; to the right a pixel less, for the border."""
        self._inside.setContentsMargins(side, 14, side - 1, 14)

    def check(self, name: str) -> None:
        for id_, entry in self._pages.items():
            entry.setChecked(id_ == name)


class RailEntry(QToolButton):
    """An icon above a label; a badge is a dot beside the icon."""

    _size = QSize(68, 58)

    def __init__(self, name: str, icon: str) -> None:
        super().__init__(text=name, accessibleName=name, checkable=True, iconSize=QSize(20, 20))
        self._icon, self._badge = icon, ""
        self.setFont(font(12, Weight.Medium))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.set_narrow(False)
        self.setProperty("kind", "rail")
        self.toggled.connect(lambda _: self._paint_icon())
        self._paint_icon()

    def set_theme(self, theme: Theme) -> None:
        self._paint_icon()

    def set_narrow(self, narrow: bool) -> None:
        self._narrow = narrow
        style = Qt.ToolButtonStyle
        way = style.ToolButtonIconOnly if narrow else style.ToolButtonTextUnderIcon
        self.setToolButtonStyle(way)
        self._size = size = QSize(44, 44) if narrow else QSize(68, 58)
        self.setMaximumSize(size)
        self.setMinimumSize(QSize(size.width(), _LOWEST) if narrow else size)
        self.updateGeometry()
        self.set_badge(self._badge, self.accessibleDescription())

    def sizeHint(self) -> QSize:
        return self._size

    def set_badge(self, tone: str, about: str = "") -> None:
        """Set the badge: a dot in a tone of the theme (empty: none), and its meaning."""
        self._badge = tone
        give_reason(self, about, self.text() if self._narrow else "")
        self.update()

    def _paint_icon(self) -> None:
        colour = current().text if self.isChecked() else current().muted
        self.setIcon(icon(self._icon, colour, 20))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.isChecked() and not self._badge:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.isChecked():
            painter.setBrush(QColor(current().text))
            high = min(22, self.height() - 12)
            painter.drawRoundedRect(QRectF(0, (self.height() - high) / 2, 3, high), 1.5, 1.5)
        if self._badge:
            painter.setBrush(QColor(getattr(current(), self._badge)))
            at = QPointF(self.width() / 2 + 14, min(12, self.height() / 2 - 8))
            painter.drawEllipse(at, 4, 4)
        painter.end()


class _Mark(Painting, QAbstractButton):
    """The program's logo: a line that follows the ideal and then drops."""

    def __init__(self) -> None:
        super().__init__(accessibleName="Start", toolTip="Start")
        self.setFixedSize(32, 32)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paint(self, painter: QPainter) -> None:
        ring = self.theme.focus if self.hasFocus() else "none"
        mark = _MARK.format(line=self.theme.text, dot=self.theme.hues[4], ring=ring)
        QSvgRenderer(QByteArray(mark.encode())).render(painter, QRectF(self.rect()))
