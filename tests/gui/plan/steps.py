"""What a person does on the page of plans, as steps of its tests."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
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
    """Wait until what is in the form has been looked at."""
    qtbot.waitUntil(lambda: page._current and page._draft is not None)


def edit(qtbot: QtBot, page: PlanPage, plan: Plan) -> None:
    page.edit(plan)
    judged(qtbot, page)


def write(qtbot: QtBot, page: PlanPage, field: object, text: str) -> None:
    """As a person types."""
    field.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(field, text) if text else qtbot.keyClick(field, Qt.Key.Key_Delete)
    judged(qtbot, page)


def wanted(qtbot: QtBot, window: MainWindow, do: Callable[[], object]) -> Plan:
    """The plan that is asked to run; it does not begin."""
    window.desk.run_wanted.disconnect(window.run)
    with qtbot.waitSignal(window.desk.run_wanted) as asked:
        do()
    plan = asked.args[0]
    assert isinstance(plan, Plan)
    return plan


def opened(qtbot: QtBot, window: MainWindow) -> PlanPage:
    """The page as a person finds it."""
    window.show_page("Plan")
    page = window.page("Plan")
    assert isinstance(page, PlanPage)
    judged(qtbot, page)
    return page
