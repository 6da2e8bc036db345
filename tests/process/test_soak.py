"""A short `make soak`: it prints its figures and ends when a limit is exceeded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("limit", "status", "last"),
    [("20", 0, "At the end: "), ("-1000", 1, "passed a limit: memory grew by ")],
)
def test_a_soak_ends_by_its_limits(limit: str, status: int, last: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--runs", "2", "--memory-mb", limit],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert last in done.stdout.splitlines()[-1]
