"""Notices servers and machines that other programs changed in the user's folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

from app.context import Desk
from workbench import paths

State = frozenset[tuple[Path, int]]
"""Files and folders, each with the time of its last change."""


class Refreshing(QObject):
    """Compares the folders whenever the window becomes active."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window)
        self._desk = desk
        self._seen: dict[str, State] = {}
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The first check follows the first paint.
        if event.type() == QEvent.Type.WindowActivate and self._seen:
            self.check()
        return False

    def check(self) -> None:
        """Have the pages read again what has changed since the last time."""
        self._desk.bridge.do(_states, self._on_states)

    def everything(self) -> None:
        """Have the pages read everything again."""
        self._desk.servers_changed.emit()
        self._desk.machines_changed.emit()
        self._desk.shelf_stale.emit()

    def _on_states(self, states: dict[str, State]) -> None:
        known, self._seen = self._seen, states
        if not known:
            return
        if known["servers"] != states["servers"]:
            self._desk.servers_changed.emit()
        if known["machines"] != states["machines"]:
            self._desk.machines_changed.emit()


def _states() -> dict[str, State]:
    servers, machines = paths.data_dir() / "servers", paths.config_dir() / "profiles"
    return {
        "servers": frozenset(_changes(servers.glob("*/**/*"))),
        "machines": frozenset(_changes(machines.glob("*.yaml"))),
    }


def _changes(files: Iterator[Path]) -> Iterator[tuple[Path, int]]:
    for path in files:
        try:
            yield path, path.stat().st_mtime_ns
        except OSError:
            continue  # removed in the meantime
