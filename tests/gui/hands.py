"""Two ways to drive the tour: Qt's own events, and a real pointer with real keys on X11."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Protocol

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.gui.windows import PATIENCE_MS

_X_NAMES = {
    "Esc": "Escape",
    "Space": "space",
    ",": "comma",
    ".": "period",
    "Return": "Return",
    "Ctrl": "ctrl",
    "Shift": "shift",
    "Left": "Left",
    "Right": "Right",
}


class Hands(Protocol):
    """A click and a key, as a person does them; `see` is what is on the screen there, `turn_to`
    what a window manager does when the window in front is closed."""

    def click(self, widget: QWidget, at: QPoint | None = None) -> None: ...

    def key(self, sequence: str) -> None: ...

    def type(self, text: str) -> None: ...

    def see(self, widget: QWidget) -> QImage: ...

    def turn_to(self, window: QWidget) -> None: ...


class QtHands:
    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        self._qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or _middle(widget))

    def key(self, sequence: str) -> None:
        pressed = QKeySequence(sequence)[0]
        self._qtbot.keyClick(_focused(), pressed.key(), pressed.keyboardModifiers())

    def type(self, text: str) -> None:
        self._qtbot.keyClicks(_focused(), text)

    def see(self, widget: QWidget) -> QImage:
        return widget.grab().toImage()

    def turn_to(self, window: QWidget) -> None:
        window.activateWindow()


class XHands:
    """xdotool: the window manager and the X server are between it and the window."""

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        place = widget.mapToGlobal(at or _middle(widget))
        _xdotool("mousemove", "--sync", str(place.x()), str(place.y()), "click", "1")
        # Hovering changes how controls look, so the pointer is moved away.
        away = widget.screen().geometry().bottomLeft()
        _xdotool("mousemove", str(away.x()), str(away.y()))

    def key(self, sequence: str) -> None:
        _xdotool("key", "+".join(_x_name(part) for part in sequence.split("+")))

    def type(self, text: str) -> None:
        _xdotool("type", "--delay", "5", text)

    def see(self, widget: QWidget) -> QImage:
        place = widget.mapToGlobal(QPoint(0, 0))
        shot = widget.screen().grabWindow(0, place.x(), place.y(), widget.width(), widget.height())
        return shot.toImage()

    def turn_to(self, window: QWidget) -> None:
        """The window manager does."""


def _x_name(key: str) -> str:
    """A capital letter would be one with Shift."""
    return _X_NAMES.get(key, key.lower() if len(key) == 1 else key)


def hands(qtbot: QtBot) -> Hands:
    return XHands() if os.environ.get("PONGBENCH_HANDS") == "xdotool" else QtHands(qtbot)


def _middle(widget: QWidget) -> QPoint:
    return widget.rect().center()


def _focused() -> QWidget:
    found = QApplication.focusWidget() or QApplication.activeWindow()
    assert found is not None
    return found


def _xdotool(*words: str) -> None:
    program = shutil.which("xdotool")
    assert program
    subprocess.run(
        [program, *words], check=True, timeout=PATIENCE_MS / 1000, stdout=subprocess.DEVNULL
    )
