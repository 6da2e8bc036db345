"""The results of a search, next to the charts."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app import theme
from app.live.peaks import Points
from app.live.session_view import Board
from tests.gui.windows import says, sees
from tests.synthetic import searches, session
from workbench.documents import AnyDocument, Note

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


LAST = "asyncio-protocol"


def board(qtbot: QtBot, documents: list[AnyDocument]) -> Board:
    made = Board(theme.LIGHT, live=True)
    qtbot.addWidget(made)
    made.resize(1280, 900)
    made.show()
    show(made, documents)
    return made


def show(made: Board, documents: list[AnyDocument]) -> None:
    for document in documents:
        made.consume(document)
    made.refresh()


def tab(made: Board) -> QPushButton:
    return next(
        b for b in made.side.findChildren(QPushButton) if b.accessibleName() == "Peak under SLO"
    )


def test_each_server_has_its_peak_the_interval_and_the_points(qtbot: QtBot) -> None:
    made = board(qtbot, searches(2))
    assert tab(made).isVisible() and made.side.peaks.isVisible()
    peaks = made.side.peaks
    for text in ("7,250", "95 % interval: 7,250 to 7,500/s", "p99 ≤ 50 ms"):
        sees(qtbot, peaks, text)
    found = [each.accessibleDescription() for each in peaks.findChildren(Points)]
    assert all(each.startswith("500/s met, 1,000/s met, ") for each in found)
    assert all("missed" in each for each in found)


def test_servers_still_to_come_have_no_empty_plots(qtbot: QtBot) -> None:
    documents = searches(2)
    second = next(n for n, d in enumerate(documents) if getattr(d, "series", "") == LAST)
    made = board(qtbot, documents[:second])
    sees(qtbot, made.side.peaks, "not run yet")
    assert sum(each.isVisible() for each in made.side.peaks.findChildren(Points)) == 1


def test_during_a_search_no_peak_is_shown(qtbot: QtBot) -> None:
    documents = searches(1)
    made = board(qtbot, [d for d in documents[:-1] if not isinstance(d, Note)])
    sees(qtbot, made.side.peaks, "searching")
    assert not says(made.side.peaks, "95 %")
    show(made, [d for d in documents if isinstance(d, Note)])
    sees(qtbot, made.side.peaks, "95 %")


def test_a_sweep_has_no_peaks(qtbot: QtBot) -> None:
    made = board(qtbot, searches(1))
    show(made, session(1, 3))
    assert not tab(made).isVisible() and not made.side.peaks.isVisible()
