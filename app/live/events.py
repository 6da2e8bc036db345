"""The events of a session and its audits, in one list."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QWidget

from app.painted import Painting, draw_focus
from app.plain import tip
from app.scrolling import Scrolled
from app.widgets import TOP, Sign, column, empty, fill, label, row
from workbench import formatting
from workbench.analysis.audits import Audit, State
from workbench.axis import RATE
from workbench.documents import Note
from workbench.formatting import continued
from workbench.messages.base import Stated, places
from workbench.messages.notes import Severity, of_all
from workbench.messages.topics import about, read_note, severity

Place = tuple[str, float]
"""The key of a server and the x of its point; NaN: the server as a whole."""
_AROUND = 5, 3, 4, 3
"""Pixels at the left, top, right and bottom, where the focus ring is."""
_NOTE, _WARNING = ("muted", ""), ("warn", "")
_SIGNS: dict[State, tuple[str, str]] = {
    "failed": ("bad", ""),
    "passed": ("ok", ""),
    "not-known": ("muted", "circle-question-mark"),
    "does-not-apply": _NOTE,
}
"""Tone and icon of audits, in the order of those that have no time."""
_FIGURES = re.compile(r'"[^"]*"|\d[\d.,]*')
"""In which causes of one kind differ: figures, and what servers sent."""


@dataclass(frozen=True)
class Event:
    note: Note
    server: str
    """The name of the server it is about; empty: none of those compared."""
    place: Place | None = None
    """What in the charts it is about."""


@dataclass(frozen=True)
class Line:
    """What is shown of events of one kind, or of an audit."""

    text: str
    sign: tuple[str, str]
    """As a `Sign` takes them."""
    t_us: int | None = None
    place: Place | None = None


class ListCard(QFrame):
    """A card with a list of anything, which is scrolled."""

    def __init__(self, name: str, *, gap: int = 8) -> None:
        """`name`: see `Scrolled`. `gap`: between entries, in pixels."""
        super().__init__(objectName="card")
        self.entries = column(entries := QWidget(), gap=gap)
        column(content := QWidget(), entries, None)
        column(self, Scrolled(content, name), margin=12)


class EventLog(ListCard):
    """The latest first; after them the audits that did not fail, which have no time."""

    picked = Signal(str, float)
    """The server and the x of an entry that was pressed; NaN: it is about no single point."""

    MOST = 60

    def __init__(self) -> None:
        super().__init__("Events", gap=2)
        self._events: list[Event] = []
        self.doubts: Sequence[Event] = ()
        """About points that must not be trusted: a repeated one may replace them."""
        self._audits: Sequence[Audit] = ()
        self._failed_us: Mapping[str, int] = {}
        self._lines: Sequence[Line] | None = ()
        """None: to be made anew."""
        self._shown: Sequence[Line] = ()

    def clear(self) -> None:
        self._events.clear()
        self.doubts = ()
        self._audits, self._lines = (), None

    @property
    def warnings(self) -> int:
        """Return how many lines a reader of the results must know."""
        return sum(line.sign in (_WARNING, _SIGNS["failed"]) for line in self.lines)

    def add(self, event: Event) -> None:
        self._events.append(event)
        self._lines = None

    def show_doubts(self, doubts: Sequence[Event]) -> None:
        self.doubts, self._lines = doubts, None

    def show_audits(self, audits: Sequence[Audit], failed_us: Mapping[str, int]) -> None:
        """Show the audits of a session; before its first point there is nothing to tell.
        `failed_us`: when those that failed did, by code.
        """
        known = tuple(audits) if any(each.state != "not-known" for each in audits) else ()
        if (known, failed_us) != (self._audits, self._failed_us):
            self._audits, self._failed_us, self._lines = known, failed_us, None

    def refresh(self) -> None:
        if self.lines is not self._shown:
            self._shown = self.lines
            empty(self.entries)
            fill(self.entries, *map(self._entry, self._shown))

    @property
    def lines(self) -> Sequence[Line]:
        if self._lines is None:
            self._lines = self._make_lines()
        return self._lines

    def _make_lines(self) -> list[Line]:
        alike: dict[Hashable, list[Event]] = {}
        for place, event in enumerate([*self._events, *self.doubts]):
            alike.setdefault(kind(event) or place, []).append(event)
        dated = [_line(events) for events in alike.values()]
        order = list(_SIGNS)
        others: list[Line] = []
        for audit in sorted(self._audits, key=lambda audit: order.index(audit.state)):
            text = f"{audit.label}: {continued(audit.message.text())}"
            sign, t_us = _SIGNS[audit.state], self._failed_us.get(audit.code)
            (dated if audit.failed else others).append(Line(text, sign, t_us))
        dated.reverse()  # of two at the same time, the later one first
        dated.sort(key=lambda line: line.t_us or 0, reverse=True)
        return [*dated[: self.MOST], *others]

    def _entry(self, line: Line) -> QWidget:
        place = line.place
        lead = None if place is None else lambda: self.picked.emit(*place)
        made = _Link(line.text, lead) if lead is not None else QWidget()
        sign = Sign(*line.sign, px=14)
        clock = "" if line.t_us is None else formatting.clock(line.t_us / 1e6)
        when = label(clock, 12, tone="muted", figures=True)
        when.setFixedWidth(38)
        said = label(line.text, 12, tone="soft", wrap=True)
        row(made, (sign, 0, TOP), (when, 0, TOP), (said, 1), margin=_AROUND)
        for part in (sign, when, said):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, lead is not None)
        return made


class _Link(Painting, QAbstractButton):
    """Has a line's labels in its layout."""

    def __init__(self, text: str, lead: Callable[[], object]) -> None:
        super().__init__()
        self.setAccessibleName(text)
        self.setToolTip(tip("Show it in the charts"))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)  # a button's own one keeps it as wide as its text
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda _checked=False: lead())

    def paint(self, painter: QPainter) -> None:
        if self.hasFocus():
            draw_focus(painter, self.theme, QRectF(self.rect()).adjusted(1, 1, -1, -1), 5)


