"""Plans from elsewhere: a dropped file, or the plan of the last start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.settings import Settings
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, judged, opened, write
from tests.gui.windows import drop, press, shown
from tests.recording import record_session
from tests.synthetic import session
from workbench.plan import library

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.mark.parametrize("name", ["dropped.yaml", "dropped.pong.yaml"])
def test_a_plan_file_is_dropped_in(
    qtbot: QtBot, window: MainWindow, page: PlanPage, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text(library.to_yaml(SHORT))
    drop(window, path)
    qtbot.waitUntil(lambda: page.form.servers.value() == SHORT.servers)


def test_a_plan_dropped_anywhere_in_the_window_is_shown_in_its_form(
    qtbot: QtBot, window: MainWindow, page: PlanPage, tmp_path: Path
) -> None:
    window.show_page("Start")
    path = tmp_path / "dropped.yaml"
    path.write_text(library.to_yaml(SHORT))
    drop(window, path)
    qtbot.waitUntil(page.isVisible)
    assert page.form.servers.value() == SHORT.servers


OPENED = """
import sys
from PySide6.QtCore import QTimer
from app.__main__ import main
from app.shell.main_window import MainWindow
warm_up = MainWindow.warm_up
def watched(window):
    def look():
        shown = [name for name in ("plan", "film") if getattr(window, name).isVisible()]
        if shown and window.plan.draft is not None:
            print(*shown)
            window.close()
    timer = QTimer(window)
    timer.timeout.connect(look)
    timer.start(20)
    warm_up(window)
MainWindow.warm_up = watched
sys.exit(main([sys.argv[1]]))
"""


@pytest.mark.parametrize("page", ["plan", "film"])
def test_the_file_named_at_the_start_is_shown_on_its_page(
    home: Path, tmp_path: Path, page: str
) -> None:
    path = tmp_path / ("short.yaml" if page == "plan" else "lab.pong.yaml")
    if page == "plan":
        path.write_text(library.to_yaml(SHORT))
    else:
        record_session(path, session(2, 3))
    ended = subprocess.run(
        [sys.executable, "-c", OPENED, str(path)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "PONGBENCH_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, f"{page}\n"), ended.stderr


def test_a_dropped_file_that_is_no_plan_is_refused_with_a_message(
    qtbot: QtBot, window: MainWindow, page: PlanPage, tmp_path: Path
) -> None:
    for name, text, said in (
        ("dropped.yaml", "servers: [gevent]\nspeed: 3\n", "unknown key 'speed'"),
        ("notes.txt", "Buy milk.", "notes.txt is neither a session nor a plan."),
    ):
        path = tmp_path / name
        path.write_text(text)
        window.show_page("Plan")
        drop(window, path)
        qtbot.waitUntil(lambda said=said: said in page.notice.text)
        assert page.notice.isVisible()
        window.show_page("Start")
        drop(window, path)
        qtbot.waitUntil(lambda said=said: said in window.notice.text)
        assert window.start.isVisible()
        press(window.notice, "Dismiss")


def test_a_dropped_session_is_opened(
    qtbot: QtBot, window: MainWindow, page: PlanPage, tmp_path: Path
) -> None:
    path = tmp_path / "lab.pong.yaml"
    record_session(path, session(2, 3))
    drop(window, path)
    qtbot.waitUntil(window.film.isVisible)


def test_the_contents_of_the_form_are_restored_at_the_next_start(qtbot: QtBot) -> None:
    kept = Settings()
    with shown(qtbot, kept) as window:
        page = opened(qtbot, window)
        write(qtbot, page, "seconds", "2.5")
    with shown(qtbot, kept) as window:
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        assert page.form.data()["seconds"] == 2.5
        assert page.gallery.list.marked == "demo"
        assert "changed" in page.head.subtitle.whole


def test_a_changed_plan_from_the_last_start_can_be_restored_after_another_was_loaded(
    qtbot: QtBot,
) -> None:
    kept = Settings()
    with shown(qtbot, kept) as window:
        page = opened(qtbot, window)
        write(qtbot, page, "seconds", "2.5")
    with shown(qtbot, kept) as window:
        window.desk.plan_requested.emit(SHORT)
        page = window.page("Plan")
        assert isinstance(page, PlanPage)
        judged(qtbot, page)
        assert page.form.servers.value() == SHORT.servers
        press(page, "Undo")
        judged(qtbot, page)
        assert page.form.data()["seconds"] == 2.5


@pytest.mark.parametrize("kept", ["x", {"data": 3}, {"data": {"servers": 4, "rates": "?"}}])
def test_invalid_settings_do_not_hide_the_page(qtbot: QtBot, kept: object) -> None:
    with shown(qtbot, Settings(more={"plan": kept})) as window:
        assert opened(qtbot, window).isVisible()


def test_an_unreadable_server_is_reported_at_the_first_visit(qtbot: QtBot, home: Path) -> None:
    (home / "data" / "servers" / "one").mkdir(parents=True)
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        assert "server.yaml" in page.notice.text
        assert page.notice.isVisible()
