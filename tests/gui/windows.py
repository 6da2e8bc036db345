"""A window for a test, as the program creates it, and what a user reads and does in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import pytest
from pypdf import PdfReader
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDropEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app import page_registry, theme
from app.bridge import Bridge
from app.context import Desk
from app.dialogs import Confirmation
from app.export import picture
from app.live.film import load
from app.log import LogBook
from app.pages.plan import PlanPage
from app.pages.start import StartPage
from app.settings import Settings
from app.shell.main_window import MainWindow
from workbench.errors import BadInput

W = TypeVar("W", bound=QWidget)

PATIENCE_MS = 240_000
"""For what a quiet machine does at once."""


@contextmanager
def shown(
    qtbot: QtBot, settings: Settings | None = None, book: LogBook | None = None
) -> Iterator[MainWindow]:
    """A complete window on the screen; closed afterwards, with nothing left running."""
    bridge = Bridge()
    desk = Desk(bridge, theme.LIGHT, settings or Settings(), book)
    made = MainWindow(desk)
    with qtbot.waitSignal(made.built, timeout=PATIENCE_MS):
        made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=PATIENCE_MS)
    try:
        yield made
    finally:
        made.leave()
        qtbot.waitUntil(lambda: not made.desk.busy, timeout=PATIENCE_MS)
        made.close()
        assert bridge.close()
        for each in (made, desk, bridge):
            each.deleteLater()


class _Watch(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[QWidget] = set()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.seen.add(watched)
        return False


@contextmanager
def appearing() -> Iterator[set[QWidget]]:
    """The windows that appear meanwhile."""
    app, watch = QApplication.instance(), _Watch()
    assert app
    app.installEventFilter(watch)
    try:
        yield watch.seen
    finally:
        app.removeEventFilter(watch)


def name_of(widget: QWidget) -> str:
    """What a screen reader says about it."""
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found else ""


def the(window: QWidget, kind: type[W], name: str = "") -> W:
    """The one visible widget of a kind; `name`: and of this accessible name."""
    found = [each for each in window.findChildren(kind) if each.isVisible()]
    found = [each for each in found if name in ("", each.accessibleName(), name_of(each))]
    assert len(found) == 1, f"{len(found)} are to be seen: {kind.__name__} {name}"
    return found[0]


def control(window: QWidget, name: str) -> QAbstractButton:
    """The one visible button of this accessible name."""
    named = [b for b in window.findChildren(QAbstractButton) if name_of(b) == name]
    found = [button for button in named if button.isVisible()]
    assert len(found) == 1, f"{len(found)} visible buttons are called {name}"
    return found[0]


def offers(window: QWidget, name: str) -> bool:
    """Can a button of this accessible name be pressed?"""
    named = (b for b in window.findChildren(QAbstractButton) if name_of(b) == name)
    return any(button.isVisible() and button.isEnabled() for button in named)


def press(window: QWidget, name: str) -> None:
    found = control(window, name)
    assert found.isEnabled(), f"{name} cannot be pressed"
    found.click()


def answer(window: QWidget, text: str, button: str) -> None:
    """Write into the field of the one visible question, and press a button of it."""
    question = the(window, Confirmation)
    the(question, QLineEdit).setText(text)
    press(question, button)


def says(window: QWidget, text: str) -> bool:
    """Is the text on a visible label?"""
    return any(text in name_of(label) for label in window.findChildren(QLabel) if label.isVisible())


def sees(qtbot: QtBot, window: QWidget, text: str) -> None:
    """Wait until it says so."""
    qtbot.waitUntil(lambda: says(window, text))


def painted(widget: QWidget) -> str:
    """All texts painted on a widget and what is in it."""
    size = widget.width(), widget.height()
    made = picture.pdf(lambda painter: widget.render(painter, QPoint()), size, "")
    return " ".join(PdfReader(BytesIO(made)).pages[0].extract_text().split())


def drop(on: QWidget, *paths: Path) -> None:
    """Drop files as a desktop's file manager does."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier
    on.dropEvent(QDropEvent(QPointF(50, 50), copy, data, left, none.NoModifier))


def refusal(path: Path) -> str:
    """The message for a file that is not a session."""
    with pytest.raises(BadInput) as caught:
        asyncio.run(load(path))
    return str(caught.value)


def words_on(window: QWidget) -> list[str]:
    """All texts of visible labels, for the message of a failing test."""
    labels = [label for label in window.findChildren(QLabel) if label.isVisible()]
    return [text for label in labels if (text := name_of(label))]


def lists_are_full(page: QWidget) -> bool:
    """Has arrived what a page reads in the engine's thread?"""
    if isinstance(page, PlanPage) and page.draft is None:
        return False
    if isinstance(page, StartPage) and not page.compare.servers.count():
        return False
    lists = [view for view in page.findChildren(QAbstractItemView) if view.isVisible()]
    return all(view.model() is None or view.model().rowCount() for view in lists)


def pages(qtbot: QtBot, window: MainWindow) -> Iterator[tuple[str, QWidget]]:
    """Every page by its name, one after the other, each shown and filled."""
    for name in page_registry.ALL:
        window.show_page(name)
        page = window.page(name)
        qtbot.waitUntil(lambda page=page: lists_are_full(page))
        QApplication.processEvents()
        yield name, page
