"""The list of sessions: its rows, their order, and how they are painted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPointF,
    QRectF,
    QSizeF,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView

from app.context import Desk
from app.painted import write
from app.plain import tip
from app.sessions.thumbnail import Outlines, paint_outline
from app.table import LEFT, ORDER, RIGHT, TONE, Cells, FixedTable, Index, Ordered
from app.theme import Weight, font
from app.words import ended, told_apart, when
from workbench import formatting
from workbench.formatting import capital
from workbench.sessions.library import Shelved

COLUMNS = ("Session", "Started", "Servers", "Ended", "Size")
SESSION = Qt.ItemDataRole.UserRole
_NOWHERE = QModelIndex()
_ROW_PX = 66
_LEAST_ROWS = 4
_THUMB = QSizeF(72, 44)
_TEXT_PX = 12 + 72 + 12
"""Where texts start, from the left."""
_TITLE_PX, _LINE_PX = 12, 20
"""Where text starts from above, and the height of a line."""
_WITHOUT_SERVERS = 640
_WIDTHS = {"Started": 100, "Ended": 104, "Size": 76}
_SERVERS = 160
"""The least width of their column."""
_AROUND = 14
"""The border of the list, and its scroll bar."""


class SessionsModel(QAbstractTableModel):
    """The shelf, one row per session."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: Sequence[Shelved] = ()
        self.names: dict[Path, str] = {}
        """Titles by file, told apart."""
        self._texts: list[str] = []

    def set_sessions(self, sessions: Sequence[Shelved]) -> None:
        """Report changed rows only; a session that grows must not move the list."""
        before, named = self.sessions, self.names
        names = told_apart([(each.title, each.start, each.path) for each in sessions])
        if [session.path for session in sessions] != [session.path for session in before]:
            self.beginResetModel()
            self.sessions, self.names = sessions, names
            self._texts = [_searched(session) for session in sessions]
            self.endResetModel()
            return
        self.sessions, self.names = sessions, names
        for row, (old, new) in enumerate(zip(before, sessions, strict=True)):
            if _shown(old) != _shown(new) or named[old.path] != names[new.path]:
                self._texts[row] = _searched(new)
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))

    def matches(self, row: int, search: Sequence[str]) -> bool:
        """Whether the row contains all the words of the search, which are in lower case."""
        return all(word in self._texts[row] for word in search)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.sessions)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if COLUMNS[section] == "Size" else LEFT
        return COLUMNS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        answer = _ANSWERS.get(role)
        if answer is None:
            return None
        session = self.sessions[index.row()]
        return answer(session, COLUMNS[index.column()], self.names[session.path])


class Found(Ordered):
    """The rows that contain every word searched for."""

    def __init__(self, model: SessionsModel) -> None:
        super().__init__()
        self._model = model
        self._search: list[str] = []
        self.setSourceModel(model)

    def search(self, text: str) -> None:
        self.beginFilterChange()
        self._search = text.casefold().split()
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        return self._model.matches(row, self._search)

    def session(self, row: int) -> Shelved:
        """Return a row by its place among those found."""
        return self.index(row, 0).data(SESSION)


def servers(session: Shelved) -> str:
    """Return the servers as "5: gevent, Tornado, Twisted, trio, curio"."""
    names = [record.name for record in session.start.servers] if session.start else []
    return f"{f'{len(names)}: ' if len(names) > 1 else ''}{', '.join(names)}"


def _text(session: Shelved, column: str, name: str) -> str:
    return {
        "Session": lambda: name,
        "Started": lambda: when(session.start, short=True),
        "Servers": lambda: servers(session),
        "Ended": lambda: ended(session),
        "Size": lambda: formatting.size(session.size_bytes),
    }[column]()


def _tip(session: Shelved, column: str, name: str) -> str:
    if column == "Servers" and session.start:
        text = ", ".join(record.name for record in session.start.servers)
    elif column == "Ended" and session.stop:
        text = session.stop.reason
    else:
        text = session.problem or session.label.notes or str(session.path)
    return tip(text)


def _order(session: Shelved, column: str, name: str) -> Any:
    if column == "Started":
        return session.start.started_utc if session.start else ""
    if column == "Size":
        return session.size_bytes
    if column == "Servers":
        return len(session.start.servers) if session.start else 0
    return _text(session, column, name).casefold()


def _tone(session: Shelved) -> str:
    if session.start is None:
        return "bad"
    if session.stop is None:
        return "ok" if session.growing else "warn"
    return {"done": "muted", "failed": "bad"}.get(session.stop.status, "warn")


