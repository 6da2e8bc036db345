"""The machines of a plan: chosen by their role, judged by what is known, tuned with consent."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec import structs
from pytestqt.qtbot import QtBot

from app.dialogs import Confirmation
from app.pages.plan import PlanPage
from app.settings import Settings
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import SHORT, choose, edit, judged, opened
from tests.gui.windows import control, name_of, press, says, sees, shown
from workbench import paths
from workbench.consent import Exposure
from workbench.documents import Note
from workbench.machines.profiles import Profile
from workbench.messages.notes import notice
from workbench.messages.topics import read_note
from workbench.run.claims import Claim, Hold, place
from workbench.sessions import read_session
from workbench.workloads.registry import workload as a_workload

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def tunable(home: Path) -> Path:
    """The profile of this computer, which may be tuned; and a set of kernel settings."""
    mine = home / "data" / "tuning" / "mine.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("name: My own\nsettings: {net.ipv4.tcp_keepalive_time: 4321}\n")
    profile = home / "config" / "profiles" / "localhost.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text("name: localhost\nsudo: passwordless\ntuning: true\n")
    return profile


def keepalive() -> str:
    return Path("/proc/sys/net/ipv4/tcp_keepalive_time").read_text().strip()


def asked(qtbot: QtBot, window: MainWindow) -> Confirmation:
    def found() -> list[Confirmation]:
        return [each for each in window.findChildren(Confirmation) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(found()))
    return found()[0]


def test_a_plan_runs_on_the_machines_chosen_by_their_role(qtbot: QtBot, home: Path) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    # Reached without SSH, so that the test needs no other computer.
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        edit(qtbot, page, structs.replace(SHORT, servers=["asyncio-streams"], rates=[300.0]))
        machines = page.form.machines
        assert machines.target.count() == 1
        machines.clients.toggle("bolt")
        machines.clients.toggle("localhost")
        judged(qtbot, page)
        assert says(page, "Unchecked clients")
        chosen = {"target": "localhost", "clients": ["bolt"], "tune": ""}
        assert window.desk.settings.more["plan"]["machines"] == chosen
        press(page, "Run")
        assert says(window.live, "on localhost, load from bolt")
        qtbot.waitUntil(lambda: not window.desk.busy)
        assert window.live.error.text == ""
        (path,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
        roles = {m.name: m.roles for m in read_session(path).start.machines}
        assert roles == {"localhost": ["target"], "bolt": ["client"]}


def test_a_plan_is_checked_against_the_facts_of_its_clients(qtbot: QtBot, home: Path) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    facts = {"sysctls": {"net.ipv4.ip_local_port_range": "20000 20999"}}
    checked = {"at": "2026-11-20T10:00:00+00:00", "kind": "ready", "found": {"facts": facts}}
    more = {
        "plan": {"machines": {"target": "localhost", "clients": ["bolt"]}},
        "machines": {"bolt": checked},
    }
    with shown(qtbot, Settings(more=more)) as window:
        page = opened(qtbot, window)
        assert not says(page, "Unchecked clients")
        kept_alive = a_workload(protocol="http/1.1", calls_per_connection=10)
        edit(qtbot, page, structs.replace(SHORT, servers=["gevent-pywsgi"], workload=kept_alive))
        sees(qtbot, page, " of 1,000 local ports")


def choose_own(page: PlanPage) -> None:
    """Choose the user's own set of kernel settings."""
    tune = page.form.machines.tune
    tune.setCurrentIndex(tune.findText("My own"))
    tune.activated.emit(tune.currentIndex())


def test_descriptors_and_ports_are_those_that_the_chosen_kernel_settings_allow(
    qtbot: QtBot, home: Path, tunable: Path
) -> None:
    ports = "net.ipv4.ip_local_port_range"
    mine = f"name: My own\nnofile: 20000\nat_least: {{{ports}: 1100 65535}}\n"
    (home / "data" / "tuning" / "mine.yaml").write_text(mine)
    for name, role in (("bolt", "client"), ("nut", "target")):
        (tunable.parent / f"{name}.yaml").write_text(
            f"name: {name}\nroles: [{role}]\nsudo: passwordless\ntuning: true\n"
        )
    facts = {"descriptor_limits": {"soft": 512, "hard": 512}, "sysctls": {ports: "32768 60999"}}
    checked = {"at": "2026-11-20T10:00:00+00:00", "kind": "ready", "found": {"facts": facts}}
    more = {
        "plan": {"machines": {"target": "nut", "clients": ["bolt"]}},
        "machines": {"bolt": checked, "nut": checked},
    }
    closed = a_workload(mode="closed", timeout_s=2.0)
    with shown(qtbot, Settings(more=more)) as window:
        page = opened(qtbot, window)
        crowded = structs.replace(SHORT, workload=closed, rates=[], concurrency=[700])
        edit(qtbot, page, crowded)
        assert says(page, "700 concurrent connections need as many file descriptors; the clients")
        edit(qtbot, page, structs.replace(crowded, workers=2))
        assert says(page, "700 concurrent connections need as many file descriptors; the target")
        assert not control(window, "Run").isEnabled()
        choose_own(page)
        judged(qtbot, page)
        assert not says(page, "700 concurrent connections")
        assert says(page, " of 64,436 local ports")
        assert control(window, "Run").isEnabled()


