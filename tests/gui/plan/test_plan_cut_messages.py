"""A message that has no room beside its field is somewhere in sight whole."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.planning.cut_message import CutMessage
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, edit, write
from tests.gui.windows import name_of, press
from workbench.plan.model import Range

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

WRONG = {"rates.from": "", "rates.to": "", "rates.step": "-5"}


@pytest.fixture
def whole(qtbot: QtBot, window: MainWindow, page: PlanPage) -> str:
    """The message of a line with three problems, of which the last field has the focus."""
    edit(qtbot, page, structs.replace(SHORT, rates=Range(from_=100, to=200, step=100)))
    for field, text in WRONG.items():
        page.form.inputs[field].setFocus()
        write(qtbot, page, field, text)
    assert page.form.lines["rates"].cut
    return page.form.lines["rates"].note


def below(page: PlanPage) -> CutMessage:
    """What stands below the form."""
    (found,) = page.findChildren(CutMessage)
    return found


def test_it_is_listed_beside_the_form(page: PlanPage, whole: str) -> None:
    listed = [name_of(each) for each in page.outlook.preview.problems.findChildren(QLabel)]
    assert all(part in " ".join(listed) for part in whole.removesuffix(".").split(". "))
    assert not below(page).isVisible()


@pytest.mark.parametrize("covered_by", ["Presets", "File"])
def test_it_is_below_the_form_while_the_list_is_covered(
    qtbot: QtBot, window: MainWindow, page: PlanPage, whole: str, covered_by: str
) -> None:
    window.resize(960, 700)
    qtbot.waitUntil(lambda: window.width() == 960)
    press(page, covered_by)
    page.form.inputs["rates.to"].setFocus()
    qtbot.waitUntil(lambda: below(page).isVisible())
    assert below(page).text == whole
    page.form.inputs["repeats"].setFocus()
    qtbot.waitUntil(lambda: not below(page).isVisible())


def test_it_is_below_the_form_where_the_list_is_further_down(
    qtbot: QtBot, window: MainWindow, page: PlanPage, whole: str
) -> None:
    window.setMinimumSize(1, 1)
    window.resize(640, 400)
    qtbot.waitUntil(lambda: below(page).isVisible())
    assert below(page).text == whole
    assert not below(page).visibleRegion().isEmpty()
