"""The privileges of servers, seen from inside a real one: as root, and as an ordinary user."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.elsewhere import as_user, let_read, open_folder, seen_by

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SERVERS = HERE / "servers"
PASSWORD = "hunter2"
PROXIES = ("http_proxy", "HTTPS_PROXY", "all_proxy", "no_proxy")
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
NONE = "0" * 16
LANDLOCK = 444
"""The number of its first system call, everywhere."""


def landlock() -> int:
    """The kernel's version of it, found by other means than ours; below 1: it has none."""
    probe = f"import ctypes; print(ctypes.CDLL(None).syscall({LANDLOCK}, None, 0, 1))"
    return int(subprocess.check_output([sys.executable, "-c", probe]))


needs_landlock = pytest.mark.skipif(landlock() < 1, reason="this kernel has no Landlock")


@dataclass(frozen=True)
class Someone:
    """Who runs Pongbench, and all that is theirs."""

    uid: int
    gid: int
    home: Path

    @property
    def secret(self) -> Path:
        return self.home / ".netrc"

    def run(self, *command: str, wrap: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        proxies = dict.fromkeys(PROXIES, f"http://me:{PASSWORD}@127.0.0.1:9")
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "USER": "somebody",
            "PONGBENCH_HOME": str(self.home / "pongbench"),
            "PYTHONPATH": str(ROOT),
            "SECRET_TOKEN": PASSWORD,
            **proxies,
        }
        whole = [*wrap, sys.executable, *command]
        if os.geteuid() == 0:
            whole = as_user(self.uid, self.gid, whole)
            env["PYTHONPATH"] = seen_by(self.uid, str(ROOT))
        return subprocess.run(whole, env=env, capture_output=True, text=True, check=False)

    def probe(self, folder: Path = SERVERS / "probe", **wanted: list[Any]) -> dict[str, Any]:
        """What a server found out that this user deployed."""
        return found(self.run(*arguments(folder, wanted)))


def arguments(folder: Path, wanted: dict[str, list[Any]]) -> list[str]:
    return [str(HERE / "a_probe.py"), str(folder), str(SERVERS / "slow"), json.dumps(wanted)]


