"""The head of the table of a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QStyleOptionHeader

from app.charts.drawing import draw_text, text_width
from app.sorting import SortedHead
from app.theme import Theme, Weight, font
from workbench.comparison.table import Column

HEIGHT = 44
_TITLE_Y, _PADDING, _ARROW = 31, 6, 3.5
"""The middle of the titles, the room beside them, and half of the width of the arrow."""
_AROUND = 10
"""Pixels beside the name of a group, which is cut where less of it is in view."""
_GRIP = 6
"""Pixels at the edge of a column with which its width is changed."""


class FiguresHead(SortedHead):
    """Two lines: what several columns have in common, and each column's own title."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.columns: Sequence[Column] = ()
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(24)
        self.setFixedHeight(HEIGHT)

    @property
    def names(self) -> QRect:
        """The head of the names, which stays in place while the other columns scroll."""
        return QRect(0, 0, self.sectionSize(0), self.height())

    def edge(self, height: int) -> QRect:
        """Return the line to the right of the names, where columns are scrolled beneath them."""
        return QRect(self.names.right(), 0, 1, height)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:
        super().initStyleOptionForIndex(option, section)
        option.sortIndicator = QStyleOptionHeader.SortIndicator.None_  # type: ignore[attr-defined]

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Draw the arrow beside the title; Qt would draw it above, among the groups."""
        super().paintSection(painter, rect, section)
        if section != self.sortIndicatorSection() or not self.isSortIndicatorShown():
            return
        title = self.model().headerData(section, Qt.Orientation.Horizontal)
        beside = _PADDING + text_width(title, font(11, Weight.Medium)) + _ARROW
        x = rect.right() - beside if section > 1 else rect.left() + beside
        down = self.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        tip = _ARROW / 2 if down else -_ARROW / 2
        points = (-_ARROW, -tip), (_ARROW, -tip), (0.0, tip)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.soft))
        painter.drawPolygon([QPointF(x + across, _TITLE_Y + along) for across, along in points])
        painter.restore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(self._in_place(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(self._in_place(event))

    def _in_place(self, event: QMouseEvent) -> QMouseEvent:
        """Return the event where the head of the names would be if it scrolled."""
        at = event.position()
        if not self.offset() or at.x() >= self.names.right() - _GRIP:
            return event
        button, buttons, keys = event.button(), event.buttons(), event.modifiers()
        at -= QPointF(self.offset(), 0)
        return QMouseEvent(event.type(), at, event.globalPosition(), button, buttons, keys)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        size = font(11, Weight.Medium)
        beside = self.names.width() if self.offset() else 0
        seen = [(n, c) for n, c in enumerate(self.columns) if not self.isSectionHidden(n)]
        for name in dict.fromkeys(c.group for _, c in seen if c.group):
            places = [n for n, c in seen if c.group == name]
            end = self.sectionViewportPosition(places[-1]) + self.sectionSize(places[-1])
            left = max(beside, self.sectionViewportPosition(places[0]))
            right = min(end, self.viewport().width())
            room = right - left - _AROUND
            if room <= 0:
                continue
            said = QFontMetricsF(size).elidedText(name, Qt.TextElideMode.ElideRight, room)
            at = QPointF((left + right) / 2 + 1, 11)
            draw_text(painter, at, said, size, self.theme.soft, "middle")
            painter.setPen(QPen(QColor(self.theme.line2), 1))
            painter.drawLine(left + 10, 20, right - 8, 20)
        if beside:
            painter.fillRect(self.names, QColor(self.theme.card))
            self.paintSection(painter, self.names, 0)
            painter.fillRect(self.edge(self.height()), QColor(self.theme.line2))
        painter.end()
