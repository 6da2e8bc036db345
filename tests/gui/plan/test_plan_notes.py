"""What the page says about plans matches the plan in the form and is not cut off."""

from __future__ import annotations

from msgspec import structs
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.planning.preview import SweepPicture
from app.shell.main_window import MainWindow
from app.widgets import Elided
from tests.gui.plan.steps import add_server, judged, leave_out, plan_of, write
from tests.gui.windows import painted
from workbench.plan.editing import Step
from workbench.plan.schedule import PointPlan
from workbench.workloads.pong.declaration import PongWorkload


def note(page: PlanPage) -> str:
    return page.form.description.toPlainText()


def test_the_note_of_a_preset_disappears_with_its_servers_and_returns_with_undo(
    qtbot: QtBot, page: PlanPage
) -> None:
    before = note(page)
    assert before.startswith("Seven servers")
    leave_out(qtbot, page, -1)
    qtbot.waitUntil(lambda: not note(page))
    judged(qtbot, page)
    assert plan_of(page).description == ""
    page.history.undo()
    qtbot.waitUntil(lambda: note(page) == before)


def test_the_title_of_a_preset_follows_the_servers_until_a_person_names_it(
    qtbot: QtBot, page: PlanPage
) -> None:
    first, name = page.form.name.text(), page.form.servers.value()[-1]
    leave_out(qtbot, page, -1)
    qtbot.waitUntil(lambda: page.form.name.text() != first)
    assert page.form.name.text().startswith(f"{first}: ")
    add_server(qtbot, page, name)
    qtbot.waitUntil(lambda: page.form.name.text() == first)
    write(qtbot, page, page.form.name, "Mine")
    leave_out(qtbot, page, -1)
    judged(qtbot, page)
    assert plan_of(page).name == "Mine"


def test_a_users_own_note_is_kept_through_changes(qtbot: QtBot, page: PlanPage) -> None:
    page.form.description.setPlainText("After the kernel update")
    leave_out(qtbot, page, -1)
    judged(qtbot, page)
    assert note(page) == "After the kernel update"
    page.form.description.setPlainText("")
    judged(qtbot, page)
    assert note(page) == ""


def test_a_plan_saved_without_a_note_is_described_by_what_it_measures(
    qtbot: QtBot, page: PlanPage
) -> None:
    page.edit(structs.replace(plan_of(page), servers=["gevent", "tornado", "twisted"]))
    qtbot.waitUntil(lambda: not note(page))
    judged(qtbot, page)
    page.gallery.save(plan_of(page), "My own")
    qtbot.waitUntil(lambda: page.gallery.own is not None)
    marked = page.gallery.list.currentItem()
    assert marked.toolTip() == "3 servers, 9 rates"


def test_text_without_room_next_to_a_picture_ends_in_an_ellipsis(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    window.resize(960, 620)
    qtbot.waitUntil(lambda: window.width() == 960)
    for each in page.outlook.findChildren(QLabel):
        room = each.width() + 1
        if each.isVisible() and not each.wordWrap() and not isinstance(each, Elided):
            for line in each.text().splitlines():
                assert each.fontMetrics().horizontalAdvance(line) <= room, line


def test_a_high_picture_has_about_ten_lines_of_its_scale(qapp: QApplication) -> None:
    picture = SweepPicture()
    point = PointPlan("one", 20_000.0, "20,000/s", 20_000.0, 20_000, 1.0, PongWorkload())
    picture.show_steps([Step(0.0, 1.0, point)], timed=True)
    picture.resize(900, 1600)
    labels = [word for word in painted(picture).split() if word.replace(",", "").isdigit()]
    assert 5 <= len(labels) <= 14


def test_a_problem_of_a_load_tool_is_also_said_where_advanced_fields_are_out_of_sight(
    qtbot: QtBot, page: PlanPage
) -> None:
    page.edit(structs.replace(plan_of(page), load_tool="ab"))
    shown = page.outlook.problems
    said = "Load tool: ab runs HTTP only"
    qtbot.waitUntil(lambda: any(said in each.text() for each in shown.findChildren(QLabel)))


def test_a_load_tool_that_misses_the_rates_is_said_to_do_so(qtbot: QtBot, page: PlanPage) -> None:
    random = structs.replace(plan_of(page).workload, arrivals="poisson")
    page.edit(structs.replace(plan_of(page), workload=random, load_tool="tsung"))
    shown = page.outlook.remarks
    said = "tsung keeps rates only roughly: when measured, 60 to 106 % of"
    qtbot.waitUntil(lambda: any(said in each.text() for each in shown.findChildren(QLabel)))
