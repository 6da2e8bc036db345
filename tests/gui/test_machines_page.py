"""The page of machines as a person uses it: real profiles, a real SSH server, real checks."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QMessageBox, QWidget
from pytestqt.qtbot import QtBot
from sshd import PASSWORD, listen

from app import theme
from app.bridge import Bridge
from app.choices import Tick
from app.desk import Desk
from app.live.run import Where
from app.log import LogBook
from app.machines.asking import QuestionDialog
from app.machines.editor import Editor
from app.machines.importing import Importing
from app.machines.keys import LAST, KeyDialog
from app.machines.records import State
from app.pages.live import LivePage
from app.pages.machines import MachinesPage
from app.pages.servers import ServersPage
from app.planning.machines import Machines
from app.settings import Settings
from app.widgets import dress
from workbench.errors import PongbenchError
from workbench.machines.checking import Step
from workbench.machines.hostkeys import own_file
from workbench.machines.profiles import load_profile, make_profile, profile_names, save_profile
from workbench.machines.secrets import SECRETS
from workbench.plans import Plan

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

PATIENCE_MS = 120_000


class Host:
    """An SSH server on loopback, in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.port = 0
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._connections: list[asyncssh.SSHServerConnection] = []
        self.start()

    def start(self) -> None:
        self._acceptor = self._run(listen(self.key, self.port, self._connections))
        self.port = self._acceptor.get_port()

    def stop(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
            self._run(self._acceptor.wait_closed())
            self._acceptor = None

    def new_key(self) -> None:
        self.stop()
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.start()

    def close(self) -> None:
        self.stop()
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def fingerprint(self) -> str:
        return self.key.get_fingerprint("sha256")

    async def _end(self) -> None:
        for connection in self._connections:
            connection.abort()
            await connection.wait_closed()
        await asyncio.sleep(0)  # their sockets are closed by the loop
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _run(self, coroutine):  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE_MS / 1000)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".ssh").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "pongbench"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(SECRETS, "_known", {})
    # Another test may hold this computer as a machine for a while.
    monkeypatch.setattr("workbench.machines.ssh.BUSY_FOR_S", 40)
    return tmp_path


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.close()


@pytest.fixture
def desk(bridge: Bridge) -> Iterator[Desk]:
    book = LogBook()
    logger = logging.getLogger("workbench")
    before = logger.level
    logger.addHandler(book)
    logger.setLevel(logging.INFO)
    made = Desk(bridge, theme.LIGHT, Settings(), book)
    yield made
    made.deleteLater()
    logger.removeHandler(book)
    logger.setLevel(before)


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> MachinesPage:
    return opened(qtbot, desk)


@pytest.fixture
def box(host: Host, home: Path) -> str:
    values = {"connector": "ssh", "address": "127.0.0.1", "port": host.port, "user": "bench"}
    values |= {"auth": "password", "work_dir": str(home / "work"), "python": sys.executable}
    save_profile(make_profile({"name": "box", **values}))
    return "box"


class Opener(QObject):
    """The desktop's program for files."""

    taken = ""

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.taken = url.toLocalFile()


def opened(qtbot: QtBot, desk: Desk) -> MachinesPage:
    page = MachinesPage(desk)
    dress(page, desk.theme)
    qtbot.addWidget(page)
    page.resize(1280, 900)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(lambda: bool(page.listing.rows), timeout=PATIENCE_MS)
    return page


def show(qtbot: QtBot, page: MachinesPage, name: str) -> None:
    qtbot.waitUntil(lambda: name in page.listing.rows, timeout=PATIENCE_MS)
    page.listing.rows[name].click()


def button(parent: QWidget, name: str) -> QAbstractButton:
    named = [b for b in parent.findChildren(QAbstractButton) if b.accessibleName() == name]
    (shown,) = [each for each in named if each.isVisible()]
    return shown


def says(parent: QWidget, text: str) -> bool:
    return any(text in label.text() for label in parent.findChildren(QLabel) if label.isVisible())


def sees(qtbot: QtBot, parent: QWidget, text: str) -> None:
    qtbot.waitUntil(lambda: says(parent, text), timeout=PATIENCE_MS)


def light(page: MachinesPage, name: str) -> str:
    return page.listing.rows[name].state.word


def dialog(qtbot: QtBot, page: QWidget, kind: type[QWidget]) -> QWidget:
    def shown() -> list[QWidget]:
        return [each for each in page.window().findChildren(kind) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(shown()), timeout=PATIENCE_MS)
    return shown()[0]


