"""Titles and notes that a user gives sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.sessions import SessionsPage
from tests.gui.sessions.steps import PATIENCE_MS, listed, names, record, rows
from tests.gui.windows import the
from workbench.sessions.labels import Label, Titles
from workbench.sessions.library import shelf

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_a_title_and_notes_are_kept_and_found_and_the_file_stays_as_it_is(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    path = record(home / "a.pong.yaml", "Plan")
    record(home / "b.pong.yaml", "Other", month=2)
    before = path.read_bytes()
    listed(qtbot, desk, page, 2)
    page.setFocus()
    qtbot.keyClick(rows(page), Qt.Key.Key_F2)
    assert page.card.title.hasFocus()
    qtbot.keyClicks(page.card.title, "Before the new kernel")
    page.card.notes.setFocus()
    qtbot.keyClicks(page.card.notes, "Ask Lena")
    rows(page).setFocus()
    qtbot.waitUntil(lambda: shelf()[0].label.notes == "Ask Lena", timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: desk.shelf[0].label.notes == "Ask Lena", timeout=PATIENCE_MS)
    assert shelf()[0].title == "Before the new kernel"
    assert path.read_bytes() == before
    page.search()
    qtbot.keyClicks(the(page, QLineEdit, "Search sessions"), "lena kernel")
    assert names(page) == ["a"]


def test_text_being_typed_survives_a_refresh_of_the_list(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "Plan")
    listed(qtbot, desk, page, 1)
    page.card.notes.setFocus()
    qtbot.keyClicks(page.card.notes, "Half a sent")
    record(home / "b.pong.yaml", month=2)
    listed(qtbot, desk, page, 2)
    assert page.card.notes.toPlainText() == "Half a sent"
    assert page.card.notes.hasFocus()


def test_notes_are_saved_while_they_are_written_and_follow_the_file_where_nobody_writes(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "Plan")
    listed(qtbot, desk, page, 1)
    page.card.notes.setFocus()
    qtbot.keyClicks(page.card.notes, "Ask Lena")
    qtbot.waitUntil(lambda: desk.shelf[0].label.notes == "Ask Lena", timeout=PATIENCE_MS)
    assert page.card.notes.hasFocus()
    (session,) = shelf()
    assert session.start is not None
    Titles().write(session.start.session, Label("Elsewhere", "By Lena"))
    desk.shelf_stale.emit()
    qtbot.waitUntil(lambda: page.card.title.text() == "Elsewhere", timeout=PATIENCE_MS)
    rows(page).setFocus()
    assert page.card.notes.toPlainText() == "By Lena"
    assert shelf()[0].label == Label("Elsewhere", "By Lena")


def test_a_title_that_cannot_be_saved_is_reported(
    qtbot: QtBot, desk: Desk, page: SessionsPage, home: Path
) -> None:
    record(home / "a.pong.yaml", "Plan")
    (home / "titles.yaml").write_text("- [not, closed\n")
    listed(qtbot, desk, page, 1)
    page.card.title.setFocus()
    page.card.title.selectAll()
    qtbot.keyClicks(page.card.title, "Mine")
    rows(page).setFocus()
    qtbot.waitUntil(lambda: "titles.yaml" in page.error.text, timeout=PATIENCE_MS)
    assert page.error.isVisible()
