"""The self-test, the first command after an installation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_the_self_test_reports_what_works(tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, "-m", "app", "--selftest"],
        env=os.environ | {"PONGBENCH_HOME": str(home), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    _, window, replayed, swept, packages = done.stdout.splitlines()
    assert window == "- the window draws" and replayed.startswith("- a session of")
    assert swept.startswith("- the null server is swept") and "packages" in packages
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []
