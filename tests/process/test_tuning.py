"""Settings are changed for the length of a run and restored, whatever happens. The tuner runs for
real, on stand-ins for the kernel's files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from a_run import PONGBENCH, ROOT
from oracle import PATIENCE_S, eventually
from pids import kill_at_once

from workbench.cli import main
from workbench.errors import BadInput, PongbenchError
from workbench.machines import tuning
from workbench.machines.base import Machine
from workbench.machines.checking import leftover_runs
from workbench.machines.local import open_local
from workbench.machines.profiles import Profile, save_profile
from workbench.machines.secrets import never_ask
from workbench.machines.ssh import Cleaned
from workbench.machines.tuning import TUNER, Change, LeftTuning, Rights, TuningSet, restore, tuned
from workbench.messages.notes import notice
from workbench.remote import errands
from workbench.run.tuning import tune

SOMAXCONN, RANGE = "net.core.somaxconn", "net.ipv4.ip_local_port_range"
CHANGES = [Change(SOMAXCONN, "128", "4096"), Change(RANGE, "32768 60999", "10152 65535")]


class Host:
    """Stand-ins for /proc/sys, with the tuner's state next to them."""

    def __init__(self, folder: Path) -> None:
        self.settings, self.state = folder / "sys", folder / "state"
        self.set(SOMAXCONN, "128\n")
        self.set(RANGE, "32768\t60999\n")

    def path(self, key: str) -> Path:
        return self.settings.joinpath(*key.split("."))

    def set(self, key: str, text: str) -> None:
        self.path(key).parent.mkdir(parents=True, exist_ok=True)
        self.path(key).write_text(text)

    def get(self, key: str) -> str:
        return " ".join(self.path(key).read_text().split())

    @property
    def options(self) -> list[str]:
        return ["--state", str(self.state), "--settings", str(self.settings)]

    @property
    def rights(self) -> Rights:
        return Rights("root", options=self.options)

    def as_it_was(self) -> bool:
        same = self.get(SOMAXCONN) == "128" and self.get(RANGE) == "32768 60999"
        return same and not self.state.exists()


class Tuner:
    """A tuner started by hand."""

    def __init__(self, host: Host, *options: str) -> None:
        self.host = host
        command = [sys.executable, "-I", str(TUNER), *host.options, *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        assert self.answer() == {"ev": "ready"}

    def say(self, **order: Any) -> None:
        self.stdin.write(json.dumps(order).encode() + b"\n")
        self.stdin.flush()

    def apply(self, lease_s: float = 30) -> dict[str, Any]:
        wanted = {SOMAXCONN: "4096"}
        self.say(op="apply", settings=wanted, holder="ada@here", lease_s=lease_s)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        return dict(json.loads(self.stdout.readline()))

    def child(self) -> int:
        """The one of its two processes that serves."""
        pid = self.process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())

    def kill(self) -> None:
        """Both processes at once, until they are gone."""
        kill_at_once([self.process.pid, self.child()])
        self.process.wait(PATIENCE_S)
        assert eventually(lambda: not errands.is_locked(str(self.host.state / "lock")))

    def close(self) -> None:
        self.stdin.close()
        self.process.wait(PATIENCE_S)
        self.stdout.close()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "host")


@pytest.fixture
def tuner(host: Host) -> Iterator[Tuner]:
    made = Tuner(host)
    yield made
    made.close()


async def test_a_run_is_tuned_and_everything_is_as_before_after_it(
    host: Host, machine: Machine
) -> None:
    complaints: list[str] = []
    async with tuned(machine, CHANGES, host.rights, on_restored=complaints.extend) as in_force:
        assert (host.get(SOMAXCONN), host.get(RANGE)) == ("4096", "10152 65535")
        assert in_force.text() == (
            "localhost is tuned for this run: net.core.somaxconn 128 -> 4096, "
            "net.ipv4.ip_local_port_range 32768 60999 -> 10152 65535."
        )
    assert complaints == []
    assert eventually(host.as_it_was)


async def test_settings_changed_by_others_in_the_meantime_are_left_alone(
    host: Host, machine: Machine
) -> None:
    complaints: list[str] = []
    async with tuned(machine, CHANGES, host.rights, on_restored=complaints.extend):
        host.set(SOMAXCONN, "1000\n")
    assert host.get(SOMAXCONN) == "1000"
    assert host.get(RANGE) == "32768 60999"
    assert complaints == [
        "net.core.somaxconn was changed by another program on localhost during the run; 1000 stays."
    ]


