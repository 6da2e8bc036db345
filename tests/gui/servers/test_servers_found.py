"""Servers are searched in the table, sorted, and ticked for a comparison."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QRectF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPaintEvent, QRegion
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QLabel,
    QMenu,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.choices import Choice, Tick
from app.context import Desk
from app.links import Link
from app.pages.servers import ServersPage
from app.servers.columns import COLUMNS
from app.servers.known import FIRST, NOT, RUNS
from app.servers.painting import visible_part
from app.servers.table import ROW_PX
from tests.gui.servers.steps import Open, choose, column, names, pick, seek, set_size
from tests.gui.windows import control, offers, painted, says, sees, the
from workbench.plan.checks import problems
from workbench.plan.model import Plan
from workbench.servers.catalogue import Catalogue
from workbench.servers.facts import NOT_FOUND
from workbench.servers.features import NOT_STATED

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

GONE = """\
name: Lost and gone
family: socket
unavailable: {reason: Its source is nowhere to be had., tried: "2026-11-01", instead: gevent}
"""


def test_every_server_that_can_be_compared_is_listed(qtbot: QtBot, page: ServersPage) -> None:
    assert {known.id for known in page.servers() if known.entry} == {
        entry.id for entry in Catalogue.load().contestants()
    }
    sees(qtbot, page, f"{len(page.servers()):,} servers")


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


def test_a_search_covers_names_facts_and_code(qtbot: QtBot, page: ServersPage) -> None:
    seek(qtbot, page, "greenlet stream", lambda: 0 < len(names(page)) < 10)
    assert "gevent" in names(page)
    seek(qtbot, page, "create_server((", lambda: "gevent" not in names(page))


def test_a_search_without_a_match_says_so_and_can_be_cleared(
    qtbot: QtBot, page: ServersPage
) -> None:
    seek(qtbot, page, "no such word", lambda: not names(page))
    sees(qtbot, page, "No server matches “no such word”.")
    assert not says(page, "Select a server")
    control(page, "Clear search and filters").click()
    qtbot.waitUntil(lambda: len(names(page)) > 5)


def test_the_count_says_that_servers_are_to_be_selected_before_they_are_compared(
    qtbot: QtBot, page: ServersPage
) -> None:
    assert not control(page, "Compare in a plan").isEnabled()
    sees(qtbot, page, f"{len(page.servers())} servers · select to compare")
    choose(page, "gevent")
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    sees(qtbot, page, f"{len(page.servers())} servers · 1 selected")


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


def test_source_to_fetch_and_source_to_build_are_two_states(
    qtbot: QtBot, page: ServersPage
) -> None:
    fetched, built = choose(page, "chiral"), choose(page, "concurrence")
    assert (fetched.state.word, built.state.word) == ("Needs source code", "Needs manual build")
    assert fetched.state.icon != built.state.icon
    sees(qtbot, page, "Needs manual build: Build commit")


def test_a_family_and_what_runs_here_narrow_the_table(page: ServersPage) -> None:
    page.filters.family = "wsgi"
    assert {known.family for known in page.servers()} == {"wsgi"}
    page.filters.family = ""
    ticks = {tick.text(): tick for tick in page.filters.findChildren(Tick)}
    ticks[RUNS].setChecked(False)
    ticks[NOT].setChecked(False)
    assert {known.state.kind for known in page.servers()} == {FIRST}
    assert "gevent" in names(page)


@pytest.mark.parametrize("rising", [True, False])
def test_every_column_sorts_with_unknown_values_last(page: ServersPage, rising: bool) -> None:
    for place, each in enumerate(COLUMNS):
        page.table.sort_by(place, rising=rising)
        texts = [each.text(known) for known in page.servers()]
        unknown = [(text == "") + (text in {"", NOT_FOUND, NOT_STATED}) for text in texts]
        assert unknown == sorted(unknown), each.name
    page.table.sort_by(column("Released (Today)"), rising=rising)
    texts = [COLUMNS[column("Released (Today)")].text(known) for known in page.servers()]
    dates = [text for text in texts if text not in {"", NOT_FOUND}]
    assert dates == sorted(dates, reverse=not rising)


def test_the_table_of_2009_is_shown_and_hidden(page: ServersPage) -> None:
    choose(page, "tornado")
    place = column("Twitter (2009, as published)")
    assert COLUMNS[place].text(page.pane.known) == "Yes"  # type: ignore[arg-type]
    assert not page.table.facts.isColumnHidden(place)
    columns = the(page, Choice, "Columns")
    pick(columns, "Today")
    assert page.table.facts.isColumnHidden(place)
    assert not page.table.facts.isColumnHidden(column("Released (Today)"))
    pick(columns, "2009, as published")
    assert not page.table.facts.isColumnHidden(place)
    assert page.table.facts.isColumnHidden(column("Style"))


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


def test_the_keyboard_selects_and_ticks_servers_and_plans_the_ticked_ones(
    qtbot: QtBot, page: ServersPage, desk: Desk
) -> None:
    choose(page, "gevent")
    page.table.names.setFocus()
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    choose(page, "tornado")
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    sees(qtbot, page, "2 selected")
    with qtbot.waitSignal(desk.plan_requested) as led:
        control(page, "Compare 2 in a plan").click()
    (plan,) = led.args
    assert isinstance(plan, Plan)
    assert (plan.servers, plan.workload.protocol) == (["gevent", "tornado"], "pong")


@pytest.mark.parametrize(
    ("ids", "protocol"),
    [(("wsgiref", "waitress"), "http/1.0"), (("zeromq-pair", "zeromq-queue"), "zeromq")],
)
def test_servers_lead_to_a_plan_over_their_protocol(
    ids: tuple[str, str], protocol: str, qtbot: QtBot, page: ServersPage, desk: Desk
) -> None:
    for id_ in ids:
        choose(page, id_)
        qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    with qtbot.waitSignal(desk.plan_requested) as led:
        page.compare_these()
    plan = led.args[0]
    assert plan.workload.protocol == protocol
    assert not list(problems(plan))


def test_a_click_on_the_box_ticks_and_one_next_to_it_only_selects(
    qtbot: QtBot, page: ServersPage
) -> None:
    view = page.table.names
    room = view.visualRect(view.model().index(1, 0))
    left = Qt.MouseButton.LeftButton
    qtbot.mouseClick(view.viewport(), left, pos=room.center())
    assert page.table.current() is page.servers()[1]
    assert not says(page, "selected")
    at = room.topLeft()
    at.setX(20)
    at.setY(room.center().y())
    qtbot.mouseClick(view.viewport(), left, pos=at)
    sees(qtbot, page, "1 selected")
    qtbot.mouseClick(view.viewport(), left, pos=at)
    assert not says(page, "selected")


# The offscreen platform says so of every menu.
@pytest.mark.qt_log_ignore("propagateSizeHints", "raise", "grabbing the keyboard")
def test_the_context_menu_offers_the_actions_for_the_server_under_it(
    qtbot: QtBot, page: ServersPage
) -> None:
    choose(page, "gevent")
    view = page.table.names
    view.customContextMenuRequested.emit(view.visualRect(view.currentIndex()).center())
    (menu,) = [each for each in page.findChildren(QMenu) if each.isVisible()]
    offered = {action.text(): action for action in menu.actions()}
    assert offered["Test"].isEnabled()
    assert offered["Duplicate…"].isEnabled()
    assert not offered["Delete"].isEnabled()
    offered["Select to compare"].trigger()
    sees(qtbot, page, "1 selected")
    offered["Pin code on the right"].trigger()
    assert says(page, "gevent is pinned.")
    with qtbot.waitSignal(menu.destroyed):
        menu.close()


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


def test_a_broken_folder_is_reported_and_hides_no_other(
    qtbot: QtBot, opened: Open, own_servers: Path
) -> None:
    (own_servers / "oops").mkdir(parents=True)
    (own_servers / "oops" / "server.yaml").write_text("name: Oops\nfamily: sockets\n")
    page = opened()
    choose(page, "oops")
    sees(qtbot, page, "expected hello, macro, message, socket")
    assert len(names(page)) > 5
    assert not page.trial.go.isEnabled()


def test_an_unavailable_server_says_why_and_names_an_alternative(
    qtbot: QtBot, opened: Open, own_servers: Path
) -> None:
    (own_servers / "gone").mkdir(parents=True)
    (own_servers / "gone" / "server.yaml").write_text(GONE)
    page = opened()
    choose(page, "gone")
    sees(qtbot, page, "Its source is nowhere to be had.")
    sees(qtbot, page, "Closest maintained alternative: gevent.")
    page.table.names.setFocus()
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    assert not says(page, "selected")


def test_selection_filter_ticks_and_order_are_kept_between_starts(
    qtbot: QtBot, opened: Open
) -> None:
    page = opened()
    page.filters.family = "socket"
    page.table.sort_by(column("Licence (Today)"), rising=False)
    choose(page, "twisted")
    page.detail.pin()
    choose(page, "gevent")
    qtbot.keyClick(page.table.names, Qt.Key.Key_Space)
    again = opened()
    assert names(again) == names(page)
    assert again.filters.family == "socket"
    assert again.pane.known is not None
    assert again.pane.known.id == "gevent"
    assert again.other.known is not None
    assert again.other.known.id == "twisted"
    sees(qtbot, again, "1 selected")


def test_invalid_settings_are_ignored(opened: Open, desk: Desk) -> None:
    desk.settings.more["Servers"] = {
        "family": 7,
        "kinds": "x",
        "groups": None,
        "column": "?",
        "selected": [1],
        "edits": [],
        "chosen": None,
    }
    assert len(names(opened())) > 5


def test_every_control_has_an_accessible_name(page: ServersPage) -> None:
    choose(page, "gevent")
    for each in page.findChildren(QAbstractButton):
        if each.isVisible():
            assert each.accessibleName() or each.text(), each
    index = page.table.names.currentIndex()
    assert re.match(r"gevent, .+, greenlets", index.data(Qt.ItemDataRole.AccessibleTextRole))


def test_observed_and_declared_processes_have_different_labels(
    qtbot: QtBot, page: ServersPage
) -> None:
    known = choose(page, "aiohttp")
    assert known.entry is not None
    assert known.entry.seen is not None
    asked, seen = known.entry.processes, known.entry.seen.processes
    assert asked != seen
    assert COLUMNS[column("Processes seen")].text(known) == f"{seen}"

    def words() -> list[str]:
        return [each.text() for each in page.findChildren(QLabel) if each.isVisible()]

    qtbot.waitUntil(lambda: "Workers requested" in words())
    data = dict(pairwise(words()))
    assert data["Workers requested"] == f"{asked}"
    assert data["Processes seen"].startswith(f"{seen}, with ")
    assert "Processes" not in words()


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


def test_selected_servers_are_compared_then_and_now_and_exported(
    page: ServersPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.table.rows.set_ticked(["gevent", "tornado"])
    ticks = {tick.text(): tick for tick in page.filters.findChildren(Tick)}
    ticks["Selected"].click()
    assert sorted(known.id for known in page.servers()) == ["gevent", "tornado"]
    pick(the(page, Choice, "Columns"), "2009 and today")
    then, now = column("Thread pool (2009, as published)"), column("Thread pool (Today)")
    assert now == then + 1
    assert not page.table.facts.isColumnHidden(then) and not page.table.facts.isColumnHidden(now)
    assert page.table.facts.isColumnHidden(column("Style"))
    assert page.table.facts.isColumnHidden(column("HTTP/1.1 (Today)"))
    pick(the(page, Choice, "Columns"), "2010 and today")
    then, now = column("HTTP/1.1 (2010, as published)"), column("HTTP/1.1 (Today)")
    assert now == then + 1
    assert not page.table.facts.isColumnHidden(then) and not page.table.facts.isColumnHidden(now)
    pick(the(page, Choice, "Columns"), "2009 and today")
    now = column("Thread pool (Today)")
    choose(page, "gevent")
    assert "gevent.threadpool" in page.table.facts.model().index(0, now).data(Qt.ToolTipRole)

    path = tmp_path / "features.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    control(page, "Export features").click()

    def exported() -> set[str]:
        lines = path.read_text().splitlines() if path.exists() else []
        return {line.partition(",")[0] for line in lines[1:]}

    qtbot.waitUntil(lambda: exported() == {"gevent", "tornado"})
    page.table.rows.set_ticked(["tornado"])
    assert names(page) == ["Tornado"]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path), ""))
    page.export()
    sees(qtbot, page, "cannot be written")


def test_a_click_opens_the_address_of_a_fact(
    page: ServersPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url.toString())
        return len(opened) == 1

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    choose(page, "cogen")
    links = page.findChildren(Link)
    assert len(links) > 15
    address = "https://github.com/ionelmc/python-cogen"
    assert {"Source of Licence", "Source of Released"} <= {link.accessibleName() for link in links}
    link = next(link for link in links if link.accessibleDescription() == address)
    link.click()
    assert opened == [address]
    link.click()
    sees(qtbot, page, f"No browser was found. The address is {address}.")
