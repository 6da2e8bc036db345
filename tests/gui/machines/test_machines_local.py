"""This computer on the Machines page, and the list of all machines."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.machines.editor import Editor
from app.machines.listing import MachineRow
from app.pages.machines import MachinesPage
from tests.gui.machines.steps import check, dialog, light, opened, show
from tests.gui.windows import control, says, sees
from workbench.errors import PongbenchError
from workbench.machines.checking import Step

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_this_computer_alone_is_described_with_why_a_second_machine_would_help(
    qtbot: QtBot, page: MachinesPage
) -> None:
    sees(qtbot, page, "Limits for a run")
    sees(qtbot, page, "local ports")
    assert says(page, "several clients can offer more load than one")
    assert says(page, "only this computer")
    rows = page.listing.findChild(QScrollArea)
    assert rows is not None
    both = sum(row.height() for row in page.listing.findChildren(MachineRow))
    qtbot.waitUntil(lambda: both < page.listing.height() < both + 24)
    assert rows.verticalScrollBar().maximum() == 0
    assert light(page, "localhost") == "not checked"
    control(page, "Add machine").click()
    assert dialog(qtbot, page, Editor)


def test_on_a_large_screen_a_figure_stands_near_its_name(qtbot: QtBot, page: MachinesPage) -> None:
    sees(qtbot, page, "System")
    page.resize(3840, 2160)
    qtbot.waitUntil(lambda: page.detail.width() > 2000)
    facts, meaning = page.detail.facts, page.detail.meaning
    qtbot.waitUntil(lambda: 500 < facts.width() <= 700)
    assert meaning.width() == facts.width()


def test_in_a_narrow_window_problems_are_shown_above_facts(
    qtbot: QtBot, page: MachinesPage
) -> None:
    sees(qtbot, page, "System")
    failed = Step("Clock", "failed", "Its clock runs backwards.", PongbenchError("no"))
    record = page.records.get("localhost")
    record.add(failed)
    page.records.put("localhost", record)
    page.refresh()
    sees(qtbot, page, "Its clock runs backwards.")
    page.resize(960, 620)
    detail = page.detail
    origin = QPoint(0, 0)
    qtbot.waitUntil(
        lambda: detail.steps.mapTo(page, origin).y() < detail.facts.mapTo(page, origin).y()
    )


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
    row = page.listing.rows[box]
    # Qt orders by position.
    qtbot.waitUntil(lambda: row.y() > page.listing.rows["localhost"].y())
    row.setFocus()
    qtbot.keyClick(row, Qt.Key.Key_Up)
    assert page.listing.selected == "localhost"
    assert "not checked" in page.listing.rows["localhost"].accessibleName()
