"""The published benchmarks, from the start page to their run."""

from __future__ import annotations

import re

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.scrolling import Scrolled
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import judged, plan_of
from tests.gui.windows import press, says, words_on
from workbench.analysis.published import source_of, sources
from workbench.plan import library
from workbench.plan.model import Plan

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

ASKED = {preset.name: preset for preset in library.presets() if preset.plan and preset.plan.source}


def test_every_published_benchmark_is_three_clicks_from_its_run(
    qtbot: QtBot, window: MainWindow
) -> None:
    """The Plan page, the preset in its list, and Run."""
    page = window.plan
    window.resize(1280, 800)
    ran: list[Plan] = []
    window.desk.run_requested.disconnect(window.run)
    window.desk.run_requested.connect(lambda plan, where: ran.append(plan))
    window.show_page("Plan")
    listed = page.gallery.list
    qtbot.waitUntil(lambda: bool(listed.presets))
    heads = {each.group for each in listed.presets if each.id in {p.id for p in ASKED.values()}}
    assert heads == {f"{s.year}: {s.title}" for s in sources()}
    for preset in ASKED.values():
        listed.itemClicked.emit(listed.item(listed.row_of(preset.id), 0))
        judged(qtbot, page)
        assert page.gallery.list.marked == preset.id
        says_what_it_asks_and_what_was_found_then(page)
        says_what_it_costs(page)
        for area in filter(QWidget.isVisible, page.findChildren(Scrolled)):
            assert area.widget().minimumSizeHint().width() <= area.viewport().width()
        assert page.draft is not None
        if page.draft.sound:  # it needs no more ports and descriptors than this machine has
            press(window, "Run")
            assert ran.pop() == preset.plan == plan_of(page)
        else:
            assert page.draft.faults


def says_what_it_asks_and_what_was_found_then(page: PlanPage) -> None:
    found = source_of(plan_of(page).source)
    assert found
    source, question = found
    assert says(page, question.shows)
    assert says(page, source.citation)
    unfolded = "Show what the source measured and found"
    press(page, unfolded)
    stated = [figure.name for figure in question.figures] or ["It states no figures."]
    for text in (question.method, question.found, question.differs, *stated):
        assert says(page, text), text
    plan = plan_of(page)
    seconds, full = plan.seconds, library.shipped(question.id).plan
    assert full
    if seconds and full.seconds and seconds != full.seconds:
        assert says(page, f"point length {seconds:g} s, not {full.seconds:g} s")
    press(page, unfolded)
    assert not says(page, question.method)


def says_what_it_costs(page: PlanPage) -> None:
    shown = page.outlook
    assert any(re.match(r"Duration: .*\d (s|min|h)", text) for text in words_on(shown))
    peak = re.compile(r"It (uses at most [\d,]+ of|would use up to) [\d,]+ local ports")
    assert any(map(peak.match, words_on(shown)))
