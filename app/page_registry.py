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

    return HelpPage(desk, list(RAIL))


@dataclass(frozen=True)
class Place:
    """A page: its factory, and its entry in the rail."""

    make: Callable[[Desk], QWidget]
    rail: str = ""
    icon: str = ""


RAIL = {
    "Machines": Place(_machines, "Machines", "monitor"),
    "Servers": Place(_servers, "Servers", "server"),
    "Plan": Place(_plan, "Plan", "list-checks"),
    "Live": Place(_live, "Live", "activity"),
    "Compare": Place(_compare, "Compare", "git-compare"),
    "Sessions": Place(_sessions, "Sessions", "archive"),
}
"""The pages of the rail, in its order; Ctrl+1 and so on follow it."""

ALL = {
    "Start": Place(_start),
    **RAIL,
    "Film": Place(_film, "Sessions"),
    "Settings": Place(_settings, "Settings", "settings"),
    "Help": Place(_help, "Settings"),
}
