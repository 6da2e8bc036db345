"""The registry of pages. Each page is imported when it is first shown: importing the charts would
delay the first paint.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from app.context import Desk


def _start(desk: Desk) -> QWidget:
    from app.pages.start import StartPage

    return StartPage(desk)


def _machines(desk: Desk) -> QWidget:
    from app.pages.machines import MachinesPage

    return MachinesPage(desk)


def _plan(desk: Desk) -> QWidget:
    from app.pages.plan import PlanPage

    return PlanPage(desk)


def _servers(desk: Desk) -> QWidget:
    from app.pages.servers import ServersPage

    return ServersPage(desk)


def _live(desk: Desk) -> QWidget:
    from app.pages.live import LivePage

    return LivePage(desk)


def _compare(desk: Desk) -> QWidget:
    from app.pages.compare import ComparePage

    return ComparePage(desk)


def _sessions(desk: Desk) -> QWidget:
    from app.pages.sessions import SessionsPage

    return SessionsPage(desk)


def _film(desk: Desk) -> QWidget:
    from app.pages.film import FilmPage

    return FilmPage(desk)


def _settings(desk: Desk) -> QWidget:
    from app.pages.preferences import PreferencesPage

    return PreferencesPage(desk)


def _help(desk: Desk) -> QWidget:
    from app.pages.help import HelpPage

    return HelpPage(desk, {place.title or name: place.key for name, place in ALL.items()})


@dataclass(frozen=True)
class Place:
    """A page: its factory, and its entry in the rail."""

    make: Callable[[Desk], QWidget]
    rail: str = ""
    icon: str = ""
    key: str = ""
    title: str = ""
    """Its name in lists, where it is not the key."""
    offers: tuple[str, ...] = ()
    """Buttons that the command palette offers on every page; see also `offers`."""


RAIL = {
    "Machines": Place(
        _machines,
        "Machines",
        "monitor",
        "Ctrl+1",
        offers=("Add machine", "Check all", "Import from ~/.ssh/config…"),
    ),
    "Servers": Place(
        _servers, "Servers", "server", "Ctrl+2", offers=("New server", "Test all shown")
    ),
    "Plan": Place(_plan, "Plan", "list-checks", "Ctrl+3", offers=("Open a plan file…",)),
    "Live": Place(_live, "Live", "activity", "Ctrl+4"),
    "Compare": Place(_compare, "Compare", "git-compare", "Ctrl+5", offers=("Add a session…",)),
    "Sessions": Place(_sessions, "Sessions", "archive", "Ctrl+6"),
}
"""The pages of the rail, in its order."""

ALL = {
    "Start": Place(_start, icon="play", offers=("Run Quick look",)),
    **RAIL,
    "Film": Place(_film, "Sessions"),
    "Settings": Place(
        _settings,
        "Settings",
        "settings",
        "Ctrl+,",
        offers=("Clear cache…", "Empty trash…", "About Pongbench"),
    ),
    "Help": Place(_help, "Settings", "info", "F1", "Shortcuts and glossary"),
}


def offers(name: str) -> tuple[str, ...]:
    """Return the buttons of a page that the command palette offers on every page."""
    from app import folders

    shown = folders.folders() if name == "Settings" else []
    return (*ALL[name].offers, *(f"Open the folder: {folder.contents}" for folder in shown))
