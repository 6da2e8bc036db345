"""Several programs write to one store at once, or are killed while writing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chosen import WHOLE
from oracle import eventually
from process.store_writers import PLAN

from app.settings import SettingsFile
from workbench import paths
from workbench.machines import hostkeys, profiles
from workbench.plan import library
from workbench.plan.reading import load_plan
from workbench.servers import user_servers
from workbench.sessions.labels import Label, Titles

PROGRAMS, TIMES = 4, 100 if os.environ.get(WHOLE) else 15
"""`make verify` writes more often."""
WRITERS = Path(__file__).with_name("store_writers.py")
EVERY = {f"w{who}-{n}" for who in range(PROGRAMS) for n in range(TIMES)}


pytestmark = pytest.mark.usefixtures("home")


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


class Writers:
    """Programs that write to a store on command."""

    def __init__(self) -> None:
        self.programs = [
            subprocess.Popen(
                [sys.executable, str(WRITERS), f"w{who}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for who in range(PROGRAMS)
        ]

    def begin(self, store: str, times: int = TIMES) -> None:
        self.say(f"{store} {times}\n")
        self.hear("ready\n")
        self.say("\n")

    def write(self, store: str) -> None:
        self.begin(store)
        self.hear("written\n")

    def say(self, line: str) -> None:
        for program in self.programs:
            assert program.stdin
            program.stdin.write(line)
            program.stdin.flush()

    def hear(self, line: str) -> None:
        for program in self.programs:
            assert program.stdout
            if program.stdout.readline() != line:
                raise AssertionError(program.communicate()[1])

    def kill(self) -> None:
        for program in self.programs:
            program.kill()
            program.communicate()


@pytest.fixture
def writers(home: Path) -> Iterator[Writers]:
    made = Writers()
    yield made
    made.kill()


def test_nothing_is_lost_when_four_programs_write_at_once(writers: Writers, home: Path) -> None:
    for store, found in STORES.items():
        writers.write(store)
        assert EVERY - found() == set(), store
    assert [path.name for path in home.rglob("*.part")] == []
    # Changes of one profile all count.
    values = {"name": "shared", "connector": "ssh", "address": "10.0.0.5"}
    profiles.save_profile(profiles.make_profile(values))
    writers.write("one_profile")
    shared = profiles.load_profile("shared")
    last = tuple(f"w{who}-{TIMES - 1}" for who in range(PROGRAMS))
    assert (shared.description, shared.user, shared.python, shared.key) == last
    assert shared.address == "10.0.0.5"


def test_concurrent_readers_find_a_complete_file(writers: Writers) -> None:
    library.save(PLAN, "Shared", over="shared")
    writers.begin("one_plan", 10_000)
    for _ in range(20):
        assert load_plan("shared").description == PLAN.description


def test_a_program_that_is_killed_while_it_writes_leaves_a_whole_file_and_no_lock(
    writers: Writers,
) -> None:
    writers.begin("titles", 10_000)
    assert eventually(lambda: len(Titles().read()) >= 5)
    writers.kill()
    assert len(Titles().read()) >= 5
    Titles().write("afterwards", Label("Still here"))
    assert Titles().read()["afterwards"] == Label("Still here")
