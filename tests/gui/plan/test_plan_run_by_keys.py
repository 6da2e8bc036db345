"""What Ctrl+R runs is the plan that was chosen last, however fast the keys follow one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.planning.gallery import PresetList
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, edit, judged, leave_out, plan_of, wanted, write
from tests.gui.windows import drop
from workbench.plan import library

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def go_to(listed: PresetList, id: str) -> None:
    """As the arrow keys do."""
    listed.setFocus()
    listed.setCurrentCell(listed.row_of(id), 0)


def press_run(qtbot: QtBot, window: QWidget) -> None:
    qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)


def test_a_preset_chosen_by_return_is_run_at_once(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    listed = page.gallery.list
    for id_ in ("quick", "demo", "quick"):
        go_to(listed, id_)

        def choose_and_run() -> None:
            qtbot.keyClick(listed, Qt.Key.Key_Return)
            press_run(qtbot, window)

        preset = listed.preset(id_)
        assert preset is not None
        assert wanted(qtbot, window, choose_and_run) == preset.plan
        window.desk.run_requested.connect(window.run)


def test_the_ends_of_the_presets_are_a_key_away(qtbot: QtBot, page: PlanPage) -> None:
    listed = page.gallery.list
    listed.setFocus()
    for key, at in ((Qt.Key.Key_End, -1), (Qt.Key.Key_Home, 0), (Qt.Key.Key_Right, 0)):
        qtbot.keyClick(listed, key)
        assert (listed.currentRow(), listed.currentColumn()) == (
            listed.row_of(listed.presets[at].id),
            0,
        )


def test_presets_read_again_keep_the_place_of_the_arrow_keys(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    listed = page.gallery.list
    assert listed.marked == "demo"
    go_to(listed, "quick")
    with qtbot.waitSignal(window.desk.resources_read):
        page.load()
    qtbot.keyClick(listed, Qt.Key.Key_Return)
    judged(qtbot, page)
    preset = listed.preset("quick")
    assert preset is not None
    assert plan_of(page) == preset.plan


@pytest.mark.parametrize("shown", ["Plan", "Start"])
def test_while_a_plan_file_is_read_nothing_else_is_run(
    qtbot: QtBot, window: MainWindow, page: PlanPage, tmp_path: Path, shown: str
) -> None:
    window.show_page(shown)
    path = tmp_path / "dropped.yaml"
    path.write_text(library.to_yaml(SHORT))

    def drop_and_run() -> None:
        drop(window, path)
        press_run(qtbot, window)

    assert wanted(qtbot, window, drop_and_run) == SHORT


def test_a_plan_is_run_whose_title_has_yet_to_follow_its_servers(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    def leave_one_out_and_run() -> None:
        leave_out(qtbot, page, -1)
        press_run(qtbot, window)

    first, servers = page.form.name.text(), page.form.servers.value()
    plan = wanted(qtbot, window, leave_one_out_and_run)
    assert plan.servers == servers[:-1] and plan.name.startswith(f"{first}: ")


def test_an_edit_after_the_key_cancels_the_run(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    asked: list[object] = []
    window.desk.run_requested.disconnect(window.run)
    window.desk.run_requested.connect(lambda plan, where: asked.append(plan))
    page.edit(SHORT)
    press_run(qtbot, window)
    write(qtbot, page, "seconds", "2")
    assert not asked
