"""The window as a person uses it: real runs, real sessions, what is to be seen."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.bridge import Bridge
from app.desk import Desk
from app.pages.live import State
from app.settings import Settings
from app.shell.main_window import MainWindow
from tests.synthetic import session
from workbench import paths
from workbench.documents import AnyDocument, PointStop, RunStop
from workbench.plans import Plan, WarmUp
from workbench.sessions import Recorder, read_session

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

PATIENCE_MS = 30_000
PLAN = Plan(
    name="Short",
    servers=["asyncio-streams"],
    rates=[200.0, 400.0],
    seconds=1.0,
    calibrate=False,
    warm_up=WarmUp(rate_per_s=100.0, seconds=0.2),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return paths.data_dir() / "sessions"


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    yield made
    assert made.close()


@pytest.fixture
def window(qtbot: QtBot, bridge: Bridge, home: Path) -> Iterator[MainWindow]:
    made = MainWindow(Desk(bridge, theme.LIGHT, Settings()))
    with qtbot.waitSignal(made.built, timeout=PATIENCE_MS):
        made.show()
    yield made
    made.leave()
    qtbot.waitUntil(lambda: not made.live.state.active, timeout=PATIENCE_MS)
    made.close()
    made.deleteLater()


def press(window: QWidget, name: str) -> None:
    """Click the control of this accessible name."""
    named = [b for b in window.findChildren(QAbstractButton) if b.accessibleName() == name]
    (shown,) = [button for button in named if button.isVisible()]
    assert shown.isEnabled()
    shown.click()


def says(window: QWidget, text: str) -> bool:
    """Is the text to be read on a visible label?"""
    return any(text in label.text() for label in window.findChildren(QLabel) if label.isVisible())


def record(path: Path, documents: list[AnyDocument]) -> Path:
    recorder = Recorder(path)
    for document in documents:
        recorder(document)
    recorder.close()
    return path


def runs(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until a point's load is under way."""
    qtbot.waitUntil(
        lambda: (r := window.live.board.model.running) is not None and bool(r.windows),
        timeout=PATIENCE_MS,
    )


def over(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.live.state is State.OVER, timeout=PATIENCE_MS)


def recorded(home: Path) -> list[AnyDocument]:
    (path,) = home.glob("*.pong.yaml")
    return read_session(path).documents


def test_a_run_rests_after_the_point_until_it_goes_on(qtbot: QtBot, window: MainWindow) -> None:
    window.run(PLAN)
    runs(qtbot, window)
    press(window, "Pause after this point")
    qtbot.waitUntil(lambda: window.live.state is State.PAUSED, timeout=PATIENCE_MS)
    assert says(window.live, "Paused")
    assert window.live.board.model.running is None
    press(window, "Go on")
    over(qtbot, window)
    assert says(window.live, "Done")


def test_a_stopped_run_ends_in_good_order(qtbot: QtBot, window: MainWindow, home: Path) -> None:
    window.run(PLAN)
    runs(qtbot, window)
    press(window, "Stop")
    over(qtbot, window)
    assert says(window.live, "Stopped early")
    stop = recorded(home)[-1]
    assert isinstance(stop, RunStop)
    assert stop.status == "stopped"


def test_a_run_that_cannot_begin_says_why(qtbot: QtBot, window: MainWindow, home: Path) -> None:
    window.run(msgspec.structs.replace(PLAN, servers=["asyncio-stream"]))
    over(qtbot, window)
    assert "There is no server 'asyncio-stream'" in window.live.error.text
    assert window.live.error.isVisible()
    assert not list(home.glob("*"))


