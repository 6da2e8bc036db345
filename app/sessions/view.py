"""The painted list of sessions."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPointF, QRectF, QSize, QSizeF, Qt
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
from app.painted import mark_chosen
from app.sessions.table import COLUMNS, LEFT, SESSION, TONE, Found, Index
from app.sessions.thumbnail import Outlines, paint_outline
from app.sorting import SortedHead
from app.theme import Theme, Weight, font
from app.words import when
from workbench.formatting import capital
from workbench.sessions.library import Shelved

_ROW_PX = 66
_LEAST_ROWS = 4
_THUMB, _SMALL_THUMB = QSize(88, 50), QSize(58, 34)
_TITLE_PX, _LINE_PX = 12, 20
"""Where text starts from above, and the height of a line."""
_WITHOUT_SERVERS = 640
_WIDE, _NARROW = {"Started": 152, "Ended": 112, "Size": 76}, {"Started": 100, "Ended": 104}
"""Widths of columns, and where there is no room for the servers."""
_SERVERS = 160
"""The least width of their column."""
_AROUND = 14
"""The border of the list, and its scroll bar."""


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
        self._room = 0
        found.modelReset.connect(self._share)
        found.dataChanged.connect(lambda *_: self._share())
        Outlines.of(desk).changed.connect(self.viewport().update)

    def set_theme(self, theme: Theme) -> None:
        # A permanent border, or the rows would move with the focus.
        self.setStyleSheet(
            "QTreeView { border: 2px solid transparent; border-radius: 9px; }"
            f"QTreeView:focus {{ border-color: {theme.focus}; }}"
        )

    def arrange(self, room: int) -> None:
        """Hide some columns in a small window: titles need the space."""
        self._room, narrow = room, room < _WITHOUT_SERVERS
        self._delegate.narrow = narrow
        for name in ("Servers", "Size"):
            self.setColumnHidden(COLUMNS.index(name), narrow)
        for name, width in (_NARROW if narrow else _WIDE).items():
            self.header().resizeSection(COLUMNS.index(name), width)
        self._share()

    def least(self, sessions: int) -> int:
        """Return the least useful height for this number of sessions: a few rows, or all."""
        rows = min(sessions, _LEAST_ROWS) * _ROW_PX
        return self.header().sizeHint().height() + rows + _AROUND

    def _share(self) -> None:
        """Give the titles what they need, up to two thirds, and the servers the rest."""
        found = self.model()
        assert isinstance(found, Found)
        rest = self._room - sum(_WIDE.values())
        wide = QFontMetricsF(font(13, Weight.DemiBold)).horizontalAdvance
        title = round(max(map(wide, found.names()), default=0)) + self._delegate.before + 8
        servers = max(_SERVERS, rest - min(title + _AROUND, 2 * rest // 3))
        self.header().resizeSection(COLUMNS.index("Servers"), servers)

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
        self.narrow = False
        """Are pictures and dates short?"""

    @property
    def _thumb(self) -> QSize:
        return _SMALL_THUMB if self.narrow else _THUMB

    @property
    def before(self) -> int:
        """Where text starts, from the left."""
        return 12 + self._thumb.width() + 14

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
            self._paint_session(painter, cell, index, theme)
            if chosen:
                mark_chosen(painter, cell, 8, QColor(theme.text))
        else:
            inside = QRectF(cell.left() + 8, cell.top() + _TITLE_PX, cell.width() - 16, _LINE_PX)
            colour = getattr(theme, index.data(TONE))
            right = index.data(Qt.ItemDataRole.TextAlignmentRole)
            figures = COLUMNS[index.column()] in ("Started", "Size")
            size = font(13, figures=figures)
            text = str(index.data() or "")
            if self.narrow and COLUMNS[index.column()] == "Started":
                text = when(index.data(SESSION).start, short=True)
            _line(painter, inside, text, size, colour, right or LEFT)
        painter.restore()

    def _paint_session(self, painter: QPainter, cell: QRectF, index: Index, theme: Theme) -> None:
        thumb = QRectF(QPointF(cell.left() + 12, 0), QSizeF(self._thumb))
        thumb.moveTop(cell.top() + (cell.height() - 1 - thumb.height()) / 2)
        known = self._outlines.get(index.data(SESSION))
        paint_outline(painter, thumb, known, theme)
        box = QRectF(cell.left() + self.before, cell.top() + _TITLE_PX, 0, _LINE_PX)
        box.setRight(cell.right() - 8)
        _line(painter, box, index.data(), font(13, Weight.DemiBold), theme.text, LEFT)

    def paint_second(self, painter: QPainter, whole: QRectF, session: Shelved) -> None:
        """Paint a session's error, its user's note, or its result, below all columns."""
        known = self._outlines.get(session)
        text = capital(session.problem) or " ".join(session.label.notes.split())
        if not text and known:
            text = known.summary or "No complete points."
        room = QRectF(whole.left() + self.before, whole.top() + _TITLE_PX + 21, 0, _LINE_PX)
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
