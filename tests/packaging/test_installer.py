"""The installer, with a program of three lines in it: where it puts files, and that it removes them
away again. What is really sent to people is tried by packaging/smoke.py."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import build  # noqa: E402

PROGRAM = """#!/bin/sh
case "$1" in
    --version) echo "pongbench 9.9" ;;
    --selftest) echo "Everything works." ;;
esac
"""
DESKTOP = ".local/share/applications/io.github.pongbench.Pongbench.desktop"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installer of a small program."""
    app = tmp_path / "dist" / "pongbench"
    (app / "_internal").mkdir(parents=True)
    (app / "pongbench").write_text(PROGRAM)
    (app / "pongbench").chmod(0o755)
    (app / "_internal" / "a name with spaces and ümlauts").write_text("x")
    (app / "_internal" / "link").symlink_to("a name with spaces and ümlauts")
    monkeypatch.setattr(build, "APP", app)
    monkeypatch.setattr(build, "DIST", tmp_path / "dist")
    return build.installer(1_700_000_000, "2.17")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    place = tmp_path / "Für Kollegen $HOME" / '100 % "böse" `pwd` back\\slash & | name'
    place.mkdir(parents=True)
    return place


def sh(home: Path, *words: object, code: int = 0) -> str:
    done = subprocess.run(
        ["sh", *map(str, words)],
        env={"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


def entry(home: Path, key: str, desktop: Path | None = None) -> str:
    """A value of the menu entry, its escapes undone as the specification says."""
    lines = (desktop or home / DESKTOP).read_text().splitlines()
    (value,) = [line.removeprefix(f"{key}=") for line in lines if line.startswith(f"{key}=")]
    assert re.fullmatch(r"(?:[^\\]|\\[\\sntr])*", value), f"no escape of the specification: {value}"
    return value.replace("\\\\", "\0").replace("\\s", " ").replace("\0", "\\")


def unquoted(command: str) -> str:
    """The program of an Exec line."""
    assert command.endswith('" %f')
    quoted = command.removeprefix('"').removesuffix('" %f')
    for letter in '"`$\\':
        quoted = quoted.replace(f"\\{letter}", letter) if letter != "\\" else quoted
    return quoted.replace("\\\\", "\\").replace("%%", "%")


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_shells_complete_commands_and_options_until_it_is_removed(made: Path, home: Path) -> None:
    sh(home, made)
    share = home / ".local" / "share"
    completion = share / "bash-completion" / "completions" / "pongbench"
    words = 'source "$1"; COMP_WORDS=(pongbench run --pre) COMP_CWORD=2; '
    words += '_shtab_pongbench; echo "${COMPREPLY[@]}"'
    told = subprocess.check_output(["bash", "-c", words, "bash", completion], text=True)
    assert told.split() == ["--preview"]
    page = gzip.decompress((share / "man" / "man1" / "pongbench.1.gz").read_bytes()).decode()
    assert ".SH PONGBENCH CATALOGUE SHOW" in page and "example: pongbench run demo" in page
    sh(home, home / ".local" / "opt" / "pongbench" / "uninstall")
    assert not [path for path in share.rglob("*pongbench*") if path.is_file()]


def test_it_installs_for_one_user_says_where_and_leaves_nothing_behind(
    made: Path, home: Path
) -> None:
    message = sh(home, made)
    assert "Everything works." in message
    assert f"Pongbench is in {home}/.local/opt/pongbench" in message
    program = home / ".local/opt/pongbench/app/pongbench"
    assert (home / ".local/bin/pongbench").resolve() == program
    assert (program.parent / "_internal/link").read_text() == "x"
    assert unquoted(entry(home, "Exec")) == str(program)
    assert entry(home, "TryExec") == str(program)
    assert not list(home.glob(".cache/*"))

    mine = home / ".local/share/pongbench/sessions/mine.pong.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    message = sh(home, home / ".local/opt/pongbench/uninstall")
    assert "Your sessions, plans and settings stay" in message
    left = {name for name in everything(home) if "mimeinfo" not in name and "/mime/" not in name}
    assert left == {str(mine.relative_to(home))}


def test_a_newer_version_replaces_the_older_one_completely(made: Path, home: Path) -> None:
    sh(home, made, "--quiet")
    of_the_old = home / ".local/opt/pongbench/app/of-the-old-version"
    of_the_old.write_text("")
    assert sh(home, made, "--quiet") == "Everything works.\n"
    assert not of_the_old.exists()
    assert sorted(path.name for path in of_the_old.parent.parent.iterdir()) == ["app", "uninstall"]


@pytest.mark.parametrize("name", ["pongbench", "_internal/bin/python3"])
def test_nothing_is_replaced_or_removed_while_its_program_runs(
    made: Path, home: Path, name: str
) -> None:
    sh(home, made, "--quiet")
    program = home / ".local/opt/pongbench/app" / name
    program.parent.mkdir(exist_ok=True)
    # A script's process would be the shell's.
    shutil.copy(shutil.which("sleep") or "", program)
    with subprocess.Popen([program, "600"]) as running:
        for words in ([made], [home / ".local/opt/pongbench/uninstall"]):
            message = sh(home, *words, code=1)
            assert f"Pongbench is running from {home}/.local/opt/pongbench; close it" in message
        assert program.exists()
        running.kill()
    assert sh(home, made, "--quiet") == "Everything works.\n"


def test_two_versions_live_side_by_side_and_only_one_is_removed(made: Path, home: Path) -> None:
    sh(home, made, "--quiet")
    other = home / "other place"
    sh(home, made, f"--prefix={other}", "--quiet")
    assert unquoted(entry(home, "Exec")) == f"{other}/app/pongbench"
    sh(home, home / ".local/opt/pongbench/uninstall")
    assert entry(home, "TryExec") == f"{other}/app/pongbench"
    assert sh(home, other / "bin/pongbench", "--version") == "pongbench 9.9\n"
    sh(home, other / "uninstall")
    assert not other.exists()
    assert not (home / DESKTOP).exists()


def test_an_installation_that_cannot_run_changes_nothing(made: Path, home: Path) -> None:
    sh(home, made, "--quiet")
    broken = build.APP / "pongbench"
    broken.write_text("#!/bin/sh\nexit 126\n")
    message = sh(home, build.installer(1_700_000_000, "2.17"), "--quiet", code=1)
    assert "is it mounted noexec?" in message
    assert sh(home, home / ".local/bin/pongbench", "--version") == "pongbench 9.9\n"


def test_an_older_system_is_refused_with_what_is_needed(made: Path, home: Path) -> None:
    message = sh(home, build.installer(1_700_000_000, "99.1"), code=1)
    assert "Pongbench needs glibc 99.1 or later, and this system has 2." in message
    assert everything(home) == set()


def test_a_truncated_file_changes_nothing(made: Path, home: Path) -> None:
    made.write_bytes(made.read_bytes()[:-400])
    message = sh(home, made, code=1)
    assert message.splitlines()[-1].startswith(
        "pongbench: The file is damaged, or there is no room"
    )
    assert everything(home) == set()


def test_an_unknown_option_is_named(made: Path, home: Path) -> None:
    assert "There is no option --perfix=x;" in sh(home, made, "--perfix=x", code=1)
    assert "--prefix needs an absolute path." in sh(home, made, "--prefix=here", code=1)


def test_the_same_files_give_the_same_installer(made: Path) -> None:
    first = hashlib.sha256(made.read_bytes()).digest()
    os.utime(build.APP / "pongbench")
    again = build.installer(1_700_000_000, "2.17")
    assert hashlib.sha256(again.read_bytes()).digest() == first


def test_lists_of_files_do_not_contain_build_paths(made: Path) -> None:
    record = build.APP / "_internal" / "x-1.dist-info" / "RECORD"
    record.parent.mkdir()
    (record.parent / "LICENSE").write_text("free")
    record.write_text(
        "../../../bin/x,sha256=a,9\nx-1.dist-info/LICENSE,sha256=b,4\nx.py,sha256=c,1\n"
    )
    build.records()
    assert record.read_text() == "x-1.dist-info/LICENSE,sha256=b,4\n"


@pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="no dpkg-deb here")
def test_the_package_for_debian_says_what_it_needs_and_holds_the_program(made: Path) -> None:
    package = build.deb(1_700_000_000, "2.36")
    message = subprocess.run(
        ["dpkg-deb", "-f", package], capture_output=True, text=True, check=True
    )
    assert "Depends: libc6 (>= 2.36), libdbus-1-3" in message.stdout
    sustained = subprocess.run(
        ["dpkg-deb", "-c", package], capture_output=True, text=True, check=True
    )
    assert "./usr/bin/pongbench -> /opt/pongbench/pongbench" in sustained.stdout
    assert "root/root" in sustained.stdout
    subprocess.run(["dpkg-deb", "-x", package, made.parent / "x"], check=True)
    rights = (made.parent / "x/usr/share/doc/pongbench/copyright").read_text()
    assert rights.startswith("MIT License") and "/opt/pongbench/LICENCES.txt" in rights
    assert [path.name for path in build.DIST.iterdir() if path.name.startswith("tmp")] == []
