"""The servers as rows: ticks, search, order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)

from app.plain import tip
from app.servers.columns import COLUMNS, Given, haystack
from app.servers.known import KINDS, Known

KNOWN = Qt.ItemDataRole.UserRole
Index: TypeAlias = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()


class Rows(QAbstractTableModel):
    """All servers; ticks are by id, as only one server of an id can be compared."""

    ticks_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.servers: list[Known] = []
        self.ticked: list[str] = []
        """Ids, in the order in which they were ticked."""
        self.unsaved: Collection[str] = ()
        """Keys of servers with unsaved changes."""
        self._haystacks: list[str] = []

    def set_servers(self, servers: Sequence[Known]) -> None:
        self.beginResetModel()
        self.servers = list(servers)
        self._haystacks = [haystack(each) for each in servers]
        self.endResetModel()
        comparable_ids = {each.id for each in servers if each.comparable}
        self.set_ticked([id_ for id_ in self.ticked if id_ in comparable_ids])

    def set_ticked(self, ids: list[str]) -> None:
        if ids != self.ticked:
            self.ticked = ids
            self._report_all()
            self.ticks_changed.emit()

    def set_unsaved(self, keys: Collection[str]) -> None:
        if set(keys) != set(self.unsaved):
            self.unsaved = set(keys)
            self._report_all()

    def toggle(self, known: Known) -> None:
        if known.comparable:
            kept = [id_ for id_ in self.ticked if id_ != known.id]
            self.set_ticked(kept if known.id in self.ticked else [*self.ticked, known.id])

    def found(self, place: int, words: list[str]) -> bool:
        return all(word in self._haystacks[place] for word in words)

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self.servers)

    def columnCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.column() == 0 and self.servers[index.row()].comparable:
            return flags | Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        known, column = self.servers[index.row()], COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(known)
            case Qt.ItemDataRole.CheckStateRole if index.column() == 0:
                on = known.id in self.ticked and known.comparable
                return Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(known, index.column())
            case Qt.ItemDataRole.ToolTipRole:
                return _tip(known, index.column())
            case _ if role == KNOWN:
                return known
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole:
            return False
        self.toggle(self.servers[index.row()])
        return True

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section].title
        if role in {Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            return f"{COLUMNS[section].name}; click to sort"
        return None

    def _report_all(self) -> None:
        if self.servers:
            last = self.index(len(self.servers) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def _spoken(self, known: Known, column: int) -> str:
        if column:
            return f"{COLUMNS[column].name}: {COLUMNS[column].text(known) or 'unknown'}"
        texts = [known.name, known.state.word, COLUMNS[2].text(known)]
        texts += ["yours"] * known.own + ["unsaved changes"] * (known.key in self.unsaved)
        return ", ".join(filter(None, texts))


class Sifted(QSortFilterProxyModel):
    """The rows that match the filters."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.setSourceModel(rows)
        self.rows = rows
        self.family = ""
        """Empty: all; "own": the user's."""
        self.kinds: set[str] = set(KINDS)
        self.tables: set[str] = set()
        """Only servers of the tables of these years; none: all."""
        self.only_ticked = False
        self.words: list[str] = []

    def sift(self, change: Callable[[Sifted], None]) -> None:
        """Change the filters within `change`."""
        self.beginFilterChange()
        change(self)
        self.endFilterChange()

    def server(self, row: int) -> Known:
        known: Known = self.index(row, 0).data(KNOWN)
        return known

    def servers(self) -> list[Known]:
        return [self.server(row) for row in range(self.rowCount())]

    def row_of(self, key: str) -> int:
        """Return the index of a row; -1: filtered out or removed."""
        keys = [known.key for known in self.servers()]
        return keys.index(key) if key in keys else -1

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        known = self.rows.servers[row]
        of_family = known.own if self.family == "own" else self.family in {"", known.family}
        then = not self.tables or any(getattr(known.entry, f"in_{y}", None) for y in self.tables)
        of_kind = known.state.kind in self.kinds
        ticked = not self.only_ticked or known.id in self.rows.ticked
        return of_family and of_kind and then and ticked and self.rows.found(row, self.words)

    def lessThan(self, left: Index, right: Index) -> bool:
        one, other = self.rows.servers[left.row()], self.rows.servers[right.row()]
        order = COLUMNS[left.column()].order
        a, b = order(one), order(other)
        if a == b:
            same = (one.name.casefold(), one.key) < (other.name.casefold(), other.key)
            return same == self._rising()
        if isinstance(a, tuple) and isinstance(a[0], Given) and a[0] != b[0]:
            return (a[0] < b[0]) == self._rising()
        return bool(a < b)

    def _rising(self) -> bool:
        return self.sortOrder() == Qt.SortOrder.AscendingOrder


def _tip(known: Known, column: int) -> str:
    text = COLUMNS[column].text(known)
    if column == 0:
        text = known.problem or (known.entry.description if known.entry else "")
    elif column == 1:
        gone = known.entry.unavailable if known.entry else None
        text = known.problem or (gone.reason if gone else "")
        text = text or (known.ready.sentence if known.ready else "")
    else:
        text = ", ".join(filter(None, (text, COLUMNS[column].source(known) if text else "")))
    return tip(text)
