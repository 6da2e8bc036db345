"""What has the focus stays in view while the contents of a page arrive."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.scrolling import Scrolled


@pytest.mark.parametrize("scrolled", [False, True])
def test_a_control_reached_by_keys_stays_in_view_unless_one_scrolls(
    qtbot: QtBot, scrolled: bool
) -> None:
    body = QWidget()
    inside = QVBoxLayout(body)
    arriving, last = QLabel(), QPushButton("last")
    for each in (arriving, QPushButton("first"), last):
        inside.addWidget(each)
    last.setFixedHeight(150)
    area = Scrolled(body)
    qtbot.addWidget(area)
    area.resize(300, 200)
    with qtbot.waitExposed(area):
        area.show()
    area.activateWindow()
    last.setFocus(Qt.FocusReason.TabFocusReason)
    arriving.setFixedHeight(400)
    qtbot.waitUntil(lambda: area.verticalScrollBar().value() > 0)
    if scrolled:
        area.verticalScrollBar().setValue(0)
    arriving.setFixedHeight(900)
    qtbot.waitUntil(lambda: last.y() > 900)
    assert last.visibleRegion().isEmpty() == scrolled
