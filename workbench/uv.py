"""The uv included with Pongbench, which fetches packages and builds runtimes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from workbench import fetching, paths
from workbench.errors import PongbenchError

ANSWERS_WITHIN_S = 5
ASKED_AGAIN_AFTER_S = 20


def uv_binary() -> str:
    """Return its path. Raises PongbenchError when it is missing."""
    import uv  # noqa: PLC0415  only a build needs it

    missing = PongbenchError("uv, which builds the runtimes, is missing; install Pongbench again.")
    if getattr(sys, "frozen", False):
        found = paths.SHIPPED / "bin" / ("uv.exe" if sys.platform == "win32" else "uv")
        if not os.access(found, os.X_OK):
            raise missing
        return str(found)
    try:
        return str(uv.find_uv_bin())
    except FileNotFoundError:
        raise missing from None


def uv(
    *arguments: str,
    given: str = "",
    folder: Path | None = None,
    within_s: float | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run uv on the Python of this program, with its own cache. Raises TimeoutExpired."""
    kept = paths.cache_dir()
    own = {"NO_COLOR": "1", "UV_CACHE_DIR": str(kept / "wheels")}
    if Path(paths.PYTHON).is_file():
        arguments = (*arguments, "--python", paths.PYTHON)
    else:  # On macOS a bundle has none; uv fetches one.
        own["UV_PYTHON_INSTALL_DIR"] = str(kept / "pythons")
    return subprocess.run(
        [uv_binary(), *arguments, "--quiet"],
        cwd=folder,
        timeout=within_s,
        input=given,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={**os.environ, **fetching.trust(), **own, **(env or {})},
    )


def unreached() -> str:
    """Ask the package index for one small package, unless that was done a moment ago. Returns why
    it is out of reach, to stand in a sentence; empty: it answered, whatever it said."""
    return _unreached(int(time.monotonic() / ASKED_AGAIN_AFTER_S))


@lru_cache(maxsize=1)
def _unreached(moment: int) -> str:
    limits = {"UV_HTTP_TIMEOUT": str(ANSWERS_WITHIN_S), "UV_HTTP_RETRIES": "0"}
    asked = uv("pip", "compile", "-", "--no-deps", "--no-cache", given="zope-event", env=limits)
    if not fetching.unreached(asked.stderr):
        return ""
    return fetching.why_unreached(asked.stderr, "connect this computer to the network once")
