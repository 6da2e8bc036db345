"""The painted list of sessions."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
)

from app.context import Desk
from app.sessions.table import COLUMNS, LEFT, SESSION, TONE, Found, Index, sentence
from app.sessions.thumbnail import Outlines, paint_outline
from app.sorting import SortedHead
from app.theme import Theme, Weight, font
from workbench.sessions.library import Shelved

_ROW_PX = 66
_THUMB = QSize(88, 50)
_TEXT_PX = 12 + _THUMB.width() + 14
_TITLE_PX, _LINE_PX = 12, 20
"""Where text starts, from the left and from above, and the height of a line."""
_WITHOUT_SERVERS = 640


class SessionsView(QTreeView):
    """Rows of sessions."""

    def __init__(self, desk: Desk, found: Found) -> None:
        super().__init__()
        self.setHeader(SortedHead())
        self.header().setDefaultAlignment(LEFT)
        self.setAccessibleName("Sessions")
        self.setModel(found)
        self._delegate = SessionDelegate(desk)
        self.setItemDelegate(self._delegate)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSortingEnabled(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.set_theme(desk.theme)
        header = self.header()
        header.setStretchLastSection(False)
        fixed = QHeaderView.ResizeMode.Fixed
        header.setSectionResizeMode(fixed)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for name, width in {"Started": 152, "Ended": 112, "Size": 76}.items():
            header.resizeSection(COLUMNS.index(name), width)
        Outlines.of(desk).changed.connect(self.viewport().update)

    def set_theme(self, theme: Theme) -> None:
        # A permanent border, or the rows would move with the focus.
        self.setStyleSheet(
            "QTreeView { border: 2px solid transparent; border-radius: 9px; }"
            f"QTreeView:focus {{ border-color: {theme.focus}; }}"
        )

    def arrange(self, room: int) -> None:
        """Hide some columns in a small window: titles need the space."""
        servers = COLUMNS.index("Servers")
        self.header().resizeSection(servers, max(160, (room - 340) // 3))
        self.setColumnHidden(servers, room < _WITHOUT_SERVERS)
        self.setColumnHidden(COLUMNS.index("Size"), room < _WITHOUT_SERVERS)

    def drawRow(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        super().drawRow(painter, option, index)
        painter.save()
        self._delegate.paint_second(painter, QRectF(option.rect), index.data(SESSION))
        painter.restore()

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        self.scrollTo(current)


class SessionDelegate(QStyledItemDelegate):
    """Draws thumbnail and title in the first column, one line in the others, and a
    sentence below.
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._outlines = Outlines.of(desk)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, _ROW_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._desk.theme
        painter.save()
        cell = QRectF(option.rect)
        chosen = option.state & QStyle.StateFlag.State_Selected
        painter.fillRect(cell, QColor(theme.raised if chosen else theme.card))
        painter.fillRect(
            QRectF(cell.left(), cell.bottom() - 1, cell.width(), 1), QColor(theme.line)
        )
        if index.column() == 0:
            self._paint_session(painter, cell, index.data(SESSION), theme)
            if chosen:
                bar = QRectF(cell.left(), cell.top() + 8, 3, cell.height() - 17)
                painter.fillRect(bar, QColor(theme.text))
        else:
            inside = QRectF(cell.left() + 8, cell.top() + _TITLE_PX, cell.width() - 16, _LINE_PX)
            colour = getattr(theme, index.data(TONE))
            right = index.data(Qt.ItemDataRole.TextAlignmentRole)
            figures = COLUMNS[index.column()] in ("Started", "Size")
            size = font(13, figures=figures)
            _line(painter, inside, str(index.data() or ""), size, colour, right or LEFT)
        painter.restore()

    def _paint_session(
        self, painter: QPainter, cell: QRectF, session: Shelved, theme: Theme
    ) -> None:
        thumb = QRectF(cell.left() + 12, 0, _THUMB.width(), _THUMB.height())
        thumb.moveTop(cell.top() + (cell.height() - 1 - thumb.height()) / 2)
        known = self._outlines.get(session)
        paint_outline(painter, thumb, known, theme)
        box = QRectF(cell.left() + _TEXT_PX, cell.top() + _TITLE_PX, 0, _LINE_PX)
        box.setRight(cell.right() - 8)
        _line(painter, box, session.title, font(13, Weight.DemiBold), theme.text, LEFT)

    def paint_second(self, painter: QPainter, whole: QRectF, session: Shelved) -> None:
        """Paint a session's error, its user's note, or its result, below all columns."""
        known = self._outlines.get(session)
        text = sentence(session.problem) or " ".join(session.label.notes.split())
        if not text and known:
            text = known.summary or "No complete points."
        room = QRectF(whole.left() + _TEXT_PX, whole.top() + _TITLE_PX + 21, 0, _LINE_PX)
        room.setRight(whole.right() - 8)
        _line(painter, room, text, font(12), self._desk.theme.muted, LEFT)


def _line(  # noqa: PLR0917 - read like QPainter.drawText
    painter: QPainter,
    room: QRectF,
    text: str,
    size: QFont,
    colour: str,
    align: Qt.AlignmentFlag,
) -> None:
    elide = Qt.TextElideMode.ElideRight
    shown = QFontMetricsF(size).elidedText(text, elide, room.width())
    painter.setFont(size)
    painter.setPen(QColor(colour))
    painter.drawText(room, int(align), shown)
