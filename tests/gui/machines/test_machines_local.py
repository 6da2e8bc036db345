"""This computer on the Machines page, and the list of all machines."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.machines.cards import remarks
from app.machines.editor import Editor
from app.pages.machines import MachinesPage
from tests.gui.machines.steps import check, dialog, light, opened, show
from tests.gui.windows import control, says, sees
from workbench.errors import PongbenchError
from workbench.machines.checking import Step
from workbench.machines.profiles import load_profile

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_this_computer_alone_is_described(qtbot: QtBot, page: MachinesPage) -> None:
    sees(qtbot, page, "local ports")
    assert says(page, "only this computer")
    assert light(page, "localhost") == "not checked"
    control(page, "Add machine").click()
    assert dialog(qtbot, page, Editor)


def test_problems_are_shown_above_facts(qtbot: QtBot, page: MachinesPage) -> None:
    sees(qtbot, page, "Kernel")
    failed = Step("Clock", "failed", "Its clock runs backwards.", PongbenchError("no"))
    record = page.records.get("localhost")
    record.add(Step("Cores", "passed", "All of them."))
    record.add(failed)
    page.records.put("localhost", record)
    page.refresh()
    sees(qtbot, page, "Its clock runs backwards.")
    shown = [each.text for each in remarks(load_profile("localhost"), record, running=False)]
    assert shown[:2] == ["Its clock runs backwards.", "All of them."]


def test_checking_this_computer_shows_every_step_and_is_saved_for_the_next_start(
    qtbot: QtBot, page: MachinesPage, desk: Desk
) -> None:
    check(page)
    sees(qtbot, page, "Clock offset known to")
    qtbot.waitUntil(lambda: "ready" in light(page, "localhost"))
    sees(qtbot, page, "net.core.somaxconn")
    again = opened(qtbot, desk)
    qtbot.waitUntil(lambda: "ready" in light(again, "localhost"))
    sees(qtbot, again, "Clock offset known to")


def test_during_a_run_nothing_is_checked(qtbot: QtBot, page: MachinesPage, desk: Desk) -> None:
    desk.set_busy(True)
    assert not page.detail.check.isEnabled()
    assert "when it is over" in page.detail.check.toolTip()
    desk.set_busy(False)
    assert page.detail.check.isEnabled()


def test_arrow_keys_go_through_the_machines(qtbot: QtBot, page: MachinesPage, box: str) -> None:
    show(qtbot, page, box)
    page.listing.setFocus()
    qtbot.keyClick(page.listing, Qt.Key.Key_Up)
    assert page.listing.selected == "localhost"
    assert "not checked" in page.listing.currentItem().text()