async def test_a_setting_that_is_absent_or_read_only_is_reported(
    host: Host, machine: Machine
) -> None:
    host.path("fs.file-max").mkdir(parents=True)
    changes = [*CHANGES, Change("net.gone", "1", "2"), Change("fs.file-max", "1", "2")]
    async with tuned(machine, changes, host.rights) as in_force:
        assert in_force.text().endswith(
            " net.gone is unchanged on localhost: absent."
            " fs.file-max is unchanged on localhost: is a directory."
        )
    assert eventually(host.as_it_was)


async def test_a_second_workbench_is_refused_and_learns_who_uses_the_host(
    host: Host, machine: Machine, tuner: Tuner
) -> None:
    tuner.apply()
    with pytest.raises(PongbenchError, match=r"tuned for another run .*\(ada@here\)"):
        async with tuned(machine, CHANGES, host.rights):
            pass
    assert host.get(SOMAXCONN) == "4096"  # the first is undisturbed


async def test_a_closed_machine_restores_its_settings(host: Host, tmp_path: Path) -> None:
    machine = await open_local(cache_dir=tmp_path / "cache")
    complaints: list[str] = []
    async with tuned(machine, CHANGES, host.rights, on_restored=complaints.extend):
        await machine.close()
    assert "restores its settings by itself" in complaints[0]
    assert eventually(host.as_it_was)


async def test_a_user_without_sudo_rights_is_told_so(host: Host, machine: Machine) -> None:
    with pytest.raises(PongbenchError, match="Root privileges are not available on localhost"):
        async with tuned(machine, CHANGES, Rights("none")):
            pass
    assert host.as_it_was()


@pytest.mark.parametrize("who", ["child", "guardian"])
async def test_the_death_of_one_process_is_noticed_by_the_other(
    who: str, host: Host, tuner: Tuner
) -> None:
    tuner.apply()
    os.kill(tuner.child() if who == "child" else tuner.process.pid, signal.SIGKILL)
    assert eventually(host.as_it_was)


async def test_after_both_processes_die_the_next_connection_restores_the_settings(
    host: Host, tuner: Tuner, machine: Machine
) -> None:
    tuner.apply()
    tuner.kill()
    assert host.get(SOMAXCONN) == "4096"
    assert await restore(machine, host.rights) == ["net.core.somaxconn is 128 again on localhost."]
    assert host.as_it_was()
    assert await restore(machine, host.rights) == []