def answer(qtbot: QtBot, page: QWidget, text: str) -> None:
    asked = dialog(qtbot, page, QuestionDialog)
    field = asked.findChild(QLineEdit)
    assert field is not None
    assert field.echoMode() == QLineEdit.EchoMode.Password
    qtbot.keyClicks(field, text)
    button(asked, "Go on").click()


def check(page: MachinesPage) -> None:
    page.run_this()


def trust_it(qtbot: QtBot, page: MachinesPage) -> None:
    """As far as a check that passed."""
    check(page)
    sees(qtbot, page, "Is this really box?")
    button(page, "Trust this key").click()
    answer(qtbot, page, PASSWORD)
    qtbot.waitUntil(lambda: "ready" in light(page, "box"), timeout=PATIENCE_MS)


def typed(dialog: QWidget, name: str, text: str) -> None:
    (field,) = [f for f in dialog.findChildren(QLineEdit) if f.accessibleName() == name]
    field.setText(text)
    field.textEdited.emit(text)


# Only this computer


def test_alone_this_computer_tells_what_it_is_and_why_a_second_would_help(
    qtbot: QtBot, page: MachinesPage
) -> None:
    sees(qtbot, page, "What that means for a run")
    sees(qtbot, page, "local ports")
    assert says(page, "several clients together offer what one cannot")
    assert says(page, "only this computer")
    assert light(page, "localhost") == "not checked"
    button(page, "Add a machine").click()
    assert dialog(qtbot, page, Editor)


def test_in_a_narrow_window_what_went_wrong_stands_above_what_is_known(
    qtbot: QtBot, page: MachinesPage
) -> None:
    sees(qtbot, page, "What it is")
    failed = Step("Clock", "failed", "Its clock runs backwards.", PongbenchError("no"))
    record = page.records.get("localhost")
    record.add(failed)
    page.records.put("localhost", record)
    page.refresh()
    sees(qtbot, page, "Its clock runs backwards.")
    page.resize(960, 620)
    detail = page.detail
    origin = QPoint(0, 0)
    qtbot.waitUntil(
        lambda: detail.steps.mapTo(page, origin).y() < detail.facts.mapTo(page, origin).y(),
        timeout=PATIENCE_MS,
    )


def test_checking_this_computer_tells_every_step_and_is_kept_for_the_next_start(
    qtbot: QtBot, page: MachinesPage, desk: Desk
) -> None:
    check(page)
    sees(qtbot, page, "Its clock is known to")
    qtbot.waitUntil(lambda: "ready" in light(page, "localhost"), timeout=PATIENCE_MS)
    sees(qtbot, page, "net.core.somaxconn")
    again = opened(qtbot, desk)
    qtbot.waitUntil(lambda: "ready" in light(again, "localhost"))
    sees(qtbot, again, "Its clock is known to")


def test_while_a_run_is_under_way_nothing_is_checked(
    qtbot: QtBot, page: MachinesPage, desk: Desk
) -> None:
    desk.set_busy(True)
    assert not page.detail.check.isEnabled()
    assert "when it is over" in page.detail.check.toolTip()
    desk.set_busy(False)
    assert page.detail.check.isEnabled()


# A machine over SSH


def test_an_unknown_key_is_trusted_by_the_person_alone_then_the_machine_is_ready(
    qtbot: QtBot, page: MachinesPage, box: str, host: Host, home: Path
) -> None:
    desk = page.desk
    desk.machines_changed.emit()
    show(qtbot, page, box)
    check(page)
    sees(qtbot, page, "Is this really box?")
    assert light(page, box) in ("unknown key", "checking…")
    shown = "".join(label.text() for label in page.detail.key.findChildren(QLabel))
    assert host.fingerprint in shown.replace("\n", "")
    safe = page.detail.key.safe
    assert safe is not None
    qtbot.waitUntil(safe.hasFocus)
    qtbot.keyClick(safe, Qt.Key.Key_Return)
    assert not own_file().exists()
    assert page.detail.key.isHidden()
    trust_it(qtbot, page)
    assert host.fingerprint not in own_file().read_text()  # the key itself is kept there
    assert own_file().exists()
    sees(qtbot, page, "bench was let in")
    sees(qtbot, page, "Servers listen on")
    sees(qtbot, page, "No dead run left anything.")
    assert not list((home / "work" / "runs").glob("*"))
    # Nothing that was typed is anywhere.
    kept = f"{desk.settings.more} {[str(line) for line in desk.log.lines()]}"
    files = [p for p in home.rglob("*") if p.is_file() and not p.is_symlink()]
    assert PASSWORD not in kept
    assert not [p for p in files if PASSWORD.encode() in p.read_bytes()]
    button(page, "Commands").click()
    qtbot.waitUntil(lambda: "look around" in page.commands.body.toPlainText())
    told = page.commands.body.toPlainText()
    assert "start the runner" in told
    assert "< survey.py" in told


