"""Saves the titles and notes of sessions; each change can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from app.context import Desk
from app.history import History, Step
from app.sessions.card import SessionCard
from workbench.sessions.labels import Label, Titles
from workbench.sessions.library import Shelved


class Labelling:
    """In the order of the changes."""

    def __init__(
        self, desk: Desk, card: SessionCard, history: History, failed: Callable[[str], object]
    ) -> None:
        self._desk, self._card, self._history, self._failed = desk, card, history, failed
        self._keeping = asyncio.Lock()
        card.labelled.connect(self._on_labelled)

    def _on_labelled(self, session: Shelved, label: Label) -> None:
        assert session.start is not None
        id_ = session.start.session

        def kept(before: Label) -> None:
            self._desk.shelf_stale.emit()
            self._remember(session, id_, before, label)

        self._desk.bridge.submit(self._keep(id_, label), kept, self._failed)

    async def _keep(self, session: str, label: Label) -> Label:
        """Save a label; returns the one before."""
        async with self._keeping:
            return await asyncio.to_thread(Titles().write, session, label)

    def _remember(self, session: Shelved, id_: str, before: Label, label: Label) -> None:
        shown = label

        def swap(to: Label) -> None:
            nonlocal shown
            Titles().write(id_, to)
            shown = to

        def then() -> None:
            self._card.show_label(session.path, shown)
            self._desk.shelf_stale.emit()

        what = "Title" if before.title != label.title else "Notes"
        text = f"{what} of “{session.title}”"
        # What is typed into one field is one step.
        key = (id_, what)
        self._history.add(Step(text, lambda: swap(before), lambda: swap(label), then=then, key=key))
