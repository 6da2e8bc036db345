"""Checks of a machine over SSH: host key, password, leftovers."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit
from pytestqt.qtbot import QtBot
from sshd import PASSWORD

from app.context import Desk
from app.dialogs import Confirmation
from app.fields import Tick
from app.machines.prompts import LAST, KeyDialog, QuestionDialog
from app.pages.machines import MachinesPage
from tests.gui.machines.host import Host
from tests.gui.machines.steps import answer, asks_about_key, check, dialog, light, show, trust_it
from tests.gui.windows import control, name_of, press, says, sees, the
from workbench.machines.checking import leftover_runs
from workbench.machines.hostkeys import own_file
from workbench.machines.profiles import load_profile
from workbench.machines.ssh import Cleaned

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_an_unknown_key_is_trusted_only_by_the_user_and_then_the_machine_is_ready(
    qtbot: QtBot, page: MachinesPage, box: str, host: Host, home: Path
) -> None:
    desk = page.desk
    show(qtbot, page, box)
    check(page)
    asked = dialog(qtbot, page, KeyDialog)
    assert says(asked, "Unknown host key: box")
    assert light(page, box) == "unknown key"
    shown = "".join(label.text() for label in asked.findChildren(QLabel))
    assert host.fingerprint in shown.replace("\n", "")
    safe = control(asked, "Cancel")
    qtbot.waitUntil(safe.hasFocus)
    qtbot.keyClick(safe, Qt.Key.Key_Return)
    assert not own_file().exists()
    qtbot.waitUntil(lambda: not page.findChildren(KeyDialog))
    trust_it(qtbot, page)
    assert host.fingerprint not in own_file().read_text()  # the key itself is kept there
    assert own_file().exists()
    sees(qtbot, page, "bench logged in")
    sees(qtbot, page, "Servers listen on")
    sees(qtbot, page, leftover_runs(Cleaned(0, 0, [], []), box, None).text)
    assert not list((home / "work" / "runs").glob("*"))
    # What was typed appears nowhere.
    kept = f"{desk.settings.more} {[str(line) for line in desk.log.lines()]}"
    files = [p for p in home.rglob("*") if p.is_file() and not p.is_symlink()]
    assert PASSWORD not in kept
    assert not [p for p in files if PASSWORD.encode() in p.read_bytes()]
    # Every command that was run there, and what it was for.
    logged = "\n".join(line.text for line in desk.log.lines())
    assert "survey it" in logged and "start the runner" in logged
    assert "< errands.py" in logged


def test_a_changed_key_stops_everything_until_its_last_characters_are_typed(
    qtbot: QtBot, page: MachinesPage, box: str, host: Host
) -> None:
    show(qtbot, page, box)
    trust_it(qtbot, page)
    old = host.fingerprint
    host.new_key()
    check(page)
    asked = dialog(qtbot, page, KeyDialog)
    assert says(asked, "The host key of box has changed")
    shown = "".join(label.text() for label in asked.findChildren(QLabel))
    assert old in shown.replace("\n", "")
    assert host.fingerprint in shown.replace("\n", "")
    qtbot.waitUntil(lambda: light(page, box) == "key changed")
    trust = control(page, "Trust new key")
    assert not trust.isEnabled()
    (field,) = asked.findChildren(QLineEdit)
    qtbot.keyClicks(field, "????")
    assert not trust.isEnabled()
    field.clear()
    qtbot.keyClicks(field, host.fingerprint[-LAST:])
    assert trust.isEnabled()
    # No command that could be pasted without comparing keys.
    buttons = asked.findChildren(QAbstractButton)
    names = {name_of(each) for each in buttons}
    assert names == {"Cancel", "Trust new key", "Copy command"}
    trust.click()
    qtbot.waitUntil(lambda: "ready" in light(page, box))


def test_a_password_that_is_not_given_ends_the_check_with_one_sentence(
    qtbot: QtBot, page: MachinesPage, box: str
) -> None:
    show(qtbot, page, box)
    check(page)
    asks_about_key(qtbot, page)
    control(page, "Trust key").click()
    answer(qtbot, page, "wrong")
    asked = dialog(qtbot, page, QuestionDialog)
    qtbot.waitUntil(lambda: says(asked, "Not accepted. Try again."))
    control(asked, "Cancel").click()
    sees(qtbot, page, "refused ")
    qtbot.waitUntil(lambda: light(page, box) == "not usable")


def test_a_missing_machine_is_unreachable(
    qtbot: QtBot, page: MachinesPage, box: str, host: Host
) -> None:
    host.stop()
    show(qtbot, page, box)
    check(page)
    qtbot.waitUntil(lambda: light(page, box) == "unreachable")
    sees(qtbot, page, "is sshd running there?")
    assert not control(page, "Clean up").isEnabled()
    assert not control(page, "Remove cache…").isEnabled()
    sees(qtbot, page, "The last check could not log in.")


def test_a_cancelled_check_says_so_and_its_question_disappears(
    qtbot: QtBot, page: MachinesPage, box: str
) -> None:
    show(qtbot, page, box)
    check(page)
    asks_about_key(qtbot, page)
    control(page, "Trust key").click()
    dialog(qtbot, page, QuestionDialog)
    control(page, "Cancel check").click()
    qtbot.waitUntil(lambda: not page.findChildren(QuestionDialog))
    sees(qtbot, page, "Check cancelled")
    assert light(page, box) == "not checked"


def test_a_cancelled_check_leaves_the_result_of_the_last_one_that_passed(
    qtbot: QtBot, page: MachinesPage, box: str
) -> None:
    show(qtbot, page, box)
    trust_it(qtbot, page)
    check(page)
    assert light(page, box) == "checking…"
    control(page, "Cancel check").click()
    assert light(page, box).startswith("ready ")
    sees(qtbot, page, "bench logged in")


def test_leftovers_of_crashed_runs_and_the_cache_are_shown_and_removed(
    qtbot: QtBot, page: MachinesPage, box: str, home: Path
) -> None:
    show(qtbot, page, box)
    trust_it(qtbot, page)
    (home / "work" / "runs" / "0123456789abcdef").mkdir(parents=True)
    (home / "work" / "runs" / "0123456789abcdef.lock").touch()
    (home / "work" / "runtimes").mkdir()
    (home / "work" / "runtimes" / "big").write_bytes(b"x" * (3 << 20))
    control(page, "Clean up").click()
    sees(qtbot, page, "Removed 1 leftover run")
    sees(qtbot, page, " has 3.1 MB of runtimes")
    assert not (home / "work" / "runs" / "0123456789abcdef").exists()
    control(page, "Remove cache…").click()
    asked = the(page, Confirmation)
    assert control(asked, "Cancel").isDefault()
    press(asked, "Remove cache")
    sees(qtbot, page, "3.1 MB removed.")
    assert not (home / "work").exists()


def test_consent_to_tuning_is_saved_in_the_profile_and_changes_nothing_yet(
    qtbot: QtBot, page: MachinesPage, box: str, desk: Desk
) -> None:
    show(qtbot, page, box)
    trust_it(qtbot, page)
    sees(qtbot, page, "net.core.somaxconn")
    before = Path("/proc/sys/net/core/somaxconn").read_text()
    (tick,) = [t for t in page.findChildren(Tick) if "changes during runs" in t.text()]
    with qtbot.waitSignal(desk.machines_changed):
        tick.click()
    assert load_profile(box).tuning
    assert Path("/proc/sys/net/core/somaxconn").read_text() == before
