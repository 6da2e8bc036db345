"""The Servers page at every size: nothing is cut, covered or shown twice."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication, QTableView, QWidget
from pytestqt.qtbot import QtBot

from app.choices import Tick
from app.pages.servers import ServersPage
from app.servers.columns import COLUMNS
from app.servers.painting import visible_part
from app.servers.table import ROW_PX
from tests.gui.servers.steps import choose, column, set_size
from tests.gui.windows import control, offers, painted, says, the

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.mark.parametrize("width", [1280, 1920, 3840])
def test_no_column_is_cut_before_the_table_is_scrolled(
    qtbot: QtBot, page: ServersPage, width: int
) -> None:
    page.resize(width, 1080)
    facts = the(page, QTableView, "Server facts")

    def whole() -> None:
        head, edge = facts.horizontalHeader(), facts.viewport().width()
        assert page.width() == width
        for place in (n for n in range(head.count()) if not head.isSectionHidden(n)):
            begin = head.sectionViewportPosition(place)
            assert begin >= edge or begin + head.sectionSize(place) <= edge

    qtbot.waitUntil(whole)


@pytest.mark.parametrize("size", [(801, 480), (801, 700), (1119, 700), (1120, 700), (1196, 700)])
@pytest.mark.parametrize("filtered", [False, True])
def test_no_control_of_the_table_covers_another_or_is_cut(
    qtbot: QtBot, page: ServersPage, size: tuple[int, int], filtered: bool
) -> None:
    set_size(qtbot, page, *size)
    page.filters.family = "wsgi"
    page.table.sort_by(column("Licence (Today)"), rising=False)
    if filtered and offers(page, "Filters (1)"):
        control(page, "Filters (1)").click()
        set_size(qtbot, page, size[0], 700)  # the filters have no room in a lower one
    card = page.finding

    def apart() -> None:
        shown: list[QWidget] = [card.field, card.columns, card.order, card.direction, card.export]
        shown += [each for each in (card.filters, card.count) if each.isVisible()]
        assert all(card.rect().adjusted(8, 8, -8, 0).contains(e.geometry()) for e in shown)
        room = [each.geometry().adjusted(-3, -3, 3, 3) for each in shown]
        assert not any(a.intersects(b) for a, b in combinations(room, 2))
        assert card.count.isHidden() or card.count.width() >= card.count.sizeHint().width()
        assert card.count.isVisible() or size[1] < 600
        assert card.field.width() >= 160

    qtbot.waitUntil(apart)
    assert page.width() == size[0]


@pytest.mark.parametrize("width", [1196, 1836, 3756])
def test_names_of_servers_are_seen_whole(qtbot: QtBot, page: ServersPage, width: int) -> None:
    page.resize(width, 800)
    longest = max(page.servers(), key=lambda known: len(known.name))
    assert page.table.choose(longest.key)
    qtbot.waitUntil(lambda: longest.name in painted(page.table.names))


@pytest.mark.parametrize("width", [876, 1200, 1800])
def test_families_and_the_table_of_2009_filter_at_every_width(
    page: ServersPage, width: int
) -> None:
    page.resize(width, 800)
    if not page.filters.isVisible():
        control(page, "Filters").click()
    assert page.filters.isVisible()
    ticks = {tick.text(): tick for tick in page.filters.findChildren(Tick)}
    ticks["In the table of 2009"].click()
    found = page.servers()
    assert len(found) == 15
    assert all(known.entry is not None and known.entry.in_2009 for known in found)
    ticks["In the table of 2010"].click()
    assert {"tornado", "wsgiref"} <= {known.id for known in page.servers()}
    ticks["In the table of 2010"].click()
    page.filters.family = "wsgi"
    assert {known.family for known in page.servers()} <= {"wsgi"}
    if width < 1000:
        assert control(page, "Filters (2)").isVisible()


def test_every_fact_can_be_scrolled_to_and_none_is_cut(page: ServersPage) -> None:
    page.resize(876, 700)
    bar, facts = page.table.facts.horizontalScrollBar(), page.table.facts
    seen = set()
    for place in range(bar.minimum(), bar.maximum() + 1):
        bar.setValue(place)
        whole = facts.viewport().width()
        for number in range(1, len(COLUMNS)):
            left, width = facts.columnViewportPosition(number), facts.columnWidth(number)
            if left >= 0 and left + width <= whole:
                seen.add(number)
    assert seen == set(range(1, len(COLUMNS)))


def test_the_table_is_painted_whole_after_its_columns_were_scrolled(
    qtbot: QtBot, page: ServersPage
) -> None:
    """What Qt only moves would have titles that are cut elsewhere."""
    facts = page.table.facts
    for part in (facts, facts.horizontalHeader()):
        painted = _Painted(part.viewport())
        QApplication.processEvents()
        painted.region = QRegion()
        facts.horizontalScrollBar().setValue(facts.horizontalScrollBar().value() + 3)
        whole = QRegion(part.viewport().rect())
        qtbot.waitUntil(
            lambda painted=painted, whole=whole: whole.subtracted(painted.region).isEmpty()
        )


class _Painted(QObject):
    """What was painted of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.region = QRegion()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.region = event.region()
        return False


