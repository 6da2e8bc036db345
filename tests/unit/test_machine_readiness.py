"""What a machine over SSH lacks for a server, as known before its test."""

import pytest

from workbench.machines.base import Platform
from workbench.servers.catalogue import Catalogue
from workbench.servers.machine_readiness import MachineReadiness

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
    there = MachineReadiness("box", OTHER).readiness(entry)
    assert (there.state, there.programs, there.sentence) == ("to fetch", programs, sentence)
    assert MachineReadiness("box", TODAYS).readiness(entry).state == "to make"
    assert MachineReadiness("box", OTHER).readiness(CATALOGUE["go"]).state == "to make"