async def test_a_user_who_may_not_restore_learns_what_is_tuned(
    host: Host, tuner: Tuner, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run on such a machine says so, and a check does, as whichever user."""
    monkeypatch.setattr(tuning, "JOURNAL", str(host.state / "journal.json"))
    async with tune({"localhost": (machine, Profile("localhost"))}, None, never_ask) as up:
        assert up.events == []
    tuner.apply()
    assert host.state.stat().st_mode & 0o755 == 0o755
    assert (host.state / "journal.json").stat().st_mode & 0o777 == 0o644
    seen = errands.left_tuned(str(host.state))
    assert seen and seen["settings"][SOMAXCONN] == ("128", "4096")
    assert seen["alive"]
    async with tune({"localhost": (machine, Profile("localhost"))}, None, never_ask) as up:
        ((name, reported),) = up.events
    assert (name, reported.code) == ("localhost", "still-tuned")
    assert "net.core.somaxconn 4096 (before: 128)" in reported.text()
    tuner.kill()
    left = msgspec.convert(errands.left_tuned(str(host.state)), LeftTuning)
    step = leftover_runs(Cleaned(0, 0, [], []), "localhost", left)
    assert step.state == "warning"
    assert "a run that did not restore them: net.core.somaxconn 4096 (before: 128)" in step.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_restores_the_settings(number: int, host: Host, tuner: Tuner) -> None:
    tuner.apply()
    os.kill(tuner.child(), number)
    assert eventually(host.as_it_was)


async def test_an_expired_lease_restores_the_settings(host: Host, tuner: Tuner) -> None:
    tuner.apply(lease_s=0.2)
    assert tuner.answer()["ev"] == "restored"
    assert eventually(host.as_it_was)


async def test_noise_instead_of_a_command_restores_the_settings(host: Host, tuner: Tuner) -> None:
    tuner.apply()
    tuner.stdin.write(b"noise\n")
    tuner.stdin.flush()
    assert eventually(host.as_it_was)


def test_a_value_changed_by_the_kernel_is_reported() -> None:
    clamped = {"key": SOMAXCONN, "old": "128", "wanted": "250000", "got": "65535", "problem": ""}
    assert notice("tuned", machine="atlas", settings=[clamped]).text() == (
        "atlas is tuned for this run: net.core.somaxconn 128 -> 65535."
        " The kernel of atlas set net.core.somaxconn to 65535, not 250000 as asked."
    )


async def test_a_preview_changes_nothing_and_removes_nothing(machine: Machine) -> None:
    wanted = TuningSet(
        name="x",
        at_least={"fs.nr_open": 1024, "net.ipv4.ip_local_port_range": "33000 60000"},
        settings={"net.no.such": 1},
    )
    changes = {change.key: change for change in await tuning.preview(machine, wanted)}
    assert not changes["fs.nr_open"].needed
    (text,) = await machine.read(["/proc/sys/net/ipv4/ip_local_port_range"])
    here = (text or "").split()
    low, high = map(int, changes[RANGE].wanted.split())
    assert (low, high) == (min(33000, int(here[0])), max(60000, int(here[1])))
    assert str(changes["net.no.such"]) == "net.no.such: this kernel has no such setting"


def test_a_set_of_settings_says_what_is_wrong_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    mine = tmp_path / "data" / "tuning" / "mine.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("name: Mine\nsettings: {net.core.somaxconn: yes please}\n")
    with pytest.raises(BadInput, match=r"net\.core\.somaxconn: expected numbers, got 'yes please'"):
        tuning.load_set("mine")
    mine.write_text("name: Mine\nsettings: {../../etc/passwd: 1}\n")
    with pytest.raises(BadInput, match="is no name of a kernel setting"):
        tuning.load_set("mine")
    assert tuning.set_names() == ["gasc-2015", "mine", "piel-2010"]
    with pytest.raises(BadInput, match="There are gasc-2015, mine and piel-2010"):
        tuning.load_set("yours")
    assert tuning.load_set("piel-2010").at_least["net.core.somaxconn"] == 250_000


def test_a_preview_counts_the_descriptors_and_ports_that_tuning_allows(tmp_path: Path) -> None:
    mine = tmp_path / "data" / "tuning" / "mine.yaml"
    mine.parent.mkdir(parents=True)
    ports = "at_least: {net.ipv4.ip_local_port_range: 1100 65535}"
    mine.write_text(f"name: Mine\nnofile: 30000\n{ports}\n")
    profile = tmp_path / "config" / "profiles" / "localhost.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text("name: localhost\nsudo: passwordless\ntuning: true\n")

    def preview(*options: str) -> subprocess.CompletedProcess[str]:
        limited = ["sh", "-c", 'ulimit -n 2000; exec "$@"', "sh", *PONGBENCH, "run"]
        more = ["--server", "aiohttp-websocket", "--set", "vary={connections: [3500]}"]
        return subprocess.run(
            [*limited, "websocket-mostly-idle", "--preview", *more, *options],
            cwd=ROOT,
            env={**os.environ, "PONGBENCH_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    few = preview()
    assert few.returncode == 2
    assert "the clients have 1,936 descriptors for that" in few.stdout
    assert "3,500 connections held open need as many file descriptors; the clients" in few.stderr
    enough = preview("--tune", "mine")
    assert (enough.returncode, enough.stderr) == (0, "")
    assert "the clients have 19,936 descriptors for that" in enough.stdout
    assert "of 64,436 local ports" in enough.stdout
    assert "of 64,436 local ports" not in few.stdout
    limit = "2,000 file descriptors per process"
    assert limit in few.stdout and limit not in enough.stdout


def test_a_preview_of_a_run_shows_what_tuning_would_change_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    mine = tmp_path / "data" / "tuning" / "mine.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("name: Mine\nsettings: {net.ipv4.tcp_keepalive_time: 4321}\nnofile: 30000\n")
    before = Path("/proc/sys/net/ipv4/tcp_keepalive_time").read_text().strip()
    save_profile(Profile("localhost", sudo="passwordless"))
    assert main(["run", "quick", "--preview", "--tune", "mine"]) == 0
    message = capsys.readouterr().out
    assert "localhost is not tuned: its profile does not allow it (tuning)." in message
    save_profile(Profile("localhost", sudo="passwordless", tuning=True))
    assert main(["run", "quick", "--preview", "--tune", "mine"]) == 0
    message = capsys.readouterr().out
    assert "localhost, for the length of the run:" in message
    assert f"    net.ipv4.tcp_keepalive_time: {before} -> 4321\n" in message
    assert "    descriptors of what the run starts: 30,000\n" in message
    assert Path("/proc/sys/net/ipv4/tcp_keepalive_time").read_text().strip() == before
    assert main(["run", "quick", "--preview", "--tune", "yours"]) == 2
