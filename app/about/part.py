"""How a part of the program is painted in the list of the About box."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.plain import wrapped
from app.theme import Theme, Weight, font

LICENCE = int(Qt.ItemDataRole.UserRole)
"""The role of the licence's name."""
_BESIDE, _ABOVE = 8, 5


class PartPainter(QStyledItemDelegate):
    """Name and version, and below them, muted, the whole name of the licence."""

    def __init__(self, parent: QListView, theme: Theme) -> None:
        super().__init__(parent)
        self._list, self._theme = parent, theme

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        high = sum(QFontMetrics(size).height() for _, size, _ in self._lines(index))
        return QSize(100, high + 2 * _ABOVE)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme, rect = self._theme, QRect(option.rect)  # type: ignore[attr-defined]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:  # type: ignore[attr-defined]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.raised if theme.dark else theme.line))
            painter.drawRoundedRect(QRectF(rect), 5, 5)
        box = rect.adjusted(_BESIDE, _ABOVE, -_BESIDE, 0)
        for text, size, colour in self._lines(index):
            painter.setFont(size)
            painter.setPen(QColor(colour))
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignTop, shown)
            box.setTop(box.top() + QFontMetrics(size).height())
        painter.restore()

    def _lines(self, index: QModelIndex | QPersistentModelIndex) -> list[tuple[str, QFont, str]]:
        """Return what is painted, line by line, with its font and colour."""
        width = self._list.viewport().width() - 2 * _BESIDE
        parts = (
            (index.data(), font(13, Weight.Medium), self._theme.text),
            (index.data(LICENCE), font(12), self._theme.muted),
        )
        return [
            (line, size, colour)
            for text, size, colour in parts
            for line in wrapped(text, size, width)
        ]
