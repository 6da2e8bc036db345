"""The program as a shell sees it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import synthetic
from tests.recording import record_session

ROOT = Path(__file__).resolve().parents[2]
PONGBENCH = [sys.executable, "-m", "app"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.pong.yaml"
    return record_session(path, synthetic.session(3, 12))


def test_a_reader_that_closes_the_pipe_is_no_error(file: Path) -> None:
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


@pytest.mark.parametrize(
    ("words", "closed"), [(["summary"], ">&-"), (["replay", "--json"], "<&- >&- 2>&-")]
)
def test_standard_files_closed_by_the_caller_are_no_error(
    file: Path, words: list[str], closed: str
) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *PONGBENCH, *words, str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


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


def test_the_version_is_printed() -> None:
    done = subprocess.run(
        [*PONGBENCH, "--version"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.startswith("pongbench ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["summary"], ["compare", "--csv"]])
def test_output_to_a_full_disk_is_reported_in_one_sentence(file: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PONGBENCH, *words, str(file)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            check=False,
        )
    reported = "pongbench: The output cannot be written: the disk is full. Redirect it elsewhere.\n"
    assert (done.returncode, done.stderr) == (1, reported)


def test_a_word_instead_of_a_number_gives_one_sentence(file: Path) -> None:
    done = subprocess.run(
        [*PONGBENCH, "compare", str(file), "--rate", "fast"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "pongbench: argument --rate: 'fast' is not a number. See `pongbench compare --help`.\n"
    )
