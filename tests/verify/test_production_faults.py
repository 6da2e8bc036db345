"""Faults planted in the program, each of which the tests named beside it have to find.

They show what the tests are worth, also after some of them were made shorter. A fault is one text
of a file replaced by another, in a copy of the sources. Where the text is no longer there, the
fault has to be planted anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from workbench.config import yaml

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/cases/production_faults.yaml"
SOURCES = ("app", "workbench", "tests", "resources", "profiles", "packaging", "docs")
FAILED = 1
"""What pytest ends with when tests failed; with other numbers it could not run them."""


class Fault(msgspec.Struct):
    fault: str
    file: str
    old: str
    new: str
    tests: str


FAULTS = yaml.convert(
    yaml.load_yaml(CASES, what="faults"), list[Fault], name=str(CASES), what="faults"
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sources")
    for name in SOURCES:
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place)
    return place


def tried(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "PONGBENCH_VERIFY": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.timeout(1800)
def test_without_a_fault_the_tests_pass(copy: Path) -> None:
    files = {word for fault in FAULTS for word in fault.tests.split() if word.endswith(".py")}
    done = tried(copy, *sorted(files))
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.fault)
def test_a_planted_fault_is_found(fault: Fault, copy: Path) -> None:
    file = copy / fault.file
    text = file.read_text("utf-8")
    assert text.count(fault.old) == 1, f"plant it anew: {fault.file} has changed"
    file.write_text(text.replace(fault.old, fault.new), "utf-8")
    try:
        done = tried(copy, *fault.tests.split())
    finally:
        file.write_text(text, "utf-8")
    assert done.returncode == FAILED, done.stdout[-2000:]
