"""The paths of shipped and of user files."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs

from workbench.errors import BadInput


def _shipped_root() -> Path:
    bundle = getattr(sys, "_MEIPASS", None)
    if bundle:
        return Path(bundle)
    here = Path(__file__).resolve().parent
    installed = here / "_bundled"
    return installed if installed.is_dir() else here.parent


CODE = Path(__file__).resolve().parent.parent
"""The directory that holds the package `workbench`."""

SHIPPED = _shipped_root()
RESOURCES = SHIPPED / "resources"
PROFILES = SHIPPED / "profiles"
_BUNDLED = "python.exe" if sys.platform == "win32" else "bin/python3"
PYTHON = str(SHIPPED / _BUNDLED) if getattr(sys, "frozen", False) else sys.executable
"""For programs on this computer; a bundle, itself no interpreter, has one but for macOS."""


def command() -> str:
    """Return how this program is called from here: "pongbench", or the path that `make` set up."""
    called = Path(sys.argv[0])
    if called.name != "pongbench" or not called.is_file():
        return "pongbench"
    found = shutil.which("pongbench")
    if found and called.samefile(found):
        return "pongbench"
    whole = called.absolute()
    here = Path.cwd()
    return shlex.quote(str(whole.relative_to(here) if whole.is_relative_to(here) else whole))


def program() -> list[str]:
    """Return the beginning of a command that runs this installation in another process."""
    # -P: the working directory may contain another folder named app.
    frozen = getattr(sys, "frozen", False)
    return [sys.executable] if frozen else [sys.executable, "-P", "-m", "app"]


def ssh_of_system() -> Path:
    """Return the folder of OpenSSH's files for all users."""
    if sys.platform == "win32":
        return Path(os.environ.get("PROGRAMDATA", r"C:\ProgramData"), "ssh")
    return Path("/etc/ssh")


def home() -> Path:
    """Return the user's home directory. Raises BadInput if there is none."""
    try:
        return Path.home()
    except RuntimeError:
        raise BadInput(
            "This user has no home directory; set HOME, or PONGBENCH_HOME for the files of"
            " Pongbench."
        ) from None


def expanded(path: str) -> Path:
    """Return a path with ~ expanded. Raises BadInput if there is no such home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        if path.startswith(("~/", "~\\")):
            return home() / path[2:]
        raise BadInput(f"There is no home directory {path.partition('/')[0]}.") from None


def _home(kind: str, default: Callable[[str], str]) -> Path:
    override = os.environ.get("PONGBENCH_HOME")
    if not override:
        home()
    return Path(override) / kind if override else Path(default("pongbench"))


def config_dir() -> Path:
    """Settings, machine profiles, trusted host keys."""
    return _home("config", platformdirs.user_config_dir)


def data_dir() -> Path:
    """The user's own servers, plans and sessions."""
    return _home("data", platformdirs.user_data_dir)


def cache_dir() -> Path:
    """Runtimes and wheels; may be deleted at any time between runs."""
    return _home("cache", platformdirs.user_cache_dir)
