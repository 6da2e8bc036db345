"""Files are written atomically, by one program at a time, and are private to their user."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import asyncssh
import filelock
import pytest

from app.settings import SettingsFile
from workbench import paths, stores
from workbench.cli import main
from workbench.errors import BadInput, ExitCode, PongbenchError
from workbench.machines import hostkeys, profiles
from workbench.plan import library
from workbench.plan.model import Plan
from workbench.servers import user_servers
from workbench.sessions.labels import Label, Titles

PLAN = Plan(servers=["gevent"], rates=[1000], seconds=1)
PROFILE = {"name": "box", "connector": "ssh", "address": "10.0.0.5"}


pytestmark = pytest.mark.usefixtures("home")


def test_what_a_cache_has_goes_once_nobody_uses_it(tmp_path: Path) -> None:
    for name in ("old", "used", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.yaml").write_text("")
        (tmp_path / f"{name}.json").write_text("")
    for name in ("old", "used", "old.json"):
        os.utime(tmp_path / name, (1e9, 1e9))
    stores.used(tmp_path / "used")
    stores.tidy(tmp_path, 3_600)
    assert {each.name for each in tmp_path.iterdir()} == {"used", "new", "new.json", "used.json"}
    stores.tidy(tmp_path / "missing", 3_600)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    stores.write(pipe, "text", stores.DEFAULT_MODE)
    assert os.read(reading, 100) == b"text"
    os.close(reading)
    assert pipe.is_fifo()


def trust(host: str) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519").convert_to_public()
    hostkeys.trust(host, 22, key)


def write_everything() -> None:
    SettingsFile().write({"more/machine": '"10.0.0.5"'})
    profiles.save_profile(profiles.make_profile(PROFILE))
    trust("10.0.0.5")
    Titles().write("1", Label("Against 10.0.0.5"))
    library.save(PLAN, "Mine")


def open_to_others(folder: Path) -> list[str]:
    """What another user of this computer can read."""
    return sorted(path.name for path in folder.iterdir() if path.stat().st_mode & 0o077)


def test_stored_files_are_readable_by_their_user_alone(home: Path) -> None:
    write_everything()
    files = [path for path in home.rglob("*") if path.is_file()]
    assert len(files) >= 5
    assert [path for path in files if path.stat().st_mode & 0o077] == []
    assert open_to_others(home) == []


def test_files_an_earlier_version_left_readable_are_restricted_at_start(home: Path) -> None:
    write_everything()
    for path in home.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert open_to_others(home) == ["config", "data"]
    assert main(["machines", "show", "box"]) == 0
    assert open_to_others(home) == []


def test_a_file_written_elsewhere_is_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    (tmp_path / "folder").mkdir()
    report = tmp_path / "new" / "report.html"
    stores.write(report, "text", stores.DEFAULT_MODE)
    assert report.stat().st_mode == (tmp_path / "usual").stat().st_mode
    assert report.parent.stat().st_mode == (tmp_path / "folder").stat().st_mode


def test_a_failed_write_leaves_the_file_unchanged_and_nothing_next_to_it(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    stores.write(path, "before")
    with pytest.raises(ZeroDivisionError), stores.replacing(path) as file:
        file.write(b"half of it")
        raise ZeroDivisionError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


HELD: dict[str, tuple[Callable[[], Path], Callable[[], object]]] = {
    "known hosts": (hostkeys.own_file, lambda: trust("other")),
    "profiles": (
        lambda: paths.config_dir() / "profiles",
        lambda: profiles.change_profile("box", {"user": "me"}),
    ),
    "titles": (lambda: Titles().path, lambda: Titles().write("1", Label("Other"))),
    "plans": (library.own_folder, lambda: library.save(PLAN, "Mine", over="mine")),
    "servers": (user_servers.folder, lambda: user_servers.new("Mine")),
    "settings": (
        lambda: paths.config_dir() / "settings.json",
        lambda: SettingsFile().write({"page": '"Live"'}),
    ),
}


@pytest.mark.parametrize("store", HELD)
def test_a_writer_that_never_gets_the_lock_reports_it(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_everything()
    monkeypatch.setattr(stores, "LOCKED_WITHIN_S", 0.1)
    path, write = HELD[store]
    with (
        filelock.FileLock(path().with_name(f".{path().name}.lock")),
        pytest.raises(PongbenchError, match=r"another program has been writing there for \d+ s"),
    ):
        write()
    write()


NAMES: dict[str, Callable[[], object]] = {
    "plan": lambda: library.save(PLAN, "Mine"),
    "server": lambda: user_servers.new("Mine"),
    "profile": lambda: profiles.save_profile(profiles.make_profile(PROFILE), replace=False),
}


@pytest.mark.parametrize("kind", NAMES)
def test_one_of_several_writers_of_a_name_wins(kind: str) -> None:
    together, reported = threading.Barrier(8), []

    def take() -> None:
        together.wait()
        try:
            NAMES[kind]()
            reported.append("")
        except BadInput as error:
            reported.append(str(error))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(text[:11] for text in reported) == ["", *["There is a "] * 7]


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
@pytest.mark.parametrize(("mode", "warned"), [(0o777, True), (0o1777, True), (0o775, False)])
def test_a_home_that_every_user_may_write_to_is_warned_of(
    mode: int,
    warned: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(mode)
    monkeypatch.setenv("PONGBENCH_HOME", str(home))
    assert main(["plans"]) == ExitCode.DONE
    assert (f"chmod o-w {home}" in capsys.readouterr().err) == warned