def test_closing_in_mid_run_asks_and_then_stops_in_good_order(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    window.run(PLAN)
    runs(qtbot, window)
    assert not window.close()
    (question,) = window.findChildren(QMessageBox)
    assert "A run is under way" in question.text()
    (stop,) = [b for b in question.buttons() if b.text() == "Stop and close"]
    with qtbot.waitSignal(window.left, timeout=PATIENCE_MS):
        stop.click()
    assert not window.isVisible()
    last = recorded(home)[-1]
    assert isinstance(last, RunStop)
    assert last.status == "stopped"


def test_a_window_that_stalls_loses_no_document(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    seen: list[AnyDocument] = []
    consume = window.live.board.consume
    window.live.board.consume = lambda document: (seen.append(document), consume(document))
    window.run(PLAN)
    runs(qtbot, window)
    time.sleep(1.5)  # the stall itself
    over(qtbot, window)
    documents = recorded(home)
    assert seen == documents
    assert all(d.complete for d in documents if isinstance(d, PointStop))


def test_a_session_opens_at_its_end_and_can_be_scrubbed(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    path = record(home / "nine.pong.yaml", session(9, 20))
    window.open(path)
    board = window.film.board

    def whole() -> bool:
        """Its last documents may come a moment after its end is told."""
        series = board.model.series.values()
        return len(series) == 9 and all(len(each.readings()) == 20 for each in series)

    qtbot.waitUntil(lambda: window.film.isVisible() and board.model.over, timeout=PATIENCE_MS)
    qtbot.waitUntil(whole, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: says(window.film, "gevent"), timeout=PATIENCE_MS)
    timeline = window.film.transport.timeline
    middle = timeline.rect().center()
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: not board.model.over, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: says(window.film, "not run yet"), timeout=PATIENCE_MS)
    press(window, "Play")
    press(window, "Jump to the end")
    qtbot.waitUntil(lambda: board.model.over, timeout=PATIENCE_MS)
    qtbot.waitUntil(whole, timeout=PATIENCE_MS)


def test_a_film_plays_when_asked(qtbot: QtBot, window: MainWindow, home: Path) -> None:
    window.open(record(home / "one.pong.yaml", session(1, 4)))
    qtbot.waitUntil(window.film.isVisible, timeout=PATIENCE_MS)
    position = window.film.transport
    qtbot.waitUntil(lambda: window.film.board.model.over, timeout=PATIENCE_MS)
    qtbot.keyClick(window.film, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not window.film.board.model.over, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not position._at.paused, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: window.film.board.model.over, timeout=PATIENCE_MS)


def test_what_was_run_is_listed_found_and_opened(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    record(home / "a.pong.yaml", session(2, 4))
    record(home / "b.pong.yaml", session(3, 4))
    press(window, "Sessions")
    page = window.sessions
    qtbot.waitUntil(lambda: len(page.paths()) == 2, timeout=PATIENCE_MS)
    qtbot.keyClicks(page._search, "gevent")
    assert [path.name for path in page.paths()] == ["b.pong.yaml"]


@pytest.mark.parametrize(
    ("content", "said"),
    [("just: yaml\n", "is not a session"), ("# pongbench session\n", "cut off before anything")],
    ids=["foreign", "empty"],
)
def test_a_file_that_is_no_session_is_refused_in_words(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "dropped.yaml"
    path.write_text(content)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, no = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier
    window.dropEvent(QDropEvent(QPointF(50, 50), copy, data, left, no.NoModifier))
    qtbot.waitUntil(lambda: said in window.sessions.error.text, timeout=PATIENCE_MS)
    assert window.sessions.error.isVisible()


def test_without_a_display_the_program_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.__main__ import main  # noqa: PLC0415

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 1
    assert "There is no display" in capsys.readouterr().err


def test_what_the_engine_hands_over_arrives_in_order_before_its_result(
    qtbot: QtBot, bridge: Bridge
) -> None:
    arrived: list[object] = []
    put: Callable[[object], None] = bridge.post(arrived.append)

    async def work() -> str:
        for n in range(10_000):
            put(n)
        return "result"

    bridge.submit(work(), arrived.append)
    qtbot.waitUntil(lambda: "result" in arrived, timeout=PATIENCE_MS)
    assert arrived == [*range(10_000), "result"]


@pytest.fixture
def full_disk(home: Path) -> Iterator[Path]:
    """A disk with room for a session's beginning."""
    home.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(home)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a disk of 16 kB here")
    yield home
    subprocess.run(["umount", "--lazy", str(home)], check=True)


def test_a_disk_that_fills_up_during_a_run_ends_it_in_words(
    qtbot: QtBot, full_disk: Path, bridge: Bridge
) -> None:
    window = MainWindow(Desk(bridge, theme.LIGHT, Settings()))
    with qtbot.waitSignal(window.built, timeout=PATIENCE_MS):
        window.show()
    window.run(msgspec.structs.replace(PLAN, rates=[200.0, 300.0, 400.0, 500.0]))
    over(qtbot, window)
    assert window.live.error.text.startswith("The disk is full. The session is complete up to")
    (path,) = full_disk.glob("*.pong.yaml")
    assert any(isinstance(d, PointStop) for d in read_session(path).documents)
    window.close()
