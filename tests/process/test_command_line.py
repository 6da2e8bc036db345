"""The program as a shell sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import synthetic
from workbench.sessions import Recorder

ROOT = Path(__file__).resolve().parents[2]
PONGBENCH = [sys.executable, "-m", "app"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.pong.yaml"
    recorder = Recorder(path)
    for document in synthetic.session(3, 12):
        recorder(document)
    recorder.close()
    return path


def test_a_reader_that_has_seen_enough_is_no_error(file: Path) -> None:
    command = [*PONGBENCH, "replay", "--json", str(file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as replay:
        assert replay.stdout is not None
        assert replay.stderr is not None
        assert replay.stdout.readline().startswith(b'{"kind":"run_start"')
        replay.stdout.close()
        assert replay.stderr.read() == b""
        assert replay.wait() == 0


def test_commands_never_load_qt(file: Path) -> None:
    program = (
        "import sys; from app.__main__ import main; code = main(sys.argv[1:]);"
        "sys.exit(code or any(name.startswith('PySide6') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "summary", "--json", str(file)],
        stdout=subprocess.DEVNULL,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0


def test_the_version_is_told() -> None:
    done = subprocess.run(
        [*PONGBENCH, "--version"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.startswith("pongbench ")
