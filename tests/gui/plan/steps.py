"""What a user does on the Plan page, as test steps."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.fields import Options
from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
from tests.gui.windows import the
from workbench.plan.model import Plan

SHORT = Plan(
    name="Short",
    servers=["asyncio-streams", "gevent"],
    rates=[200.0, 400.0],
    seconds=1.0,
    calibrate=False,
    warm_up=None,
)


def judged(qtbot: QtBot, page: PlanPage) -> None:
    """Wait until the contents of the form have been checked."""
    qtbot.waitUntil(lambda: page.draft is not None)


def edit(qtbot: QtBot, page: PlanPage, plan: Plan) -> None:
    page.edit(plan)
    judged(qtbot, page)


def write(qtbot: QtBot, page: PlanPage, field: str | QWidget, text: str) -> None:
    """As a person types; `field`: one of the form's, by the plan's key, or any."""
    field = page.form.inputs[field] if isinstance(field, str) else field
    field.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(field, text) if text else qtbot.keyClick(field, Qt.Key.Key_Delete)
    judged(qtbot, page)


def choose(qtbot: QtBot, page: PlanPage, name: str, text: str) -> None:
    """Choose by keys in the combo box of this accessible name."""
    box = the(page, Options, name)
    box.setFocus()
    for _ in range(box.count()):
        if box.currentText() != text:
            qtbot.keyClick(box, Qt.Key.Key_Down)
    for _ in range(box.count()):
        if box.currentText() != text:
            qtbot.keyClick(box, Qt.Key.Key_Up)
    assert box.currentText() == text


def leave_out(qtbot: QtBot, page: PlanPage, place: int) -> None:
    """Of the servers, by Delete."""
    chosen = page.form.servers.chosen
    chosen.setCurrentRow(place % chosen.count())
    qtbot.keyClick(chosen, Qt.Key.Key_Delete)


def add_server(qtbot: QtBot, page: PlanPage, name: str) -> None:
    """Found by its name, ticked by Enter."""
    page.search()
    search = page.form.servers.picker.search
    search.clear()
    qtbot.keyClicks(search, name)
    qtbot.keyClick(search, Qt.Key.Key_Return)


def plan_of(page: PlanPage) -> Plan:
    """What is in the form."""
    assert page.draft is not None
    assert page.draft.plan is not None
    return page.draft.plan


def wanted(qtbot: QtBot, window: MainWindow, do: Callable[[], object]) -> Plan:
    """The plan that is asked to run; it does not begin."""
    window.desk.run_requested.disconnect(window.run)
    with qtbot.waitSignal(window.desk.run_requested) as asked:
        do()
    plan = asked.args[0]
    assert isinstance(plan, Plan)
    return plan


def opened(qtbot: QtBot, window: MainWindow) -> PlanPage:
    """The page as a user first sees it."""
    window.show_page("Plan")
    page = window.page("Plan")
    assert isinstance(page, PlanPage)
    judged(qtbot, page)
    return page


def resize(qtbot: QtBot, window: MainWindow, width: int, height: int) -> None:
    window.resize(width, height)
    qtbot.waitUntil(lambda: (window.width(), window.height()) == (width, height))


def in_sight(widget: QWidget) -> bool:
    return widget.visibleRegion().boundingRect().size() == widget.size()
