"""The preview of a plan: what it shows, where, and how that looks."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, edit, in_sight, resize, write
from tests.gui.windows import name_of, press
from workbench.plan.model import Range
from workbench.plan.reading import load_plan

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_problems_stand_above_the_preview_and_are_in_sight(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    resize(qtbot, window, 960, 620)
    edit(qtbot, page, structs.replace(SHORT, rates=Range(from_=100, to=200, step=100)))
    for field in ("rates.from", "rates.to"):
        write(qtbot, page, field, "")
    problem = next(
        each
        for each in page.outlook.findChildren(QLabel)
        if name_of(each).startswith("Lowest rate: ")
    )
    qtbot.waitUntil(lambda: in_sight(problem))


def test_the_hint_is_whole_in_a_narrow_preview(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    resize(qtbot, window, 960, 620)
    edit(qtbot, page, load_plan("peak"))
    hint = page.outlook.hint
    assert hint.text().startswith("example, 1 of 7 searches")
    assert hint.height() >= hint.heightForWidth(hint.width())


def test_a_plan_is_copied_as_its_file(qtbot: QtBot, page: PlanPage, tmp_path: Path) -> None:
    edit(qtbot, page, SHORT)
    press(page, "Copy as YAML")
    file = tmp_path / "copied.yaml"
    file.write_text(QGuiApplication.clipboard().text())
    assert load_plan(file) == SHORT
