"""Problems of a plan: next to their fields, in the preview, and without moving anything."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, edit, write
from tests.gui.windows import control, name_of, press, says, sees
from workbench.messages import plans
from workbench.messages.problems import problem
from workbench.plan.model import Plan, Range
from workbench.plan.reading import load_plan
from workbench.workloads.registry import workload as a_workload

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


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
    listed = [name_of(each) for each in page.outlook.problems.findChildren(QLabel)]
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
    backlog = page.form.inputs["backlog"]
    assert not backlog.isVisible()
    page.edit(Plan(servers=["gevent"], rates=[500], seconds=1, workload=a_workload(pipeline=3)))
    deep = problem("pipeline-too-deep", "workload.pipeline", pipeline=3)
    qtbot.waitUntil(lambda: says(page, deep.text()))
    assert backlog.isVisible()


def test_a_warning_is_shown_but_does_not_prevent_running(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    assert says(page, "1 warning")
    few = plans.warning("few-samples", "seconds", x=400.0, suffix="/s", needed=1000)
    qtbot.waitUntil(lambda: says(page, few.text()))
    assert control(window, "Run").isEnabled()


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
    ("field", "text"), [("rates", "400, 200"), ("seconds", "x"), ("backlog", "x")]
)
def test_nothing_moves_while_a_wrong_value_is_typed_and_corrected(
    qtbot: QtBot, page: PlanPage, field: str, text: str
) -> None:
    edit(qtbot, page, SHORT)
    page.form.open_advanced()
    right = page.form.inputs[field].text()
    before = _places(page)
    write(qtbot, page, field, text)
    assert not _moved(before, _places(page))
    assert says(page, "1 problem")
    assert page.draft is not None
    message = page.draft.faults[field].casefold()
    labels = [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
    # Beside its field, and in the list where that may be out of sight.
    expected = 2 if page.form.listed else 1
    assert [message in text.casefold() for text in labels].count(True) == expected
    assert says(page, "Last valid plan")
    assert says(page, "Points: 4")
    write(qtbot, page, field, right)
    assert not _moved(before, _places(page))
    assert not says(page, "Last valid plan")


def test_a_refusal_to_run_moves_no_field(qtbot: QtBot, window: MainWindow, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    write(qtbot, page, "repeats", "0")
    before = _places(page)
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    sees(qtbot, page, "Cannot run yet. Passes: ")
    assert not _moved(before, _places(page))
