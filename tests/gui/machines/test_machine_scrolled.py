"""What of a machine's page is in view, in a small window."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QAbstractSlider, QApplication, QScrollBar
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.machines import MachinesPage
from tests import furniture
from tests.gui.machines.steps import show

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def bar(qtbot: QtBot, page: MachinesPage, box: str, desk: Desk) -> QScrollBar:
    """Of the page of `box`, whose key has changed."""
    page.resize(760, 420)
    desk.machines_changed.emit()
    show(qtbot, page, box)
    page.detail.show_key(furniture.changed_key())
    bars = [bar for bar in page.detail.findChildren(QScrollBar) if bar.parent() is not None]
    qtbot.waitUntil(lambda: any(bar.maximum() > 0 for bar in bars))
    QApplication.processEvents()
    return next(bar for bar in bars if bar.maximum() > 0)


def test_the_card_of_a_changed_key_opens_at_its_head_with_the_focus_on_the_safe_answer(
    qtbot: QtBot, page: MachinesPage, bar: QScrollBar
) -> None:
    assert bar.value() == 0
    safe = page.detail.key.safe
    assert safe is not None
    assert safe.hasFocus()
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMaximum)
    page.resize(760, 400)
    QApplication.processEvents()
    assert bar.value() > 0


def test_another_machine_is_shown_from_its_head(
    qtbot: QtBot, page: MachinesPage, bar: QScrollBar
) -> None:
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMaximum)
    show(qtbot, page, "localhost")
    assert bar.value() == 0


def test_the_focus_stays_on_the_page_when_the_card_is_closed(
    qtbot: QtBot, page: MachinesPage, bar: QScrollBar
) -> None:
    page.detail.show_key(None)
    assert page.detail.check.hasFocus()
