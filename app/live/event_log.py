"""The notes of a session: warnings first, of both the latest first."""

from __future__ import annotations

from bisect import insort
from collections.abc import Hashable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.live import event_grouping
from app.live.event_entry import entry
from app.scrolling import Scrolled
from app.theme import Theme
from app.widgets import column, empty, label
from workbench.documents import Note
from workbench.messages.notes import Backlog, Resources, Severity
from workbench.messages.topics import about, read_note, severity


def _is_warning(note: Note) -> bool:
    """Whether a reader of the results must know it."""
    return severity(note) >= Severity.WARNING


Place = tuple[str, float]
"""The key of a server and the x of its point; NaN: the server as a whole."""


class EventLog(QFrame):
    """The notes of a session: warnings first, of both the latest first."""

    picked = Signal(str, float)
    """The server and the x of an entry that was pressed; NaN: it is about no single point."""

    MOST = 60

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._added: list[tuple[Note, str, Place | None]] = []
        """Everything as it was added."""
        self._notes: list[tuple[Note, str, Place | None]] = []
        """What is shown, by time, with the text of each."""
        self._found: set[tuple[str, str]] = set()
        self._alike: dict[Hashable, list[event_grouping.Named]] = {}
        """Notes that are merged, by their kind."""
        self._drawn = 0
        inside = column(self, margin=12, gap=6)
        around = column(content := QWidget())
        self._lists = []
        for _ in ("warnings", "others"):
            self._lists.append(column(entries := QWidget(), gap=2))
            around.addWidget(entries)
        around.addStretch(1)
        scroll = Scrolled(content, "Events")
        self._nothing = label("No events yet.", 12, tone="muted")
        inside.addWidget(self._nothing)
        inside.addWidget(scroll)

    def clear(self) -> None:
        self._added.clear()
        self._notes.clear()
        self._found.clear()
        self._alike.clear()
        self._drawn = 0
        self._empty()

    @property
    def warnings(self) -> int:
        """Return how many notes a reader of the results must know."""
        return sum(_is_warning(note) for note, _, _ in self._notes)

    def add(self, note: Note, server: str, place: Place | None = None) -> str:
        """Add a note; returns its text. `server`: the name of the server it is about; empty: none
        of those compared. `place`: what in the charts it is about.
        """
        self._added.append((note, server, place))
        if (kind := event_grouping.kind(note, server)) is not None:
            return self._gather(kind, note, server, place)
        message, text = read_note(note), about(note, server)
        if isinstance(message, Backlog | Resources):
            # The same in every pass, new only in the first; as requested, it holds for all servers.
            as_requested = isinstance(message, Resources) or message.backlog == message.asked
            text = message.of_all() if as_requested else text
            found = (text, "" if as_requested else server)
            if found in self._found:
                return text
            self._found.add(found)
        self._put(note, text, place)
        return text

    def withdraw(self, note: Note) -> None:
        """Remove a note that was added."""
        kept = [each for each in self._added if each[0] != note]
        self.clear()
        for each in kept:
            self.add(*each)

    def _put(self, note: Note, text: str, place: Place | None) -> None:
        if self._notes and note.t_us < self._notes[-1][0].t_us:
            self._drawn = 0
            self._empty()
        insort(self._notes, (note, text, place), key=lambda each: each[0].t_us)

    def _gather(self, kind: Hashable, note: Note, server: str, place: Place | None) -> str:
        """Merge a note with others of its kind into one entry, at the time of the latest."""
        alike = self._alike.setdefault(kind, [])
        if alike:
            before = alike[-1][0]
            self._notes = [each for each in self._notes if each[0] is not before]
            self._drawn = 0
            self._empty()
        alike.append((note, server))
        self._put(note, event_grouping.sentence(alike), place)
        return event_grouping.sentence(alike[-1:])

    def _empty(self) -> None:
        for each in self._lists:
            empty(each)

    def refresh(self) -> None:
        for note, text, place in self._notes[max(self._drawn, len(self._notes) - self.MOST) :]:
            self._lists[not _is_warning(note)].insertWidget(0, self._entry(note, text, place))
        self._drawn = len(self._notes)
        self._nothing.setVisible(not self._notes)
        while sum(each.count() for each in self._lists) > self.MOST:
            last = next(each for each in reversed(self._lists) if each.count())
            last.takeAt(last.count() - 1).widget().deleteLater()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._drawn = 0
        self._empty()
        self.refresh()

    def _entry(self, note: Note, text: str, place: Place | None) -> QWidget:
        lead = None if place is None else lambda: self.picked.emit(*place)
        is_warning = _is_warning(note)
        return entry(self._theme, note.t_us, text, is_warning=is_warning, lead=lead)
