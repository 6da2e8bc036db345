"""Sessions dropped on the window that are damaged, older, newer, or of another workload."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.pages.compare import ComparePage
from tests.gui.windows import drop, says, shown
from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import VERSION

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

OLDER = Path(__file__).parents[1] / "cases" / "sessions"


def test_what_can_be_read_of_a_dropped_session_is_shown_with_a_warning(
    qtbot: QtBot, tmp_path: Path
) -> None:
    whole = record_session(tmp_path / "whole.pong.yaml", session(2, 4)).read_bytes()
    middle = whole.index(b"\n--- ", len(whole) // 2) + 1
    closed = (OLDER / "closed-loop.pong.yaml").read_bytes()
    contents = {
        "damaged": (whole[:middle] + b"--- {oops\n" + whole[middle:], "The file is damaged in"),
        "cut": (whole[:middle], "was cut off before its end"),
        "newer": (whole.replace(b"v: %d\n" % VERSION, b"v: 9\n", 1), "is from a newer Pongbench"),
        "older": ((OLDER / "stopped.pong.yaml").read_bytes(), ""),
        "closed": (closed, ""),
    }
    with shown(qtbot) as window:
        film = window.film
        for name, (content, said) in contents.items():
            path = tmp_path / f"{name}.pong.yaml"
            path.write_bytes(content)
            window.show_page("Start")
            drop(window, path)
            qtbot.waitUntil(lambda path=path: film.reel is not None and film.reel.path == path)
            qtbot.waitUntil(lambda: film.isVisible() and film.board.model.over)
            assert film.board.model.series
            assert said in film.error.text
            assert bool(said) or "newer" not in film.error.text
            assert path.read_bytes() == content


def test_dropped_sessions_of_unlike_workloads_are_compared_as_far_as_that_is_right(
    qtbot: QtBot, tmp_path: Path
) -> None:
    rates = record_session(tmp_path / "rates.pong.yaml", session(2, 4))
    with shown(qtbot) as window:
        drop(window, rates, OLDER / "closed-loop.pong.yaml")
        page = window.page("Compare")
        assert isinstance(page, ComparePage)
        qtbot.waitUntil(lambda: len(page.selection.sides) == 2)
        assert says(page, "Not comparable")
