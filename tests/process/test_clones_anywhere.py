"""Tests that need another user find one wherever the clone lies."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.elsewhere import as_user


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs something as another user")
def test_another_user_runs_what_lies_in_a_closed_folder(tmp_path: Path) -> None:
    clone = tmp_path / "a clone é"
    clone.mkdir()
    (clone / "who").write_text('#!/bin/sh\nid -u; cat "$1"\n')
    (clone / "who").chmod(0o755)
    (clone / "text").write_text("read")
    for path in (clone, *clone.iterdir()):
        path.chmod(path.stat().st_mode & 0o700)
    command = as_user(65_534, 65_534, [str(clone / "who"), str(clone / "text")], clone)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["65534", "read"]
