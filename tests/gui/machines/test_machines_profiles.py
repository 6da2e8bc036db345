"""Machine profiles: written, copied, imported, removed, damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QLineEdit, QScrollArea
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.fields import Line
from app.machines.editor import Editor
from app.pages.machines import MachinesPage
from tests.gui.machines.steps import dialog, light, show, typed
from tests.gui.windows import control, says, sees, the
from workbench.machines.profiles import load_profile, profile_names

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


class Opener(QObject):
    """The desktop's file manager."""

    taken = ""

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.taken = url.toLocalFile()


def test_a_profile_is_written_with_its_problems_next_to_the_fields(
    qtbot: QtBot, page: MachinesPage
) -> None:
    page.add()
    editor = dialog(qtbot, page, Editor)
    assert not says(editor, "Server cores")
    control(editor, "More settings").click()
    typed(editor, "Port", "99999")
    assert says(editor, "Expected a whole number of at most 65,535, got 99999.")
    port = the(editor, QLineEdit, "Port")
    assert port.property("tone") == "bad"
    assert not says(editor, "Use letters, digits")
    typed(editor, "Port", "2222")
    assert port.property("tone") == ""
    control(editor, "Save").click()
    assert says(editor, "Use letters, digits, dots")
    typed(editor, "Name", "atlas")
    assert says(editor, "Give a name, an IP address or an SSH alias.")
    typed(editor, "Address", "10.0.4.20")
    typed(editor, "Server cores", "2, 4-6")
    control(editor, "Save").click()
    qtbot.waitUntil(lambda: "atlas" in page.listing.names)
    assert page.listing.selected == "atlas"
    saved = load_profile("atlas")
    assert (saved.address, saved.port, saved.cpus.server) == ("10.0.4.20", 2222, [2, 4, 5, 6])


def test_an_address_is_shown_as_what_it_becomes(qtbot: QtBot, page: MachinesPage) -> None:
    page.add()
    editor = dialog(qtbot, page, Editor)
    typed(editor, "Address", "ssh://bob@10.0.4.20:2222")
    assert says(editor, "Saved as bob@10.0.4.20:2222")
    assert the(editor, QLineEdit, "Name").text() == "10.0.4.20"
    control(editor, "Save").click()
    qtbot.waitUntil(lambda: "10.0.4.20" in page.listing.names)
    saved = load_profile("10.0.4.20")
    assert (saved.address, saved.port, saved.user) == ("10.0.4.20", 2222, "bob")


def test_an_added_machine_is_checked_at_once(qtbot: QtBot, page: MachinesPage) -> None:
    page.add()
    editor = dialog(qtbot, page, Editor)
    typed(editor, "Address", "127.0.0.1:1")
    typed(editor, "Name", "nobody")
    control(editor, "Save and check").click()
    qtbot.waitUntil(lambda: page.records.get("nobody").kind == "unreachable")
    assert page.listing.selected == "nobody"


def test_a_name_that_is_taken_is_reported_next_to_it(
    qtbot: QtBot, page: MachinesPage, box: str
) -> None:
    page.add()
    editor = dialog(qtbot, page, Editor)
    typed(editor, "Name", box)
    typed(editor, "Address", "10.0.4.20")
    control(editor, "Save").click()
    sees(qtbot, editor, "already; choose another name.")
    assert load_profile(box).address == "127.0.0.1"


def test_a_machine_is_duplicated_edited_and_forgotten(
    qtbot: QtBot, page: MachinesPage, box: str
) -> None:
    show(qtbot, page, box)
    control(page, "Duplicate").click()
    editor = dialog(qtbot, page, Editor)
    control(editor, "Save").click()
    qtbot.waitUntil(lambda: page.listing.selected == "box-2")
    qtbot.waitUntil(lambda: not page.findChildren(Editor))
    control(page, "Edit").click()
    editor = dialog(qtbot, page, Editor)
    typed(editor, "Description", "The other one")
    control(editor, "Save").click()
    sees(qtbot, page, "The other one")
    assert load_profile("box-2").address == "127.0.0.1"
    control(page, "Remove").click()
    qtbot.waitUntil(lambda: "box-2" not in page.listing.names)
    assert profile_names() == ["box", "localhost"]
    control(page, "Undo").click()
    qtbot.waitUntil(lambda: "box-2" in page.listing.names)
    assert load_profile("box-2").description == "The other one"


def test_a_damaged_profile_is_reported_and_the_others_work(
    qtbot: QtBot, page: MachinesPage, box: str, home: Path, desk: Desk
) -> None:
    (home / "pongbench" / "config" / "profiles" / "fir.yaml").write_text("name: fir\naddres: 1\n")
    page.resize(960, 300)
    desk.machines_changed.emit()
    show(qtbot, page, "fir")
    sees(qtbot, page, "Did you mean 'address'?")
    assert light(page, "fir") == "invalid profile"
    assert not page.detail.check.isEnabled()
    editor = Opener()
    QDesktopServices.setUrlHandler("file", editor, "take")
    control(page, "Open file").click()
    QDesktopServices.unsetUrlHandler("file")
    assert editor.taken.endswith("/profiles/fir.yaml")
    show(qtbot, page, box)
    assert page.detail.check.isEnabled()


def test_the_form_is_as_high_as_its_fields_where_the_window_is(
    qtbot: QtBot, page: MachinesPage
) -> None:
    page.resize(1280, 760)
    page.edit()
    editor = dialog(qtbot, page, Editor)
    area = editor.findChild(QScrollArea)
    assert area is not None
    assert editor.height() < 700
    assert area.verticalScrollBar().maximum() == 0
    # No more is empty than the end of the form.
    last = max(
        line.mapTo(editor, QPoint(0, line.height())).y() for line in editor.findChildren(Line)
    )
    assert editor.height() - last < 130


def test_a_key_file_is_chosen_and_what_an_empty_one_means_is_stated(
    qtbot: QtBot, page: MachinesPage, home: Path
) -> None:
    (home / "id_bench").touch()
    page.add()
    editor = dialog(qtbot, page, Editor)
    control(editor, "More settings").click()
    assert says(editor, "Empty: the keys that ssh would use")
    control(editor, "Choose a key file").click()
    chooser = editor.findChild(QFileDialog)
    assert chooser is not None
    chooser.fileSelected.emit(str(home / "id_bench"))
    chooser.reject()
    assert the(editor, QLineEdit, "Key file").text() == str(home / "id_bench")
