"""Choosing the servers of a plan."""

from __future__ import annotations

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, edit, judged, leave_out
from tests.gui.windows import press, says
from workbench.plan.model import Plan
from workbench.servers.catalogue import Catalogue
from workbench.servers.sources import complete
from workbench.workloads import registry
from workbench.workloads.registry import workload as a_workload

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_servers_are_found_ticked_moved_and_left_out_by_keys(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    servers = page.form.servers
    press(page, "Add or remove")
    search = servers.picker.search
    qtbot.waitUntil(search.hasFocus)
    qtbot.keyClicks(search, "torn sock")
    qtbot.keyClick(search, Qt.Key.Key_Return)
    assert servers.value() == ["asyncio-streams", "gevent", "tornado"]
    search.clear()
    listed = servers.picker.list
    listed.setCurrentRow(0)
    qtbot.keyClick(search, Qt.Key.Key_Down)
    assert listed.hasFocus()
    for _ in range(3):
        qtbot.keyClick(listed, Qt.Key.Key_Down)
    at = listed.currentItem().text()
    assert listed.currentRow() == 3
    with qtbot.waitSignal(window.desk.resources_read):
        page.load()
    assert listed.currentItem().text() == at
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert not servers.picker.isVisible()
    servers.chosen.setCurrentRow(2)
    qtbot.keyClick(servers.chosen, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert servers.value() == ["asyncio-streams", "tornado", "gevent"]
    leave_out(qtbot, page, 0)
    assert servers.value() == ["tornado", "gevent"]


def test_a_family_that_came_with_a_workload_is_listed_by_its_name(
    qtbot: QtBot, page: PlanPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.ALL_FAMILIES, "echo", "Echo servers")
    gevent = Catalogue.load(extra_dirs=[])["gevent"]
    echo = structs.replace(gevent, id="mine", name="Mine", family="echo", protocols=["echo"])
    page.form.servers.set_entries([gevent, echo])
    press(page, "Add or remove")
    search = page.form.servers.picker.search
    qtbot.keyClicks(search, "echo servers")
    qtbot.keyClick(search, Qt.Key.Key_Return)
    assert page.form.servers.value()[-1] == "mine"


def test_servers_without_the_protocol_are_left_out_with_one_click(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(
        qtbot,
        page,
        Plan(
            servers=["twisted", "cheroot"],
            rates=[500],
            seconds=1,
            workload=a_workload(protocol="http/1.1"),
        ),
    )
    assert says(page, "Twisted supports pong, not http/1.1.")
    press(page, "Remove Twisted")
    judged(qtbot, page)
    assert page.form.servers.value() == ["cheroot"]
    assert page.draft is not None
    assert page.draft.sound


def test_listings_as_published_and_as_improved_are_one_click_apart(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, Plan(servers=["gevent", "circuits", "twisted"], rates=[500.0], seconds=1.0))
    servers = page.form.servers
    press(page, "Use published versions")
    assert servers.value() == ["gevent-published", "circuits-select", "twisted-published"]
    press(page, "Use improved versions")
    assert servers.value() == ["gevent", "circuits", "twisted"]


def test_servers_in_one_two_and_four_processes_are_one_click_away(
    qtbot: QtBot, page: PlanPage
) -> None:
    edit(qtbot, page, Plan(servers=["tornado", "erlang-gen-tcp"], rates=[500.0], seconds=1.0))
    servers = page.form.servers
    press(page, "Add or remove")
    texts = {b.text().strip(): b for b in servers.findChildren(QPushButton)}
    scale = texts["Add 1, 2, 4 processes"]
    qtbot.mouseClick(scale, Qt.MouseButton.LeftButton)
    assert servers.value() == ["tornado", "tornado-2w", "tornado-4w", "erlang-gen-tcp"]
    assert not scale.isVisible()
    role = Qt.ItemDataRole.AccessibleTextRole
    assert servers.chosen.item(2).data(role) == "Tornado, 4 workers, number 3"
    judged(qtbot, page)
    assert page.draft is not None
    assert page.draft.sound


def test_all_socket_servers_that_can_are_offered_in_several_processes(
    qtbot: QtBot, page: PlanPage
) -> None:
    able = [entry.id for entry in Catalogue.load() if entry.workers and complete(entry)]
    sockets = [id_ for id_ in able if Catalogue.load()[id_].family == "socket"]
    edit(qtbot, page, Plan(servers=sockets, rates=[500.0], seconds=1.0))
    press(page, "Add or remove")
    press(page, "Add 1, 2, 4 processes")
    assert page.form.servers.value() == [
        id_ for server in sockets for id_ in (server, f"{server}-2w", f"{server}-4w")
    ]
    judged(qtbot, page)
    assert page.draft is not None
    assert page.draft.sound


def test_tab_goes_through_the_servers_before_the_load(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    met = []
    at = page.gallery.last
    while not met or met[-1] != "Rates per second":
        at = at.nextInFocusChain()
        if at.isVisible() and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
            met.append(at.accessibleName())
    assert met[:2] == ["Servers of the plan", "Add or remove"]


def test_the_list_of_servers_stays_under_the_pointer_while_some_are_ticked(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    edit(qtbot, page, SHORT)
    press(page, "Add or remove")
    QApplication.processEvents()  # what has been shown is laid out
    shown = page.form.servers.picker.list
    before = shown.mapTo(window, QPoint())
    for place in range(6):
        middle = shown.visualItemRect(shown.item(place)).center()
        qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=middle)
        judged(qtbot, page)
        assert shown.mapTo(window, QPoint()) == before
    assert len(page.form.servers.value()) > len(SHORT.servers)
