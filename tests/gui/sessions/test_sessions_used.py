"""Sessions opened, compared, run again, deleted and restored from their list."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.live.run import Where
from app.pages.sessions import SessionsPage
from tests.gui.sessions.steps import PATIENCE_MS, click, listed, names, record, rows
from tests.gui.windows import press, says, sees
from workbench import trash
from workbench.machines.profiles import Profile, remove_profile, save_profile
from workbench.plan.model import Plan
from workbench.sessions import read_session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_enter_opens_one_session_and_compares_several(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    for month in (1, 2, 3):
        record(home / f"{month}.pong.yaml", month=month)
    listed(qtbot, desk, page, 3)
    click(qtbot, page, 1)
    with qtbot.waitSignal(desk.open_requested) as opened:
        qtbot.keyClick(rows(page), Qt.Key.Key_Return)
    assert opened.args == [home / "2.pong.yaml"]
    click(qtbot, page, 2, more=True)
    with qtbot.waitSignal(desk.compare_requested) as compared:
        qtbot.keyClick(rows(page), Qt.Key.Key_Return)
    assert compared.args == [[home / "2.pong.yaml", home / "1.pong.yaml"]]


def test_a_session_runs_again_with_its_plan_unless_one_is_running(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Mine")
    listed(qtbot, desk, page, 1)
    with qtbot.waitSignal(desk.run_requested) as run:
        page.card.buttons["Run again"].click()
    plan, where = run.args
    assert isinstance(plan, Plan) and where is None
    assert plan.name == "Mine"
    assert plan.rates_per_s == read_session(path).start.plan["rates"]
    desk.set_busy(True)
    assert not page.card.buttons["Run again"].isEnabled()


def test_a_session_runs_again_on_its_machines_or_says_which_are_gone(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    save_profile(Profile("bolt", roles=["client"]))
    save_profile(Profile("cedar", roles=["client"]))
    machines = {"localhost": ["target"], "bolt": ["client"], "cedar": ["client"]}
    record(home / "a.pong.yaml", "Mine", machines=machines)
    listed(qtbot, desk, page, 1)
    with qtbot.waitSignal(desk.run_requested, timeout=PATIENCE_MS) as run:
        page.card.buttons["Run again"].click()
    plan, where = run.args
    assert plan.name == "Mine"
    assert where == Where("localhost", ("bolt", "cedar"))
    remove_profile("cedar")
    with (
        qtbot.waitSignal(desk.plan_requested, timeout=PATIENCE_MS) as shown,
        qtbot.waitSignal(desk.notice, timeout=PATIENCE_MS) as reported,
    ):
        page.card.buttons["Run again"].click()
    assert shown.args == [plan]
    assert reported.args[0] == (
        "This session ran on localhost, load from bolt, cedar. cedar has no profile: "
        "choose other machines, or add them on the Machines page."
    )


def test_deleted_sessions_are_restored_by_undo_and_deleted_again_by_redo(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Mine")
    record(home / "b.pong.yaml", "Stays", month=2)
    listed(qtbot, desk, page, 2)
    before = path.read_bytes()
    page.setFocus()
    qtbot.keyClick(rows(page), Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: names(page) == ["b"], timeout=PATIENCE_MS)
    assert not path.exists()
    assert page.card.title.text() == "Stays"
    sees(qtbot, page, "Moved “Mine” to the trash, which keeps it for 30 days.")
    press(page, "Undo")
    qtbot.waitUntil(lambda: sorted(names(page)) == ["a", "b"], timeout=PATIENCE_MS)
    assert path.read_bytes() == before
    assert page.card.title.text() == "Mine"
    assert not says(page, "Moved “Mine”")
    page.history.redo()
    qtbot.waitUntil(lambda: names(page) == ["b"], timeout=PATIENCE_MS)


def test_undo_never_replaces_what_another_program_wrote_meanwhile(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Mine")
    listed(qtbot, desk, page, 1)
    page.trash()
    qtbot.waitUntil(lambda: not path.exists(), timeout=PATIENCE_MS)
    sees(qtbot, page, "Moved “Mine”")
    record(path, "Theirs")
    theirs = path.read_bytes()
    page.history.undo()
    qtbot.waitUntil(lambda: "There is another" in page.error.text, timeout=PATIENCE_MS)
    assert path.read_bytes() == theirs


def test_a_trash_that_cannot_be_written_keeps_the_session_and_says_so(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml")
    listed(qtbot, desk, page, 1)
    trash.folder().write_text("in the way")
    page.trash()
    qtbot.waitUntil(lambda: "to the trash" in page.error.text, timeout=PATIENCE_MS)
    assert path.exists()
