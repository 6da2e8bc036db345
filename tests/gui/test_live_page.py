"""The live page as a user sees it: what it shows, what stops it, what fits."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.series import Quantity
from app.context import Desk
from app.live.controls import State
from app.live.present import Presentation
from app.live.run import LiveRun, Outcome
from app.live.status_strip import NowStrip
from app.pages import live
from app.pages.live import LivePage
from app.widgets import Elided
from tests.gui.live_pages import TWO, feed, heard, named, read, says, shown, until_point
from tests.gui.short_runs import LONG
from tests.gui.windows import offers, the
from tests.outcomes import LATE
from tests.repeats import with_repeats
from tests.synthetic import session
from workbench import paths
from workbench.documents import PointStart, PointStop, RunStart, RunStop, Window
from workbench.messages import notes
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


def test_a_server_that_died_is_reported_above_the_charts(page: LivePage) -> None:
    documents = until_point(session(2, 4), 2)
    message = notes.Died(name="asyncio streams", x=4800.0, status=-9)
    died = message.note(documents[-1].t_us, server="asyncio-streams")
    feed(page, [*documents, died])
    assert page.alert.isVisible()
    assert page.alert.text == died.text
    named(page.alert, "Dismiss").click()
    assert not page.alert.isVisible()


def test_clients_that_reach_no_rate_are_reported_above_the_charts(page: LivePage) -> None:
    none = notes.Ceiling(ceiling_per_s=0.0)
    feed(page, [*session(1, 2)[:1], none.note(5)])
    assert page.alert.text == none.text()
    assert named(page, "Events, 1 warning")


@pytest.mark.parametrize(("recorded", "offered"), [("closed-loop", False), ("stopped", True)])
def test_only_what_has_a_schedule_has_an_offered_rate(
    page: LivePage, recorded: str, offered: bool
) -> None:
    feed(page, read_session(CASES / f"{recorded}.pong.yaml").documents)
    drawn = read(page.now, "Replies per 200 ms")
    assert drawn == "Replies per 200 ms" + "; line: offered rate" * offered


def test_missing_windows_are_reported(page: LivePage) -> None:
    documents = until_point(session(1, 4), 1, windows=6)
    lost = [d for d in documents if isinstance(d, Window)][-4:-1]
    feed(page, [document for document in documents if document not in lost])
    assert page.alert.text == notes.WindowsMissing(seconds=0.6).text()


def test_a_whole_session_raises_no_alarm(page: LivePage) -> None:
    feed(page, session(3, 8, repeats=2))
    assert page.alert.text == ""


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
    page.board.trio.set_clock("service")
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
    page.board.trio.set_clock("latency")
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
    assert page.board.trio.card.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.board.trio.card.isVisible()


def test_many_servers_leave_room_for_the_events(qtbot: QtBot, page: LivePage) -> None:
    feed(page, session(12, 6))
    named(page, "Events").click()
    assert page.board.side.events.isVisible()
    assert page.board.side.events.height() >= 150
    assert page.board.side.legend.isVisible()


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
    assert again.args == [LONG]


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


def test_repeated_notes_of_every_turn_are_listed_once(page: LivePage) -> None:
    message = notes.Backlog(name="asyncio streams", backlog=128, asked=512)
    feed(page, [*session(1, 2), *(message.note(t_us, server=TWO[0]) for t_us in (5, 9))])
    found = [each for each in page.findChildren(QLabel) if each.text() == message.text()]
    assert len(found) == 1


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


def test_the_events_tab_counts_warnings_and_fits_at_any_size(qtbot: QtBot, page: LivePage) -> None:
    worried = [notes.SamplerLost(said=f"Mind {each}").note(9) for each in "ab"]
    feed(page, [*session(12, 6), *worried])
    tab = named(page, "Events, 2 warnings")
    assert tab.text() == "Events · 2" and not tab.icon().isNull()
    page.board.side.setFixedHeight(400)
    QApplication.processEvents()
    assert tab.text() == "Events" and not tab.icon().isNull()
    assert tab.width() >= tab.sizeHint().width()


def test_at_its_end_a_run_reports_measured_points_in_any_theme(qtbot: QtBot) -> None:
    now = NowStrip(theme.LIGHT)
    qtbot.addWidget(now, before_close_func=lambda _: now)
    documents = session(2, 4)
    last = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"][3]
    for document in documents:
        if getattr(document, "point", 0) == last.point:
            if isinstance(document, PointStop):
                skipped = notes.Skipped(name=document.server)
                now(skipped.note(document.t_us, server=document.server))
            continue
        now(document)
    now.refresh()
    assert any("7 of 8 points" in label.text() for label in now.findChildren(QLabel))
    now.resize(1200, 140)
    now.set_theme(theme.DARK)
    image = now.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(0, 1200, 3) for y in range(0, 140, 3)}
    for place in (0, 1):
        assert theme.DARK.series(place).colour.lower() in seen
        assert theme.LIGHT.series(place).colour.lower() not in seen


def test_a_problem_of_many_servers_is_reported_once_with_their_names(page: LivePage) -> None:
    gate = notes.Gate(gate={"sentences": ["It answers 'Pong!' with 45 bytes on the wire."]})
    gates = [gate.note(1, server=each) for each in (*TWO, "null")]
    feed(page, [*session(2, 2)[:1], *gates])
    named(page, "Events").click()
    QApplication.processEvents()  # new rows are to be seen with the next event
    answers = "it answers 'Pong!'"
    assert says(page, f"asyncio streams, asyncio Protocol, Null server: {answers}")
    assert len([each for each in page.findChildren(QLabel) if answers in each.text()]) == 1


def test_a_server_whose_lowest_rate_is_inconclusive_is_reported_with_the_cause(
    page: LivePage,
) -> None:
    feed(page, session(2, 4, untrusted_from=1))
    QApplication.processEvents()  # new rows are to be seen with the next event
    cause = f"asyncio streams at 2,250/s cannot be judged. {LATE.text()}"
    assert page.alert.text == cause
    assert named(page, "Events, 1 warning")
    assert "asyncio streams unknown" in heard(page.board.side.legend)


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


def test_a_warning_takes_one_line_of_the_charts_and_none_of_the_servers(
    qtbot: QtBot, page: LivePage
) -> None:
    feed(page, until_point(session(9, 8), 3))
    before = page.board.side.legend.height()
    page.board.warned.emit("The clients were late from 8,300/s on; their points are hollow.")
    qtbot.waitUntil(lambda: 0 < page.alert.height() <= 40)
    assert page.alert.width() < page.board.width() - page.board.side.width()
    assert page.board.side.legend.height() == before


def test_the_strip_is_hidden_while_there_is_nothing_to_show(page: LivePage) -> None:
    assert not page.now.isVisible()
    page.begin(LONG)
    assert page.now.isVisible()
    page.end(Outcome(None, None))
    assert not page.now.isVisible()


def test_a_running_server_has_its_state_and_what_it_sustains_at_least(
    qtbot: QtBot, page: LivePage
) -> None:
    feed(page, until_point(session(3, 8), 18))
    legend = page.board.side.legend
    qtbot.waitUntil(lambda: says(legend, "running"))
    assert read(legend, "gevent ") == "gevent running, sustains ≥ 2,250/s"
    assert says(legend, "≥ 2,250/s")
