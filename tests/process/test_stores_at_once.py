"""Several programs that write to one store at once, or die while they do."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from chosen import WHOLE
from process.store_writers import PLAN

from app.settings import SettingsFile
from workbench import paths
from workbench.machines import hostkeys, profiles
from workbench.plan import library
from workbench.plan.model import load_plan
from workbench.servers import user_servers
from workbench.sessions.labels import Label, Titles

PROGRAMS, TIMES = 4, 100 if os.environ.get(WHOLE) else 25
"""`make verify` writes more often."""
WRITERS = Path(__file__).with_name("store_writers.py")
EVERY = {f"w{who}-{n}" for who in range(PROGRAMS) for n in range(TIMES)}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return tmp_path


def in_plans() -> set[str]:
    found = library.presets()
    assert not [preset.problem for preset in found if preset.problem]
    return {preset.id for preset in found if preset.own}


def in_gates() -> set[str]:
    folder = paths.cache_dir() / "gates"
    return {path.stem.rpartition("@")[2] for path in folder.iterdir()}


STORES: dict[str, Callable[[], set[str]]] = {
    "known_hosts": lambda: {
        line.split()[0] for line in hostkeys.own_file().read_text().splitlines()
    },
    "titles": lambda: set(Titles().read()),
    "settings": lambda: set(SettingsFile().load().more),
    "new_profiles": lambda: set(profiles.profile_names()),
    "plans": in_plans,
    "servers": lambda: {
        path.name for path in user_servers.folder().iterdir() if path.name[0] != "."
    },
    "gates": in_gates,
}


def at_once(store: str, times: int = TIMES) -> list[subprocess.Popen[str]]:
    """Programs that have begun to write."""
    programs = [
        subprocess.Popen(
            [sys.executable, str(WRITERS), store, f"w{who}", str(times)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for who in range(PROGRAMS)
    ]
    for program in programs:
        assert program.stdout and program.stdout.readline() == "ready\n"
    for program in programs:
        assert program.stdin
        program.stdin.write("\n")
        program.stdin.flush()
    return programs


def end(programs: list[subprocess.Popen[str]]) -> None:
    for program in programs:
        _, said = program.communicate()
        assert program.returncode == 0, said


@pytest.mark.parametrize("store", STORES)
def test_nothing_is_lost_when_four_programs_write_at_once(store: str, home: Path) -> None:
    end(at_once(store))
    assert EVERY - STORES[store]() == set()
    assert [path.name for path in home.rglob("*.part")] == []


def test_changes_of_one_profile_by_several_programs_all_count() -> None:
    values = {"name": "shared", "connector": "ssh", "address": "10.0.0.5"}
    profiles.save_profile(profiles.make_profile(values))
    end(at_once("one_profile"))
    found = profiles.load_profile("shared")
    last = tuple(f"w{who}-{TIMES - 1}" for who in range(PROGRAMS))
    assert (found.description, found.user, found.python, found.key) == last
    assert found.address == "10.0.0.5"


def test_who_reads_meanwhile_finds_a_whole_file() -> None:
    library.save(PLAN, "Shared", over="shared")
    programs = at_once("one_plan", 25)
    looks = 0
    while any(program.poll() is None for program in programs):
        assert load_plan("shared").description == PLAN.description
        looks += 1
    end(programs)
    assert looks > 5


def test_a_program_that_is_killed_while_it_writes_leaves_a_whole_file_and_no_lock() -> None:
    for _ in range(2):
        programs = at_once("titles", 10_000)
        before = len(Titles().read())
        deadline = time.monotonic() + 60
        while len(Titles().read()) < before + 5 and time.monotonic() < deadline:
            pass
        for program in programs:
            program.kill()
            program.communicate()
        assert Titles().problem() == ""
        assert len(Titles().read()) >= before + 5
    Titles().write("afterwards", Label("Still here"))
    assert Titles().read()["afterwards"] == Label("Still here")
