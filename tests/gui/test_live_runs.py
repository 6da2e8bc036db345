"""Runs on the live page: stopped, aborted, paused, presented and suspended."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.context import Desk
from app.live.present import Presentation
from app.live.run import LiveRun
from app.pages import live
from app.pages.live import LivePage, State
from tests.gui.live_pages import heard, named, says, shown
from tests.gui.short_runs import LONG
from tests.gui.windows import offers, the
from workbench import paths
from workbench.documents import PointStop, RunStop
from workbench.sessions import read_session

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> LivePage:
    return shown(qtbot, LivePage(desk))


def runs(qtbot: QtBot, page: LivePage) -> None:
    qtbot.waitUntil(lambda: (r := page.board.model.running) is not None and bool(r.windows))


def over(qtbot: QtBot, page: LivePage) -> None:
    qtbot.waitUntil(lambda: page.state is State.OVER)


def test_stop_pressed_again_aborts_and_says_what_was_recorded(
    qtbot: QtBot, page: LivePage, desk: Desk, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "ABORT_AFTER_MS", 0)
    page.start(LONG)
    runs(qtbot, page)
    qtbot.waitUntil(lambda: bool(page.board.model.series["asyncio-streams"].stops))
    runs(qtbot, page)
    monkeypatch.setattr(LiveRun, "stop", lambda run: None)  # a clean stop takes long
    named(page, "Stop").click()
    assert page.state is State.STOPPING
    qtbot.waitUntil(lambda: offers(page, "Abort"))
    assert re.search(r"the \d+ points? measured before are kept", page.error.text)
    named(page, "Abort").click()
    over(qtbot, page)
    assert says(page, "Aborted")
    (path,) = sessions.glob("*.pong.yaml")
    documents = read_session(path).documents
    last = documents[-1]
    assert isinstance(last, RunStop)
    assert last.status == "aborted"
    assert [d.complete for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"][:1]
    with qtbot.waitSignal(desk.run_requested) as again:
        page.run_this()
    assert again.args == [LONG, None]


def test_a_run_is_presented_and_paused_by_keys(qtbot: QtBot, page: LivePage) -> None:
    page.start(LONG)
    assert page.board.trio.charts[Quantity.REPLIES].limits[1] == LONG.rates_per_s[-1]
    runs(qtbot, page)
    qtbot.waitUntil(lambda: any(series.stops for series in page.board.model.series.values()))
    page.present()
    shown_large = the(page, Presentation)
    qtbot.keyClick(shown_large, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: page.state is State.PAUSED)
    qtbot.waitUntil(lambda: "Paused after " in heard(shown_large))
    assert says(page.now, "Space resumes.")
    qtbot.waitUntil(lambda: " paused, " in heard(page.board.side.legend))
    assert not says(page.now, "ends about")
    qtbot.keyClick(shown_large, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: page.state is State.RUNNING)
    page.stop()
    over(qtbot, page)
    assert shown_large.isVisible()
    with qtbot.waitSignal(shown_large.destroyed):
        qtbot.keyClick(shown_large, Qt.Key.Key_F11)
    assert page.board.trio.charts[Quantity.ERRORS].isVisible()


def test_a_program_that_was_suspended_says_so_and_keeps_its_points(sessions: Path) -> None:
    away_s = 6  # longer than servers and clients live without a heartbeat
    command = [sys.executable, "-m", "tests.gui.a_live_page"]
    with subprocess.Popen(command, cwd=paths.CODE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "first point\n"
        program.send_signal(signal.SIGSTOP)
        time.sleep(away_s)  # the suspension itself
        program.send_signal(signal.SIGCONT)
        output = program.stdout.readline()
    reported = re.match(r"Pongbench itself was suspended for (\d+) s\. ", output)
    assert reported, output
    assert int(reported[1]) >= away_s  # a busy machine is slow to wake it
    (path,) = sessions.glob("*.pong.yaml")
    stops = [d for d in read_session(path).documents if isinstance(d, PointStop)]
    measured = [d.rate_per_s for d in stops if d.purpose == "sweep" and d.complete]
    assert measured[:1] == [200.0] and len(measured) < 60
