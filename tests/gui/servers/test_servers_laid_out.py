"""The Servers page at every size: nothing is cut, covered or shown twice."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication, QTableView, QWidget
from pytestqt.qtbot import QtBot

from app.fields import Choice
from app.pages.servers import ServersPage
from app.servers.rows import COLUMNS
from tests.gui.servers.steps import choose, pick, set_size, sift
from tests.gui.windows import painted, says, the

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_no_column_is_cut_before_the_table_is_scrolled(qtbot: QtBot, page: ServersPage) -> None:
    facts = the(page, QTableView, "Servers")

    def whole(width: int) -> None:
        head, edge = facts.horizontalHeader(), facts.viewport().width()
        assert page.width() == width
        for place in (n for n in range(head.count()) if not head.isSectionHidden(n)):
            begin = head.sectionViewportPosition(place)
            assert begin >= edge or begin + head.sectionSize(place) <= edge

    for width in (1280, 1920, 3840):
        page.resize(width, 1080)
        qtbot.waitUntil(partial(whole, width))


def test_no_control_of_the_table_covers_another_or_is_cut(qtbot: QtBot, page: ServersPage) -> None:
    card = page.finding
    sift(page, "wsgi")

    def apart() -> None:
        shown: list[QWidget] = [card.field, card.family, card.shown, card.columns, card.export]
        shown.append(card.count)
        assert all(card.rect().adjusted(8, 8, -8, 0).contains(e.geometry()) for e in shown)
        room = [each.geometry().adjusted(-3, -3, 3, 3) for each in shown]
        assert not any(a.intersects(b) for a, b in combinations(room, 2))
        assert card.count.width() >= card.count.sizeHint().width()
        assert card.field.width() >= 160

    for width, height in ((801, 480), (801, 700), (1119, 700), (1120, 700), (1196, 700)):
        set_size(qtbot, page, width, height)
        qtbot.waitUntil(apart)
        assert page.width() == width


def test_names_of_servers_are_seen_whole(qtbot: QtBot, page: ServersPage) -> None:
    longest = max(page.table.model().servers(), key=lambda known: len(known.name))
    for width in (1196, 1836, 3756):
        page.resize(width, 800)
        assert page.table.choose(longest.key)
        qtbot.waitUntil(lambda: longest.name in painted(page.table))


def test_every_fact_can_be_scrolled_to_and_none_is_cut(qtbot: QtBot, page: ServersPage) -> None:
    page.resize(876, 700)
    bar, facts = page.table.horizontalScrollBar(), page.table
    pick(the(page, Choice, "Columns"), "All columns")
    scrollable(qtbot, page)
    seen = set()
    for place in (*range(bar.minimum(), bar.maximum(), 20), bar.maximum()):
        bar.setValue(place)
        whole = facts.viewport().width()
        for number in range(1, len(COLUMNS)):
            left, width = facts.columnViewportPosition(number), facts.columnWidth(number)
            if left >= facts.columnWidth(0) and left + width <= whole:
                seen.add(number)
    assert seen == set(range(1, len(COLUMNS)))


def test_the_table_is_painted_whole_after_its_columns_were_scrolled(
    qtbot: QtBot, page: ServersPage
) -> None:
    """What Qt only moves would have titles that are cut elsewhere."""
    facts = page.table
    pick(the(page, Choice, "Columns"), "All columns")
    scrollable(qtbot, page)
    for part in (facts, facts.horizontalHeader()):
        painted = _Painted(part.viewport())
        QApplication.processEvents()
        painted.region = QRegion()
        facts.horizontalScrollBar().setValue(facts.horizontalScrollBar().value() + 3)
        whole = QRegion(part.viewport().rect())
        qtbot.waitUntil(
            lambda painted=painted, whole=whole: whole.subtracted(painted.region).isEmpty()
        )


def scrollable(qtbot: QtBot, page: ServersPage) -> None:
    """Wait until the bar reaches the end of the last column."""
    table, bar = page.table, page.table.horizontalScrollBar()
    columns = table.horizontalHeader()
    qtbot.waitUntil(lambda: bar.maximum() == columns.length() - table.viewport().width())


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


def test_the_selected_server_stays_in_view_in_another_order(
    qtbot: QtBot, page: ServersPage
) -> None:
    def seen() -> bool:
        view = page.table
        return view.viewport().rect().contains(view.visualRect(view.currentIndex()))

    last = page.table.model().servers()[-1]
    choose(page, last.id)
    qtbot.waitUntil(seen)
    page.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(seen)
    sift(page, "socket")
    page.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    choose(page, "twisted")
    qtbot.waitUntil(seen)


def test_the_names_stay_in_place_while_keys_reach_every_fact(
    qtbot: QtBot, page: ServersPage
) -> None:
    page.resize(1196, 800)
    table = page.table
    pick(the(page, Choice, "Columns"), "All columns")
    qtbot.waitUntil(lambda: table.viewport().height() >= 8 * table.rowHeight(0))
    scrollable(qtbot, page)
    choose(page, "gevent")
    table.setFocus()
    edge = table.columnWidth(0)
    for _ in range(len(COLUMNS) - 1):
        qtbot.keyClick(table, Qt.Key.Key_Right)
        cell = table.visualRect(table.currentIndex())
        assert edge <= cell.left() and cell.right() <= table.viewport().width()
        assert table.current().id == "gevent"
    assert table.currentIndex().column() == len(COLUMNS) - 1
    assert table.horizontalScrollBar().value() > edge
    name = table.visualRect(table.model().index(table.currentIndex().row(), 0))
    assert name.left() == 0 and table.indexAt(name.center()).column() == 0
    assert "gevent" in painted(table)
    # What lies beneath the names is not ticked, sorted or said in their place.
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, name.center().y()))
    assert says(page, "1 selected")
    columns = table.horizontalHeader()
    head = columns.viewport()
    qtbot.mouseClick(head, Qt.MouseButton.LeftButton, pos=QPoint(60, head.height() - 10))
    assert columns.sortIndicatorSection() == 0
    assert columns.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
