"""The latest sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.context import Desk
from app.plain import tip
from app.scrolling import lay, stacked
from app.sessions.thumbnail import Outlines, Thumbnail
from app.settings import Settings
from app.theme import Weight
from app.widgets import Elided, beside, button, column, empty, fill, label, row, stack
from app.words import ended, when
from workbench import paths
from workbench.formatting import number_of
from workbench.sessions.library import Shelved

_LEAST, _MOST = 320, 6
_TALL = 90
_OPENED, _MOST_OPENED = "opened", 12
"""The setting with the sessions opened from outside the user's folder, and how many it keeps."""


class Recent(QWidget):
    """Shows as many sessions as fit."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._sessions: list[Shelved] = []
        self._shown: list[object] | None = None
        self._results: list[tuple[Shelved, Elided]] = []
        self._outlines = Outlines.of(desk)
        self._outlines.changed.connect(self._show_results)
        show = partial(desk.page_requested.emit, "Sessions")
        all_sessions = button("All sessions", kind="ghost", on_click=show)
        head = beside(label("Recent sessions", 14, Weight.DemiBold), None, all_sessions)
        self._cards = beside(gap=16)
        column(self, head, self._cards, gap=8)
        self.show_sessions(desk.shelf)

    def show_sessions(self, sessions: Sequence[Shelved]) -> None:
        """Show those recorded or opened last."""
        opened_utc = opened(self._desk.settings)
        dated = [(opened_utc.get(s.path, s.start.started_utc), s) for s in sessions if s.start]
        latest = sorted(dated, key=lambda each: each[0], reverse=True)
        self._sessions = [session for _, session in latest]
        self._fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fill()

    def _fill(self) -> None:
        below = stacked(self.width())
        room = max(2, min(_MOST, (self.width() + 16) // (_LEAST + 16)))
        shown = self._sessions[:room]
        key = [room, below, *((s.identity, s.title, s.growing, s.stop) for s in shown)]
        if key == self._shown:
            return
        self._shown = key
        self.setVisible(bool(shown))
        empty(self._cards)
        lay(self._cards, below=below)
        self._cards.setSpacing(8 if below else 16)
        self._results = []
        fill(self._cards, *((self._entry(session), 1) for session in shown))
        # A single session does not fill the width of the page.
        for _ in range(room - len(shown) if shown and not below else 0):
            self._cards.addWidget(QWidget(), 1)
        self._show_results()

    def _entry(self, session: Shelved) -> QPushButton:
        start, title = session.start, session.title
        servers = number_of(len(start.servers) if start else 0, "servers")
        made = button("", on_click=lambda: self._desk.open_requested.emit(session.path))
        made.setStyleSheet(f"QPushButton {{ min-height: {_TALL}px; border-radius: 10px; }}")
        named, about = Elided(13, Weight.DemiBold), Elided(12, tone="muted")
        named.show_text(title)
        about.show_text(f"{when(start)} · {servers}")
        result = Elided(12, tone=_tone(session))
        self._results.append((session, result))
        texts = stack(None, named, about, result, None, gap=1)
        thumbnail = Thumbnail(self._desk, session)
        row(made, thumbnail, (texts, 1), margin=(12, 10, 12, 10), gap=12)
        for each in made.findChildren(QWidget):
            each.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        name = ", ".join((title, when(start), servers))
        made.setAccessibleName(f"Open {name}, {ended(session)}")
        return made

    def _show_results(self) -> None:
        """Show the result of each session, or why it is incomplete."""
        for session, result in self._results:
            known = self._outlines.get(session)
            done = session.stop is not None and session.stop.status == "done"
            result.show_text(known.result if done and known else "" if done else ended(session))
            result.setToolTip(tip(known.summary if done and known else ""))


def _tone(session: Shelved) -> str:
    if session.stop is None:
        return "ok" if session.growing else "warn"
    return "soft" if session.stop.status == "done" else "warn"


def remember(settings: Settings, path: Path) -> None:
    """Note that this session was opened now; those in the user's folder are listed anyway."""
    path = path.absolute()
    if path.parent == paths.data_dir() / "sessions":
        return
    others = {str(other): utc for other, utc in opened(settings).items() if other != path}
    latest = sorted(others.items(), key=lambda item: item[1], reverse=True)[: _MOST_OPENED - 1]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    settings.more[_OPENED] = {str(path): now, **dict(latest)}


def opened(settings: Settings) -> dict[Path, str]:
    """Return the paths, each with the time in ISO 8601 at which it was opened last."""
    kept = settings.more.get(_OPENED)
    if not isinstance(kept, dict):
        return {}
    return {Path(path): utc for path, utc in kept.items() if isinstance(utc, str)}
