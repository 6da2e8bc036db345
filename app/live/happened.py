"""The notes of a session, latest first."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from app import theme as look
from app.live import gathered
from app.live.doubts import UNKNOWN
from app.scrolling import Scrolled
from app.theme import Theme, Weight
from app.widgets import column, empty, label, row
from workbench import wording
from workbench.documents import Note

GRAVE = (
    "gave-up",
    "died",
    "deploy",
    "warning",
    "audit",
    "dropped",
    "settle",
    "client-lost",
    UNKNOWN,
)
"""Topics of notes that a reader of the figures must know; what the user did is not among them."""

SUDDEN = ("died", "deploy", "audit", "dropped", "client-lost", UNKNOWN)
"""Those nobody expected: told at once, above the charts."""


def is_sudden(note: Note) -> bool:
    """Did nobody expect it? Then it is told at once, above the charts."""
    return note.topic in SUDDEN or _finds_no_ceiling(note)


def _is_grave(note: Note) -> bool:
    return note.topic in GRAVE or _finds_no_ceiling(note)


def _finds_no_ceiling(note: Note) -> bool:
    """The clients held no rate at all, so that all charts are hatched."""
    return note.topic == "ceiling" and note.data.get("ceiling_per_s") == 0


class Happened(QFrame):
    """The notes of a session, latest first."""

    MOST = 60

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._notes: list[tuple[Note, str]] = []
        self._said: set[str] = set()
        self._alike: dict[Hashable, list[gathered.Named]] = {}
        """By what is said of all of them."""
        self._told = 0
        inside = column(self, margin=12, gap=6)
        inside.addWidget(label("What happened", 14, Weight.DemiBold))
        around = column(content := QWidget())
        self._list = column(entries := QWidget(), gap=8)
        around.addWidget(entries)
        around.addStretch(1)
        scroll = Scrolled(content, "What happened")
        self._nothing = label("Nothing yet.", 12, tone="muted")
        inside.addWidget(self._nothing)
        inside.addWidget(scroll)

    def clear(self) -> None:
        self._notes.clear()
        self._said.clear()
        self._alike.clear()
        self._told = 0
        empty(self._list)

    @property
    def grave(self) -> int:
        """How many of them a reader of the figures must know."""
        return sum(_is_grave(note) for note, _ in self._notes)

    def add(self, note: Note, server: str) -> str:
        """`server`: the name of the one it is about; empty: none of those compared. What is
        said of it."""
        if (kind := gathered.kind(note, server)) is not None:
            return self._gather(kind, note, server)
        said = self._of_all(note) or note.text
        if said == note.text and server and server.lower() not in said.lower():
            said = f"{server}: {said[:1].lower()}{said[1:]}"
        # It is the same in every turn, and news in the first.
        if note.topic != "backlog" or said not in self._said:
            self._said.add(said)
            self._notes.append((note, said))
        return said

    def _of_all(self, note: Note) -> str:
        """One backlog, which all servers share, is told once and not of each; else empty."""
        backlog, asked = note.data.get("backlog"), note.data.get("asked")
        if note.topic != "backlog" or not isinstance(backlog, int) or backlog != asked:
            return ""
        return f"A backlog of {backlog:,} is in force, as asked."

    def _gather(self, kind: Hashable, note: Note, server: str) -> str:
        """What is said of several is one entry, at the time of the latest."""
        alike = self._alike.setdefault(kind, [])
        if alike:
            before = alike[-1][0]
            self._notes = [(known, said) for known, said in self._notes if known is not before]
            self._told = 0
            empty(self._list)
        alike.append((note, server))
        self._notes.append((note, gathered.told(alike)))
        return gathered.told(alike[-1:])

    def refresh(self) -> None:
        for note, said in self._notes[max(self._told, len(self._notes) - self.MOST) :]:
            self._list.insertWidget(0, self._entry(note, said))
        self._told = len(self._notes)
        self._nothing.setVisible(not self._notes)
        while self._list.count() > self.MOST:
            item = self._list.takeAt(self._list.count() - 1)
            item.widget().deleteLater()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._told = 0
        empty(self._list)
        self.refresh()

    def _entry(self, note: Note, said: str) -> QWidget:
        entry = QWidget()
        line = row(entry)
        grave = _is_grave(note)
        sign = label()
        name, tone = ("triangle-alert", "warn") if grave else ("info", "muted")
        sign.setPixmap(look.icon_pixmap(name, getattr(self._theme, tone), 14))
        when = label(wording.clock(note.t_us / 1e6), 12, tone="muted", figures=True)
        when.setFixedWidth(38)
        for part in (sign, when):
            line.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(label(said, 12, tone="soft", wrap=True), 1)
        return entry