def kind(event: Event) -> Hashable:
    """Return the kind of an event; those of one kind share a line. None: it stands alone."""
    message = read_note(event.note)
    found: Hashable = None
    match message:
        case Stated(code="backlog" | "resources"):
            return message.code, sentence([event])
        case Stated(code="not-judged"):
            found = _FIGURES.sub("", str(message.parameters["cause"]))
        case Stated(code="again"):
            found = message.parameters["look"], message.parameters.get("pass_number")
        case Stated(code="gate" | "database"):
            found = message.text()
    return (message.code, found) if event.server and found is not None else None


def _line(events: Sequence[Event]) -> Line:
    """Return the line of events of one kind, at the time of the latest."""
    # Stated in every pass, these are new only in the first.
    stated = bool(of_all(read_note(events[0].note)))
    shown = events[0 if stated else -1]
    sign = _WARNING if severity(shown.note) >= Severity.WARNING else _NOTE
    return Line(sentence(events), sign, shown.note.t_us, shown.place)


def sentence(events: Sequence[Event]) -> str:
    messages = [read_note(event.note) for event in events]
    servers = [event.server for event in events]
    first = messages[0]
    in_force = first.data()
    if first.code == "resources" or (
        first.code == "backlog" and in_force["backlog"] == in_force.get("asked")
    ):
        return of_all(first)  # as requested, it holds for all servers
    if first.code in ("gate", "database") and servers[0]:
        return f"{', '.join(dict.fromkeys(servers))}: {continued(events[0].note.text)}"
    if len(events) == 1 or first.code == "backlog":
        return about(events[0].note, servers[0])
    each = [(name, m.data()) for name, m in zip(servers, messages, strict=True)]
    suffix, cause = each[0][1].get("suffix", RATE.suffix), each[-1][1].get("cause")
    if first.code == "again":
        where = [(name, x) for name, data in each for x in data["rates_per_s"]]
        return f"Repeating, because a limit is decided there: {places(where, suffix)}."
    return f"{cause} Not judged: {places([(name, data['x']) for name, data in each], suffix)}."
