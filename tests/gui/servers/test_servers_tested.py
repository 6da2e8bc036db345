"""Testing servers: they are started, checked for replies and stopped for real."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app import actions
from app.context import Desk
from app.pages.servers import ServersPage
from app.servers.known import NOT
from app.servers.tryout import Line, TrialResult
from app.widgets import Sign
from tests.gui.servers.steps import Open, choose, make, set_size
from tests.gui.windows import control, sees, the
from workbench.servers import user_servers

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

SLEEPER = "import time\ntime.sleep(3600)\n"


def test_a_new_server_runs_at_once(qtbot: QtBot, page: ServersPage) -> None:
    control(page, "New server").click()
    make(page, "Mine")
    qtbot.waitUntil(lambda: page.pane.known is not None and page.pane.known.id == "mine")
    qtbot.waitUntil(page.trial.go.isEnabled)
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert control(page, "Cancel").isVisible()
    assert control(page, "Cancel").hasFocus()
    qtbot.waitUntil(lambda: page.trial.chip.text == "Passed")
    assert control(page, "Test again").hasFocus()
    sees(qtbot, page, "It answers 'Pong!'")
    sees(qtbot, page, "Content-Length: 5")
    qtbot.waitUntil(lambda: page.pane.known.state.word == "Ready")  # type: ignore[union-attr]


def test_a_test_names_its_server_and_moves_nothing(qtbot: QtBot, page: ServersPage) -> None:
    set_size(qtbot, page, 801, 468)
    choose(page, "asyncio-streams")
    control(page, "Test (page)").click()
    sees(qtbot, page, "asyncio streams on this computer")
    QApplication.processEvents()
    before = page.finding.geometry()
    page.detail.run_test()
    QApplication.processEvents()
    assert page.finding.geometry() == before
    qtbot.waitUntil(lambda: page.trial.chip.text == "Passed")
    QApplication.processEvents()
    assert page.finding.geometry() == before


def test_the_selected_server_stays_in_view_when_the_window_gets_lower(
    qtbot: QtBot, page: ServersPage
) -> None:
    view = page.table
    last = next(n for n in range(100) if view.rowViewportPosition(n + 1) > view.viewport().height())
    assert page.table.choose(page.table.model().servers()[last].key)
    set_size(qtbot, page, 1280, 680)
    qtbot.waitUntil(lambda: view.viewport().rect().contains(view.visualRect(view.currentIndex())))


def test_unusual_but_accepted_behaviour_is_described_and_not_marked_as_passed(
    qtbot: QtBot, page: ServersPage
) -> None:
    choose(page, "asyncio-streams")
    page.detail.run_test()
    qtbot.waitUntil(lambda: page.trial.chip.text == "Passed")
    sees(qtbot, page, "2 bytes beyond Content-Length, as in 2009; accepted.")
    assert sign_of(page, "'Pong!'") == "Passed"
    assert sign_of(page, "2009") == "Note"


def test_a_test_can_be_cancelled_and_leaves_nothing_behind(qtbot: QtBot, opened: Open) -> None:
    made = user_servers.new("Sleeper")
    made.source_path.write_text(SLEEPER)
    with (made.folder / "server.yaml").open("a") as entry:
        entry.write("ready_within_s: 600\n")
    page = opened()
    choose(page, "sleeper")
    page.detail.run_test()
    sees(qtbot, page, "Starting Sleeper on port")
    control(page, "Cancel").click()
    sees(qtbot, page, "Test cancelled.")
    qtbot.waitUntil(lambda: not running("sleeper"))
    assert control(page, "Test again").isEnabled()


def test_the_key_that_stops_what_is_in_progress_ends_a_test(
    qtbot: QtBot, page: ServersPage
) -> None:
    (stop,) = [action for action in actions.PAGES if "Ctrl+." in action.keys]
    choose(page, "asyncio-streams")
    page.detail.run_test()
    getattr(page, stop.method)()
    sees(qtbot, page, "Test cancelled.")


def test_a_server_that_dies_is_shown_with_its_last_output(qtbot: QtBot, opened: Open) -> None:
    made = user_servers.new("Dead")
    page = opened()
    made.source_path.write_text(
        "raise SystemExit('no more of this')\n"
    )  # a test runs what is saved
    choose(page, "dead")
    page.detail.run_test()
    qtbot.waitUntil(lambda: page.trial.chip.text == "Failed")
    sees(qtbot, page, "Dead on this computer ended with status 1 before it listened")
    qtbot.waitUntil(lambda: page.pane.known.state.kind == NOT)  # type: ignore[union-attr]
    sees(qtbot, page, "no more of this")


def test_the_state_is_that_of_the_last_test_also_after_one_that_passed(
    qtbot: QtBot, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*args: object, **more: object) -> TrialResult:
        return TrialResult(False, [Line("The disk is full.", "bad")])

    user_servers.new("Mine")
    page = opened()
    choose(page, "mine")
    page.detail.run_test()
    qtbot.waitUntil(lambda: page.pane.known.state.word == "Ready")  # type: ignore[union-attr]
    qtbot.waitUntil(page.trial.go.isEnabled)
    monkeypatch.setattr("app.servers.trial.run_trial", full)
    page.detail.run_test()
    qtbot.waitUntil(lambda: page.pane.known.state.word == "Test failed")  # type: ignore[union-attr]


def test_no_server_is_tested_while_a_run_is_in_progress(
    qtbot: QtBot, page: ServersPage, desk: Desk
) -> None:
    choose(page, "gevent")
    desk.set_busy(True)
    page.detail.run_test()
    assert not page.trial.under_way
    sees(qtbot, page, "A run is in progress. Servers can be tested when it is over.")
    desk.set_busy(False)
    assert page.trial.go.isEnabled()


def sign_of(page: ServersPage, text: str) -> str:
    """The icon's name at the line of the test with this text."""
    labels = [each for each in page.trial.findChildren(QLabel) if each.isVisible()]
    (line,) = [each for each in labels if text in each.text()]
    return the(line.parentWidget(), Sign).accessibleName()


def running(part: str) -> bool:
    """Is there a process of a server deployed under this name?"""
    for each in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if f"servers/{part}-" in str(each.readlink()):
                return True
        except OSError:
            continue
    QApplication.processEvents()
    return False
