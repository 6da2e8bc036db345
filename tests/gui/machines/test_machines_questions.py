"""A machine over SSH used from other pages, which ask the user's questions."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from sshd import PASSWORD

from app.context import Desk
from app.live.run import Where
from app.machines.prompts import KeyDialog, QuestionDialog
from app.machines.records import Record, now, stamp
from app.pages.live import LivePage
from app.pages.machines import MachinesPage
from app.pages.servers import ServersPage
from app.planning.machines import Machines
from app.widgets import dress
from tests.gui.machines.host import Host
from tests.gui.machines.steps import answer, dialog, show, trust_it
from tests.gui.windows import control, says, sees
from workbench.machines import secrets
from workbench.machines.hostkeys import own_file
from workbench.machines.profiles import load_profile
from workbench.machines.secrets import Secrets
from workbench.plan.model import Plan

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def running_on(qtbot: QtBot, desk: Desk, box: str) -> LivePage:
    live = LivePage(desk)
    dress(live, desk.theme)
    qtbot.addWidget(live)
    live.show()
    plan = Plan(name="Short", servers=["asyncio-streams"], rates=[100.0], seconds=0.5)
    live.start(plan, Where(box, (box,)))
    return live


def test_a_remote_run_shows_an_untrusted_key_and_sends_nothing_without_consent(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk, host: Host
) -> None:
    live = running_on(qtbot, desk, box)
    asked = dialog(qtbot, live, KeyDialog)
    shown = "".join(label.text() for label in asked.findChildren(QLabel))
    assert host.fingerprint in shown.replace("\n", "")
    control(asked, "Cancel").click()
    qtbot.waitUntil(lambda: not desk.busy)
    assert says(live, "shows an unknown host key")
    assert not own_file().exists()


def test_a_remote_run_asks_for_the_password_and_ends_with_a_message_without_it(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(qtbot, page, box)
    trust_it(qtbot, page)
    monkeypatch.setattr(secrets, "SECRETS", Secrets())  # as after a new start
    live = running_on(qtbot, desk, box)
    asked = dialog(qtbot, live, QuestionDialog)
    assert says(asked, "Password for bench@127.0.0.1 (box)")
    assert not page.detail.check.isEnabled()
    control(asked, "Cancel").click()
    sees(qtbot, live, "'box' refused bench@127.0.0.1")
    qtbot.waitUntil(page.detail.check.isEnabled)


def test_a_server_is_tested_on_a_machine_over_ssh(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    servers = ServersPage(desk)
    dress(servers, desk.theme)
    qtbot.addWidget(servers)
    servers.resize(1280, 800)
    servers.show()
    choice = servers.target.choice
    qtbot.waitUntil(lambda: choice.isVisible() and choice.count() == 2)
    choice.setCurrentIndex(1)
    choice.activated.emit(1)
    control(dialog(qtbot, servers, KeyDialog), "Trust key").click()
    answer(qtbot, servers, PASSWORD)
    qtbot.waitUntil(lambda: not says(servers, "Checking box"))
    assert servers.error.text == ""
    (streams,) = [
        known for known in servers.table.model().servers() if known.id == "asyncio-streams"
    ]
    servers.table.choose(streams.key)
    sees(qtbot, servers, "copies its runtime from this computer")
    control(servers, "Test (page)").click()
    assert says(servers, "asyncio streams on box")
    control(servers, "Test").click()
    qtbot.waitUntil(lambda: says(servers.trial, "Passed"))
    sees(qtbot, servers.trial, "Accept queue: 512 connections, as requested.")
    # What is known of it there is not known of it here.
    control(servers, "About (page)").click()
    sees(qtbot, servers, "Measured on box")
    choice.setCurrentIndex(0)
    choice.activated.emit(0)
    qtbot.waitUntil(lambda: not says(servers, "Measured on box"))


def test_the_plan_shows_what_is_known_about_its_machines(qtbot: QtBot, box: str) -> None:
    chooser = Machines()
    qtbot.addWidget(chooser)
    chooser.show()
    known = {"box": Record(at=stamp(now()), kind="unreachable")}
    chooser.set_machines([load_profile("localhost"), load_profile(box)], known)
    assert not says(chooser, "unreachable")
    chooser.set_value({"target": "box", "clients": ["localhost"]})
    chooser.set_machines([load_profile("localhost"), load_profile(box)], known)
    assert says(chooser, "box: unreachable.")
    assert chooser.target_line.tone == "warn"
