"""The paths of shipped and of user files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs


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
PYTHON = str(SHIPPED / "bin" / "python3") if getattr(sys, "frozen", False) else sys.executable
"""The Python for programs on this computer: a bundle is no interpreter itself, and on Linux
includes one."""


def _home(kind: str, default: str) -> Path:
    override = os.environ.get("PONGBENCH_HOME")
    return Path(override) / kind if override else Path(default)


def config_dir() -> Path:
    """Settings, machine profiles, trusted host keys."""
    return _home("config", platformdirs.user_config_dir("pongbench"))


def data_dir() -> Path:
    """The user's own servers, plans and sessions."""
    return _home("data", platformdirs.user_data_dir("pongbench"))


def cache_dir() -> Path:
    """Runtimes and wheels; may be deleted at any time between runs."""
    return _home("cache", platformdirs.user_cache_dir("pongbench"))
