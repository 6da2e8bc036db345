"""What holds for all tests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Tables are as wide as in a pipe; the processes of pytest-xdist give them a size."""
    os.environ.pop("COLUMNS", None)
    os.environ.pop("LINES", None)
    _use_a_folder_for_programs()


def _use_a_folder_for_programs() -> None:
    """Tests run programs that they write, which is forbidden where /tmp is mounted with noexec."""
    for folder in (tempfile.gettempdir(), "/var/tmp", str(Path.home())):
        if os.name != "posix" or not os.statvfs(folder).f_flag & os.ST_NOEXEC:
            os.environ["TMPDIR"] = tempfile.tempdir = folder
            return


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: tests of programs and machines mostly wait."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 2


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program keeps everything in a test; nothing is there yet."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PONGBENCH_HOME", str(folder))
    return folder
