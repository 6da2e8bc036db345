"""The start page for newcomers and for returning users."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.settings import Settings
from app.shell.main_window import MainWindow
from app.start.quick_start import QUESTIONS, Question
from app.start.running import RunningDialog
from tests.gui.windows import control, name_of, press, says, sees, shown
from tests.recording import record_session
from tests.synthetic import End, session
from workbench import environment, paths
from workbench.documents import PointStop
from workbench.plan.model import Plan, WarmUp
from workbench.plan.reading import load_plan
from workbench.sessions import read_session

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

PLAN = Plan(
    name="Short",
    servers=["asyncio-streams"],
    rates=[200.0, 400.0],
    seconds=1.0,
    looks=1,
    calibrate=False,
    warm_up=WarmUp(rate_per_s=100.0, seconds=0.2),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return paths.data_dir() / "sessions"


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def window(qtbot: QtBot, home: Path, settings: Settings) -> Iterator[MainWindow]:
    with shown(qtbot, settings) as made:
        qtbot.waitUntil(lambda: bool(made.start.compare.ticked()))
        yield made


def record(path: Path, servers: int = 3, end: End = "done") -> Path:
    return record_session(path, session(servers, 4, end=end))


def kind(window: MainWindow, name: str) -> str:
    return str(control(window, name).property("kind") or "")


def test_a_newcomer_reads_its_purpose_its_cost_and_its_result(
    qtbot: QtBot, window: MainWindow
) -> None:
    assert says(window, "Which server sustains which rate?")
    assert says(window, "9 rates, 1,000/s to the client limit, 1 s each.")
    assert "asyncio-streams" in window.start.compare.ticked()
    qtbot.waitUntil(lambda: says(window, "one after another. Takes"))
    qtbot.waitUntil(lambda: says(window.start.compare, "Takes"))


def test_one_press_runs_a_quick_look(qtbot: QtBot, window: MainWindow) -> None:
    assert kind(window, "Run Quick look") == "primary"
    with qtbot.waitSignal(window.desk.run_requested) as wanted:
        press(window, "Run Quick look")
    assert wanted.args[0].name == "Quick look"
    assert len(wanted.args[0].servers) == 3
    qtbot.waitUntil(lambda: window.desk.busy)


def test_a_run_of_the_ticked_servers_is_drawn_and_recorded(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    compare = window.start.compare
    assert compare.offer is not None
    compare.offer = replace(compare.offer, plan=PLAN)
    for server in set(compare.ticked()) ^ {"asyncio-streams"}:
        compare.servers.toggle(server)
    press(window, "Run the comparison")
    qtbot.waitUntil(lambda: not window.desk.busy)
    assert window.live.error.text == ""
    assert says(window.live, "Done")
    assert says(window.live, "asyncio streams")
    (path,) = home.glob("*.pong.yaml")
    documents = read_session(path).documents
    rates = [d.rate_per_s for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    assert rates == [200.0, 400.0]
    drawn = window.live.board.model.series["asyncio-streams"]
    assert [reading.x for reading in drawn.points] == rates
    press(window, "Replay")
    qtbot.waitUntil(window.film.isVisible)
    sees(qtbot, window.film, "Short")


def test_without_a_tick_nothing_can_be_compared_and_a_message_says_so(window: MainWindow) -> None:
    press(window, "Select none")
    assert not control(window, "Run the comparison").isEnabled()
    assert says(window, "Select at least one server.")


def test_a_running_server_is_measured_by_its_address(qtbot: QtBot, window: MainWindow) -> None:
    press(window, "Measure a running server…")
    dialog = window.findChild(RunningDialog)
    qtbot.keyClicks(dialog.address, "ftp://127.0.0.1/")
    dialog.measure.click()
    assert "http" in dialog.error.text
    dialog.address.clear()
    qtbot.keyClicks(dialog.address, "http://127.0.0.1:9/items?page=2")
    with qtbot.waitSignal(window.desk.plan_requested) as taken:
        dialog.edit.click()
    assert taken.args[0].servers == ["http://127.0.0.1:9/items?page=2"]
    assert window.plan.form.data()["servers"] == ["http://127.0.0.1:9/items?page=2"]


def test_a_pasted_command_is_a_plan_once_its_host_is_chosen(
    qtbot: QtBot, window: MainWindow
) -> None:
    press(window, "Measure a running server…")
    dialog = window.findChild(RunningDialog)
    dialog.address.setFocus()
    QApplication.clipboard().setText(
        "curl 'https://shop.example/a' \\\n  -H 'Cookie: s3cr3t' \\\n  --frobnicate"
    )
    dialog.address.paste()
    assert "--frobnicate" in dialog.left.toPlainText()
    assert not dialog.edit.isEnabled() and not dialog.measure.isEnabled()
    dialog.host.set_value("https://shop.example")
    dialog.host.activated.emit(dialog.host.currentIndex())
    with qtbot.waitSignal(window.desk.plan_requested) as taken:
        dialog.edit.click()
    plan = taken.args[0]
    assert plan.servers == ["https://shop.example"]
    assert plan.workload.headers["Cookie"].secret == "SHOP_EXAMPLE_COOKIE"
    assert environment.secret("SHOP_EXAMPLE_COOKIE") == "s3cr3t"


def test_tab_needs_three_stops_to_the_main_button_and_arrows_go_through_the_servers(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.start.quick.setFocus()
    for _ in range(3):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert name_of(QApplication.focusWidget() or window) == "Run the comparison"
    servers = window.start.compare.servers
    servers.setFocus()
    at = servers.currentRow()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Down):
        qtbot.keyClick(servers, key)
    assert servers.currentRow() > at + 1  # a row has several
    third, before = servers.ids()[servers.currentRow()], window.start.compare.ticked()
    qtbot.keyClick(servers, Qt.Key.Key_Space)
    assert set(before) ^ set(window.start.compare.ticked()) == {third}
    middle = servers.visualItemRect(servers.currentItem()).center()
    qtbot.mouseClick(servers.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert window.start.compare.ticked() == before
    with qtbot.waitSignal(window.desk.resources_read):
        window.start.load()
    assert servers.hasFocus() and servers.ids()[servers.currentRow()] == third
    window.desk.run_requested.disconnect(window.run)
    with qtbot.waitSignal(window.desk.run_requested) as wanted:
        qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert wanted.args[0].servers == window.start.compare.ticked()  # not Quick look
    with qtbot.waitSignal(window.desk.run_requested) as wanted:
        qtbot.keyClick(servers, Qt.Key.Key_Return)
    assert wanted.args[0].servers == window.start.compare.ticked()


def test_servers_stay_ticked_for_every_question_that_they_fit(window: MainWindow) -> None:
    servers = window.start.compare.servers
    servers.toggle("gevent")
    chosen = window.start.compare.ticked()
    press(window, QUESTIONS[1].text)
    assert "cheroot" in window.start.compare.ticked()
    servers.toggle("cheroot")
    press(window, QUESTIONS[0].text)
    assert window.start.compare.ticked() == chosen
    press(window, QUESTIONS[1].text)
    assert "cheroot" not in window.start.compare.ticked()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.preset)
def test_every_question_is_answered_by_a_plan_that_can_run_here(
    qtbot: QtBot, window: MainWindow, question: Question
) -> None:
    press(window, question.text)
    assert says(window, question.text)
    qtbot.waitUntil(lambda: says(window.start.compare, "Takes"))
    assert window.start.compare.error.text == ""
    window.desk.run_requested.disconnect(window.run)
    with qtbot.waitSignal(window.desk.run_requested) as wanted:
        press(window, "Run the comparison")
    assert wanted.args[0] == load_plan(question.preset)


def test_only_servers_with_a_database_are_offered_for_the_question_about_it(
    window: MainWindow,
) -> None:
    press(window, "Which web application reads fastest from PostgreSQL?")
    assert "django" in window.start.compare.servers.ids()
    assert "cherrypy" not in window.start.compare.servers.ids()


def test_while_something_runs_nothing_else_can_start_and_a_message_says_so(
    window: MainWindow,
) -> None:
    window.desk.set_busy(True)
    try:
        assert not control(window, "Run the comparison").isEnabled()
        assert not control(window, "Run Quick look").isEnabled()
        assert says(window, "A run is in progress. The next one can start when it is over.")
    finally:
        window.desk.set_busy(False)
    assert control(window, "Run Quick look").isEnabled()


def test_the_ticked_servers_can_be_planned_in_detail(qtbot: QtBot, window: MainWindow) -> None:
    for server in set(window.start.compare.ticked()) ^ {"gevent", "tornado"}:
        window.start.compare.servers.toggle(server)
    press(window, "Edit the plan")
    page = window.page("Plan")
    assert page.isVisible()
    assert sorted(page.form.servers.value()) == ["gevent", "tornado"]  # type: ignore[attr-defined]


class TestComingBack:
    @pytest.fixture
    def settings(self) -> Settings:
        return Settings(servers=["twisted", "gone-since"])

    @pytest.fixture(autouse=True)
    def recorded(self, home: Path) -> None:
        record(home / "a.pong.yaml")

    def test_the_servers_ticked_last_time_are_ticked(self, window: MainWindow) -> None:
        assert window.start.compare.ticked() == ["twisted"]
        window.start.compare.servers.toggle("gevent")
        assert set(window.desk.settings.servers) >= {"twisted", "gevent"}

    def test_the_comparison_comes_first_and_the_session_is_one_click_away(
        self, qtbot: QtBot, window: MainWindow
    ) -> None:
        qtbot.waitUntil(lambda: says(window, "Recent sessions"))
        assert kind(window, "Run the comparison") == "primary"
        assert kind(window, "Run Quick look") == ""
        with qtbot.waitSignal(window.desk.run_requested) as wanted:
            window.desk.run_requested.disconnect(window.run)
            window.start.run_this()
        assert wanted.args[0].servers == ["twisted"]
        kind_of = type(control(window, "All sessions"))

        def cards() -> list[str]:
            buttons = window.start.recent.findChildren(kind_of)
            names = [each.accessibleName() for each in buttons if each.isVisible()]
            return [name for name in names if name.startswith("Open ")]

        qtbot.waitUntil(lambda: bool(cards()))
        (name,) = cards()
        assert "3 servers" in name
        press(window, name)
        qtbot.waitUntil(window.film.isVisible)

    def test_a_session_opened_from_elsewhere_is_among_the_recent_ones(
        self, qtbot: QtBot, tmp_path: Path, window: MainWindow
    ) -> None:
        (tmp_path / "desktop").mkdir()
        foreign = record(tmp_path / "desktop" / "foreign.pong.yaml", servers=5)
        window.open(foreign)
        qtbot.waitUntil(window.film.isVisible)
        window.show_page("Start")
        qtbot.waitUntil(lambda: says(window, "5 servers"))
        assert foreign in {each.path for each in window.desk.shelf}
        assert window.focusWidget() is window.start.compare.run  # for Enter
        foreign.unlink()
        window.show_page("Sessions")
        window.show_page("Start")
        qtbot.waitUntil(lambda: not says(window, "5 servers"))

    def test_a_session_shows_its_result_or_why_it_is_incomplete(
        self, qtbot: QtBot, home: Path, window: MainWindow
    ) -> None:
        qtbot.waitUntil(lambda: says(window, "asyncio Protocol and gevent sustain 6,750/s"))
        record(home / "b.pong.yaml", end="crashed")
        window.desk.shelf_stale.emit()
        qtbot.waitUntil(lambda: says(window, "cut off"))
        assert not says(window.start, "complete")


def test_servers_that_cannot_be_read_do_not_hide_the_others(qtbot: QtBot, home: Path) -> None:
    for name in ("one", "two", "three"):
        (paths.data_dir() / "servers" / name).mkdir(parents=True)
    with shown(qtbot) as window:
        qtbot.waitUntil(lambda: bool(window.start.compare.ticked()))
        assert control(window, "Run the comparison").isEnabled()


def test_all_servers_or_none_are_ticked_at_once_and_counted(
    qtbot: QtBot, window: MainWindow
) -> None:
    compare = window.start.compare
    number = compare.servers.count()
    press(compare, "Select none")
    assert compare.ticked() == []
    press(compare, "Select all")
    assert len(compare.ticked()) == number
    qtbot.waitUntil(lambda: says(compare, f"{number} of {number} servers. Takes"))
