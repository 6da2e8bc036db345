"""The registry of pages."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from PySide6.QtWidgets import QWidget

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

    def make(self, desk: Desk) -> QWidget:
        module, _, name = self.kind.partition(".")
        return getattr(import_module(f"app.pages.{module}"), name)(desk)


RAIL = {
    "Machines": Place("machines.MachinesPage", "Machines", "monitor", "Ctrl+1"),
    "Servers": Place("servers.ServersPage", "Servers", "server", "Ctrl+2"),
    "Plan": Place("plan.PlanPage", "Plan", "list-checks", "Ctrl+3"),
    "Live": Place("live.LivePage", "Live", "activity", "Ctrl+4"),
    "Compare": Place("compare.ComparePage", "Compare", "git-compare", "Ctrl+5"),
    "Sessions": Place("sessions.SessionsPage", "Sessions", "archive", "Ctrl+6"),
}
"""The pages of the rail, in its order."""

ALL = {
    "Start": Place("start.StartPage"),
    **RAIL,
    "Film": Place("film.FilmPage", "Sessions"),
    "Settings": Place("preferences.PreferencesPage", "Settings", key="Ctrl+,"),
    "Help": Place("help.HelpPage", "Settings", key="F1", title="Shortcuts and glossary"),
}
