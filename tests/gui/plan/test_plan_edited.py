"""Editing a plan in the form: fields, problems next to them, the preview."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.planning.tags import Tag
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, choose, edit, judged, leave_out, wanted, write
from tests.gui.windows import control, name_of, press, says, sees
from workbench import paths
from workbench.messages import plans
from workbench.plan.model import GiveUp, Plan, Profile, Range, WarmUp
from workbench.plan.reading import load_plan
from workbench.servers.catalogue import Catalogue
from workbench.servers.sources import complete
from workbench.sessions import read_session
from workbench.workloads import registry
from workbench.workloads.registry import workload as a_workload

TOOLS = ("wrk", "ab", "httperf", "tsung")

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_it_starts_with_a_plan_that_can_run(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    assert says(page, "Ready to run")
    assert says(page, "1 of 7 sweeps")
    assert says(page, "9 rates from 1,000/s")
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
            vary={
                "connections": Range(from_=200, to="ceiling", points=6, spacing="geometric"),
            },
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


def test_several_load_tools_are_compared_in_the_order_of_the_plan(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, structs.replace(SHORT, with_=["tsung", "httperf"]))
    assert page.draft is not None and page.draft.plan is not None
    assert page.draft.plan.with_ == ["tsung", "httperf"]
    page.form.more.open()
    compared = {name: control(page, f"Compared with {name}") for name in TOOLS}
    assert [name for name, tick in compared.items() if tick.isChecked()] == ["httperf", "tsung"]
    for name, expected in (
        ("ab", ["tsung", "httperf", "ab"]),
        ("tsung", ["httperf", "ab"]),
        ("tsung", ["httperf", "ab", "tsung"]),
    ):
        compared[name].click()
        assert page.form.data()["with"] == expected


def test_a_load_tool_of_another_workload_is_a_problem_at_its_field(
    qtbot: QtBot, page: PlanPage
) -> None:
    tool = page.form.inputs["load_tool"]
    http = structs.replace(SHORT, workload=a_workload(protocol="http/1.1"), load_tool="locust")
    edit(qtbot, page, http)
    assert page.draft is not None and "not HTTP" in page.draft.faults["load_tool"]
    assert tool.value() == "locust"  # type: ignore[attr-defined]
    # The tool that a workload brings with it is no choice of the user's.
    messages = structs.replace(SHORT, workload=a_workload(protocol="zeromq"))
    assert messages.load_tool == "zeromq"
    edit(qtbot, page, messages)
    assert tool.value() == "agent"  # type: ignore[attr-defined]
    assert "load_tool" not in page.draft.faults


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
    sees(qtbot, page, "6 rates from 200/s; the calibration finds the highest")
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


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("rates", "400, 200"),
        ("rates", "fast"),
        ("rates", ""),
        ("seconds", "0.5"),
        ("seconds", ""),
        ("workload.timeout_s", "0"),
        ("repeats", "1,5"),
    ],
)
def test_invalid_values_are_reported_next_to_their_field_and_cannot_run(
    qtbot: QtBot, page: PlanPage, field: str, text: str
) -> None:
    edit(qtbot, page, SHORT)
    input_ = page.form.inputs[field]
    write(qtbot, page, field, text)
    assert page.draft is not None
    message = page.draft.faults[field]
    (line,) = [each for each in {*page.form.lines.values()} if message in each.note]
    assert line.isAncestorOf(input_)
    assert line.tone == "bad"
    assert input_.property("tone") == "bad"
    assert not control(page, "Run").isEnabled()
    assert message.casefold() in control(page, "Run").toolTip().casefold()
    assert says(page, "1 problem")


def test_every_problem_is_listed_in_the_preview_and_leads_to_its_field(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, structs.replace(SHORT, rates=Range(from_=100, to=200, step=100)))
    for field, text in {
        "rates.from": "",
        "rates.to": "",
        "rates.step": "-5",
        "repeats": "",
    }.items():
        write(qtbot, page, field, text)
    listed = [name_of(each) for each in page.outlook.preview.problems.findChildren(QLabel)]
    for name in ("Lowest rate", "Highest rate", "Step between rates", "Passes"):
        assert [text for text in listed if text.startswith(f"{name}: ")], name
    assert says(page, "4 problems")
    line = page.form.lines["rates"]
    assert "Highest rate: enter a number." in line.note
    press(page.outlook, "Show the field: " + next(t for t in listed if t.startswith("Passes: ")))
    assert page.form.inputs["repeats"].hasFocus()
    assert not page.form.inputs["repeats"].visibleRegion().isEmpty()


def test_the_run_shortcut_says_why_a_plan_does_not_run_until_that_is_fixed(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    write(qtbot, page, "repeats", "0")
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: says(page, "Cannot run yet. Passes: "))
    write(qtbot, page, "repeats", "1")
    assert not says(page, "Cannot run yet.")
    assert not window.desk.busy


def test_a_fault_among_the_rare_fields_opens_them(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    backlog = page.form.more.inputs["backlog"]
    assert not backlog.isVisible()
    page.edit(Plan(servers=["gevent"], rates=[500], seconds=1, workload=a_workload(pipeline=3)))
    deep = plans.PipelineTooDeep(keys=("workload.pipeline",), pipeline=3)
    qtbot.waitUntil(lambda: says(page, deep.text()))
    assert backlog.isVisible()


def test_a_warning_is_shown_but_does_not_prevent_running(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    assert says(page, "1 warning")
    few = plans.FewSamples(keys=("seconds",), x=400.0, suffix="/s", needed=1000)
    qtbot.waitUntil(lambda: says(page, few.text()))
    assert control(window, "Run").isEnabled()


def test_servers_are_found_ticked_moved_and_left_out_by_keys(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    servers = page.form.servers
    press(page, "Add or remove")
    search = servers.picker.search
    qtbot.waitUntil(search.hasFocus)
    qtbot.keyClicks(search, "torn sock")
    qtbot.keyClick(search, Qt.Key.Key_Return)
    assert servers.value() == ["asyncio-streams", "gevent", "tornado"]
    search.clear()
    qtbot.keyClick(search, Qt.Key.Key_Down)
    listed = servers.picker.list
    for _ in range(3):
        qtbot.keyClick(listed, Qt.Key.Key_Down)
    at = listed.currentRow()
    assert at > 0
    with qtbot.waitSignal(window.desk.resources_read):
        page.load()
    assert listed.currentRow() == at
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert not servers.picker.isVisible()
    last = servers.tags.findChildren(Tag)[2]
    last.setFocus()
    qtbot.keyClick(last, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert servers.value() == ["asyncio-streams", "tornado", "gevent"]
    leave_out(qtbot, page, 0)
    assert servers.value() == ["tornado", "gevent"]


def test_a_family_that_came_with_a_workload_is_listed_by_its_name(
    qtbot: QtBot, page: PlanPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.ALL_FAMILIES, "echo", "Echo servers")
    gevent = Catalogue.load(extra_dirs=[])["gevent"]
    echo = structs.replace(gevent, id="mine", name="Mine", family="echo", protocols=["echo"])
    page.form.servers.set_entries([gevent, echo])
    press(page, "Add or remove")
    search = page.form.servers.picker.search
    qtbot.keyClicks(search, "echo servers")
    qtbot.keyClick(search, Qt.Key.Key_Return)
    assert page.form.servers.value()[-1] == "mine"


def test_servers_without_the_protocol_are_left_out_with_one_click(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(
        qtbot,
        page,
        Plan(
            servers=["twisted", "cheroot"],
            rates=[500],
            seconds=1,
            workload=a_workload(protocol="http/1.1"),
        ),
    )
    assert says(page, "Twisted supports pong, not http/1.1.")
    press(page, "Remove Twisted")
    judged(qtbot, page)
    assert page.form.servers.value() == ["cheroot"]
    assert page.draft is not None
    assert page.draft.sound


def test_listings_as_published_and_as_improved_are_one_click_apart(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, Plan(servers=["gevent", "circuits", "twisted"], rates=[500.0], seconds=1.0))
    servers = page.form.servers
    published, improved = (
        next(b for b in servers.findChildren(QPushButton) if b.text().strip() == text)
        for text in ("Use published versions", "Use improved versions")
    )
    assert published.isVisible() and not improved.isVisible()
    qtbot.mouseClick(published, Qt.MouseButton.LeftButton)
    assert servers.value() == ["gevent", "circuits-select", "twisted-published"]
    assert improved.isVisible() and not published.isVisible()
    qtbot.mouseClick(improved, Qt.MouseButton.LeftButton)
    assert servers.value() == ["gevent", "circuits", "twisted"]


def test_servers_in_one_two_and_four_processes_are_one_click_away(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, Plan(servers=["tornado", "erlang-gen-tcp"], rates=[500.0], seconds=1.0))
    servers = page.form.servers
    press(page, "Add or remove")
    texts = {b.text().strip(): b for b in servers.findChildren(QPushButton)}
    scale = texts["Add 1, 2, 4 processes"]
    qtbot.mouseClick(scale, Qt.MouseButton.LeftButton)
    assert servers.value() == ["tornado", "tornado-2w", "tornado-4w", "erlang-gen-tcp"]
    assert not scale.isVisible()
    assert "Tornado, 4 workers" in [tag.text() for tag in servers.findChildren(Tag)]
    judged(qtbot, page)
    assert page.draft is not None
    assert page.draft.sound


def test_all_socket_servers_that_can_are_offered_in_several_processes(
    qtbot: QtBot, page: PlanPage
) -> None:
    able = [entry.id for entry in Catalogue.load() if entry.workers and complete(entry)]
    sockets = [id_ for id_ in able if Catalogue.load()[id_].family == "socket"]
    edit(qtbot, page, Plan(servers=sockets, rates=[500.0], seconds=1.0))
    press(page, "Add or remove")
    press(page, "Add 1, 2, 4 processes")
    assert page.form.servers.value() == [
        id_ for server in sockets for id_ in (server, f"{server}-2w", f"{server}-4w")
    ]
    judged(qtbot, page)
    assert page.draft is not None
    assert page.draft.sound


def test_tab_goes_through_the_servers_before_the_load(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    met = []
    at = page.gallery.last
    while not met or met[-1] != "Rates per second":
        at = at.nextInFocusChain()
        if at.isVisible() and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
            met.append(at.accessibleName())
    assert met[:3] == ["asyncio streams, number 1", "gevent, number 2", "Add or remove"]


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


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("search.to", "500", "must be above from"),
        ("search.step", "50000", "is more than lies between"),
        ("search.p99_ms", "fast", "Expected a number"),
        ("search.errors_pct", "80", "below 50"),
    ],
)
def test_a_problem_of_a_search_is_shown_next_to_its_field(
    qtbot: QtBot, page: PlanPage, key: str, text: str, message: str
) -> None:
    edit(qtbot, page, load_plan("peak"))
    write(qtbot, page, key, text)
    assert message in page.form.lines.get(key, page.form.lines["search"]).note


def _places(page: PlanPage) -> dict[QWidget, int]:
    """How far each control of the form that is seen is from the top of the window."""
    kinds = QAbstractButton, QComboBox, QLineEdit, QListWidget, QPlainTextEdit
    found: dict[QWidget, int] = {}
    while True:
        QApplication.processEvents()  # what has been shown or hidden is laid out
        seen = [each for kind in kinds for each in page.form.findChildren(kind) if each.isVisible()]
        before, found = found, {each: each.mapTo(page.window(), QPoint()).y() for each in seen}
        if found == before:
            return found


def _moved(before: dict[QWidget, int], after: dict[QWidget, int]) -> dict[str, int]:
    """By how much controls moved, by their names."""
    assert before.keys() == after.keys()
    return {name_of(each): after[each] - y for each, y in before.items() if after[each] != y}


@pytest.mark.parametrize(
    ("field", "text"), [("rates", "400, 200"), ("seconds", "x"), ("backlog", "99999999999")]
)
def test_nothing_moves_while_a_wrong_value_is_typed_and_corrected(
    qtbot: QtBot, page: PlanPage, field: str, text: str
) -> None:
    edit(qtbot, page, SHORT)
    page.form.more.open()
    right = page.form.inputs[field].text()
    before = _places(page)
    write(qtbot, page, field, text)
    assert not _moved(before, _places(page))
    assert says(page, "1 problem")
    assert page.draft is not None
    message = page.draft.faults[field].casefold()
    labels = [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
    assert [message in text.casefold() for text in labels].count(True) == 1
    assert says(page, "Last valid plan")
    assert says(page, "Points: 4")
    write(qtbot, page, field, right)
    assert not _moved(before, _places(page))
    assert not says(page, "Last valid plan")


def test_the_list_of_servers_stays_under_the_pointer_while_some_are_ticked(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    press(page, "Add or remove")
    shown = page.form.servers.picker.list
    before = shown.mapTo(window, QPoint())
    for place in range(6):
        middle = shown.visualItemRect(shown.item(place)).center()
        qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=middle)
        judged(qtbot, page)
        assert shown.mapTo(window, QPoint()) == before
    assert len(page.form.servers.value()) > len(SHORT.servers)


def test_a_refusal_to_run_moves_no_field(qtbot: QtBot, window: MainWindow, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    write(qtbot, page, "repeats", "0")
    before = _places(page)
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    sees(qtbot, page, "Cannot run yet. Passes: ")
    assert not _moved(before, _places(page))
