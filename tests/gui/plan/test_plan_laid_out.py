"""Presets, form and preview beside one another, in small and large windows, and messages without
room beside their field, which are somewhere in sight whole.
"""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
from app.theme import Weight, font
from tests.gui.plan.steps import SHORT, edit, in_sight, resize, write
from tests.gui.windows import press, the
from workbench.plan.model import Range
from workbench.plan.reading import load_plan

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

WRONG = {"rates.from": "", "rates.to": "", "rates.step": "-5"}


def test_an_opened_list_of_servers_is_scrolled_into_view(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    resize(qtbot, window, 960, 620)
    edit(qtbot, page, load_plan("piel-2009-sockets"))
    press(page, "Add or remove")
    qtbot.waitUntil(lambda: in_sight(page.form.servers.picker))


def test_a_large_screen_is_used_by_presets_and_form(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    resize(qtbot, window, 3840, 2160)
    presets = page.gallery.list
    rows = [presets.item(n, 0) for n in range(presets.rowCount())]
    heads = [item.text() for item in rows if not item.flags()]
    assert heads
    size = QFontMetrics(font(12, Weight.Medium))
    room = presets.viewport().width()
    assert not [head for head in heads if size.horizontalAdvance(head) > room]
    qtbot.waitUntil(lambda: page.outlook.width() < 0.6 * page.width())


def test_the_heads_of_the_columns_are_on_one_line(page: PlanPage) -> None:
    heads = [the(page, QLabel, name) for name in ("Presets", "Servers", "Run preview")]
    assert len({each.mapTo(page, each.rect().center()).y() for each in heads}) == 1


def test_the_cards_of_presets_are_as_wide_as_the_button_below(page: PlanPage) -> None:
    presets, below = page.gallery.list, page.gallery.last
    card = presets.visualItemRect(presets.item(0, 1))
    assert (
        presets.viewport().mapTo(page, card.topRight()).x()
        == below.mapTo(page, below.rect().topRight()).x()
    )


def test_a_message_of_several_lines_is_whole_beside_its_fields(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, structs.replace(SHORT, rates=Range(from_=100, to=200, step=100)))
    for field, text in WRONG.items():
        write(qtbot, page, field, text)
    whole = page.form.lines["rates"].note
    (shown,) = [each for each in page.form.findChildren(QLabel) if each.text() == whole]
    qtbot.waitUntil(lambda: shown.height() >= shown.heightForWidth(shown.width()))
