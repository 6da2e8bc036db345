"""What a machine over SSH lacks for a server, as known before its test."""

from pathlib import Path

import pytest

from workbench.machines.base import Platform
from workbench.servers.catalogue import Catalogue
from workbench.servers.readiness import MachineReadiness, readiness, to_fetch
from workbench.servers.runtimes import heritage

CATALOGUE = Catalogue.load(extra_dirs=[])
TODAYS = Platform("3.11.2", "x86_64", "glibc", "2.36")
OTHER = Platform("3.10.12", "aarch64", "glibc", "2.35")


@pytest.mark.parametrize(
    ("id", "programs", "sentence"),
    [
        (
            "tornado",
            ("a later Python",),
            "Tornado needs Python 3.11 or later on 'box', which has 3.10.12; install a later one"
            " there, and name it in its profile (python).",
        ),
        (
            "cogen",
            ("an x86-64 processor",),
            "Python 2.7 and 3.9 come from Debian 11 for x86-64 only, and this processor is"
            " aarch64; use a machine with x86-64.",
        ),
    ],
)
def test_a_python_that_a_machine_cannot_have_is_reported_before_a_test(
    id: str, programs: tuple[str, ...], sentence: str
) -> None:
    entry = CATALOGUE[id]
    there = readiness(entry, MachineReadiness("box", OTHER))
    assert (there.state, there.programs, there.sentence) == ("to fetch", programs, sentence)
    assert readiness(entry, MachineReadiness("box", TODAYS)).programs != programs
    assert readiness(CATALOGUE["go"], MachineReadiness("box", OTHER)).state == "to make"


def test_a_server_lacks_an_old_python_until_its_packages_are_on_this_computer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    both = [CATALOGUE["cogen"], CATALOGUE["asyncio-streams"]]
    assert to_fetch(both) == to_fetch(both, MachineReadiness("box", TODAYS)) == ("Cogen",)
    monkeypatch.setitem(heritage.DEBS, "2.7", [])
    assert to_fetch(both) == to_fetch(both, MachineReadiness("box", TODAYS)) == ()