def test_names_and_facts_stay_on_one_line(qtbot: QtBot, page: ServersPage) -> None:
    def aligned() -> bool:
        current = page.table.facts.currentIndex().row()
        names, facts = (
            v.rowViewportPosition(current) for v in (page.table.names, page.table.facts)
        )
        room = page.table.facts.viewport().height()
        return names == facts and 0 <= facts < room

    last = page.servers()[-1]
    choose(page, last.id)
    qtbot.waitUntil(aligned)
    page.filters.family = "socket"
    page.table.sort_by(1, rising=False)
    choose(page, "twisted")
    qtbot.waitUntil(aligned)
    page.filters.family = ""
    page.table.sort_by(0, rising=True)
    choose(page, last.id)
    qtbot.waitUntil(aligned)
    page.table.facts.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: page.table.names.verticalScrollBar().value() == 0)


def test_in_a_small_window_the_table_shows_whole_columns_from_the_left_and_enough_rows(
    qtbot: QtBot, page: ServersPage
) -> None:
    page.resize(1196, 800)
    facts = page.table.facts
    qtbot.waitUntil(lambda: facts.viewport().height() >= 8 * ROW_PX)
    page.table.names.setFocus()
    for _ in range(len(COLUMNS)):
        qtbot.keyClick(page.table.names, Qt.Key.Key_Right)
        lefts = [facts.columnViewportPosition(n) for n in range(1, len(COLUMNS))]
        at_end = lefts[-1] + COLUMNS[-1].width <= facts.viewport().width()
        assert 0 in lefts or at_end, "no column begins where the names end"
    assert at_end


def test_text_beyond_the_edge_is_elided_and_figures_are_left_out() -> None:
    left, right = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight
    both = Qt.AlignmentFlag.AlignVCenter
    room = QRectF(100, 0, 80, 20)
    assert visible_part(room, 200, left | both) == room
    assert visible_part(room, 160, left | both).right() < 160
    assert visible_part(room.translated(-130, 0), 200, left | both).left() > 0
    assert not visible_part(room, 110, left | both).isValid()
    assert not visible_part(room, 160, right | both).isValid()


def test_the_same_code_is_not_shown_twice_side_by_side(qtbot: QtBot, page: ServersPage) -> None:
    choose(page, "twisted")
    page.detail.pin()
    assert page.other.isHidden()
    assert says(page, "Twisted is pinned. Choose another server to see both.")
    choose(page, "gevent")
    assert page.other.isVisible()
    assert not says(page, "is pinned")
    choose(page, "twisted")
    assert page.other.isHidden()
