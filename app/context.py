"""What the pages share, and the signals with which a page asks the window for another page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from app.log import LogBook
from app.settings import Settings
from app.theme import Theme, current, use
from workbench.sharing import shared

if TYPE_CHECKING:
    from workbench.sessions.library import Shelved


class Sharing(QObject):
    """The link to the session that spectators follow, if any. It ends with the window."""

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


class Desk(QObject):
    """Created once, by the window, and passed to every page."""

    page_requested = Signal(str)
    """The name of a page."""
    run_requested = Signal(object, object)
    """A `Plan`, and the machines to run it on: `app.live.run.Where`; None: this computer."""
    preset_requested = Signal(object)
    """A preset, to be shown as such."""
    plan_requested = Signal(object)
    """A `Plan` to show in the form before it runs."""
    open_requested = Signal(object)
    """A session's path; None: ask for one."""
    compare_requested = Signal(object)
    """The paths of sessions to compare."""
    shelf_stale = Signal()
    """A session was added, renamed or removed."""
    shelf_changed = Signal(object)
    """The current sessions: a list of `Shelved`, latest first."""
    check_requested = Signal()
    """All machines are to be checked."""
    resources_read = Signal(object)
    """A page has read the servers, machines and presets anew: `PlanResources`."""
    servers_changed = Signal()
    """A server of the user's own was added, changed or removed."""
    machines_changed = Signal()
    """A machine's profile was added, changed or removed."""
    busy_changed = Signal(bool)
    """A run has started or ended."""
    paused_changed = Signal(bool)
    """The run is paused, or goes on."""
    refused = Signal(str)
    """One sentence: a file cannot be opened."""
    notice = Signal(str, str)
    """One sentence for the bar above the page, and its tone: for messages that belong to no page.
    """
    theme_changed = Signal()
    """The colour setting has changed."""

    def __init__(
        self, bridge: Bridge, theme: Theme, settings: Settings, log: LogBook | None = None
    ) -> None:
        super().__init__()
        self.bridge = bridge
        self.sharing = Sharing(bridge)
        self.log = log or LogBook()
        self.theme = theme
        self.settings = settings
        self.shelf: Sequence[Shelved] = ()
        self.shelf_read = False
        """The sessions are known; until then, that there are none is not."""
        self.busy = False
        """A run is in progress; no other one can start."""

    @property
    def theme(self) -> Theme:
        """The theme of the window, and of every widget that is made from now on."""
        return current()

    @theme.setter
    def theme(self, theme: Theme) -> None:
        use(theme)

    def set_busy(self, busy: bool) -> None:
        self.busy = busy
        self.busy_changed.emit(busy)

    def set_shelf(self, found: Sequence[Shelved]) -> None:
        self.shelf, self.shelf_read = found, True
        self.shelf_changed.emit(found)
