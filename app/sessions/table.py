"""The rows of the list of sessions: their texts, and how they sort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from app.plain import tip
from app.words import ended, told_apart, when
from workbench import formatting
from workbench.sessions.library import Shelved

COLUMNS = ("Session", "Started", "Servers", "Ended", "Size")
SESSION = Qt.ItemDataRole.UserRole
_SORT = SESSION + 1
TONE = SESSION + 2

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


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
            return _RIGHT if COLUMNS[section] == "Size" else LEFT
        return COLUMNS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        answer = _ANSWERS.get(role)
        if answer is None:
            return None
        session = self.sessions[index.row()]
        return answer(session, COLUMNS[index.column()], self.names[session.path])


class Found(QSortFilterProxyModel):
    """The rows that contain every word searched for."""

    def __init__(self, model: SessionsModel) -> None:
        super().__init__()
        self._model = model
        self._search: list[str] = []
        self.setSourceModel(model)
        self.setSortRole(_SORT)

    def search(self, text: str) -> None:
        self.beginFilterChange()
        self._search = text.casefold().split()
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        return self._model.matches(row, self._search)

    def names(self) -> set[str]:
        """Return what the sessions are called, also those that are filtered out."""
        return set(self._model.names.values())

    def session(self, row: int) -> Shelved:
        """Return a row by its place among those found."""
        found: Shelved = self.index(row, 0).data(SESSION)
        return found


def servers(session: Shelved) -> str:
    """Return the servers as "5: gevent, Tornado, Twisted, trio, curio"."""
    names = [record.name for record in session.start.servers] if session.start else []
    return f"{f'{len(names)}: ' if len(names) > 1 else ''}{', '.join(names)}"


def size(session: Shelved) -> str:
    return formatting.size(session.size_bytes)


def _text(session: Shelved, column: str, name: str) -> str:
    return {
        "Session": lambda: name,
        "Started": lambda: when(session.start),
        "Servers": lambda: servers(session),
        "Ended": lambda: ended(session),
        "Size": lambda: size(session),
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
    Qt.ItemDataRole.TextAlignmentRole: lambda _, column, name: _RIGHT if column == "Size" else None,
    SESSION: lambda session, _, name: session,
    _SORT: _order,
    TONE: lambda session, column, name: _tone(session) if column == "Ended" else "soft",
}
