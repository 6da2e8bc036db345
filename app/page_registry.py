"""The registry of pages."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from PySide6.QtWidgets import QWidget

from app import folders
from app.context import Desk


@dataclass(frozen=True)
class Place:
    """A page, and its entry in the rail."""

    kind: str
    """Its class in `app.pages`, with the module: all of them together take a second to import."""
    rail: str = ""
    icon: str = ""
    key: str = ""
    title: str = ""
    """Its name in lists, where it is not the key."""
    offers: tuple[str, ...] = ()
    """Buttons that the command palette offers on every page; see also `offers`."""

    def make(self, desk: Desk) -> QWidget:
        module, _, name = self.kind.partition(".")
        made: QWidget = getattr(import_module(f"app.pages.{module}"), name)(desk)
        return made


RAIL = {
    "Machines": Place(
        "machines.MachinesPage",
        "Machines",
        "monitor",
        "Ctrl+1",
        offers=("Add machine", "Check all", "Import from ~/.ssh/config…"),
    ),
    "Servers": Place(
        "servers.ServersPage",
        "Servers",
        "server",
        "Ctrl+2",
        offers=("New server", "Test all shown"),
    ),
    "Plan": Place("plan.PlanPage", "Plan", "list-checks", "Ctrl+3", offers=("Open a plan file…",)),
    "Live": Place("live.LivePage", "Live", "activity", "Ctrl+4"),
    "Compare": Place(
        "compare.ComparePage", "Compare", "git-compare", "Ctrl+5", offers=("Add a session…",)
    ),
    "Sessions": Place("sessions.SessionsPage", "Sessions", "archive", "Ctrl+6"),
}
"""The pages of the rail, in its order."""

ALL = {
    "Start": Place("start.StartPage", icon="play", offers=("Run Quick look",)),
    **RAIL,
    "Film": Place("film.FilmPage", "Sessions"),
    "Settings": Place(
        "preferences.PreferencesPage",
        "Settings",
        "settings",
        "Ctrl+,",
        offers=(
            *("Clear cache…", "Empty trash…", "About Pongbench"),
            *(f"Open the folder: {folder.contents}" for folder in folders.folders()),
        ),
    ),
    "Help": Place("help.HelpPage", "Settings", "info", "F1", "Shortcuts and glossary"),
}
