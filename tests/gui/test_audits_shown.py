"""Audits next to the charts, and the points they mark."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.series import Quantity
from app.export.htmlcharts import drawing
from app.live.session_view import Board
from tests.gui.trios import at, shown
from tests.synthetic import session
from workbench.analysis.series import View
from workbench.documents import AnyDocument, PointStop
from workbench.messages import notes

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

RATE, SERVER = 4_500.0, "asyncio-streams"


def disturbed(documents: list[AnyDocument], *rates: float) -> list[AnyDocument]:
    """With background load at the points of these rates, and next to none elsewhere."""
    return [
        msgspec.structs.replace(
            d, evidence=d.evidence | {"others_cpu_pct": 60.0 if d.x in rates else 1.0}
        )
        if isinstance(d, PointStop)
        else d
        for d in documents
    ]


@pytest.fixture
def board(qtbot: QtBot) -> Board:
    made = Board(theme.DARK, live=False)
    qtbot.addWidget(made)
    made.resize(1280, 760)
    with qtbot.waitExposed(made):
        made.show()
    return made


def feed(board: Board, documents: list[AnyDocument]) -> None:
    for document in documents:
        board.consume(document)
    board.end()
    board.refresh()
    QApplication.processEvents()


def lines(board: Board) -> list[str]:
    return [line.text.partition(":")[0] for line in board.side.events.lines]


def tab_name(board: Board) -> str:
    tabs = board.side.findChildren(QPushButton)
    (found,) = [each for each in tabs if each.accessibleName().startswith("Events")]
    return found.accessibleName()


def test_what_failed_is_an_event_of_its_last_point_and_the_rest_follows(board: Board) -> None:
    board.refresh()
    assert not lines(board) and tab_name(board) == "Events"
    documents = disturbed(session(2, 8), RATE)
    feed(board, documents)
    (failed,) = [line for line in board.side.events.lines if line.sign[0] == "bad"]
    assert failed.text.startswith("Quiet host: ")
    assert "asyncio streams and asyncio Protocol at 4,500/s" in failed.text
    stops = [d.t_us for d in documents if isinstance(d, PointStop) and d.x == RATE and d.judged]
    assert failed.t_us == max(stops)
    assert lines(board).index("Quiet host") < lines(board).index("Conservation")
    assert any(each.text() == failed.text for each in board.side.events.findChildren(QLabel))
    count = board.side.events.warnings
    assert tab_name(board) == f"Events, {count} warning{'s' * (count != 1)}"
    board.clear()
    assert tab_name(board) == "Events"


def test_a_servers_audits_are_shown_in_its_row(board: Board) -> None:
    start, *rest = session(2, 4)
    message = notes.notice("unequal", name="asyncio streams", said="Its backlog is its own.")
    feed(board, [start, message.note(0, server="asyncio-streams"), *rest])
    signs = [
        sign
        for sign in board.side.legend.findChildren(QLabel)
        if sign.accessibleName() == "an audit failed" and sign.isVisibleTo(board)
    ]
    (row,) = [sign.parentWidget() for sign in signs]
    assert "asyncio streams" in [each.text() for each in row.findChildren(QLabel)]
    assert "Audit failed: Set-up." in row.toolTip()


def test_a_point_with_a_failed_audit_is_hollow_and_its_card_says_why(qtbot: QtBot) -> None:
    hollow = {}
    for disturbed_at in ((), (RATE,)):
        trio = shown(qtbot, disturbed(session(1, 8), *disturbed_at))
        chart = trio.charts[Quantity.REPLIES]
        (index,) = (n for n, p in enumerate(chart.model.series[SERVER].points) if p.x == RATE)
        middle = chart.grab().toImage().pixelColor(at(chart, SERVER, index).toPoint())
        hollow[disturbed_at] = middle == QColor(theme.LIGHT.card)
    assert hollow == {(): False, (RATE,): True}
    assert "hollow: an audit failed" in chart.head.texts()[1]
    trio.highlight(SERVER, RATE)
    assert trio.pointing.card.accessibleName().endswith("Audit failed: Quiet host.")
    trio.highlight(SERVER, 2 * RATE)
    assert "Audit" not in trio.pointing.card.accessibleName()


def test_a_run_in_progress_marks_its_points(board: Board) -> None:
    documents = disturbed(session(1, 8), 1_125.0)
    first = next(n for n, d in enumerate(documents) if isinstance(d, PointStop) and d.judged)
    for document in documents[: first + 1]:
        board.consume(document)
    board.refresh()
    series = board.model.series["asyncio-streams"]
    assert [audit.code for audit in series.failed_audits(series.shown[0])] == ["quiet-host"]
    assert "Quiet host" in lines(board)


def test_a_report_shows_the_metric_under_the_pointer(qtbot: QtBot) -> None:
    drawn = drawing(disturbed(session(1, 4), RATE), View(), plain=True).charts
    assert drawn.count("Audit failed: Quiet host.") == 3
