"""Three looks at one session: over its axis, over time, and distributions."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QTableWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.charts import axes
from app.charts.series import Quantity
from app.fields import Choice
from app.live.session_view import Board
from app.settings import Settings
from tests.gui.trios import beside_lines, rest
from tests.gui.windows import says
from tests.outcomes import Contestant
from tests.synthetic import searches, session
from workbench.documents import AnyDocument, HostSample, PointStart, Window
from workbench.sessions import read_session

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

CASES = sorted((Path(__file__).parents[1] / "cases" / "sessions").glob("*.pong.yaml"))


def opened(
    qtbot: QtBot, documents: Iterable[AnyDocument], settings: Settings | None = None
) -> Board:
    board = Board(theme.LIGHT, settings, live=False)
    qtbot.addWidget(board, before_close_func=lambda _: board)
    board.resize(1300, 760)
    with qtbot.waitExposed(board):
        board.show()
    for document in documents:
        board.consume(document)
    board.end()
    board.refresh()
    board.grab()
    return board


def press(qtbot: QtBot, board: Board, title: str) -> None:
    (tab,) = (b for b in board.findChildren(QPushButton) if b.text() == title and b.isVisible())
    qtbot.mouseClick(tab, Qt.MouseButton.LeftButton)
    board.grab()


def choice(board: Board, name: str) -> Choice:
    (found,) = (box for box in board.findChildren(Choice) if box.accessibleDescription() == name)
    return found


def choose(board: Board, name: str, text: str) -> None:
    box = choice(board, name)
    place = box.findText(text)
    assert place >= 0, [box.itemText(n) for n in range(box.count())]
    box.setCurrentIndex(place)
    box.activated.emit(place)
    board.grab()


def titles(board: Board) -> list[str]:
    return [
        " ".join(chart.title_text()) for chart in board.trio.charts.values() if chart.isVisible()
    ]


def axis(board: Board) -> str:
    return next(chart for chart in board.trio.charts.values() if chart.isVisible()).axis_text()


def line(board: Board, server: str, quantity: Quantity) -> list[tuple[float, float]]:
    values = board.trio.charts[quantity].curves[server].values
    return list(zip(values.x.tolist(), values.y.tolist(), strict=True))


def table(board: Board) -> list[list[str]]:
    (found,) = board.findChildren(QTableWidget)
    if not found.isVisible():
        return []
    return [
        [found.item(row, column).text() for column in range(found.columnCount())]
        for row in range(found.rowCount())
    ]


def test_a_session_is_shown_over_time_with_each_server_from_its_own_start(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, 4))
    press(qtbot, board, "Over time")
    assert axis(board) == "Time from the start of each sweep, seconds"
    for server in ("asyncio-streams", "asyncio-protocol"):
        first, *_ = line(board, server, Quantity.REPLIES)
        assert first[0] < 0.2
        assert first[1] == pytest.approx(2250, rel=0.02)
    press(qtbot, board, "Sweep")
    assert axis(board) == "Offered rate, connections per second"


def test_a_point_leads_to_its_time_and_its_distribution_and_back(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, 4))
    board.trio.highlight("asyncio-streams", 6750.0)
    press(qtbot, board, "Over time")
    assert choice(board, "Points").currentText() == "At 6,750/s"
    assert axis(board) == "Time from the start of each point, seconds"
    assert line(board, "asyncio-protocol", Quantity.REPLIES)[0][1] == pytest.approx(6750, rel=0.02)
    press(qtbot, board, "Distribution")
    assert titles(board) == ["Response time at 6,750/s, from scheduled time, log scale"]
    press(qtbot, board, "Sweep")
    assert board.trio.pointing.server == "asyncio-streams"
    assert board.trio.pointing.card.accessibleName().startswith(
        "asyncio streams at 6,750/s offered"
    )


def test_keys_change_the_view_and_lead_back(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, 4))
    board.trio.setFocus()

    def key(which: Qt.Key) -> str:
        event = _pressed(which)
        assert board.key(event)
        return axis(board)

    sweep = axis(board)
    assert key(Qt.Key.Key_T).startswith("Time")
    assert key(Qt.Key.Key_D).startswith("Percentile")
    assert key(Qt.Key.Key_D) == sweep
    assert key(Qt.Key.Key_T).startswith("Time")
    assert key(Qt.Key.Key_T) == sweep


def _pressed(which: Qt.Key) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, which, Qt.KeyboardModifier.NoModifier)


def test_the_view_is_saved_and_a_session_with_one_value_opens_with_bars(qtbot: QtBot) -> None:
    settings = Settings()
    board = opened(qtbot, session(2, 4), settings)
    press(qtbot, board, "Distribution")
    assert settings.view == "distribution"
    again = opened(qtbot, session(2, 4), settings)
    assert axis(again).startswith("Percentile")
    one = opened(qtbot, session(2, rates=[2000.0]), settings)
    assert axis(one).startswith("Servers")
    assert settings.view == "distribution"


def test_another_session_in_the_same_window_forgets_the_points_chosen(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, 4))
    board.trio.highlight("asyncio-streams", 6750.0)
    press(qtbot, board, "Over time")
    board.clear()
    for document in session(2, 8, seed=2):
        board.consume(document)
    board.refresh()
    board.grab()
    assert choice(board, "Points").currentText() == "Whole sweep"
    assert len(line(board, "asyncio-streams", Quantity.REPLIES)) > 10


def test_the_table_has_the_percentiles_of_the_servers_that_are_shown(qtbot: QtBot) -> None:
    board = opened(qtbot, session(3, 8))
    press(qtbot, board, "Distribution")
    rows = table(board)
    assert [row[0] for row in rows] == ["gevent", "asyncio Protocol", "asyncio streams"]
    assert rows[0][1] == "7,875/s"
    assert all(rows[0][2:])
    board.trio.toggle("gevent")
    assert [row[0] for row in table(board)] == ["asyncio Protocol", "asyncio streams"]
    choose(board, "Points", "At 9,000/s")
    assert {row[1] for row in table(board)} == {"9,000/s"}
    press(qtbot, board, "Sweep")
    assert table(board) == []


def test_an_interrupted_point_is_shown_as_incomplete_in_every_view(qtbot: QtBot) -> None:
    board = opened(qtbot, session(1, 1, seconds=4.0, end="interrupted"))
    press(qtbot, board, "Over time")
    assert line(board, "asyncio-streams", Quantity.REPLIES)
    assert "incomplete" in head(board)
    press(qtbot, board, "Distribution")
    ((name, at, *_figures),) = table(board)
    assert (name, at) == ("asyncio streams", "9,000/s, incomplete")
    values = board.trio.charts[Quantity.TIME].curves["asyncio-streams"].values
    assert len(values.x)
    assert not values.trusted.any()
    board.trio.highlight("asyncio-streams", values.x[0])
    assert "9,000/s, incomplete" in board.trio.pointing.card.accessibleName()


def head(board: Board) -> str:
    """The first chart's texts."""
    return str(board.trio.charts[board.trio.drawn.charts[0]].head.texts())


