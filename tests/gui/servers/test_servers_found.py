"""Servers are searched in the table, sorted, and ticked for a comparison."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.fields import Choice
from app.pages.servers import ServersPage
from app.servers.known import FIRST
from app.servers.rows import COLUMNS
from tests.gui.servers.steps import Open, choose, column, names, pick, seek, sift
from tests.gui.windows import control, says, sees, the
from tests.recording import record_session
from tests.synthetic import session
from workbench.plan.checks import problems
from workbench.plan.model import Plan
from workbench.servers.catalogue import Catalogue
from workbench.servers.facts import NOT_FOUND
from workbench.servers.features import NOT_STATED
from workbench.sessions.library import shelf

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

GONE = """\
name: Lost and gone
family: socket
unavailable: {reason: Its source is nowhere to be had., tried: "2026-11-01", instead: gevent}
"""


def test_every_server_that_can_be_compared_is_listed(qtbot: QtBot, page: ServersPage) -> None:
    assert {known.id for known in page.table.model().servers() if known.entry} == {
        entry.id for entry in Catalogue.load().contestants()
    }
    sees(qtbot, page, f"{len(page.table.model().servers()):,} servers")


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
    control(page, "Clear the search").click()
    qtbot.waitUntil(lambda: len(names(page)) > 5)


def test_the_count_says_that_servers_are_to_be_selected_before_they_are_compared(
    qtbot: QtBot, page: ServersPage
) -> None:
    assert not control(page, "Compare in a plan").isEnabled()
    sees(qtbot, page, f"{len(page.table.model().servers())} servers · select to compare")
    choose(page, "gevent")
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    sees(qtbot, page, f"{len(page.table.model().servers())} servers · 1 selected")


def test_a_family_and_what_runs_here_narrow_the_table(page: ServersPage) -> None:
    sift(page, "wsgi")
    assert {known.family for known in page.table.model().servers()} == {"wsgi"}
    sift(page, shown=FIRST)
    assert {known.state.kind for known in page.table.model().servers()} == {FIRST}
    assert "gevent" in names(page)
    sift(page, shown="In the table of 2009")
    found = page.table.model().servers()
    assert len(found) == 15
    assert all(known.entry is not None and known.entry.in_2009 for known in found)


@pytest.mark.parametrize("rising", [True, False])
def test_every_column_sorts_with_unknown_values_last(page: ServersPage, rising: bool) -> None:
    order = Qt.SortOrder.AscendingOrder if rising else Qt.SortOrder.DescendingOrder
    for place, each in enumerate(COLUMNS):
        page.table.sortByColumn(place, order)
        texts = [each.text(known) for known in page.table.model().servers()]
        unknown = [(text == "") + (text in {"", NOT_FOUND, NOT_STATED}) for text in texts]
        assert unknown == sorted(unknown), each.name
    page.table.sortByColumn(column("Released (Today)"), order)
    texts = [
        COLUMNS[column("Released (Today)")].text(known) for known in page.table.model().servers()
    ]
    dates = [text for text in texts if text not in {"", NOT_FOUND}]
    assert dates == sorted(dates, reverse=not rising)


def test_the_main_columns_have_what_each_server_sustained_last(
    page: ServersPage, qtbot: QtBot, desk: Desk, tmp_path: Path
) -> None:
    shown = [c.title for n, c in enumerate(COLUMNS) if not page.table.isColumnHidden(n)]
    assert shown == ["Server", "State", "Protocol", "Language", "Last sustained rate"]
    record_session(tmp_path / "one.pong.yaml", session(3, rates=[1000.0 * n for n in range(1, 10)]))
    desk.set_shelf(shelf(tmp_path))
    place = column("Last sustained rate")
    qtbot.waitUntil(lambda: COLUMNS[place].text(choose(page, "gevent")) == "8,000/s")
    page.table.sortByColumn(place, Qt.SortOrder.DescendingOrder)
    assert page.table.model().servers()[0].id == "gevent"


def test_the_table_of_2009_is_shown_and_hidden(page: ServersPage) -> None:
    choose(page, "tornado")
    place = column("Twitter (2009, as published)")
    assert COLUMNS[place].text(page.pane.known) == "Yes"  # type: ignore[arg-type]
    assert page.table.isColumnHidden(place)
    columns = the(page, Choice, "Columns")
    pick(columns, "All columns")
    assert not page.table.isColumnHidden(place)
    pick(columns, "Today")
    assert page.table.isColumnHidden(place)
    assert not page.table.isColumnHidden(column("Released (Today)"))
    pick(columns, "2009, as published")
    assert not page.table.isColumnHidden(place)
    assert page.table.isColumnHidden(column("Style"))


def test_the_keyboard_selects_and_ticks_servers_and_plans_the_ticked_ones(
    qtbot: QtBot, page: ServersPage, desk: Desk
) -> None:
    choose(page, "gevent")
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    choose(page, "tornado")
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
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
        qtbot.keyClick(page.table, Qt.Key.Key_Space)
    with qtbot.waitSignal(desk.plan_requested) as led:
        page.run_this()
    plan = led.args[0]
    assert plan.workload.protocol == protocol
    assert not list(problems(plan))


def test_a_click_on_the_box_ticks_and_one_next_to_it_only_selects(
    qtbot: QtBot, page: ServersPage
) -> None:
    view = page.table
    room = view.visualRect(view.model().index(1, 0))
    left = Qt.MouseButton.LeftButton
    qtbot.mouseClick(view.viewport(), left, pos=room.center())
    assert page.table.current() is page.table.model().servers()[1]
    assert not says(page, "selected")
    at = room.topLeft()
    at.setX(20)
    at.setY(room.center().y())
    qtbot.mouseClick(view.viewport(), left, pos=at)
    sees(qtbot, page, "1 selected")
    qtbot.mouseClick(view.viewport(), left, pos=at)
    assert not says(page, "selected")


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
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    assert not says(page, "selected")


def test_selection_ticks_and_columns_are_kept_between_starts(qtbot: QtBot, opened: Open) -> None:
    page = opened()
    pick(the(page, Choice, "Columns"), "Measured")
    choose(page, "twisted")
    choose(page, "gevent")
    qtbot.keyClick(page.table, Qt.Key.Key_Space)
    again = opened()
    assert again.finding.group == "Measured"
    assert again.pane.known is not None
    assert again.pane.known.id == "gevent"
    sees(qtbot, again, "1 selected")


def test_invalid_settings_are_ignored(opened: Open, desk: Desk) -> None:
    desk.settings.more["Servers"] = {"group": 7, "ticked": [1], "chosen": None}
    assert len(names(opened())) > 5


def test_every_control_has_an_accessible_name(page: ServersPage) -> None:
    choose(page, "gevent")
    for each in page.findChildren(QAbstractButton):
        if each.isVisible():
            assert each.accessibleName() or each.text(), each
    index = page.table.currentIndex()
    assert re.match(r"gevent, .+, ping-pong", index.data(Qt.ItemDataRole.AccessibleTextRole))


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


def test_selected_servers_are_compared_then_and_now_and_exported(
    page: ServersPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.table.rows.set_ticked(["gevent", "tornado"])
    sift(page, shown="Selected")
    assert sorted(known.id for known in page.table.model().servers()) == ["gevent", "tornado"]
    pick(the(page, Choice, "Columns"), "2009 and today")
    then, now = column("Thread pool (2009, as published)"), column("Thread pool (Today)")
    assert now == then + 1
    assert not page.table.isColumnHidden(then) and not page.table.isColumnHidden(now)
    assert page.table.isColumnHidden(column("Style"))
    assert page.table.isColumnHidden(column("HTTP/1.1 (Today)"))
    pick(the(page, Choice, "Columns"), "2010 and today")
    then, now = column("HTTP/1.1 (2010, as published)"), column("HTTP/1.1 (Today)")
    assert now == then + 1
    assert not page.table.isColumnHidden(then) and not page.table.isColumnHidden(now)
    pick(the(page, Choice, "Columns"), "2009 and today")
    now = column("Thread pool (Today)")
    choose(page, "gevent")
    assert "gevent.threadpool" in page.table.model().index(0, now).data(Qt.ToolTipRole)

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
    links = [each for each in page.findChildren(QPushButton) if each.property("kind") == "link"]
    assert len(links) > 15
    address = "https://github.com/ionelmc/python-cogen"
    assert {"Source of Licence", "Source of Released"} <= {link.accessibleName() for link in links}
    link = next(link for link in links if link.accessibleDescription() == address)
    link.click()
    assert opened == [address]
    link.click()
    sees(qtbot, page, f"No program of this desktop opens {address}.")