def test_servers_that_need_something_fetched_first_are_named(qtbot: QtBot, home: Path) -> None:
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        edit(qtbot, page, structs.replace(SHORT, servers=["cogen", "asyncio-streams"]))
        assert says(page, "Cogen needs programs or source code that the target lacks")
        edit(qtbot, page, structs.replace(SHORT, servers=["asyncio-streams"]))
        assert not says(page, "that the target lacks")


def test_a_missing_machine_is_never_replaced_silently(qtbot: QtBot) -> None:
    machines = {"target": "gone", "clients": ["localhost"]}
    with shown(qtbot, Settings(more={"plan": {"machines": machines}})) as window:
        page = opened(qtbot, window)
        assert page.form.machines.target.currentText() == "gone (removed)"
        assert says(page, "gone was removed; choose another machine.")
        assert not control(window, "Run").isEnabled()
        page.form.machines.target.setCurrentIndex(0)
        page.form.machines.target.activated.emit(0)
        judged(qtbot, page)
        assert page.form.machines.where is None
        assert not says(page, "was removed")
        assert control(window, "Run").isEnabled()


def test_a_machine_that_lost_its_role_is_never_replaced_silently(qtbot: QtBot, home: Path) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    for name in ("bolt", "elm"):
        (profiles / f"{name}.yaml").write_text(f"name: {name}\nroles: [target, client]\n")
    chosen = {"target": "bolt", "clients": ["bolt", "elm"], "tune": ""}
    with shown(qtbot, Settings(more={"plan": {"machines": chosen}})) as window:
        page = opened(qtbot, window)
        assert not page.form.machines.fault
        (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
        (profiles / "elm.yaml").write_text("name: elm\nrole: [client]\n")
        window.desk.machines_changed.emit()
        sees(qtbot, page, "bolt is no longer a target; choose another machine.")
        assert says(page, "elm has a profile that cannot be read; choose another machine.")
        assert page.form.machines.target.currentText() == "bolt (not a target)"
        assert page.form.machines.value() == chosen
        judged(qtbot, page)
        assert not control(window, "Run").isEnabled()
        page.form.machines.clients.toggle("elm")
        choose(qtbot, page, "Target", "This computer")
        judged(qtbot, page)
        assert not page.form.machines.fault
        assert control(window, "Run").isEnabled()


def test_without_a_client_nothing_can_run_and_a_message_says_so(qtbot: QtBot, home: Path) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        page.form.machines.clients.toggle("localhost")
        judged(qtbot, page)
        assert says(page, "Select at least one client.")
        assert not says(page, "Unchecked clients")
        assert not control(window, "Run").isEnabled()


def test_a_damaged_machine_profile_is_reported_with_a_link_to_it(
    qtbot: QtBot, window: MainWindow, page: PlanPage, home: Path
) -> None:
    (home / "config" / "profiles").mkdir(parents=True, exist_ok=True)
    damaged = home / "config" / "profiles" / "fir.yaml"
    damaged.write_text("name: fir\naddres: 1\n")
    window.desk.machines_changed.emit()
    qtbot.waitUntil(lambda: says(page, "Machine fir skipped. fir.yaml: "))
    press(page, "Show machines")
    assert window.page("Machines").isVisible()


def test_kernel_settings_are_offered_where_a_profile_allows_them(
    qtbot: QtBot, tunable: Path
) -> None:
    allowed = tunable.read_text()
    tunable.write_text("name: localhost\n")
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        machines = page.form.machines
        assert not machines.tune_line.isVisibleTo(page)
        tunable.write_text(allowed)
        window.desk.machines_changed.emit()
        qtbot.waitUntil(lambda: machines.tune_line.isVisibleTo(page))
        assert [machines.tune.itemText(n) for n in range(machines.tune.count())] == [
            "Unchanged",
            "As in 2015",
            "My own",
            "As in 2009 and 2010",
        ]
        choose_own(page)
        assert says(page, "You see and confirm the changes before anything is changed.")


def test_kernel_settings_are_changed_with_consent_only(qtbot: QtBot, tunable: Path) -> None:
    before = keepalive()
    chosen = {"target": "localhost", "clients": ["localhost"], "tune": "mine"}
    with shown(qtbot, Settings(more={"plan": {"machines": chosen}})) as window:
        page = opened(qtbot, window)
        edit(qtbot, page, structs.replace(SHORT, servers=["asyncio-streams"], rates=[300.0]))
        press(page, "Run")
        question = asked(qtbot, window)
        focused = question.focusWidget()
        assert focused is not None
        assert name_of(focused) == "Run without tuning"
        for words in ("net.ipv4.tcp_keepalive_time", f"{int(before):,}", "4,321"):
            assert says(question, words)
        assert says(question, "echo 4321 > /proc/sys/net/ipv4/tcp_keepalive_time")
        press(question, "Run without tuning")
        qtbot.waitUntil(lambda: not window.desk.busy)
        assert window.live.error.text == ""
        (path,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
        notes = [d for d in read_session(path).documents if isinstance(d, Note)]
        assert [read_note(note) for note in notes if note.topic == "untuned"] == [
            notice("untuned", machine="localhost", why="declined")
        ]
        window.show_page("Plan")
        judged(qtbot, page)
        press(page, "Run")
        press(asked(qtbot, window), "Cancel")
        qtbot.waitUntil(lambda: not window.desk.busy)
        assert "kernel settings" in window.live.error.text
    assert keepalive() == before


def test_an_old_server_reachable_by_others_gives_a_warning_and_a_question(
    qtbot: QtBot, home: Path
) -> None:
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    (profiles / "localhost.yaml").write_text("name: localhost\nbind: 0.0.0.0\nreach: 127.0.0.1\n")
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        edit(qtbot, page, structs.replace(SHORT, servers=["cogen"], rates=[300.0]))
        assert not says(page, "no longer gets security fixes")
        page.form.machines.clients.toggle("bolt")
        page.form.machines.clients.toggle("localhost")
        sees(qtbot, page, "Cogen no longer gets security fixes and would listen on This computer")
        press(page, "Run")
        qtbot.waitUntil(lambda: bool(window.findChildren(Confirmation)))
        (dialog,) = window.findChildren(Confirmation)
        assert says(dialog, Exposure(("Cogen",), "localhost", "0.0.0.0").text)
        assert dialog.focusWidget() is control(dialog, "Cancel")
        control(dialog, "Cancel").click()
        qtbot.waitUntil(lambda: not window.desk.busy)
        assert "Cogen" in window.live.error.text
        assert not list((home / "data").rglob("*.pong.yaml"))


def test_a_run_on_the_same_computer_is_named_and_can_be_waited_for(
    qtbot: QtBot, home: Path
) -> None:
    claim = Claim(
        title="First",
        since_s=time.time(),
        roles={"localhost": ["target", "client"]},
        places={"localhost": place(Profile("localhost"))},
    )
    first = Hold(claim)
    assert first.take()
    with shown(qtbot) as window:
        page = opened(qtbot, window)
        edit(qtbot, page, structs.replace(SHORT, rates=[300.0]))
        for answer in ("Cancel", "Wait"):
            window.show_page("Plan")
            judged(qtbot, page)
            press(page, "Run")
            qtbot.waitUntil(lambda: bool(window.findChildren(Confirmation)))
            (dialog,) = window.findChildren(Confirmation)
            assert says(dialog, claim.text)
            assert dialog.focusWidget() is control(dialog, "Wait")
            control(dialog, answer).click()
            qtbot.waitUntil(lambda: not window.findChildren(Confirmation))
            if answer == "Cancel":
                qtbot.waitUntil(lambda: not window.desk.busy)
                assert "'First' has been running" in window.live.error.text
                assert not list((home / "data").rglob("*.pong.yaml"))
        assert window.desk.busy
        first.release()
        qtbot.waitUntil(lambda: not window.desk.busy, timeout=30_000)
    (session,) = (home / "data").rglob("*.pong.yaml")
    assert not read_session(session).interrupted
