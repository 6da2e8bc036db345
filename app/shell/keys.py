"""The shortcuts of the window. Those of a page are defined by the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QKeySequence, QShortcut

from app import page_registry

if TYPE_CHECKING:
    from app.shell.main_window import MainWindow

PAGE_ACTIONS = {
    "Ctrl+R": ("run_this", "Start"),
    "Ctrl+F": ("search", "Sessions"),
    "Ctrl+.": ("press_stop", ""),
    "Ctrl+E": ("export", ""),
    "Ctrl+Shift+C": ("copy_chart", ""),
    "F11": ("present", "Live"),
}
"""The method of the shown page for each shortcut, and the page to show if it has none."""


def add(window: MainWindow) -> None:
    keys: dict[str, Callable[[], object]] = {
        "Ctrl+O": lambda: window.open(None),
        "Ctrl+,": lambda: window.show_page("Settings"),
        "F5": window.refreshing.everything,
        "F1": lambda: window.show_page("Help"),
        "Ctrl+L": window.show_log,
        "Ctrl+Q": window.close,
        "Ctrl+W": window.close,
    }
    for place, name in enumerate(page_registry.RAIL, start=1):
        keys[f"Ctrl+{place}"] = lambda name=name: window.show_page(name)
    for key, action in PAGE_ACTIONS.items():
        keys[key] = lambda action=action: _act(window, *action)
    for key, do in keys.items():
        QShortcut(QKeySequence(key), window, do)


def _act(window: MainWindow, action: str, other: str) -> None:
    page = window.shown
    if not hasattr(page, action) and other and hasattr(window.page(other), action):
        window.show_page(other)
        page = window.shown
    if hasattr(page, action):
        getattr(page, action)()
