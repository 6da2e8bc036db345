"""The method of 2010 on real hosts, from the window: three clients against one target, as a person
does it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app import stylesheet, theme
from app.log import LogBook
from app.machines.prompts import KeyDialog
from app.pages.live import State
from app.pages.machines import MachinesPage
from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
from lab.conftest import as_they_were, profile_of, trusted
from lab.hosts import Host, Lab
from tests.gui.windows import offers, press, says, shown
from workbench import paths
from workbench.documents import Note, PointStop, RunStop
from workbench.machines import hostkeys
from workbench.plan.model import Plan
from workbench.sessions import Session, read_session
from workbench.workloads.registry import workload as a_workload

CLIENTS = ("h2", "h3", "h4")
PATIENCE_MS = 600_000

pytestmark = [
    # The offscreen platform says so of every window that has a least size.
    pytest.mark.qt_log_ignore("propagateSizeHints")
]


@pytest.fixture(autouse=True, scope="module")
def dressed(qapp: QApplication) -> None:
    stylesheet.apply(qapp, theme.LIGHT)


@pytest.fixture
def hosts(lab: Lab) -> Iterator[Sequence[Host]]:
    """With profiles; nobody trusts their keys yet. Each is as it was when the test is over."""
    with as_they_were(lab.hosts):
        for host in lab.hosts:
            profile_of(host)
        yield lab.hosts


@pytest.fixture
def window(qtbot: QtBot, hosts: Sequence[Host]) -> Iterator[MainWindow]:
    book, logger = LogBook(), logging.getLogger("workbench")
    level = logger.level
    logger.addHandler(book)
    logger.setLevel(logging.INFO)
    with shown(qtbot, book=book) as made:
        made.resize(1280, 800)
        yield made
    logger.removeHandler(book)
    logger.setLevel(level)


def plan(protocol: Any, calls: int, seconds: float) -> Plan:
    return Plan(
        name="2010 from the window",
        servers=["gevent-pywsgi", "cherrypy"],
        rates=[90.0, 180.0],
        seconds=seconds,
        workload=a_workload(protocol=protocol, calls_per_connection=calls, timeout_s=30),
        calibrate=False,
        warm_up=None,
        looks=1,
    )


def until(qtbot: QtBot, condition: Callable[[], object]) -> None:
    qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)


def choose_machines(qtbot: QtBot, window: MainWindow, wanted: Plan) -> PlanPage:
    """As far as a plan that is ready to run on the lab."""
    window.desk.plan_requested.emit(wanted)
    page = window.page("Plan")
    assert isinstance(page, PlanPage)
    until(qtbot, lambda: page.form.machines.target.count() == 5)
    target = page.form.machines.target
    target.setCurrentIndex(target.findData("h1"))
    target.activated.emit(target.currentIndex())
    for name in ("localhost", *CLIENTS):
        page.form.machines.clients.toggle(name)
    until(qtbot, lambda: page.draft and page.head.run.isEnabled())
    return page


def measured(window: MainWindow) -> int:
    return sum(len(series.stops) for series in window.live.board.model.series.values())


def over(qtbot: QtBot, window: MainWindow) -> Session:
    until(qtbot, lambda: not window.desk.busy)
    (path,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
    return read_session(path)


def dialog(qtbot: QtBot, window: MainWindow, kind: type[QWidget]) -> QWidget:
    def found() -> list[QWidget]:
        return [each for each in window.findChildren(kind) if each.isVisible()]

    until(qtbot, found)
    return found()[0]


def test_three_clients_against_one_target_are_watched_live(
    qtbot: QtBot, window: MainWindow, hosts: Sequence[Host]
) -> None:
    for host in hosts:
        asyncio.run(trusted(profile_of(host)))
    choose_machines(qtbot, window, plan("http/1.0", 1, 2.0))
    press(window, "Run")
    live = window.live
    until(qtbot, lambda: says(live, "target h1, clients h2, h3, h4"))
    until(qtbot, lambda: says(live, "on h1"))  # figures of the server's machine
    for name in CLIENTS:
        until(qtbot, lambda name=name: says(live, f"{name}: CPU "))
    session = over(qtbot, window)
    assert says(live, "Done")
    for name in ("gevent.pywsgi", "CherryPy"):
        assert says(live, name)
    points = [d for d in session.documents if isinstance(d, PointStop)]
    assert len(points) == 4
    for point in points:
        assert point.complete and point.conserved
        assert point.counts.succeeded == point.counts.scheduled
        assert point.offered_per_s == pytest.approx(point.rate_per_s, rel=0.005)
        # What the clients did, added up, is what is drawn.
        assert [part.machine for part in point.clients] == list(CLIENTS)
        assert sum(part.scheduled for part in point.clients) == point.counts.scheduled
    logged = [line.text for line in window.desk.log.lines() if line.text.startswith("h1: ")]
    assert any(" pong_wsgi.py" in text or "server.py" in text for text in logged)


def test_keys_are_trusted_and_machines_checked_before_anything_runs_there(
    qtbot: QtBot, window: MainWindow
) -> None:
    window.show_page("Machines")
    page = window.page("Machines")
    assert isinstance(page, MachinesPage)
    until(qtbot, lambda: len(page.listing.names) == 5)
    for name in ("h1", *CLIENTS):
        page.listing.choose(name)
        press(page, "Check this machine")
        until(qtbot, lambda name=name: says(window, f"Unknown host key: {name}"))
        press(window, "Trust key")
        until(qtbot, lambda name=name: "ready" in page.listing.states[name].word)
    # Every command that was run there, and what it was for.
    assert any("start the runner" in line.text for line in window.desk.log.lines())
    choose_machines(qtbot, window, plan("http/1.0", 1, 2.0))
    until(qtbot, lambda: says(window, "h1: ready"))


def test_a_run_is_paused_loses_a_client_is_skipped_and_runs_again(
    qtbot: QtBot, window: MainWindow, hosts: Sequence[Host]
) -> None:
    choose_machines(qtbot, window, plan("http/1.0", 1, 8.0))
    press(window, "Run")
    live = window.live
    # No key is trusted: each is asked for, before anything is sent to its host.
    for _ in hosts:
        question = dialog(qtbot, window, KeyDialog)
        press(question, "Trust key")
        until(qtbot, lambda asked=question: not asked.isVisible())
    until(qtbot, lambda: live.state is State.RUNNING)
    assert hostkeys.own_file().read_text().count("ssh-ed25519") == len(hosts)
    until(qtbot, lambda: live.board.model.running is not None)
    press(window, "Pause after this point")
    until(qtbot, lambda: live.state is State.PAUSED)
    assert measured(window) == 1
    press(window, "Resume")
    until(qtbot, lambda: live.board.model.running is not None)
    lost = hosts[-1]
    try:
        lost.cut()
        until(qtbot, lambda: says(live, "h4 was lost; from here on 2 clients"))
        # It is also shown where the clients are compared.
        until(qtbot, lambda: says(live, "h4: CPU gone"))
        until(qtbot, lambda: says(live, "CherryPy on h1"))
        until(qtbot, lambda: live.state is State.RUNNING and offers(live, "Skip server"))
        press(window, "Skip server")
        session = over(qtbot, window)
    finally:
        lost.heal()
    notes = {d.topic: d.text for d in session.documents if isinstance(d, Note)}
    assert {"paused", "resumed", "client-lost", "skipped"} <= set(notes)
    hurt = [d for d in session.documents if isinstance(d, PointStop) and not d.complete]
    assert any(finding.get("client") == "h4" for point in hurt for finding in point.findings)
    (stop,) = [d for d in session.documents if isinstance(d, RunStop)]
    assert stop.status == "done"
    press(window, "Replay")
    until(qtbot, lambda: window.shown is window.film and says(window, "clients h2, h3, h4"))
    press(window, "Run again")
    # The plan and its machines, without asking for either again.
    until(qtbot, lambda: window.shown is window.live)
    until(qtbot, lambda: measured(window) >= 1 and says(live, "target h1, clients h2, h3, h4"))
    press(window, "Stop")
    until(qtbot, lambda: not window.desk.busy)
    assert says(live, "Stopped early")
