"""All machines in one picture: their parts, their links, and examples to begin from."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLineEdit
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.fields import Options
from app.machines import records
from app.machines.editor import Editor
from app.machines.overview import Node
from app.pages.machines import MachinesPage
from tests import furniture
from tests.gui.machines.steps import dialog, opened, typed
from tests.gui.windows import name_of, says, sees, the
from workbench import paths
from workbench.machines.profiles import load_profile, profile_names
from workbench.sessions.library import shelf

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def fleet(qtbot: QtBot, desk: Desk, home: Path) -> MachinesPage:
    """Of two runs: today with three clients, twelve days ago with another."""
    furniture.machines(desk.settings.more)
    furniture.fleet_sessions(paths.data_dir() / "sessions")
    desk.set_shelf(shelf())
    page = opened(qtbot, desk)
    sees(qtbot, page, "120 µs · 941 / 932 Mbit/s")
    return page


def nodes(page: MachinesPage) -> dict[str, QAbstractButton]:
    """By the first word of their accessible names."""
    found = [node for node in page.findChildren(Node) if node.isVisible()]
    return {name_of(node).partition(",")[0]: node for node in found}


def test_every_machine_is_shown_and_missing_measurements_are_marked(
    qtbot: QtBot, fleet: MachinesPage
) -> None:
    shown = nodes(fleet)
    assert {"This computer", "atlas", "bolt", "fjord"} < set(shown)
    assert "target" in name_of(shown["atlas"])
    assert "clock ± 31 µs" in name_of(shown["atlas"])
    assert "clock" not in name_of(shown["fjord"])
    assert "via bolt" in name_of(shown["dune"])
    long = next(node for name, node in shown.items() if name.startswith("a-client-with"))
    assert long.accessibleDescription().endswith("to atlas: not measured.")
    assert not shown["dune"].accessibleDescription()  # its key is unknown, so it cannot be used
    assert says(fleet, "Dotted lines: not measured yet.")
    assert says(fleet, "Not shown, with an invalid profile: gale.")
    assert says(fleet, "12 days ago")  # that of cedar
    assert says(fleet, "14,000 connections/s")
    assert says(fleet, "bolt, elm and fjord together against the null server on atlas")
    assert says(fleet, "Not measured with all 6 clients.")


def test_with_another_target_nothing_is_stated_about_unmeasured_links(
    qtbot: QtBot, fleet: MachinesPage
) -> None:
    choice = the(fleet, Options, "Target of the picture")
    assert choice.width() > choice.fontMetrics().horizontalAdvance("This computer") + 30
    choice.setCurrentIndex(choice.findText("This computer"))
    choice.activated.emit(choice.currentIndex())
    assert not says(fleet, "941 / 932 Mbit/s")
    assert says(fleet, "No link measured yet")
    assert says(fleet, "Not measured")


def test_results_fade_while_they_are_shown(
    qtbot: QtBot, fleet: MachinesPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    light = fleet.listing.rows["atlas"].state
    assert (light.word, light.tone) == ("ready just now", "ok")
    later = records.now() + timedelta(hours=25)
    monkeypatch.setattr(records, "now", lambda: later)
    fleet.ageing.timeout.emit()
    light = fleet.listing.rows["atlas"].state
    assert (light.word, light.tone) == ("ready 25 h ago", "")
    assert says(fleet, "27 h ago")
    fleet.listing.rows["atlas"].click()
    sees(qtbot, fleet, "More than a day old")


def test_a_machine_in_the_picture_opens_its_page_by_key(qtbot: QtBot, fleet: MachinesPage) -> None:
    node = nodes(fleet)["elm"]
    node.setFocus()
    qtbot.keyClick(node, Qt.Key.Key_Space)
    assert fleet.listing.selected == "elm"
    sees(qtbot, fleet, "in use by lena on fir")


def test_an_example_is_no_machine_until_it_has_an_address_of_the_users_own(
    qtbot: QtBot, page: MachinesPage
) -> None:
    assert list(page.listing.rows) == ["localhost"]
    next(b for b in page.findChildren(QAbstractButton) if name_of(b) == "Examples").click()
    qtbot.waitUntil(lambda: "Add a target" in nodes(page))
    assert profile_names() == ["localhost"]
    nodes(page)["Add a target"].click()
    editor = dialog(qtbot, page, Editor)
    address = the(editor, QLineEdit, "Address")
    assert (address.text(), address.placeholderText()) == ("", "Like target.example.org")
    next(b for b in editor.findChildren(QAbstractButton) if name_of(b) == "Save").click()
    assert profile_names() == ["localhost"]
    typed(editor, "Name", "atlas")
    typed(editor, "Address", "10.0.4.20")
    next(b for b in editor.findChildren(QAbstractButton) if name_of(b) == "Save").click()
    qtbot.waitUntil(lambda: page.listing.selected == "atlas")
    assert load_profile("atlas").roles == ["target"]
    page.listing.choose("")
    qtbot.waitUntil(lambda: "atlas" in nodes(page))
    assert "Add a target" not in nodes(page)
    assert "This computer" in nodes(page)
