"""Position of a film without a window; in one, it stays until another can be shown."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.live.film import Film, Position, load
from app.live.present import Presentation
from app.live.transport import fitting
from tests.gui.windows import press, refusal, says, shown, the
from tests.recording import record_session
from tests.synthetic import CONTESTANTS, session
from workbench.documents import AnyDocument

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

PATIENCE_S = 120.0


async def test_a_film_shows_its_end_after_its_last_document(tmp_path: Path) -> None:
    path = record_session(tmp_path / "a.pong.yaml", session(6, 20))
    reel = await load(path)
    received: list[AnyDocument | Position] = []
    ended = asyncio.Event()

    def report(position: Position) -> None:
        received.append(position)
        if position.at_us >= reel.duration_us:
            ended.set()

    playing = asyncio.create_task(Film(reel, received.append, report).run())
    async with asyncio.timeout(PATIENCE_S):
        await ended.wait()
    playing.cancel()
    assert received[:-1] == list(reel.documents)


@pytest.mark.parametrize(
    ("lasts_s", "speed"),
    [(0, 1), (29, 1), (60, 1), (600, 10), (1800, 60), (9000, 300), (8e4, 1000)],
)
def test_a_film_lasts_about_half_a_minute_by_default(lasts_s: float, speed: float) -> None:
    assert fitting(lasts_s) == speed


FOREIGN = "just: yaml\n"
DAMAGED = "# pongbench session\nkind: run_start\nv: 1\nservers: [[[\n---\n"
NEWER = "# pongbench session\nkind: run_start\nv: 9\nrun: elsewhere\n---\n"


@pytest.mark.parametrize(
    "content", [FOREIGN, DAMAGED, NEWER, None], ids=["foreign", "damaged", "newer", "gone"]
)
def test_the_film_that_is_shown_stays_when_another_file_cannot_be_opened(
    qtbot: QtBot, tmp_path: Path, content: str | None
) -> None:
    other = tmp_path / "other.pong.yaml"
    if content is not None:
        other.write_text(content)
    with shown(qtbot) as window:
        window.open(record_session(tmp_path / "a.pong.yaml", session(2, 4)))
        film = window.film
        qtbot.waitUntil(lambda: film.isVisible() and film.board.model.over)
        window.open(other)
        qtbot.waitUntil(window.notice.isVisible)
        assert window.notice.text == refusal(other)
        assert film.isVisible()
        assert says(film, "Socket ping-pong")
        press(film, "Play")
        qtbot.waitUntil(lambda: not film.transport.at.paused)
        window.open(tmp_path / "a.pong.yaml")
        qtbot.waitUntil(window.notice.isHidden)  # it was about the other file


def test_a_presented_film_is_steered_by_keys(qtbot: QtBot, home: Path, tmp_path: Path) -> None:
    with shown(qtbot) as window:
        window.open(record_session(tmp_path / "a.pong.yaml", session(2, 4)))
        film = window.film
        qtbot.waitUntil(lambda: film.isVisible() and film.board.model.over)
        film.present()
        stage = the(window, Presentation)
        half = film.reel.duration_us / 2 if film.reel else 0
        qtbot.keyClick(stage, Qt.Key.Key_Home)
        qtbot.waitUntil(lambda: film.transport.at.at_us < half)
        qtbot.keyClick(stage, Qt.Key.Key_End)
        qtbot.waitUntil(lambda: film.transport.at.at_us > half)
        speed = film.transport.speed
        qtbot.keyClick(stage, Qt.Key.Key_Plus)
        assert film.transport.speed > speed
        qtbot.keyClick(stage, Qt.Key.Key_Escape)
        qtbot.waitUntil(film.transport.isVisible)


def test_a_film_is_at_its_end_and_says_which_point_that_is(
    qtbot: QtBot, home: Path, tmp_path: Path
) -> None:
    documents = session([replace(CONTESTANTS[0], name="A server with a very long name " * 4)], 4)
    with shown(qtbot) as window:
        window.open(record_session(tmp_path / "a.pong.yaml", documents))
        film = window.film
        qtbot.waitUntil(lambda: film.isVisible() and film.board.model.over)
        assert film.transport.where.text().startswith("Point 4 of 4: 9,000/s, A server with")
        assert "…" in film.transport.where.text()
