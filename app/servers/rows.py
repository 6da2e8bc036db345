"""The servers as rows: columns, ticks, search, order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt, Signal

from app.plain import tip
from app.servers.known import KINDS, Known
from app.table import GROUP, ICON, LEFT, ORDER, RIGHT, TONE, Index, Ordered
from workbench.servers.about import version
from workbench.servers.facts import NOT_FOUND, Fact, In2009, In2010, Today
from workbench.servers.features import (
    FEATURES,
    NOT_STATED,
    NOW,
    THEN_2009,
    THEN_2010,
    now,
    then,
    title,
)
from workbench.workloads.registry import ALL_FAMILIES, short

MAIN, KIND, MEASURED = "Main columns", "Kind", "Measured"
GROUPS = (KIND, NOW, MEASURED, THEN_2009, THEN_2010)
CHOICES = {
    MAIN: {MAIN},
    "All columns": set(GROUPS),
    **{group: {group} for group in GROUPS},
    "2009 and today": {THEN_2009, NOW},
    "2010 and today": {THEN_2010, NOW},
}
"""What the table can show; the first is the default."""
STATE = 1
"""A column."""
QUIET = {"", "No", "None", NOT_FOUND, NOT_STATED}
"""Values that say that there is nothing."""


_VALUE, _UNFOUND, _NOTHING = range(3)
"""How much is known of a value: what is known less comes later, in either direction."""


@dataclass(frozen=True)
class Column:
    """One fact about every server."""

    title: str
    width: int
    text: Callable[[Known], str]
    order: Callable[[Known], Any]
    """The sort key, as of `app.table.ORDER`; its rank is how much is known."""
    group: str = ""
    right: bool = False
    source: Callable[[Known], str] = lambda known: ""
    """The source of the value."""
    when: str = ""
    """For a feature, which stands in several tables: which of them."""
    beside: str = ""
    """The group with which alone it is shown."""
    main: bool = False
    """Whether it is one of the main columns."""

    def shown(self, groups: set[str]) -> bool:
        """Return whether it belongs to these groups; the state counts to the kind."""
        if MAIN in groups:
            return self.main
        return (self.group or KIND) in groups and (not self.beside or self.beside in groups)

    @property
    def align(self) -> Qt.AlignmentFlag:
        return RIGHT if self.right else LEFT

    @property
    def band(self) -> str:
        """Return what the header has above the column, once for columns that are neighbours."""
        return self.title if self.when else self.group

    @property
    def head(self) -> str:
        """Return what the header has just above the column."""
        return self.when or self.title

    @property
    def name(self) -> str:
        """Return the title, with the group where two columns have the same title."""
        return f"{self.title} ({self.group})" if self.when else self.title


_GIVEN = {"": _NOTHING, NOT_FOUND: _UNFOUND, NOT_STATED: _UNFOUND}


def _column(
    title: str, width: int, text: Callable[[Known], str], group: str = "", **more: Any
) -> Column:
    def order(known: Known) -> Any:
        return _GIVEN.get(text(known), _VALUE), text(known).casefold()

    return Column(title, width, text, more.pop("order", order), group, **more)


def _figure(title: str, width: int, name: str, form: Callable[[float], str]) -> Column:
    """Return a column of a result; 0: unknown."""

    def text(known: Known) -> str:
        return form(value) if (value := _gate(known, name)) else ""

    def order(known: Known) -> Any:
        value = _gate(known, name)
        return (_VALUE if value else _NOTHING, value or 0)

    return Column(title, width, text, order, MEASURED, right=True, source=_gate_source)


def _gate(known: Known, name: str) -> Any:
    """Return the result measured here, or else the one in the catalogue entry."""
    found = known.measured
    if found is not None:
        return getattr(found.gate, name) if found.gate.passed else None
    seen = known.entry.seen if known.entry else None
    return getattr(seen, name) if seen is not None else None


def _kept_alive(known: Known, yes: str = "Yes") -> str:
    return {None: "", True: yes, False: "No"}[_gate(known, "keep_alive")]


def _gate_source(known: Known) -> str:
    if known.measured:
        return f"measured here on {known.measured.when_utc[:10]}"
    return known.entry.seen.source if known.entry and known.entry.seen else ""


def _now(name: str) -> Column:
    def fact(known: Known) -> Fact | None:
        return now(known.entry, name) if known.entry else None

    def value(known: Known) -> str:
        return found.value if (found := fact(known)) else ""

    def cited(known: Known) -> str:
        return found.cited if (found := fact(known)) else ""

    beside = "" if name in Today.__struct_fields__ else THEN_2010
    return _column(title(name), _width(name), value, NOW, source=cited, when="Today", beside=beside)


def _then(name: str, group: str) -> Column:
    def value(known: Known) -> str:
        table = "in_2009" if group == THEN_2009 else "in_2010"
        return then(getattr(known.entry, table), name) if known.entry else ""

    def cited(known: Known) -> str:
        return f"the table of {group[:4]}"

    width = 80 if name == "licence" else _width(name)
    return _column(title(name), width, value, group, source=cited, when=group[:4])


def _features() -> Iterator[Column]:
    for name in FEATURES:
        for table, group in ((In2009, THEN_2009), (In2010, THEN_2010)):
            if name in table.__struct_fields__:
                yield _then(name, group)
        yield _now(name)


_RANK = {"ok": 0, "soft": 1, "warn": 2, "bad": 3, "muted": 4}
_WIDE = {"licence": 134, "documentation": 110, "production": 120, "style": 130, "released": 92}
_WIDE |= {"comet": 130, "peer_certificates": 130, "portability": 150, "documentation_parts": 170}
_WIDE |= {"community": 110, "activity": 140, "repository": 96, "flavour": 130, "coverage": 100}
_WIDE |= {"thread_pool": 96, "socket": 92, "version": 124}


def _width(name: str) -> int:
    return _WIDE.get(name, 88)


COLUMNS: tuple[Column, ...] = (
    _column("Server", 196, lambda k: k.name),
    _column(
        "State",
        214,
        lambda k: k.state.word,
        order=lambda k: (_VALUE, (KINDS.index(k.state.kind), _RANK[k.state.tone], k.state.word)),
        main=True,
    ),
    _column(
        "Protocol",
        150,
        lambda k: ", ".join(map(short, k.entry.protocols)) if k.entry else "",
        KIND,
        main=True,
    ),
    _column("Style", 166, lambda k: k.entry.style if k.entry else "", KIND),
    _column("Family", 112, lambda k: ALL_FAMILIES.get(k.family, ""), KIND),
    _column("Language", 84, lambda k: k.entry.language if k.entry else "", KIND, main=True),
    *_features(),
    _column("Keep-alive", 84, _kept_alive, MEASURED, source=_gate_source),
    _column(
        "Pipelining",
        80,
        lambda k: _kept_alive(k, f"{_gate(k, 'pipelining')} of 3"),
        MEASURED,
        source=_gate_source,
    ),
    _figure("Processes seen", 106, "processes", lambda v: f"{v:,.0f}"),
    _figure("Threads", 70, "threads", lambda v: f"{v:,.0f}"),
    _figure("Memory", 78, "rss_bytes", lambda v: f"{v / 1e6:,.0f} MB"),
    _column(
        "Version",
        82,
        lambda k: version(k.entry, k.measured) if k.entry else "",
        MEASURED,
        source=_gate_source,
    ),
    _column(
        "Last sustained rate",
        140,
        lambda k: k.last,
        MEASURED,
        order=lambda k: (_VALUE if k.last else _NOTHING, k.last_per_s),
        right=True,
        main=True,
    ),
)


def haystack(known: Known) -> str:
    """Return the text that a search covers: names, descriptions and code."""
    entry = known.entry
    texts = [known.id, known.name, known.state.word, *known.texts.values()]
    if entry:
        texts += [entry.description, entry.style, entry.language, *entry.notes, *entry.protocols]
        texts += [ALL_FAMILIES.get(entry.family, ""), *(f.text(known) for f in COLUMNS if f.group)]
    return "\n".join(texts).casefold()


KNOWN = Qt.ItemDataRole.UserRole
_NONE = QModelIndex()


class Rows(QAbstractTableModel):
    """All servers; ticks are by id, as only one server of an id can be compared."""

    ticks_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.servers: list[Known] = []
        self.ticked: list[str] = []
        """Ids, in the order in which they were ticked."""
        self.haystacks: list[str] = []
        """What a search covers, by row."""
        self._answers: dict[int, Callable[[Known, int], Any]] = {
            Qt.ItemDataRole.DisplayRole: lambda known, place: COLUMNS[place].text(known),
            Qt.ItemDataRole.CheckStateRole: self._check_state,
            Qt.ItemDataRole.AccessibleTextRole: self._spoken,
            Qt.ItemDataRole.ToolTipRole: _tip,
            Qt.ItemDataRole.TextAlignmentRole: lambda _, place: COLUMNS[place].align,
            KNOWN: lambda known, _: known,
            ORDER: lambda known, place: COLUMNS[place].order(known),
            TONE: _tone,
            ICON: lambda known, place: known.state.icon if place == STATE else None,
        }

    def set_servers(self, servers: Sequence[Known]) -> None:
        self.beginResetModel()
        self.servers = list(servers)
        self.haystacks = [haystack(each) for each in servers]
        self.endResetModel()
        comparable_ids = {each.id for each in servers if each.comparable}
        self.set_ticked([id_ for id_ in self.ticked if id_ in comparable_ids])

    def set_last(self, last: Mapping[str, tuple[str, float]]) -> None:
        """Take what servers sustained in their latest sessions, by id: a text, and per second."""
        for place, known in enumerate(self.servers):
            text, figure = last.get(known.id, ("", 0.0))
            self.servers[place] = replace(known, last=text, last_per_s=figure)
        self._report_all()

    def set_ticked(self, ids: list[str]) -> None:
        if ids != self.ticked:
            self.ticked = ids
            self._report_all()
            self.ticks_changed.emit()

    def toggle(self, known: Known) -> None:
        if known.comparable:
            kept = [id_ for id_ in self.ticked if id_ != known.id]
            self.set_ticked(kept if known.id in self.ticked else [*self.ticked, known.id])

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
        answer = self._answers.get(role)
        return answer(self.servers[index.row()], index.column()) if answer else None

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
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.head
        if role == GROUP:
            return column.band
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return column.align
        if role in {Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole}:
            return f"{column.name}; click to sort"
        return None

    def _report_all(self) -> None:
        if self.servers:
            last = self.index(len(self.servers) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def _check_state(self, known: Known, column: int) -> Any:
        on = known.id in self.ticked and known.comparable
        return None if column else Qt.CheckState.Checked if on else Qt.CheckState.Unchecked

    def _spoken(self, known: Known, column: int) -> str:
        if column:
            return f"{COLUMNS[column].name}: {COLUMNS[column].text(known) or 'unknown'}"
        texts = [known.name, known.state.word, COLUMNS[2].text(known)]
        texts += ["yours"] * known.own
        return ", ".join(filter(None, texts))


EVERY = "All servers"
SHOWN: dict[str, Callable[[Known, list[str]], bool]] = {
    EVERY: lambda known, _: True,
    **{kind: lambda known, _, kind=kind: known.state.kind == kind for kind in KINDS},
    "Selected": lambda known, ticked: known.id in ticked,
    "Yours": lambda known, _: known.own,
    "In the table of 2009": lambda known, _: bool(known.entry and known.entry.in_2009),
    "In the table of 2010": lambda known, _: bool(known.entry and known.entry.in_2010),
}
"""Which servers the table can show: by a server, and the ids of the ticked ones."""


class Sifted(Ordered):
    """The rows that match the filters."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self.setSourceModel(rows)
        self.rows = rows
        self.family = ""
        """Empty: all."""
        self.shown = EVERY
        """A key of `SHOWN`."""
        self.words: list[str] = []

    def sift(self, family: str, shown: str, text: str) -> None:
        """Show the servers of a family and of `SHOWN` that contain every word of a text."""
        self.beginFilterChange()
        self.family, self.shown, self.words = family, shown, text.casefold().split()
        self.endFilterChange()

    def server(self, row: int) -> Known:
        return self.index(row, 0).data(KNOWN)

    def servers(self) -> list[Known]:
        return [self.server(row) for row in range(self.rowCount())]

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        known = self.rows.servers[row]
        of_family = self.family in {"", known.family}
        shown = SHOWN[self.shown](known, self.rows.ticked)
        found = all(word in self.rows.haystacks[row] for word in self.words)
        return of_family and shown and found


def _tone(known: Known, column: int) -> str:
    if column == STATE:
        return known.state.tone
    return "muted" if COLUMNS[column].text(known) in QUIET or not known.runs else "soft"


def _tip(known: Known, column: int) -> str:
    text = COLUMNS[column].text(known)
    if column == 0:
        text = known.problem or (known.entry.description if known.entry else "")
    elif column == STATE:
        gone = known.entry.unavailable if known.entry else None
        text = known.problem or (gone.reason if gone else "")
        text = text or (known.ready.sentence if known.ready else "")
    else:
        text = ", ".join(filter(None, (text, COLUMNS[column].source(known) if text else "")))
    return tip(text)
