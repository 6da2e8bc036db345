"""The window, replay and machines over SSH must work from Windows and macOS, where neither runs in
these tests: here they are loaded without what only POSIX has, and searched for it."""

from __future__ import annotations

import ast
import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from workbench import paths
from workbench.commands.run import handled
from workbench.errors import PongbenchError
from workbench.machines.local import open_local
from workbench.uv import uv_binary

ROOT = Path(__file__).parents[2]

REMOTE = ROOT / "workbench" / "remote"
"""What is sent to machines, which are Linux; the workbench imports a part of it."""

POSIX_MODULES = {"crypt", "fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios"}
POSIX_MODULES |= {"tty"}
_OS = """
fork forkpty setsid killpg getpgid setpgid getuid geteuid getgid uname chown lchown fchmod fchown
mkfifo nice wait wait3 wait4 sched_setaffinity sched_getaffinity getloadavg pipe2 posix_spawn
statvfs O_NOFOLLOW O_CLOEXEC O_NONBLOCK O_DIRECTORY ttyname sysconf
"""
_SIGNAL = """
SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGCHLD SIGALRM SIGSTOP SIGCONT pthread_sigmask setitimer sigwait
"""
POSIX_NAMES = {
    "os": set(_OS.split()),
    "signal": set(_SIGNAL.split()),
    "asyncio": {"open_unix_connection", "start_unix_server"},
    "socket": {"AF_UNIX"},
    "time": {"clock_gettime"},
}
OPENED_ON_LINUX = {"workbench.remote.errands"}
"""Imported as this computer is opened as a machine, which is Linux then."""
REACHED_ON_LINUX = {
    ("addresses", "socket.AF_UNIX"),  # by the agent
    ("asking", "os.O_CLOEXEC"),  # finds out
    ("asking", "termios"),
    ("recorder", "fcntl.flock"),  # where there is a fcntl
    ("pulse", "time.clock_gettime"),  # where there is CLOCK_BOOTTIME
    *(("sshconfig", name) for name in ("pwd", "os.getuid", "os.killpg", "signal.SIGKILL")),
    ("tuning", "os.geteuid"),  # of this computer, which opens on Linux only
}

LOADED = """
import importlib, os, pkgutil, signal, sys
# Python's own and other people's packages know where they are.
import asyncssh, gevent, getpass, http.server, keyring, logging.handlers, multiprocessing, numpy
import platformdirs.unix, PySide6.QtWidgets, rich.console, rich.live, shutil, tempfile, uv
for module in %r:
    sys.modules[module] = None
for module, names in %r.items():
    for name in names & set(dir(sys.modules[module])):
        if module in ("os", "signal"):
            delattr(sys.modules[module], name)
import app, workbench
for package in (app, workbench):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        skipped = {"__main__", "frozen"}
        remote = found.name.startswith("workbench.remote.")
        if not remote and skipped.isdisjoint(found.name.split(".")[-2:]):
            importlib.import_module(found.name)
print(len([name for name in sys.modules if name.startswith(("app.", "workbench."))]))
"""


def test_everything_on_the_users_side_loads_without_posix_only_modules() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED % (POSIX_MODULES, POSIX_NAMES)],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150


def test_no_module_on_the_users_side_names_what_only_posix_has() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {what}"
        for folder in ("app", "workbench")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if here(path)
        for line, what in posix(ast.parse(path.read_text(encoding="utf-8")))
        if (path.stem, what) not in REACHED_ON_LINUX
    ]
    assert found == []


@lru_cache
def imported_from_remote() -> set[str | None]:
    """Modules of `remote` that the rest imports."""
    return {
        name
        for folder in ("app", "workbench")
        for path in (ROOT / folder).rglob("*.py")
        if not path.is_relative_to(REMOTE)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }


def here(path: Path) -> bool:
    """Whether the module is used on the user's side."""
    if not path.is_relative_to(REMOTE):
        return True
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return module in imported_from_remote() - OPENED_ON_LINUX


def posix(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and name; what the module asks `hasattr` for, or does without, is left out."""
    asked = {
        f"{ast.unparse(node.args[0])}.{ast.literal_eval(node.args[1])}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "hasattr"
        and isinstance(node.args[1], ast.Constant)
    }
    optional = {
        id(inside)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        and any(ast.unparse(h.type) == "ImportError" for h in node.handlers if h.type)
        for inside in node.body
    }
    for node in ast.walk(tree):
        match node:
            case ast.Import() if id(node) in optional:
                continue
            case ast.Import(names=names):
                yield from ((node.lineno, n.name) for n in names if n.name in POSIX_MODULES)
            case ast.ImportFrom(module=str(module)) if module in POSIX_MODULES:
                yield node.lineno, module
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                if name in POSIX_NAMES.get(module, ()) and f"{module}.{name}" not in asked:
                    yield node.lineno, f"{module}.{name}"


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_no_module_uses_what_python_lacks_on_that_system(system: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--platform", system, "--no-error-summary"),
            *("--hide-error-context", "--cache-dir", str(tmp_path)),
            "--no-site-packages",  # they take half of the time, and no part in this
            "workbench",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    unknown = [line for line in done.stdout.splitlines() if "Module has no attribute" in line]
    # The agent's and the runner's: typeshed does know what a system lacks.
    assert any("epoll" in line for line in unknown), done.stdout + done.stderr
    found = [Path(line.split(":")[0]) for line in unknown]
    stems = {path.stem for path in found if here(ROOT / path)}
    assert stems <= {module for module, _ in REACHED_ON_LINUX}


async def test_a_signal_reaches_its_handler_on_every_system() -> None:
    before = signal.getsignal(signal.SIGTERM)
    came = asyncio.Event()
    with handled({"SIGTERM": came.set, "SIGOFANOTHERWORLD": came.clear}):
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(came.wait(), 60)
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("system", ["win32", "darwin"])
async def test_an_unsupported_system_says_in_one_sentence_that_it_runs_no_servers(
    monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    with pytest.raises(PongbenchError, match="on Linux only; use a machine over SSH"):
        await open_local()


@pytest.mark.parametrize(("system", "name"), [("linux", "uv"), ("win32", "uv.exe")])
def test_the_bundle_of_a_system_finds_its_own_uv(
    system: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr(paths, "SHIPPED", tmp_path)
    with pytest.raises(PongbenchError, match="install Pongbench again"):
        uv_binary()
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/true", tmp_path / "bin" / name)
    assert uv_binary() == str(tmp_path / "bin" / name)


def test_windows_has_the_files_of_ssh_for_all_users_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert paths.ssh_of_system() == Path("/etc/ssh")
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("PROGRAMDATA", "D:/data")
    assert paths.ssh_of_system() == Path("D:/data/ssh")
