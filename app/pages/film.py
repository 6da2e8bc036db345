"""The page that plays a session as a film, through the charts of the Live page."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent

from app import words
from app.context import Desk
from app.dialogs import ask_text
from app.export.dialog import ask, shown_session
from app.live import film
from app.live.film import Film, Position, Reel
from app.live.transport import Transport
from app.pages.session_page import SessionPage
from app.sessions.rerun import run_again
from app.start.recent import remember
from app.widgets import button
from workbench.documents import AnyDocument, RunStart
from workbench.sessions.chart_notes import ChartNote, ChartNotes

_SLOW_MS = 200
"""From then on it is said that a session is being read."""


class FilmPage(SessionPage):
    """Opens a session at its end."""

    def __init__(self, desk: Desk) -> None:
        self.transport = Transport()
        super().__init__(desk, self.transport, live=False)
        self._film: Film | None = None
        self._playing: Future[None] | None = None
        self.reel: Reel | None = None
        self._reading: Future[Reel] | None = None
        self._top.chip.show_text("Replay", "focus")
        back = button("All sessions", "archive")
        back.clicked.connect(lambda: desk.page_requested.emit("Sessions"))
        self._again = button("Run again", "rotate-cw", on_click=self.run_this)
        compare = button("Compare", "git-compare", on_click=self.compare)
        export = button("Export…", "share-2", on_click=self.export)
        self.show_actions((back, compare, export, self._again))
        self._notes: ChartNotes | None = None
        self._session = ""
        self.board.trio.note_wanted.connect(self._ask_note)
        self.transport.play_requested.connect(lambda: self._command("play"))
        self.transport.pause_requested.connect(lambda: self._command("pause"))
        self.transport.seek_requested.connect(lambda at_us: self._command("seek", at_us))
        self.transport.speed_requested.connect(lambda speed: self._command("set_speed", speed))
        desk.busy_changed.connect(lambda busy: self._again.setEnabled(not busy))
        self._again.setEnabled(not desk.busy)

    def open(self, path: Path) -> None:
        """Read a session and show it, or report why it cannot be read."""

        def on_slow() -> None:
            if not reading.done():
                self._top.show_text(path.name, "Reading the session…")
                self.board.model.loading = self.reel is None
                self._desk.page_requested.emit("Film")

        def on_failed(sentence: str) -> None:
            self._desk.refused.emit(sentence)
            if self.reel is not None:
                self._name(self.reel)

        self._bridge.drop(self._reading)
        self._reading = reading = self._bridge.submit(film.load(path), self._show, on_failed)
        QTimer.singleShot(_SLOW_MS, self, on_slow)

    @property
    def session(self) -> Path | None:
        return self.reel.path if self.reel else None

    def export(self) -> None:
        if self.reel is not None:
            ask(self, self._desk, shown_session(self._desk, self.reel.path, self.board.trio))

    def run_this(self) -> None:
        if self._again.isEnabled() and self.reel is not None:
            run_again(self._desk, self.reel.path, self.error.show_text)

    def present(self) -> None:
        if self.reel is not None:
            super().present()

    def presented(self) -> dict[str, Any]:
        return {"hint": (("Space", "play or pause"), ("− +", "speed"))}

    def handle_key(self, event: QKeyEvent) -> bool:
        transport, shift = self.transport, Qt.KeyboardModifier.ShiftModifier
        timeline = transport.timeline
        step = timeline.step_server if event.modifiers() & shift else timeline.step
        keys: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Space: transport.toggle,
            Qt.Key.Key_Left: lambda: step(-1),
            Qt.Key.Key_Right: lambda: step(1),
            Qt.Key.Key_Home: lambda: transport.seek_requested.emit(0.0),
            Qt.Key.Key_End: transport.to_end,
            Qt.Key.Key_Minus: lambda: transport.faster(-1),
            Qt.Key.Key_Plus: lambda: transport.faster(1),
            Qt.Key.Key_Equal: lambda: transport.faster(1),
        }
        do = keys.get(event.key())
        if do is None or event.modifiers() & ~(shift | Qt.KeyboardModifier.KeypadModifier):
            return super().handle_key(event)
        do()
        return True

    def _show(self, reel: Reel) -> None:
        if self._playing is not None:
            self._playing.cancel()
        self.reel = reel
        remember(self._desk.settings, reel.path)
        self.board.clear(reel.whole)
        self.error.show_text(reel.warning, "warn")
        self.transport.load(reel)
        start = reel.documents[0]
        if isinstance(start, RunStart):
            self._read_notes(reel.path, start.session)
        self._name(reel)
        playing = self._play(reel, self.transport.speed)
        self._playing = self._bridge.submit(playing, fail=self.error.show_text)
        self._desk.page_requested.emit("Film")

    def _name(self, reel: Reel) -> None:
        start = reel.documents[0]
        if isinstance(start, RunStart):
            called = (s.title for s in self._desk.shelf if s.path == reel.path)
            name = next(called, start.plan.get("name") or reel.path.name)
            self._top.show_text(
                name, f"recorded on {words.when(start)} · {words.conditions(start)}"
            )

    async def _play(self, reel: Reel, speed: float) -> None:
        """Play a film in the engine's thread. Documents of an earlier film are ignored."""

        def consume(document: AnyDocument) -> None:
            if self.reel is reel:
                self.board.consume(document)

        def report(position: Position) -> None:
            if self.reel is reel:
                self.transport.show_position(position)
                if position.at_us >= reel.duration_us:
                    # A run that was cut off has no further documents either.
                    self.board.end()

        self._film = Film(reel, self._bridge.post(consume), self._bridge.post(report))
        self._film.set_speed(speed)
        await self._film.run()

    def _command(self, name: str, *arguments: object) -> None:
        def do() -> None:
            if self._film is not None:
                getattr(self._film, name)(*arguments)

        self._bridge.call(do)

    # The user's notes on the charts

    def _read_notes(self, path: Path, session: str) -> None:
        trio = self.board.trio
        trio.set_notes(())
        trio.notable = True
        self._notes, self._session = ChartNotes(path), session
        self._change_notes(self._notes, self._notes.read)

    def _change_notes(self, notes: ChartNotes, change: Callable[[], list[ChartNote]]) -> None:
        def show(found: list[ChartNote]) -> None:
            if notes is self._notes:
                self.board.trio.set_notes(found)

        self._bridge.do(change, show, self._desk.refused.emit)

    def _ask_note(self, server: str, x: float) -> None:
        """Open a field with the note at a place."""
        trio, notes = self.board.trio, self._notes
        if notes is None:
            return
        found = (n.text for n in trio.notes if (n.server, n.x) == (server, x))
        text, where = next(found, ""), trio.model.place_of(server, x)
        question = f"Note at {where}" + (" (empty: removed)" if text else "") + ":"

        def save(edited: str) -> None:
            self._change_notes(
                notes, partial(notes.put, self._session, ChartNote(x, edited, server))
            )

        ask_text(trio.window(), "Note", question, text, save, go="Save")
