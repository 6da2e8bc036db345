"""What a user does on the Servers page, as test steps."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.choices import Choice
from app.pages.servers import ServersPage
from app.servers.known import Known
from app.servers.own import NewServer
from app.servers.rows import COLUMNS
from tests.gui.windows import control

Open = Callable[[], ServersPage]


def pick(choice: Choice, text: str) -> None:
    """Pick an item of a combo box, as a click does."""
    choice.setCurrentIndex(choice.findText(text))
    choice.activated.emit(choice.currentIndex())


def set_size(qtbot: QtBot, page: ServersPage, width: int, height: int) -> None:
    """As a window does that may be smaller than what is in it, until that has adapted."""

    def reached() -> bool:
        page.resize(width, height)
        return (page.width(), page.height()) == (width, height)

    qtbot.waitUntil(reached)


def choose(page: ServersPage, id: str) -> Known:
    known = next(known for known in page.servers() if known.id == id)
    assert page.table.choose(known.key)
    return known


def column(name: str) -> int:
    """The index of a column."""
    return [each.name for each in COLUMNS].index(name)


def names(page: ServersPage) -> list[str]:
    return [known.name for known in page.servers()]


def seek(qtbot: QtBot, page: ServersPage, text: str, found: Callable[[], bool]) -> None:
    page.search()
    field = page.findChild(QLineEdit)
    assert field is not None
    field.clear()
    qtbot.keyClicks(field, text)
    qtbot.waitUntil(found)


def make(qtbot: QtBot, page: ServersPage, name: str) -> None:
    """Fill the dialog that asks for a name."""
    dialog = page.findChild(NewServer)
    assert dialog is not None
    dialog.field.setText(name)
    control(dialog, "Create").click()
