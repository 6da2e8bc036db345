"""The live page as a user sees it: what it shows, and what fits."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.series import Quantity
from app.context import Desk
from app.live.run import Outcome, Where
from app.live.status_strip import NowStrip
from app.pages.live import LivePage
from app.widgets import Elided
from tests.gui.live_pages import TWO, feed, heard, named, read, says, shown, until_point
from tests.gui.short_runs import LONG
from tests.recording import record_session
from tests.repeats import with_repeats
from tests.synthetic import session
from workbench.analysis.summary import summarise
from workbench.documents import PointStart, PointStop, RunStart, RunStop
from workbench.messages import notes
from workbench.plan.reading import plan_from_data
from workbench.results import sustained
from workbench.sessions import read_session

CASES = Path(__file__).parents[1] / "cases" / "sessions"

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> LivePage:
    return shown(qtbot, LivePage(desk))


def test_the_servers_machine_is_reported_while_it_runs(page: LivePage) -> None:
    feed(page, until_point(session(2, 8), 12))
    assert says(page, "asyncio Protocol on localhost")
    assert read(page, "CPU: ").endswith(" %")
    assert read(page, "Memory: ").endswith(" MB")
    assert read(page, "Accept queue: ").endswith(" of 512")


def test_pointing_at_another_server_shows_its_machine(page: LivePage) -> None:
    feed(page, until_point(session(2, 8), 12))
    page.board.trio.highlight("asyncio-streams")
    assert says(page, "asyncio streams on localhost")
    page.board.trio.highlight("")
    assert says(page, "asyncio Protocol on localhost")


def test_progress_is_shown_for_point_server_and_run(page: LivePage) -> None:
    feed(page, until_point(session(2, 8), 10, windows=5))
    assert says(page, "point 3 of 8 · 1.0 of 2.0 s")
    assert says(page, "Server 2 of 2 · ")
    assert says(page, "10 of 16")
    assert says(page, " left")


@pytest.mark.parametrize(("recorded", "offered"), [("closed-loop", False), ("stopped", True)])
def test_only_what_has_a_schedule_has_an_offered_rate(
    page: LivePage, recorded: str, offered: bool
) -> None:
    feed(page, read_session(CASES / f"{recorded}.pong.yaml").documents)
    assert read(page.now, "Replies: ").endswith("offered") == offered


def test_a_narrow_window_keeps_the_servers_in_a_drawer(qtbot: QtBot, page: LivePage) -> None:
    feed(page, until_point(session(3, 8), 9))
    assert page.board.side.isVisible()
    page.resize(876, 620)
    assert not page.board.side.isVisible()
    named(page, "Servers and machine").click()
    assert page.board.side.isVisible()
    assert says(page.board.side, "asyncio Protocol")
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.board.side.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_F9)
    assert page.board.side.isVisible()
    page.resize(1300, 820)
    assert page.board.side.isVisible()
    board = page.board
    qtbot.waitUntil(lambda: board.trio.width() < board.width() - 300)


def test_at_its_minimum_size_nothing_is_cut_off(page: LivePage) -> None:
    feed(page, until_point(session(5, 8), 9))
    page.resize(876, 620)  # a window of 960 x 620 without its rail
    for part in (page.board.trio, *page.board.trio.charts.values(), page.now):
        inside = part.mapTo(page, part.rect().bottomRight())
        assert page.rect().contains(inside)
    trio = page.board.trio
    assert trio.charts[Quantity.ERRORS].geometry().bottom() <= trio.height()
    assert trio.charts[Quantity.ERRORS].plot_rect().height() > 30


def test_the_percentile_clock_and_scale_are_saved(qtbot: QtBot, desk: Desk) -> None:
    page = shown(qtbot, LivePage(desk))
    feed(page, session(1, 4))
    qtbot.keyClick(page, Qt.Key.Key_P)
    qtbot.keyClick(page, Qt.Key.Key_L)
    page.board.trio.set_view(clock="service")
    other = shown(qtbot, LivePage(desk))
    assert other.board.trio.charts[Quantity.TIME].title_text()[1] == "p99.9, from send"
    assert (desk.settings.percentile, desk.settings.log_scale) == ("p999", False)


def test_times_are_from_the_send_where_a_load_tool_has_no_others(desk: Desk, qtbot: QtBot) -> None:
    page = shown(qtbot, LivePage(desk))
    scheduled = list(session(1, 4))
    without = [
        msgspec.structs.replace(d, latency_us=None) if isinstance(d, PointStop) else d
        for d in scheduled
    ]
    times = page.board.trio.charts[Quantity.TIME]
    feed(page, without)
    assert times.title_text()[1].startswith("p99, from send")
    page.board.trio.set_view(clock="latency")
    page.board.refresh()
    assert times.title_text()[1].startswith("p99, from scheduled time")
    feed(page, scheduled)
    assert times.title_text()[1].startswith("p99, from scheduled time")
    assert desk.settings.clock == "latency"


def test_keys_of_the_charts_work_from_anywhere_on_the_page(qtbot: QtBot, page: LivePage) -> None:
    feed(page, session(3, 8))
    qtbot.keyClick(page, Qt.Key.Key_1)
    assert not page.board.trio.is_shown("asyncio-streams")
    qtbot.keyClick(page, Qt.Key.Key_Down)
    assert page.board.trio.pointing.card.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.board.trio.pointing.card.isVisible()


def test_a_repeat_is_shown_with_its_number(page: LivePage) -> None:
    documents = with_repeats(session(2, 8), 4500, *TWO)
    second = next(d for d in documents if isinstance(d, PointStart) and d.point == 901)
    feed(page, documents[: documents.index(second) + 4])
    assert says(page, "asyncio Protocol")
    assert says(page, "second try")
    assert says(page, "Repeating, 2 of 2 · ")
    for document in documents[documents.index(second) + 4 :]:
        page.consume(document)
    page.refresh()
    assert says(page, "18 of 18 points")


def test_until_a_repeat_a_server_sustains_at_least_its_rate(page: LivePage) -> None:
    documents = with_repeats(session(2, 8), 4500, TWO[0])
    begun = next(d for d in documents if isinstance(d, PointStart) and d.server == TWO[1])
    start = documents[0]
    assert isinstance(start, RunStart)
    start = msgspec.structs.replace(start, plan=start.plan | {"looks": 3})
    feed(page, [start, *documents[1 : documents.index(begun) + 1]])
    legend = page.board.side.legend
    QApplication.processEvents()  # new rows are to be seen with the next event
    assert read(legend, "asyncio streams ") == "asyncio streams sustains ≥ 3,375/s"
    for document in documents[documents.index(begun) + 1 :]:
        page.consume(document)
    page.refresh()
    assert read(legend, "asyncio streams ") == "asyncio streams sustains 4,500/s"


def test_seven_servers_have_a_row_and_their_whole_name_next_to_charts_on_a_laptop(
    qtbot: QtBot, desk: Desk
) -> None:
    page = shown(qtbot, LivePage(desk), (1196, 740))
    feed(page, until_point(session(7, 8), 3))
    legend = page.board.side.legend
    QApplication.processEvents()
    names = [each for each in legend.findChildren(Elided) if each.isVisible()]
    assert names[0].whole == "asyncio streams"
    qtbot.waitUntil(lambda: [each.text() for each in names] == [each.whole for each in names])
    last = max(each.mapTo(legend, each.rect().bottomLeft()).y() for each in names)
    assert last < legend.height()
    assert read(legend, "running")


def test_the_strip_counts_measured_points_and_has_the_colours_of_any_theme(qtbot: QtBot) -> None:
    now = NowStrip()
    qtbot.addWidget(now, before_close_func=lambda _: now)
    documents = session(2, 4)
    last = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"][3]
    for document in documents:
        if getattr(document, "point", 0) == last.point:
            if isinstance(document, PointStop):
                skipped = notes.notice("skipped", name=document.server)
                now(skipped.note(document.t_us, server=document.server))
            continue
        now(document)
    now.refresh()
    assert now.points == "7 of 8 points"
    now.clear()
    for document in documents[: documents.index(last)]:
        now(document)
    now.resize(1200, 140)
    try:
        theme.use(theme.DARK)
        now.set_theme(theme.DARK)
        image = now.grab().toImage()
    finally:
        theme.use(theme.LIGHT)
    seen = {image.pixelColor(x, y).name() for x in range(1200) for y in range(140)}
    assert theme.DARK.series(0).colour.lower() in seen
    assert theme.LIGHT.series(0).colour.lower() not in seen


def test_while_the_next_server_is_started_its_name_is_shown_and_no_rate(page: LivePage) -> None:
    documents = session(2, 4)
    first = [d for d in documents if isinstance(d, PointStop) and d.server == TWO[0]][-1]
    feed(page, documents[: documents.index(first) + 1])
    assert says(page.now, "asyncio Protocol")
    assert "Offered rate" not in heard(page.now)
    assert says(page, "Server 2 of 2 · ")


def test_charts_without_a_server_say_how_to_show_all_again(page: LivePage) -> None:
    feed(page, session(2, 4))
    trio = page.board.trio
    whole = trio.grab().toImage()
    for server in TWO:
        trio.toggle(server)
    hidden = trio.grab().toImage()
    middle = trio.charts[Quantity.REPLIES].geometry().center()
    box = QRect(middle.x() - 200, middle.y() - 30, 400, 60)
    assert hidden.copy(box) != whole.copy(box)


def test_the_strip_is_shown_while_a_run_measures(page: LivePage) -> None:
    assert not page.now.isVisible()
    page.begin(LONG)
    assert not page.now.isVisible()
    documents = session(2, 4)
    feed(page, documents[:-1])
    assert page.now.isVisible()
    page.consume(stop := documents[-1])
    assert isinstance(stop, RunStop)
    page.end(Outcome(None, stop))
    assert not page.now.isVisible()
    assert says(page, "Done · 8 of 8 points")


def test_a_running_server_has_its_state_and_what_it_sustains_at_least(
    qtbot: QtBot, page: LivePage
) -> None:
    feed(page, until_point(session(3, 8), 18))
    legend = page.board.side.legend
    qtbot.waitUntil(lambda: "gevent running" in heard(legend))
    assert read(legend, "gevent ") == "gevent running, sustains ≥ 2,250/s"
    assert says(legend, "≥ 2,250/s")


def test_the_end_is_a_verdict_with_what_to_do_next(
    qtbot: QtBot, desk: Desk, page: LivePage, tmp_path: Path
) -> None:
    documents = session(2, 6)
    feed(page, documents)
    assert not page.verdict.isVisible()
    path = record_session(tmp_path / "a.pong.yaml", documents)
    stop = documents[-1]
    assert isinstance(stop, RunStop)
    page.end(Outcome(path, stop))
    answer = sustained.answer(summarise(documents).ranked()).text
    assert says(page.verdict, answer)
    with qtbot.waitSignal(desk.compare_requested) as asked:
        named(page, "Compare").click()
    assert asked.args == [[path]]
    assert named(page, "Replay").isVisible() and named(page, "Run again").isVisible()
    page.begin(plan_from_data(documents[0].plan, name="a test"))
    assert not page.verdict.isVisible() and not named(page, "Replay").isVisible()


@pytest.mark.qt_log_ignore("does not support")
def test_pointing_at_a_charts_header_explains_its_markers(qtbot: QtBot, page: LivePage) -> None:
    feed(page, session(2, 6, untrusted_from=4000))
    chart = page.board.trio.charts[Quantity.REPLIES]
    at = chart.head.box().center().toPoint()
    asked = QHelpEvent(QEvent.Type.ToolTip, at, chart.viewport().mapToGlobal(at))
    QApplication.sendEvent(chart.viewport(), asked)
    qtbot.waitUntil(lambda: "Hollow markers" in QToolTip.text())
    assert "Sustained rate (large marker)" in QToolTip.text()


def test_a_run_that_lost_its_machine_offers_what_is_left(
    qtbot: QtBot, desk: Desk, page: LivePage, tmp_path: Path
) -> None:
    documents = session(2, 4)
    first = [n for n, d in enumerate(documents) if isinstance(d, PointStop)][6]
    page.begin(plan_from_data(documents[0].plan, name="a test"), Where("atlas", ("cedar",)))
    for document in documents[: first + 1]:
        page.consume(document)
    page.refresh()
    path = record_session(tmp_path / "a.pong.yaml", documents[: first + 1])
    gone = "The machine 'atlas' is gone: connection lost."
    page.end(Outcome(path, RunStop(t_us=9, status="failed", reason=gone, code="machine-gone")))
    assert says(page, gone) and says(page.verdict, "Incomplete: asyncio streams")
    with qtbot.waitSignals([desk.page_requested, desk.check_requested]):
        named(page, "Check machines").click()
    with qtbot.waitSignal(desk.run_requested) as asked:
        named(page, "Run the rest").click()
    plan, where = asked.args
    assert (plan.servers, where.target) == (["asyncio-protocol"], "atlas")
