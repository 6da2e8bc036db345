"""Setting up on a machine with missing tools."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

BOOTSTRAP = Path(__file__).resolve().parents[2] / "packaging" / "bootstrap.py"


def bootstrap(*goals: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run it with `path` as the only place for programs: it finds neither apt-get nor sudo."""
    return subprocess.run(
        [sys.executable, str(BOOTSTRAP), *goals],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


def put_program(folder: Path, name: str) -> None:
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)


def test_what_cannot_be_installed_is_named_in_one_sentence(tmp_path: Path) -> None:
    put_program(tmp_path, "ab")
    done = bootstrap("peers", path=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "bootstrap: this machine lacks what Debian packages as httperf nghttp2-client wrk;"
        " install it first.\n"
    )


def test_with_nothing_missing_nothing_is_done_or_printed(tmp_path: Path) -> None:
    for name in ("ab", "h2load", "httperf", "wrk"):
        put_program(tmp_path, name)
    done = bootstrap("peers", path=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unknown_goal_is_answered_with_the_valid_ones(tmp_path: Path) -> None:
    done = bootstrap("everything", path=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "bootstrap: there is no 'everything';"
        " give venv, nginx, qt-offscreen, qt-window, screen, lab, package, windows, peers.\n"
    )


def test_a_program_without_sudo_rights_says_what_to_run(tmp_path: Path) -> None:
    put_program(tmp_path, "apt-get")
    for name in ("ab", "h2load", "httperf"):
        put_program(tmp_path, name)
    probe = "import os, runpy, sys; os.geteuid = lambda: 1000; sys.argv = sys.argv[1:];"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            probe + "runpy.run_path(sys.argv[0], run_name='__main__')",
            BOOTSTRAP,
            "peers",
        ],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "bootstrap: system packages are missing; run: sudo apt-get install wrk\n"
    )


def test_missing_packaging_tools_are_named_before_anything_is_built(tmp_path: Path) -> None:
    for name in ("objdump", "debootstrap", "libdeflate-gzip"):
        put_program(tmp_path, name)
    done = bootstrap("package", path=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "patchelf" in done.stderr and done.stderr.endswith("install it first.\n")
    assert done.stderr.count("\n") == 1


def test_what_the_pictures_and_the_window_need_is_asked_for_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = importlib.util.spec_from_file_location("bootstrap", BOOTSTRAP)
    assert spec and spec.loader
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    monkeypatch.setattr(bootstrap, "present", lambda name: False)
    monkeypatch.setenv("PATH", "/nowhere")
    asked = set()
    for group in (bootstrap.QT_OFFSCREEN, bootstrap.QT_WINDOW):
        with pytest.raises(bootstrap.CannotSetUp) as caught:
            bootstrap.install_missing(group)
        asked.add(str(caught.value))
        assert all(package in str(caught.value) for package in bootstrap.QT_WINDOW.values())
    assert len(asked) == 1
