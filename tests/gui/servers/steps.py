"""What a user does on the Servers page, as test steps."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.fields import Choice
from app.pages.servers import ServersPage
from app.servers.known import Known
from app.servers.rows import COLUMNS, EVERY
from tests.gui.windows import answer

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
    known = next(known for known in page.table.model().servers() if known.id == id)
    assert page.table.choose(known.key)
    return known


def column(name: str) -> int:
    """The index of a column."""
    return [each.name for each in COLUMNS].index(name)


def names(page: ServersPage) -> list[str]:
    return [known.name for known in page.table.model().servers()]


def seek(qtbot: QtBot, page: ServersPage, text: str, found: Callable[[], bool]) -> None:
    page.search()
    field = page.findChild(QLineEdit)
    assert field is not None
    field.clear()
    qtbot.keyClicks(field, text)
    qtbot.waitUntil(found)


def make(page: ServersPage, name: str) -> None:
    """Answer the question for a name."""
    answer(page, name, "Create")


def sift(page: ServersPage, family: str = "", shown: str = EVERY) -> None:
    """Pick a family by its id, and which of its servers are shown."""
    page.finding.family.setCurrentIndex(page.finding.family.findData(family))
    pick(page.finding.shown, shown)