def test_unreliable_points_are_hollow_over_time_too(qtbot: QtBot) -> None:
    board = opened(qtbot, session(1, 4, untrusted_from=6000))
    press(qtbot, board, "Over time")
    found = board.trio.drawn.series["asyncio-streams"].shown
    assert {now.offered for now in found if now.doubt == "unreliable"} == {"6,750/s", "9,000/s"}
    assert {now.offered for now in found if now.trusted} == {"2,250/s", "4,500/s"}
    assert "unreliable" in head(board)
    doubtful = next(now for now in found if now.doubt == "unreliable")
    board.trio.highlight("asyncio-streams", doubtful.x)
    assert "The point is unreliable." in board.trio.pointing.card.accessibleName()


def test_a_distribution_says_where_the_replies_are_too_few(qtbot: QtBot) -> None:
    board = opened(qtbot, session(1, rates=[1000.0]))
    press(qtbot, board, "Distribution")
    server = board.trio.drawn.series["asyncio-streams"]
    board.trio.highlight("asyncio-streams", server.shown[-1].x)
    said = board.trio.pointing.card.accessibleName()
    assert "2,000 replies, enough up to p99. Too few samples beyond this percentile." in said


def test_percentiles_have_several_short_marks_however_close_the_zoom(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, 6))
    press(qtbot, board, "Distribution")
    chart = board.trio.charts[Quantity.TIME]
    for _ in range(14):
        below = [text for _, text in axes.across(chart)]
        assert len(set(below)) == len(below) >= 2
        assert all(len(text) <= len("p99.9999") for text in below)
        qtbot.keyClick(board.trio, Qt.Key.Key_Plus, Qt.KeyboardModifier.ControlModifier)
        board.grab()


def test_the_lowest_chart_shows_what_the_machine_did(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, 4))
    press(qtbot, board, "Over time")
    choose(board, "Bottom chart", "Server CPU")
    assert titles(board)[-1] == "Server CPU % of a core"
    cpu = [y for _, y in line(board, "asyncio-streams", Quantity.ERRORS) if not isnan(y)]
    assert max(cpu) == 100.0
    press(qtbot, board, "Sweep")
    assert titles(board)[-1].startswith("Errors")


def test_views_without_data_are_not_offered(qtbot: QtBot) -> None:
    documents = [d for d in session(2, 4) if not isinstance(d, HostSample | Window)]
    board = opened(qtbot, documents)
    press(qtbot, board, "Over time")
    assert not choice(board, "Bottom chart").isVisible()
    said = board.trio.charts[Quantity.REPLIES].head.texts()
    assert "Nothing was recorded over time." in str(said)


def test_a_card_describes_a_moment(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, rates=[2000.0]))
    press(qtbot, board, "Over time")
    moment = board.trio.drawn.series["asyncio-streams"].shown[3]
    board.trio.highlight("asyncio-streams", moment.x)
    said = board.trio.pointing.card.accessibleName()
    assert said.startswith("asyncio streams after 0.7 s, 2,000/s: 2,000/s replies, p99 ")
    assert "Open connections 1" in said


