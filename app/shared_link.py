"""The link to the session that spectators follow, for all pages."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from workbench.sharing import shared


class Sharing(QObject):
    """The session that is shared, if any. It ends with the window."""

    changed = Signal()

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._work: Future[None] | None = None
        self.link = ""
        """Empty: nothing is shared."""
        self.problem = ""
        """Why it could not be."""

    def begin(self, session: Path, where: str) -> None:
        """Share a session's file at an address."""
        self.end()
        self.problem = ""
        tell = self._bridge.post(self._show)

        async def serve() -> None:
            async with shared(session, where) as link:
                tell(link)
                await asyncio.Event().wait()

        self._work = self._bridge.submit(serve(), fail=self._fail)

    def end(self) -> None:
        if self._work is not None:
            self._work.cancel()
            self._work = None
        self._show("")

    def _show(self, link: str) -> None:
        self.link = link
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self.problem = sentence
        self._show("")
