"""Pins everything that the packages of a server need, by uv."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from workbench import fetching, paths, stores
from workbench.errors import BadInput, PongbenchError, why_own
from workbench.remote.builders.python import cause
from workbench.servers.requirements import requirements
from workbench.uv import uv_binary

WITHIN_S = 120.0


@dataclass(frozen=True)
class Locked:
    file: Path
    source: Path
    """What the user wrote; it is locked again from there."""
    packages: int


def lock(server: Path) -> Locked:
    """Replace `requirements.txt` in a server's folder by one with exact versions of all packages;
    what it said before is kept in `requirements.in`. Raises PongbenchError."""
    file, source = server / "requirements.txt", server / "requirements.in"
    if not file.is_file() and not source.is_file():
        raise BadInput(f"There is no file {file}; list the packages that the server needs there.")
    try:
        if not source.is_file():
            shutil.copy(file, source)
        text = _resolved(source)
        stores.write(file, text, file.stat().st_mode & 0o777 if file.exists() else 0o644)
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {why_own(error)}.") from None
    return Locked(file, source, len(requirements(file)))


def _resolved(source: Path) -> str:
    argv = [uv_binary(), "pip", "compile", "--quiet", "--no-header", "--python", paths.PYTHON]
    try:
        done = subprocess.run(
            [*argv, source.name],
            cwd=source.parent,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PongbenchError(f"{source} was not resolved within {WITHIN_S:.0f} s.") from None
    if done.returncode:
        detail = cause(done.stderr).rstrip(".")
        if re.search(fetching.UNREACHED, done.stderr):
            detail = fetching.why_unreached(done.stderr, "connect this computer once")
        raise BadInput(f"{source} cannot be resolved: {detail}.")
    return done.stdout
