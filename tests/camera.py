"""Takes pictures of widgets."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget

PATIENCE_S = 120.0
_SETTLES_IN = 20
"""Looks, at the most: what breathes never does."""


class Camera:
    """Takes what is wanted: all, or what begins with one of some words."""

    def __init__(self, app: QApplication) -> None:
        self._app = app

    def aim(self, folder: Path, ending: str, wanted: list[str]) -> None:
        self._folder, self._ending, self._wanted = folder, ending, tuple(wanted)

    def wants(self, name: str) -> bool:
        return not self._wanted or name.startswith(self._wanted)

    def comes_to(self, part: str) -> bool:
        """Whether anything is wanted whose name begins so."""
        return self.wants(part) or any(word.startswith(part) for word in self._wanted)

    def rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._app.processEvents()
            # Outside of `exec` nothing is deleted later.
            self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
            time.sleep(0.01)

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit(f"a picture of {self._ending} did not come")
            self.rest(0.05)

    def keep(self, widget: QWidget, name: str) -> None:
        if self.wants(name):
            self.take(widget, self._folder / f"{name}-{self._ending}.png")

    def take(self, widget: QWidget, path: Path) -> None:
        """Grab it once two pictures in a row are equal."""
        before, shot = None, widget.grab()
        for _ in range(_SETTLES_IN):
            if shot.toImage() == before:
                break
            self.rest(0.4)
            before, shot = shot.toImage(), widget.grab()
        shot.save(str(path))
