"""Reads, shows and edits the notes on the charts of a recorded session."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from app.charts import note_text
from app.charts.trio import Trio
from app.context import Desk
from app.history import History, rewriting
from app.question import ask_text
from workbench import stores
from workbench.sessions.chart_notes import ChartNote, ChartNotes
from workbench.stores import Change


class Annotating(QObject):
    """The notes of the session whose charts these are."""

    def __init__(self, trio: Trio, desk: Desk, parent: QObject) -> None:
        super().__init__(parent)
        self._trio, self._desk = trio, desk
        self._notes: ChartNotes | None = None
        self._session = ""
        self.history = History(desk.bridge, self)
        self.history.failed.connect(desk.refused)
        trio.note_wanted.connect(self._ask)

    def open(self, path: Path | None, session: str = "") -> None:
        """Show the notes of a session, by its file and its identifier; None: of none."""
        self._trio.set_notes(())
        self._trio.notable = path is not None
        self._notes, self._session = (ChartNotes(path) if path else None), session
        self.history.clear()
        self._read()

    def _read(self) -> None:
        if (notes := self._notes) is not None:
            show = partial(self._show, notes)
            self._desk.bridge.do(notes.read, show, self._desk.refused.emit)

    def _ask(self, server: str, x: float) -> None:
        """Open a field with the note at a place."""
        if (notes := self._notes) is None:
            return
        found = (n.text for n in self._trio.notes if (n.server, n.x) == (server, x))
        text, where = next(found, ""), note_text.place_of(self._trio.model, server, x)
        question = f"Note at {where}" + (" (empty: removed)" if text else "") + ":"

        def save(edited: str) -> None:
            note = ChartNote(x, edited, server)

            def put() -> tuple[list[ChartNote], list[Change]]:
                with stores.recorded() as changes:
                    return notes.put(self._session, note), changes

            def done(result: tuple[list[ChartNote], list[Change]]) -> None:
                found, changes = result
                self._show(notes, found)
                said = "" if edited.strip() else f"Removed the note at {where}."
                if notes is self._notes:
                    self.history.add(
                        rewriting(f"Note at {where}", changes, notes.path, self._read, said)
                    )

            self._desk.bridge.do(put, done, self._desk.refused.emit)

        ask_text(self._trio.window(), "Note", question, text, save, go="Save")

    def _show(self, notes: ChartNotes, found: list[ChartNote]) -> None:
        if notes is self._notes:
            self._trio.set_notes(found)
