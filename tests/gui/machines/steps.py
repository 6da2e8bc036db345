"""What a user does and sees on the Machines page, as test steps."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from sshd import PASSWORD

from app.context import Desk
from app.machines.prompts import KeyDialog, QuestionDialog
from app.pages.machines import MachinesPage
from app.widgets import dress
from tests.gui.windows import control


def opened(qtbot: QtBot, desk: Desk) -> MachinesPage:
    page = MachinesPage(desk)
    dress(page, desk.theme)
    qtbot.addWidget(page)
    page.resize(1280, 900)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(lambda: bool(page.listing.names))
    return page


def show(qtbot: QtBot, page: MachinesPage, name: str) -> None:
    qtbot.waitUntil(lambda: name in page.listing.names)
    page.listing.choose(name)


def light(page: MachinesPage, name: str) -> str:
    return page.listing.states[name].word


def dialog(qtbot: QtBot, page: QWidget, kind: type[QWidget]) -> QWidget:
    def shown() -> list[QWidget]:
        return [each for each in page.window().findChildren(kind) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(shown()))
    return shown()[0]


def answer(qtbot: QtBot, page: QWidget, text: str) -> None:
    asked = dialog(qtbot, page, QuestionDialog)
    field = asked.findChild(QLineEdit)
    assert field is not None
    assert field.echoMode() == QLineEdit.EchoMode.Password
    qtbot.keyClicks(field, text)
    control(asked, "Continue").click()


def check(page: MachinesPage) -> None:
    page.run_this()


def asks_about_key(qtbot: QtBot, page: MachinesPage) -> None:
    """Wait until an untrusted key is shown."""
    dialog(qtbot, page, KeyDialog)


def trust_it(qtbot: QtBot, page: MachinesPage) -> None:
    """Trust the key and wait until the check has passed."""
    check(page)
    asks_about_key(qtbot, page)
    control(page, "Trust key").click()
    answer(qtbot, page, PASSWORD)
    qtbot.waitUntil(lambda: "ready" in light(page, "box"))


def typed(dialog: QWidget, name: str, text: str) -> None:
    (field,) = [f for f in dialog.findChildren(QLineEdit) if f.accessibleName() == name]
    field.setText(text)
    field.textEdited.emit(text)
