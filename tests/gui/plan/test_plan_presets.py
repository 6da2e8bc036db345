"""Presets and the user's own plans: shown, saved, renamed, restored, copied."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.plain import tip
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, edit, judged, leave_out, opened, plan_of, write
from tests.gui.windows import answer, offers, press, says, sees, shown
from workbench import paths
from workbench.plan import library
from workbench.plan.reading import load_plan

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_every_preset_is_shown_with_its_purpose_and_survives_the_form(
    qtbot: QtBot, page: PlanPage
) -> None:
    listed = page.gallery.list
    shipped = library.presets()
    assert len(shipped) >= 6
    for preset in shipped:
        assert preset.plan is not None
        row = listed.row_of(preset.id)
        item, takes = listed.item(row, 0), listed.item(row, 1)
        assert item.toolTip() == tip(preset.plan.description)
        assert takes.text()
        if preset.id.endswith("-scaled"):
            whole = listed.item(row - 1, 0).data(Qt.ItemDataRole.AccessibleTextRole)
            assert item.text().strip() == "scaled"
            assert preset.name.startswith(whole[:5])
        listed.itemClicked.emit(item)
        judged(qtbot, page)
        assert plan_of(page) == preset.plan


def test_in_a_narrow_window_the_presets_are_a_drawer(window: MainWindow, page: PlanPage) -> None:
    assert page.gallery.isVisible()
    window.resize(960, 620)
    assert not page.gallery.isVisible()
    press(page, "Presets")
    assert page.gallery.isVisible()
    press(page, "Presets")
    assert not page.gallery.isVisible()
    press(page, "Presets")
    page.gallery.list.taken.emit(page.gallery.list.preset("quick"))
    assert not page.gallery.isVisible()


def test_a_plan_is_saved_renamed_and_deleted_after_confirmation(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    press(page, "Save as…")
    answer(page, "My evening", "Save as")
    own = paths.data_dir() / "plans"
    qtbot.waitUntil(lambda: page.gallery.own is not None)
    assert load_plan("my-evening").servers == SHORT.servers
    write(qtbot, page, "rates", "500")
    press(page, "Save")
    qtbot.waitUntil(lambda: load_plan("my-evening").rates_per_s == [500.0])
    qtbot.waitUntil(lambda: offers(page, "Delete"))
    press(page, "Delete")
    qtbot.waitUntil(lambda: not list(own.glob("*.yaml")))
    assert page.form.servers.value() == SHORT.servers
    sees(qtbot, page, "Moved the plan My evening to the trash")
    page.history.undo()
    qtbot.waitUntil(lambda: [p.name for p in own.glob("*.yaml")] == ["my-evening.yaml"])
    qtbot.waitUntil(lambda: page.gallery.list.preset("my-evening") is not None)
    assert page.form.servers.value() == SHORT.servers


def test_edits_are_undone_and_done_again_a_field_at_a_time(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    page.form.inputs["repeats"].setFocus()
    write(qtbot, page, "repeats", "12")
    leave_out(qtbot, page, 0)
    judged(qtbot, page)
    assert page.form.data()["servers"] == SHORT.servers[1:]
    seen = []
    for _ in range(2):
        page.history.undo()
        judged(qtbot, page)
        seen.append((page.form.data()["servers"], page.form.data()["repeats"]))
    assert seen == [(SHORT.servers, 12), (SHORT.servers, 1)]
    page.history.redo()
    page.history.redo()
    judged(qtbot, page)
    assert plan_of(page).servers == SHORT.servers[1:]
    assert plan_of(page).repeats == 12
    page.history.undo()
    write(qtbot, page, "repeats", "3")
    page.history.redo()
    assert page.form.data()["repeats"] == 3, "another edit takes the place of what was undone"


def test_the_key_undoes_in_a_field_what_was_typed_and_then_on_the_page(qtbot: QtBot) -> None:
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        edit(qtbot, page, SHORT)
        leave_out(qtbot, page, 0)
        field = page.form.name
        field.setFocus()
        qtbot.keyClicks(field, "x")
        control = Qt.KeyboardModifier.ControlModifier
        qtbot.keyClick(field, Qt.Key.Key_Z, control)
        assert field.text() == "Short"
        assert page.form.data()["servers"] == SHORT.servers[1:]
        for _ in range(2):  # the first is what was typed and taken back
            qtbot.keyClick(field, Qt.Key.Key_Z, control)
        judged(qtbot, page)
        assert page.form.data()["servers"] == SHORT.servers


def test_a_name_that_is_taken_is_refused_with_a_message(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    page.gallery.save(SHORT, "demo")
    qtbot.waitUntil(lambda: "'demo'" in page.gallery.error.text)


def test_changes_can_be_restored_after_another_preset_was_chosen(
    qtbot: QtBot, page: PlanPage
) -> None:
    write(qtbot, page, "repeats", "7")
    assert says(page, "Socket ping-pong (changed)")
    quick = page.gallery.list.preset("quick")
    page.gallery.list.taken.emit(quick)
    judged(qtbot, page)
    assert says(page, "Your changes to Socket ping-pong were replaced.")
    press(page, "Undo")
    judged(qtbot, page)
    assert page.form.data()["repeats"] == 7
    assert page.gallery.list.marked == "demo"
    assert says(page, "Socket ping-pong (changed)")
