"""Reads, shows and edits the notes on the charts of a recorded session."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject

from app.charts import noted
from app.charts.trio import Trio
from app.context import Desk
from app.question import ask_text
from workbench.sessions.chart_notes import ChartNote, ChartNotes


class Annotating(QObject):
    """The notes of the session whose charts these are."""

    def __init__(self, trio: Trio, desk: Desk, parent: QObject) -> None:
        super().__init__(parent)
        self._trio, self._desk = trio, desk
        self._notes: ChartNotes | None = None
        self._session = ""
        trio.note_wanted.connect(self._ask)

    def open(self, path: Path | None, session: str = "") -> None:
        """Show the notes of a session, by its file and its identifier; None: of none."""
        self._trio.set_notes(())
        self._trio.notable = path is not None
        self._notes, self._session = (ChartNotes(path) if path else None), session
        if (notes := self._notes) is not None:
            self._submit(notes, asyncio.to_thread(notes.read))

    def _ask(self, server: str, x: float) -> None:
        """Open a field with the note at a place."""
        if (notes := self._notes) is None:
            return
        found = (n.text for n in self._trio.notes if (n.server, n.x) == (server, x))
        text, where = next(found, ""), noted.place_of(self._trio.model, server, x)
        question = f"Note at {where}:" + (" (empty: removed)" if text else "")

        def save(edited: str) -> None:
            note = ChartNote(x, edited, server)
            self._submit(notes, asyncio.to_thread(notes.put, self._session, note))

        ask_text(self._trio.window(), "Save", question, text, save)

    def _submit(self, notes: ChartNotes, work: object) -> None:
        def show(found: list[ChartNote]) -> None:
            if notes is self._notes:
                self._trio.set_notes(found)

        self._desk.bridge.submit(work, show, self._desk.refused.emit)
