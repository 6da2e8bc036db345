"""The shortcuts of the window, from the registries of actions and of pages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence, QShortcut

from app import actions, page_registry
from app.actions import Action

if TYPE_CHECKING:
    from app.shell.paged_window import PagedWindow


def add(window: PagedWindow) -> None:
    keys: dict[str, Callable[[], object]] = {
        place.key: partial(window.show_page, name)
        for name, place in page_registry.ALL.items()
        if place.key
    }
    for action in actions.WINDOW:
        keys |= dict.fromkeys(action.keys, getattr(window, action.method))
    for action in actions.PAGES:
        keys |= dict.fromkeys(action.keys, partial(act, window, action))
    for key, do in keys.items():
        QShortcut(QKeySequence(key), window, do)


def act(window: PagedWindow, action: Action) -> None:
    """Have the page do it that keys are for; if it cannot, show the page that can."""
    page = window.addressed
    if not hasattr(page, action.method):
        if not action.page:
            return
        window.show_page(action.page)
        page = window.shown
    getattr(page, action.method)()