def test_a_run_grows_over_time_while_it_happens(qtbot: QtBot) -> None:
    documents = session(2, 4)
    board = Board(theme.LIGHT, live=True)
    qtbot.addWidget(board, before_close_func=lambda _: board)
    board.resize(1300, 760)
    with qtbot.waitExposed(board):
        board.show()
    starts = [n for n, d in enumerate(documents) if isinstance(d, PointStart) and d.judged]
    for document in documents[: starts[1]]:
        board.consume(document)
    board.refresh()
    press(qtbot, board, "Over time")
    before = line(board, "asyncio-streams", Quantity.REPLIES)
    windows = [n for n in range(starts[1], starts[2]) if isinstance(documents[n], Window)]
    for document in documents[starts[1] : windows[4]]:
        board.consume(document)
    board.refresh()
    board.grab()
    after = line(board, "asyncio-streams", Quantity.REPLIES)
    assert len(after) == len(before) + 4
    assert after[: len(before)] == before


def test_missing_data_is_stated_in_every_view(qtbot: QtBot) -> None:
    board = Board(theme.LIGHT, live=True)
    qtbot.addWidget(board, before_close_func=lambda _: board)
    board.resize(1300, 760)
    with qtbot.waitExposed(board):
        board.show()
    for view in ("Sweep", "Over time", "Distribution"):
        press(qtbot, board, view)
        first = board.trio.charts[board.trio.drawn.charts[0]]
        assert "Points appear here during the run." in str(first.head.texts())


def test_a_server_without_replies_has_no_distribution(qtbot: QtBot) -> None:
    dead = Contestant("dead", "Dead", "", 0, 100, 1 << 20)
    board = opened(qtbot, session([dead], 3))
    press(qtbot, board, "Distribution")
    assert table(board) == []
    said = str(board.trio.charts[Quantity.TIME].head.texts())
    assert "No response times at each sustained rate." in said


def test_a_rate_that_was_not_sustained_is_not_called_so(qtbot: QtBot) -> None:
    weak = Contestant("weak", "Weak", "", 100, 100, 1 << 20)
    board = opened(qtbot, session([weak], 3, rates=[1_000.0, 2_000.0]))
    press(qtbot, board, "Distribution")
    said = str(board.trio.charts[Quantity.TIME].head.texts())
    assert "at each sustained rate or most replies" in said


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
@pytest.mark.parametrize("view", ["Over time", "Distribution"])
def test_older_sessions_open_in_every_view(qtbot: QtBot, path: Path, view: str) -> None:
    recorded = read_session(path)
    board = opened(qtbot, [recorded.start, *recorded.completed()[1:]])
    press(qtbot, board, view)
    known = [board.trio.charts[Quantity.TIME].curves[key] for key in board.model.series]
    assert any(len(curve.values.x) for curve in known)


def test_a_search_is_shown_in_every_view(qtbot: QtBot) -> None:
    board = opened(qtbot, searches(2))
    press(qtbot, board, "Over time")
    assert line(board, "asyncio-streams", Quantity.REPLIES)
    press(qtbot, board, "Distribution")
    assert titles(board)[0].startswith("Response time at each peak")
    rows = board.side.legend.findChildren(QFrame)
    (row,) = [each for each in rows if each.accessibleName().startswith("asyncio Protocol")]
    assert "7,250" in row.accessibleName() and "7,250 to 7,500/s" in row.toolTip()


@pytest.mark.parametrize("view", ["Sweep", "Over time", "Distribution"])
def test_all_values_are_listed_in_every_view(qtbot: QtBot, view: str) -> None:
    board = opened(qtbot, session(3, 12))
    press(qtbot, board, view)
    trio = board.trio
    qtbot.keyClick(trio, Qt.Key.Key_V)
    for series in board.model.series.values():
        assert series.name in trio.accessibleDescription()
    qtbot.keyClick(trio, Qt.Key.Key_V)
    chart = trio.charts[Quantity.TIME]
    away = beside_lines(chart, float(chart.curves["asyncio-streams"].values.x[-2]))
    rest(qtbot, chart, away)
    assert trio.crosshair.readout.isVisible()


def test_in_a_low_window_the_lowest_chart_is_the_response_time(qtbot: QtBot) -> None:
    board = opened(qtbot, session(2, 4))
    press(qtbot, board, "Over time")
    assert choice(board, "Bottom chart").isVisible() and says(board, "Bottom chart")

    board.resize(1000, 300)
    qtbot.waitUntil(lambda: choice(board, "Bottom chart").currentText() == "Response time")
    assert choice(board, "Bottom chart").isVisible()
    board.resize(1300, 760)
    qtbot.waitUntil(lambda: choice(board, "Bottom chart").currentText() == "Errors")
    assert choice(board, "Bottom chart").findText("Response time") < 0
