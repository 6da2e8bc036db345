"""Editing a plan in the form: its fields, and the preview that follows."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.planning.values import SWITCHED
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, choose, edit, leave_out, wanted, write
from tests.gui.windows import control, press, says, sees
from workbench import paths
from workbench.plan.model import GiveUp, Plan, Profile, Range, WarmUp
from workbench.plan.reading import load_plan
from workbench.sessions import read_session
from workbench.workloads.registry import workload as a_workload

TOOLS = ("wrk", "ab", "httperf", "tsung")

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_it_starts_with_a_plan_that_can_run(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    assert says(page, "Ready to run")
    assert says(page, "1 of 7 sweeps")
    assert says(page, "9 rates, 1,000/s to the client limit")
    plan = wanted(qtbot, window, lambda: press(window, "Run"))
    assert plan == load_plan("demo")


@pytest.mark.parametrize(
    "plan",
    [
        SHORT,
        Plan(
            name="Everything",
            description="two\nlines",
            servers=["gevent", "asyncio-streams"],
            workload=a_workload(timeout_s=0.5, arrivals="poisson", path="/x"),
            rate_of="connections",
            rates=Range(from_=100, to=1000, step=50),
            connections=500,
            lengthen=True,
            warm_up=WarmUp(rate_per_s=50, seconds=0.5),
            cool_down_s=1.5,
            repeats=3,
            looks=1,
            order="interleaved",
            seed=20091222,
            backlog=500,
            nofile=10_000,
            workers=2,
            give_up=GiveUp(after_points=5, success_below_pct=20),
            calibrate=False,
            profile=Profile(at=400, seconds=2),
        ),
        Plan(
            name="Closed",
            servers=["gevent-pywsgi"],
            workload=a_workload(protocol="http/1.0", mode="closed"),
            concurrency=[1, 25],
            seconds=2,
            give_up=None,
            with_=["ab"],
        ),
        Plan(
            name="Pipelines",
            servers=["aiohttp"],
            workload=a_workload(protocol="http/1.1", calls_per_connection=8),
            rates=[1000],
            vary={"pipeline": [1, 4, 8]},
            seconds=2,
        ),
        Plan(
            name="Held",
            servers=["aiohttp-websocket"],
            workload=a_workload(protocol="websocket"),
            rates=[100],
            vary={"connections": Range(from_=200, to="ceiling", points=6, spacing="geometric")},
            seconds=10,
        ),
    ],
    ids=["short", "everything", "closed", "varied", "held"],
)
def test_the_form_covers_everything_in_a_plan(
    qtbot: QtBot, window: MainWindow, page: PlanPage, plan: Plan
) -> None:
    edit(qtbot, page, plan)
    assert wanted(qtbot, window, page.run_this) == plan


def test_what_a_tick_switches_on_is_enabled_with_it(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, structs.replace(SHORT, give_up=None))
    page.form.open_advanced()
    for group, (keys, _) in SWITCHED.items():
        fields = [page.form.inputs[f"{group}.{key}"] for key in keys]
        assert not any(field.isEnabled() for field in fields)
        page.form.inputs[f"{group}.on"].click()
        assert all(field.isEnabled() for field in fields)


def test_several_load_tools_are_compared_in_the_order_of_the_plan(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, structs.replace(SHORT, with_=["tsung", "httperf"]))
    assert page.draft is not None and page.draft.plan is not None
    assert page.draft.plan.with_ == ["tsung", "httperf"]
    page.form.open_advanced()
    compared = page.form.inputs["with"]
    assert {*TOOLS} <= {*compared.ids()}
    for name, expected in (
        ("ab", ["tsung", "httperf", "ab"]),
        ("tsung", ["httperf", "ab"]),
        ("tsung", ["httperf", "ab", "tsung"]),
    ):
        compared.toggle(name)
        assert page.form.data()["with"] == expected


def test_a_plan_without_a_title_runs_as_untitled_and_keeps_every_digit(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(
        qtbot,
        page,
        Plan(servers=["gevent"], rates=[1234.567891, 98765.432109], seconds=1.25, calibrate=False),
    )
    plan = wanted(qtbot, window, page.run_this)
    assert plan.name == "Untitled"
    assert plan.rates == [1234.567891, 98765.432109]


def test_the_preview_follows_every_keystroke(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    assert says(page, "Points: 4")
    write(qtbot, page, "rates", "200, 400, 800")
    assert says(page, "Points: 6")
    assert says(page, "Connections: 2,800")
    assert says(page, "amber: too few for a steady p99")
    assert says(page, "3 rates")


def test_rates_up_to_the_client_limit_are_chosen_and_the_preview_says_that_it_estimates(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, structs.replace(SHORT, calibrate=True))
    choose(qtbot, page, "Rates as", "up to the client limit")
    write(qtbot, page, "rates.points", "6")
    sees(qtbot, page, "6 rates, 200/s to the client limit")
    sees(qtbot, page, "are estimates for 20,000/s")
    sees(qtbot, page, "Points: 12")
    plan = wanted(qtbot, window, page.run_this)
    assert plan.rates == Range(from_=200, to="ceiling", points=6)
    choose(qtbot, page, "Rates as", "list")
    assert page.form.data()["rates"] == [200]


def test_connections_held_open_may_end_at_what_the_machines_can_hold(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    held = Plan(
        servers=["aiohttp-websocket"],
        workload=a_workload(protocol="websocket"),
        rates=[100],
        vary={"connections": [100, 200]},
        seconds=10,
    )
    edit(qtbot, page, held)
    choose(qtbot, page, "Values as", "up to the limit")
    sees(qtbot, page, "The connections end at")
    sees(qtbot, page, "Points: 8")
    plan = wanted(qtbot, window, page.run_this)
    to_ceiling = Range(from_=100, to="ceiling", points=8, spacing="geometric")
    assert plan.vary == {"connections": to_ceiling}
    choose(qtbot, page, "Values as", "list")
    assert page.form.data()["vary"] == {"connections": [100, 200]}


def test_rates_are_written_and_read_with_thousands_commas_and_are_all_visible(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    rates = page.form.inputs["rates"]
    rates.setFocus()
    write(qtbot, page, rates, "1,000, 2,000 4000 8,000 16000, 32,000.5, 40000, 50000")
    assert says(page, "8 rates, 1,000 to 50,000/s")
    page.form.name.setFocus()
    assert rates.text().split() == [
        "1,000", "2,000", "4,000", "8,000", "16,000", "32,000.5", "40,000", "50,000",
    ]  # fmt: skip
    bars = rates.horizontalScrollBar(), rates.verticalScrollBar()
    assert [bar.maximum() for bar in bars] == [0, 0]


def test_a_field_that_loses_focus_shows_its_beginning(qtbot: QtBot, page: PlanPage) -> None:
    name = page.form.name
    name.setFocus()
    write(qtbot, page, name, "A title that is longer than its field " * 4)
    page.form.description.setFocus()
    assert name.cursorPosition() == 0


def test_scrolling_the_form_changes_no_choice(qtbot: QtBot, page: PlanPage) -> None:
    order = page.form.inputs["order"]
    middle = QPointF(order.rect().center())
    turn = QWheelEvent(
        middle,
        order.mapToGlobal(middle),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(order, turn)
    assert order.value() == "sequential"


def test_during_a_run_no_other_starts_and_a_message_says_why(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    window.desk.set_busy(True)
    try:
        assert not control(window, "Run").isEnabled()
        assert says(page, "A run is in progress. This plan can start when it is over.")
    finally:
        window.desk.set_busy(False)
    assert control(window, "Run").isEnabled()
    assert not says(page, "This plan can start")


def test_a_plan_written_here_is_run_and_recorded(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    write(qtbot, page, "rates", "300")
    write(qtbot, page, page.form.name, "By hand")
    leave_out(qtbot, page, 1)
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window.desk.busy)
    qtbot.waitUntil(lambda: not window.desk.busy)
    (path,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
    plan = read_session(path).start.plan
    assert (plan["name"], plan["rates"], plan["servers"]) == (
        "By hand",
        [300.0],
        ["asyncio-streams"],
    )


def test_a_search_is_written_in_the_form(qtbot: QtBot, window: MainWindow, page: PlanPage) -> None:
    opened = load_plan("peak")
    edit(qtbot, page, opened)
    assert says(page, "Chooses among 47 rates, 1,000 to 24,000")
    assert says(page, "example, 1 of 7 searches")
    assert wanted(qtbot, window, lambda: press(window, "Run")) == opened
