"""A short `make soak`: it prints its figures and ends when a limit is exceeded."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak import Figures

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]


def test_a_soak_ends_by_its_limits() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--runs", "1", "--memory-mb", "-1000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "passed a limit: memory grew by " in done.stdout.splitlines()[-1]


def test_objects_that_runs_leave_behind_are_a_limit_too() -> None:
    before = Figures(9, 2, 0, 1, objects=50_000, memory=40_000_000)
    assert replace(before, objects=50_400).beyond(before, 1e6) == ""
    assert replace(before, objects=50_600).beyond(before, 1e6) == "50,000 objects became 50,600"