def _searched(session: Shelved) -> str:
    start = session.start
    texts = [session.title, session.label.notes, session.path.name, when(start), ended(session)]
    if start:
        texts.append(start.plan.get("name", ""))
        texts += [f"{record.name} {record.id} {record.version}" for record in start.servers]
        texts += [machine.name for machine in start.machines]
    return " ".join(texts).casefold()


def _shown(session: Shelved) -> object:
    return session.identity, session.label, session.growing, session.problem


def _accessible_text(session: Shelved, column: str, name: str) -> str:
    """Return the accessible text of the whole row for its title."""
    columns = COLUMNS if column == "Session" else (column,)
    return ", ".join(filter(None, (_text(session, each, name) for each in columns)))


_ANSWERS: dict[int, Callable[[Shelved, str, str], Any]] = {
    Qt.ItemDataRole.DisplayRole: _text,
    Qt.ItemDataRole.AccessibleTextRole: _accessible_text,
    Qt.ItemDataRole.ToolTipRole: _tip,
    Qt.ItemDataRole.TextAlignmentRole: lambda _, column, name: RIGHT if column == "Size" else LEFT,
    SESSION: lambda session, _, name: session,
    ORDER: lambda session, column, name: (0, _order(session, column, name)),
    TONE: lambda session, column, name: _tone(session) if column == "Ended" else "soft",
}


class SessionsView(FixedTable):
    """Rows of sessions: a thumbnail and a title, one line of facts, and a sentence below all."""

    def __init__(self, desk: Desk, found: Found) -> None:
        super().__init__("Sessions", row_px=_ROW_PX)
        self.setModel(found)
        self._cells = _Cells(self, desk)
        self.setItemDelegate(self._cells)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for name, width in _WIDTHS.items():
            self.setColumnWidth(COLUMNS.index(name), width)
        Outlines.of(desk).changed.connect(self.viewport().update)

    def arrange(self, room: int) -> None:
        """Hide some columns in a small window: titles need the space."""
        for name in ("Servers", "Size"):
            self.setColumnHidden(COLUMNS.index(name), room < _WITHOUT_SERVERS)
        rest = room - sum(_WIDTHS.values())
        self.setColumnWidth(COLUMNS.index("Servers"), max(_SERVERS, rest // 3))

    def least(self, sessions: int) -> int:
        """Return the least useful height for this number of sessions: a few rows, or all."""
        rows = min(sessions, _LEAST_ROWS) * _ROW_PX
        return self.horizontalHeader().sizeHint().height() + rows + _AROUND

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        for row in self.seen_rows():
            top = self.rowViewportPosition(row)
            whole = QRectF(0, top, self.viewport().width(), _ROW_PX)
            self._cells.paint_second(painter, whole, self.model().index(row, 0).data(SESSION))
        painter.end()

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:
        super().currentChanged(current, previous)
        self.scrollTo(current)


class _Cells(Cells):
    def __init__(self, table: SessionsView, desk: Desk) -> None:
        super().__init__(table)
        self._outlines = Outlines.of(desk)

    def paint_first(self, painter: QPainter, cell: QRectF, index: Index) -> None:
        theme = self.table.theme
        thumb = QRectF(QPointF(cell.left() + 12, 0), _THUMB)
        thumb.moveTop(cell.top() + (cell.height() - thumb.height()) / 2)
        known = self._outlines.get(index.data(SESSION))
        paint_outline(painter, thumb, known, theme)
        box = QRectF(cell.left() + _TEXT_PX, cell.top() + _TITLE_PX, 0, _LINE_PX)
        box.setRight(cell.right() - self.table.pad)
        write(painter, box, index.data(), font(13, Weight.DemiBold), theme.text)

    def paint_text(self, painter: QPainter, room: QRectF, index: Index) -> None:
        super().paint_text(
            painter, QRectF(room.left(), room.top() + _TITLE_PX, room.width(), _LINE_PX), index
        )

    def paint_second(self, painter: QPainter, whole: QRectF, session: Shelved) -> None:
        """Paint a session's error, its user's note, or its result, below all columns."""
        known = self._outlines.get(session)
        text = capital(session.problem) or " ".join(session.label.notes.split())
        if not text and known:
            text = known.summary or "No complete points."
        room = QRectF(whole.left() + _TEXT_PX, whole.top() + _TITLE_PX + 21, 0, _LINE_PX)
        room.setRight(whole.right() - self.table.pad)
        write(painter, room, text, font(12), self.table.theme.muted)