def found(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def someone(name: str) -> Iterator[Someone]:
    user = pwd.getpwnam(name)
    home = open_folder("pongbench-someone-")
    made = Someone(user.pw_uid, user.pw_gid, home)
    for path in (made.secret, home / "pongbench" / "data" / "sessions" / "kept.pong.yaml"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PASSWORD)
    # Nothing but confinement keeps a server from it.
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.chown(path, user.pw_uid, user.pw_gid)
    yield made
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def ordinary() -> Iterator[Someone]:
    """An ordinary user: the current one or, if that is root, nobody."""
    yield from someone(pwd.getpwuid(os.geteuid()).pw_name if os.geteuid() else "nobody")


@pytest.fixture(scope="module")
def root() -> Iterator[Someone]:
    if os.geteuid():
        pytest.skip("only root sees what root's servers may do")
    yield from someone("root")


@pytest.fixture(params=["root", "ordinary"])
def user(request: pytest.FixtureRequest) -> Someone:
    chosen: Someone = request.getfixturevalue(request.param)
    return chosen


def test_a_server_has_no_capabilities_and_cannot_gain_any(user: Someone) -> None:
    seen = user.probe()
    status = seen["status"]
    assert status["NoNewPrivs"] == "1"
    # Only root may empty the last set, which means nothing once privileges cannot be gained.
    emptied = SETS if user.uid == 0 else [name for name in SETS if name != "CapBnd"]
    assert {name: status[name] for name in emptied} == dict.fromkeys(emptied, NONE)
    assert "0" not in status["Uid"].split()
    assert seen["become root"] == "Operation not permitted"
    assert seen["programs of root"], "this system has no setuid program to try"
    for program in seen["programs of root"].values():
        assert program == {"Uid": status["Uid"], "CapEff": NONE}


def test_a_server_learns_nothing_of_its_users_environment(user: Someone) -> None:
    seen = user.probe()
    environment = seen["environment"]
    assert PASSWORD not in json.dumps(environment)
    assert str(user.home / ".") not in environment["PATH"]
    assert set(environment) == {
        *("HOME", "LANG", "PATH", "TMPDIR", "PONGBENCH_RUN", "PONGBENCH_PROCESS"),
        *("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"),
    } | {"LC_CTYPE"} & set(environment)
    assert Path(environment["HOME"]).is_relative_to(seen["run"])
    assert seen["home"] == []


@needs_landlock
def test_a_server_reads_no_file_of_its_user_beyond_its_run_and_runtime(user: Someone) -> None:
    closed = [
        *(str(user.secret), str(user.home), str(user.home / "pongbench/data/sessions")),
        *(str(user.home / "pongbench/data/sessions/kept.pong.yaml"), "/tmp", "/dev/shm", "/root"),
        *("{run}", "{run}/tools", "{run}/tools/builders/port.py", "{run}.lock", "{cache}"),
        *("{cache}/runtimes", "{other}", "{other}/server.py", "/proc/{parent}/environ"),
    ]
    seen = user.probe(read=closed, write=[])
    assert {path: error for path, error in seen["read"].items() if error is None} == {}


@needs_landlock
def test_a_server_writes_to_its_own_directories_alone(user: Someone) -> None:
    own = [".", "$HOME", "$TMPDIR"]
    closed = [
        *("/tmp", "/var/tmp", "/dev/shm", "/etc", str(user.home), "{run}", "{run}/homes"),
        *("{run}/tmp", "{run}/tools", "{other}", "{cache}", "{cache}/runtimes"),
    ]
    seen = user.probe(write=own + closed)
    assert [path for path, error in seen["write"].items() if error is None] == own


@pytest.mark.skipif(landlock() < 6, reason="this kernel's Landlock knows no such scope")
def test_a_server_reaches_no_program_of_its_user(user: Someone) -> None:
    name = f"pongbench-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        seen = user.probe(signal=["{parent}"], connect=[name])
    assert list(seen["signal"].values()) == ["Operation not permitted"]
    assert seen["connect"] == {name: "Operation not permitted"}


def test_its_user_profiles_it_as_any_program(user: Someone) -> None:
    traced = user.probe()["traced"]
    assert traced["server"] == traced["child"]


def with_rights(user: Someone, rights: str) -> Path:
    """The probe, as a server of the user's own that states these."""
    folder = user.home / "servers" / rights.partition(":")[0]
    shutil.copytree(SERVERS / "probe", folder)
    with (folder / "server.yaml").open("a") as file:
        file.write(f"rights: {{{rights}}}\n")
    let_read(folder.parent)
    return folder


def test_the_confinement_in_force_is_recorded(user: Someone) -> None:
    name = "nobody" if user.uid == 0 else pwd.getpwuid(user.uid).pw_name
    seen = user.probe()
    assert seen["record"] == {"user": name, "landlock": max(0, landlock()), "rights": []}


def test_a_server_with_a_stated_reason_stays_root(root: Someone) -> None:
    seen = root.probe(with_rights(root, "root: Only root may read what it serves."))
    status = seen["status"]
    assert set(status["Uid"].split()) == {"0"}
    assert int(status["CapEff"], 16)
    assert status["NoNewPrivs"] == "1"
    assert PASSWORD not in json.dumps(seen["environment"])
    assert (seen["record"]["user"], seen["record"]["rights"]) == ("root", ["root"])


@needs_landlock
@pytest.mark.parametrize(
    ("right", "opened"), [("files", [True, True, True]), ("shared-memory", [False, False, True])]
)
def test_a_permission_opens_what_it_names(
    ordinary: Someone, right: str, opened: list[bool]
) -> None:
    folder = with_rights(ordinary, f"{right}: It cannot do without.")
    seen = ordinary.probe(folder, read=["/tmp", "{cache}", "/dev/shm"])
    assert [error is None for error in seen["read"].values()] == opened
    assert seen["record"]["rights"] == [right]


IN_A_CHROOT = """
umask 022; mount -t tmpfs tmpfs /mnt && mkdir /mnt/root && cd /mnt/root || exit
for part in /*; do
  if [ -L "$part" ]; then cp -a "$part" .
  elif [ -d "$part" ] && [ "$part" != /mnt ]; then mkdir ".$part"; mount --rbind "$part" ".$part"
  fi
done
exec chroot . "$0" "$@"
"""


def test_confinement_works_in_a_chroot_whose_root_is_no_mount(root: Someone) -> None:
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("the tests run in such a chroot themselves")
    inside = ("unshare", "--mount", "sh", "-c", IN_A_CHROOT)
    root.home.chmod(0o700)
    try:
        seen = found(root.run(*arguments(SERVERS / "probe", {}), wrap=inside))
    finally:
        root.home.chmod(0o755)
    assert seen["record"] == {"user": "nobody", "landlock": max(0, landlock()), "rights": []}
    assert {seen["status"][name] for name in SETS} == {NONE}


CANNOT_MOUNT = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")


def test_without_the_right_to_mount_only_our_own_directories_are_opened(root: Someone) -> None:
    done = root.run(*arguments(SERVERS / "probe", {}), wrap=CANNOT_MOUNT)
    status = found(done)["status"]
    assert "0" not in status["Uid"].split()
    assert status["CapBnd"] == NONE


def test_a_server_that_cannot_enter_its_directory_is_refused(root: Someone) -> None:
    root.home.chmod(0o700)
    try:
        done = root.run(*arguments(SERVERS / "probe", {}), wrap=CANNOT_MOUNT)
        assert done.returncode == 1
        assert f"becomes nobody, who cannot enter {root.home} here; run as another" in done.stderr
        assert root.home.stat().st_mode & 0o777 == 0o700
        # Where it can, the directory stays closed to everybody else, and all works.
        assert root.probe()["record"]["user"] == "nobody"
    finally:
        root.home.chmod(0o755)