def test_a_changed_key_stops_everything_until_its_end_is_typed(
    qtbot: QtBot, page: MachinesPage, box: str, host: Host, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    trust_it(qtbot, page)
    old = host.fingerprint
    host.new_key()
    check(page)
    sees(qtbot, page, "The host key of box has changed")
    shown = "".join(label.text() for label in page.detail.key.findChildren(QLabel))
    assert old in shown.replace("\n", "")
    assert host.fingerprint in shown.replace("\n", "")
    qtbot.waitUntil(lambda: light(page, box) == "key changed", timeout=PATIENCE_MS)
    trust = button(page, "Trust the new key")
    assert not trust.isEnabled()
    (field,) = page.detail.key.findChildren(QLineEdit)
    qtbot.keyClicks(field, "????")
    assert not trust.isEnabled()
    field.clear()
    qtbot.keyClicks(field, host.fingerprint[-LAST:])
    assert trust.isEnabled()
    button(page, "Copy the command").click()
    command = f"pongbench machines trust box --fingerprint {host.fingerprint}"
    assert QApplication.clipboard().text() == command
    trust.click()
    qtbot.waitUntil(lambda: "ready" in light(page, box), timeout=PATIENCE_MS)


def test_a_password_that_is_not_given_ends_the_check_with_a_sentence(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    check(page)
    sees(qtbot, page, "Is this really box?")
    button(page, "Trust this key").click()
    answer(qtbot, page, "wrong")
    asked = dialog(qtbot, page, QuestionDialog)
    qtbot.waitUntil(lambda: says(asked, "The last one was not accepted."), timeout=PATIENCE_MS)
    button(asked, "Cancel").click()
    sees(qtbot, page, "did not let")
    qtbot.waitUntil(lambda: light(page, box) == "not usable", timeout=PATIENCE_MS)


def test_a_machine_that_is_not_there_is_unreachable(
    qtbot: QtBot, page: MachinesPage, box: str, host: Host, desk: Desk
) -> None:
    host.stop()
    desk.machines_changed.emit()
    show(qtbot, page, box)
    check(page)
    qtbot.waitUntil(lambda: light(page, box) == "unreachable", timeout=PATIENCE_MS)
    sees(qtbot, page, "is sshd running there?")


def test_a_check_that_is_cancelled_says_so_and_its_question_goes(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    check(page)
    sees(qtbot, page, "Is this really box?")
    button(page, "Trust this key").click()
    dialog(qtbot, page, QuestionDialog)
    button(page, "Cancel the check").click()
    qtbot.waitUntil(lambda: not page.findChildren(QuestionDialog), timeout=PATIENCE_MS)
    sees(qtbot, page, "The check was cancelled")
    assert light(page, box) == "not checked"


def test_who_begins_a_check_with_its_button_stands_on_the_one_that_ends_it(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    page.detail.check.setFocus()
    page.detail.check.click()
    assert page.detail.steps.stop.hasFocus()
    button(page, "Cancel the check").click()
    assert page.detail.check.hasFocus()


def test_what_a_crash_left_and_the_cache_are_shown_and_removed(
    qtbot: QtBot, page: MachinesPage, box: str, home: Path, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    trust_it(qtbot, page)
    (home / "work" / "runs" / "0123456789abcdef").mkdir(parents=True)
    (home / "work" / "runs" / "0123456789abcdef.lock").touch()
    (home / "work" / "runtimes").mkdir()
    (home / "work" / "runtimes" / "big").write_bytes(b"x" * (3 << 20))
    button(page, "Clean").click()
    sees(qtbot, page, "Removed: dead run 0123456789abcdef")
    sees(qtbot, page, "holds 3.0 MiB")
    assert not (home / "work" / "runs" / "0123456789abcdef").exists()
    button(page, "Remove the cache…").click()
    asked = page.findChild(QMessageBox)
    assert asked is not None
    assert asked.defaultButton().text() == "Leave it"
    next(b for b in asked.buttons() if b.text() == "Remove the cache").click()
    sees(qtbot, page, "The cache was removed: 3.0 MiB are free again.")
    assert not (home / "work").exists()


def test_consent_to_tuning_is_kept_in_the_profile_and_changes_nothing(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    trust_it(qtbot, page)
    sees(qtbot, page, "net.ipv4.tcp_keepalive_time")
    before = Path("/proc/sys/net/ipv4/tcp_keepalive_time").read_text()
    (tick,) = [t for t in page.findChildren(Tick) if "length of a run" in t.text()]
    with qtbot.waitSignal(desk.machines_changed, timeout=PATIENCE_MS):
        tick.click()
    assert load_profile(box).tuning
    assert Path("/proc/sys/net/ipv4/tcp_keepalive_time").read_text() == before


# What others do with it


def test_a_run_elsewhere_shows_a_key_nobody_trusts_and_sends_nothing_without_a_word(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk, host: Host
) -> None:
    live = LivePage(desk)
    dress(live, desk.theme)
    qtbot.addWidget(live)
    live.show()
    plan = Plan(name="Short", servers=["asyncio-streams"], rates=[100.0], seconds=0.5)
    live.start(plan, Where(box, (box,)))
    asked = dialog(qtbot, live, KeyDialog)
    assert says(asked, "Is this really box?")
    shown = "".join(label.text() for label in asked.findChildren(QLabel))
    assert host.fingerprint in shown.replace("\n", "")
    button(asked, "Not this one").click()
    qtbot.waitUntil(lambda: not desk.busy, timeout=PATIENCE_MS)
    assert says(live, "shows a host key that is not known yet")
    assert not own_file().exists()


def test_a_server_is_tried_on_a_machine_over_ssh(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    servers = ServersPage(desk)
    dress(servers, desk.theme)
    qtbot.addWidget(servers)
    servers.resize(1280, 800)
    servers.show()
    choice = servers.target.choice
    qtbot.waitUntil(lambda: choice.isVisible() and choice.count() == 2, timeout=PATIENCE_MS)
    choice.setCurrentIndex(1)
    choice.activated.emit(1)
    button(dialog(qtbot, servers, KeyDialog), "Trust this key").click()
    answer(qtbot, servers, PASSWORD)
    sees(qtbot, servers, "Target: box")
    assert servers.error.text == ""
    (streams,) = [known for known in servers.servers() if known.id == "asyncio-streams"]
    servers.table.choose(streams.key)
    sees(qtbot, servers, "brings its runtime from this computer")
    button(servers, "Try it (page)").click()
    assert says(servers, "Try it on box")
    button(servers, "Try it").click()
    qtbot.waitUntil(lambda: says(servers.trial, "Works"), timeout=60_000)
    sees(qtbot, servers.trial, "Its queue holds 512 connections, as was asked for.")
    # What is known of it there is not known of it here.
    button(servers, "About (page)").click()
    sees(qtbot, servers, "Measured on box")
    choice.setCurrentIndex(0)
    choice.activated.emit(0)
    sees(qtbot, servers, "Target: this computer")
    qtbot.waitUntil(lambda: not says(servers, "Measured on box"), timeout=PATIENCE_MS)


def test_a_run_elsewhere_asks_for_the_password_and_ends_in_words_without(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    trust_it(qtbot, page)
    SECRETS._known.clear()
    live = LivePage(desk)
    dress(live, desk.theme)
    qtbot.addWidget(live)
    live.show()
    plan = Plan(name="Short", servers=["asyncio-streams"], rates=[100.0], seconds=0.5)
    live.start(plan, Where(box, (box,)))
    asked = dialog(qtbot, live, QuestionDialog)
    assert says(asked, "box asks")
    assert not page.detail.check.isEnabled()
    button(asked, "Cancel").click()
    sees(qtbot, live, "'box' did not let bench@127.0.0.1 in")
    qtbot.waitUntil(page.detail.check.isEnabled)


def test_the_plan_tells_what_is_known_of_its_machines(qtbot: QtBot, box: str) -> None:
    chooser = Machines()
    qtbot.addWidget(chooser)
    chooser.show()
    known = {"box": State("unreachable", "bad")}
    chooser.set_machines([load_profile("localhost"), load_profile(box)], known)
    assert not says(chooser, "unreachable")
    chooser.set_value({"target": "box", "clients": ["localhost"]})
    chooser.set_machines([load_profile("localhost"), load_profile(box)], known)
    assert says(chooser, "box: unreachable.")
    assert chooser.target_line.tone == "warn"


# Profiles


def test_a_profile_is_written_with_its_faults_beside_the_fields(
    qtbot: QtBot, page: MachinesPage
) -> None:
    page.add()
    editor = dialog(qtbot, page, Editor)
    typed(editor, "Port", "99999")
    assert says(editor, "Expected a whole number of at most 65,535, got 99999.")
    assert not says(editor, "Use letters, digits")
    typed(editor, "Port", "2222")
    button(editor, "Save").click()
    assert says(editor, "Use letters, digits, dots")
    typed(editor, "Name", "atlas")
    assert says(editor, "Give a name, an IP address or an SSH alias.")
    typed(editor, "Address", "10.0.4.20")
    typed(editor, "Cores of servers", "2, 4-6")
    button(editor, "Save").click()
    qtbot.waitUntil(lambda: "atlas" in page.listing.rows, timeout=PATIENCE_MS)
    assert page.listing.selected == "atlas"
    saved = load_profile("atlas")
    assert (saved.address, saved.port, saved.cpus.server) == ("10.0.4.20", 2222, [2, 4, 5, 6])


def test_a_name_that_is_taken_is_told_beside_it(qtbot: QtBot, page: MachinesPage, box: str) -> None:
    page.add()
    editor = dialog(qtbot, page, Editor)
    typed(editor, "Name", box)
    typed(editor, "Address", "10.0.4.20")
    button(editor, "Save").click()
    sees(qtbot, editor, "already; take another name.")
    assert load_profile(box).address == "127.0.0.1"


def test_a_machine_is_duplicated_edited_and_forgotten(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    button(page, "Duplicate").click()
    editor = dialog(qtbot, page, Editor)
    button(editor, "Save").click()
    qtbot.waitUntil(lambda: page.listing.selected == "box-2", timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not page.findChildren(Editor))
    button(page, "Edit").click()
    editor = dialog(qtbot, page, Editor)
    typed(editor, "Description", "The other one")
    button(editor, "Save").click()
    sees(qtbot, page, "The other one")
    assert load_profile("box-2").address == "127.0.0.1"
    button(page, "Remove…").click()
    asked = page.findChild(QMessageBox)
    assert asked is not None
    next(b for b in asked.buttons() if b.text() == "Remove it").click()
    qtbot.waitUntil(lambda: "box-2" not in page.listing.rows, timeout=PATIENCE_MS)
    assert profile_names() == ["box", "localhost"]


def test_hosts_of_ssh_are_brought_in_by_their_alias(
    qtbot: QtBot, page: MachinesPage, home: Path
) -> None:
    (home / ".ssh" / "config").write_text("Host bolt\n  HostName 10.0.4.31\nHost *\n  User mila\n")
    page.profiles.bring_in()
    chosen = dialog(qtbot, page, Importing)
    (tick,) = chosen.findChildren(Tick)
    assert not button(chosen, "Add").isEnabled()
    tick.click()
    button(chosen, "Add").click()
    qtbot.waitUntil(lambda: page.listing.selected == "bolt", timeout=PATIENCE_MS)
    assert load_profile("bolt").address == "bolt"


def test_a_damaged_profile_is_told_of_and_the_others_work(
    qtbot: QtBot, page: MachinesPage, box: str, home: Path, desk: Desk
) -> None:
    (home / "pongbench" / "config" / "profiles" / "fir.yaml").write_text("name: fir\naddres: 1\n")
    page.resize(960, 300)
    desk.machines_changed.emit()
    show(qtbot, page, "fir")
    row = page.listing.rows["fir"]
    qtbot.waitUntil(lambda: row.visibleRegion().contains(row.rect().center()))
    sees(qtbot, page, "did you mean 'address'?")
    assert light(page, "fir") == "not readable"
    assert not page.detail.check.isEnabled()
    editor = Opener()
    QDesktopServices.setUrlHandler("file", editor, "take")
    button(page, "Open its file").click()
    QDesktopServices.unsetUrlHandler("file")
    assert editor.taken.endswith("/profiles/fir.yaml")
    show(qtbot, page, box)
    assert page.detail.check.isEnabled()


def test_arrow_keys_go_through_the_machines(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    desk.machines_changed.emit()
    show(qtbot, page, box)
    row = page.listing.rows[box]
    # Qt goes by where they are.
    qtbot.waitUntil(lambda: row.y() > page.listing.rows["localhost"].y())
    row.setFocus()
    qtbot.keyClick(row, Qt.Key.Key_Up)
    assert page.listing.selected == "localhost"
    assert "not checked" in page.listing.rows["localhost"].accessibleName()
