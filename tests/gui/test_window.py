"""The window as a user works with it: real runs, real sessions, what is visible."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.bridge import Bridge
from app.dialogs import Confirmation
from app.pages.live import State
from app.shell.main_window import MainWindow
from tests.gui.sessions.steps import names
from tests.gui.short_runs import LONG, SHORT
from tests.gui.windows import control, drop, press, refusal, says, shown, the
from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStop, RunStop
from workbench.sessions import read_session

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with shown(qtbot) as made:
        yield made


def runs(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until the load of a point is running."""
    qtbot.waitUntil(lambda: (r := window.live.board.model.running) is not None and bool(r.windows))


def over(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.live.state is State.OVER)


def recorded(sessions: Path) -> list[AnyDocument]:
    (path,) = sessions.glob("*.pong.yaml")
    return read_session(path).documents


def test_a_run_pauses_after_the_point_until_it_is_resumed(qtbot: QtBot, window: MainWindow) -> None:
    window.run(LONG)
    runs(qtbot, window)
    press(window, "Pause after this point")
    qtbot.waitUntil(lambda: window.live.state is State.PAUSED)
    assert says(window.live, "Paused")
    assert window.live.board.model.running is None
    press(window, "Resume")
    runs(qtbot, window)


def test_a_stopped_run_ends_cleanly(qtbot: QtBot, window: MainWindow, sessions: Path) -> None:
    window.run(LONG)
    runs(qtbot, window)
    press(window, "Stop")
    over(qtbot, window)
    assert says(window.live, "Stopped early")
    stop = recorded(sessions)[-1]
    assert isinstance(stop, RunStop)
    assert stop.status == "stopped"


def test_a_run_that_cannot_start_says_why(qtbot: QtBot, window: MainWindow, sessions: Path) -> None:
    window.run(msgspec.structs.replace(SHORT, servers=["asyncio-stream"]))
    over(qtbot, window)
    assert "There is no server 'asyncio-stream'" in window.live.error.text
    assert window.live.error.isVisible()
    assert not list(sessions.glob("*"))


def test_closing_in_mid_run_asks_and_then_stops_cleanly(
    qtbot: QtBot, window: MainWindow, sessions: Path
) -> None:
    window.run(LONG)
    runs(qtbot, window)
    assert not window.close()
    question = the(window, Confirmation)
    assert says(question, "A run is in progress")
    assert control(question, "Keep running").isDefault()
    with qtbot.waitSignal(window.left):
        press(question, "Stop and close")
    assert not window.isVisible()
    last = recorded(sessions)[-1]
    assert isinstance(last, RunStop)
    assert last.status == "stopped"


def test_a_window_that_stalls_loses_no_document(
    qtbot: QtBot, window: MainWindow, sessions: Path
) -> None:
    seen: list[AnyDocument] = []
    consume = window.live.board.consume
    window.live.board.consume = lambda document: (seen.append(document), consume(document))
    window.run(SHORT)
    runs(qtbot, window)
    time.sleep(1.5)  # the stall itself
    over(qtbot, window)
    # In a file, what stands in columns may come after what came with it.
    whole, kinds = recorded(sessions), {type(document) for document in seen}
    for kind in kinds:
        assert [d for d in seen if type(d) is kind] == [d for d in whole if type(d) is kind]
    assert len(seen) == len(whole)


def test_a_session_opens_at_its_end_and_can_be_scrubbed(
    qtbot: QtBot, window: MainWindow, sessions: Path
) -> None:
    path = record_session(sessions / "nine.pong.yaml", session(9, 20))
    window.open(path)
    board = window.film.board

    def whole() -> bool:
        """Its last documents may arrive shortly after its end is reported."""
        series = board.model.series.values()
        return len(series) == 9 and all(len(each.points) == 20 for each in series)

    qtbot.waitUntil(lambda: window.film.isVisible() and board.model.over)
    qtbot.waitUntil(whole)
    qtbot.waitUntil(lambda: says(window.film, "gevent"))
    timeline = window.film.transport.timeline
    middle = timeline.rect().center()
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: not board.model.over)
    qtbot.waitUntil(lambda: says(window.film, "not run yet"))
    press(window, "Play")
    qtbot.keyClick(window.film, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: board.model.over)
    qtbot.waitUntil(whole)


def test_a_film_plays_on_request(qtbot: QtBot, window: MainWindow, sessions: Path) -> None:
    window.open(record_session(sessions / "minutes.pong.yaml", session(3, 30)))
    film = window.film
    qtbot.waitUntil(lambda: film.isVisible() and film.board.model.over)
    press(window, "1x")
    qtbot.keyClick(film, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not film.transport.at.paused and not film.board.model.over)
    begun_us = film.transport.at.at_us
    qtbot.waitUntil(lambda: film.transport.at.at_us > begun_us)
    qtbot.keyClick(window.film, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: film.board.model.over)


def test_past_sessions_are_listed_found_and_opened(
    qtbot: QtBot, window: MainWindow, sessions: Path
) -> None:
    record_session(sessions / "a.pong.yaml", session(2, 4))
    record_session(sessions / "b.pong.yaml", session(3, 4))
    press(window, "Sessions")
    page = window.sessions
    qtbot.waitUntil(lambda: len(names(page)) == 2)
    qtbot.keyClicks(the(page, QLineEdit, "Search sessions"), "gevent")
    assert names(page) == ["b"]


@pytest.mark.parametrize(
    "content", ["just: yaml\n", "# pongbench session\n"], ids=["foreign", "empty"]
)
def test_a_file_that_is_no_session_is_refused_with_a_message(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "dropped.pong.yaml"
    path.write_text(content)
    drop(window, path)
    qtbot.waitUntil(lambda: window.sessions.error.text == refusal(path))
    assert window.sessions.error.isVisible()


def test_without_a_display_the_program_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.__main__ import main  # noqa: PLC0415

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 1
    assert "No display" in capsys.readouterr().err


def test_documents_of_the_engine_arrive_in_order_before_its_result(
    qtbot: QtBot, bridge: Bridge
) -> None:
    arrived: list[object] = []
    put: Callable[[object], None] = bridge.post(arrived.append)

    async def work() -> str:
        for n in range(10_000):
            put(n)
        return "result"

    bridge.submit(work(), arrived.append)
    qtbot.waitUntil(lambda: "result" in arrived)
    assert arrived == [*range(10_000), "result"]


@pytest.fixture
def full_disk(sessions: Path) -> Iterator[Path]:
    """A disk with room for the beginning of a session only."""
    sessions.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(sessions)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk of 32 kB here")
    yield sessions
    subprocess.run(["umount", "--lazy", str(sessions)], check=True)


def test_a_disk_that_fills_up_ends_the_run_with_a_message(qtbot: QtBot, full_disk: Path) -> None:
    with shown(qtbot) as window:
        window.run(LONG)
        over(qtbot, window)
        (path,) = full_disk.glob("*.pong.yaml")
        assert str(path) in window.live.error.text
    assert any(isinstance(d, PointStop) for d in read_session(path).documents)
