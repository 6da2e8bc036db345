"""This computer's facts on the Machines page are as recent as stated."""

from __future__ import annotations

from datetime import timedelta

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.machines import records
from app.pages.machines import MachinesPage
from tests import furniture
from tests.gui.machines.steps import opened, show
from workbench.machines import facts

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def sees(qtbot: QtBot, page: MachinesPage, text: str) -> None:
    qtbot.waitUntil(
        lambda: any(text in each.text() for each in page.findChildren(QLabel) if each.isVisible())
    )


@pytest.fixture
def page(qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> MachinesPage:
    """Of a computer whose load is 1.42."""
    _load_is(monkeypatch, 1.42)
    made = MachinesPage(desk)
    qtbot.addWidget(made)
    made.resize(1280, 900)
    made.show()
    sees(qtbot, made, "1.42")
    return made


def _load_is(monkeypatch: pytest.MonkeyPatch, load: float) -> None:
    reported = facts.here()
    monkeypatch.setattr(facts, "here", lambda: reported | {"load_average": [load, 0.5, 0.5]})


def test_the_age_of_facts_advances_while_they_are_shown(
    qtbot: QtBot, page: MachinesPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert page.detail.card.aside.text() == "read just now"
    later = records.now() + timedelta(minutes=7, seconds=5)
    monkeypatch.setattr(records, "now", lambda: later)
    page.ageing.timeout.emit()
    assert page.detail.card.aside.text() == "read 7 min ago"


def test_returning_to_the_page_shows_the_current_load(
    qtbot: QtBot, page: MachinesPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    sees(qtbot, page, "Load average 1.42 on ")
    page.hide()
    _load_is(monkeypatch, 2.72)
    page.show()
    sees(qtbot, page, "2.72")
    sees(qtbot, page, "Load average 2.72 on ")
    assert page.detail.card.aside.text() == "read just now"


def test_later_facts_replace_those_of_a_check(
    qtbot: QtBot, page: MachinesPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.run_this()
    qtbot.waitUntil(lambda: "ready" in page.listing.states["localhost"].word)
    later = records.now() + timedelta(minutes=7)
    monkeypatch.setattr(records, "now", lambda: later)
    monkeypatch.setattr("app.machines.work.now", lambda: later)
    _load_is(monkeypatch, 2.72)
    page.hide()
    page.show()
    sees(qtbot, page, "2.72")


def test_results_fade_while_they_are_shown(
    qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    furniture.machines(desk.settings.more)
    page = opened(qtbot, desk)
    show(qtbot, page, "atlas")
    light = page.listing.states["atlas"]
    assert (light.word, light.tone) == ("ready just now", "ok")
    later = records.now() + timedelta(hours=25)
    monkeypatch.setattr(records, "now", lambda: later)
    page.ageing.timeout.emit()
    light = page.listing.states["atlas"]
    assert (light.word, light.tone) == ("ready 25 h ago", "")
    sees(qtbot, page, "More than a day old")
