"""Files of requirements: what they list, and which packages they pin."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from workbench import fetching, stores
from workbench.config import yaml
from workbench.errors import BadInput, PongbenchError, why_own
from workbench.remote.builders.python import cause
from workbench.uv import uv

PIN = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?\s*==\s*(?P<version>[A-Za-z0-9.!+_-]+)"
)


def requirements(path: Path) -> list[tuple[int, str]]:
    """Return (line number, text) of each requirement, without comments and continuation lines."""
    text = yaml.read_text(path, what="requirements")
    found, continued = [], False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#") and not continued:
            found.append((number, stripped))
        continued = stripped.endswith("\\")
    return found


def pins(path: Path) -> dict[str, str]:
    """Return the versions that a requirements file pins, by normalised name."""
    found = (PIN.match(line) for _, line in requirements(path))
    return {normalised(pin["name"]): pin["version"] for pin in found if pin}


def normalised(package: str) -> str:
    """Return the name of a package in its normalised spelling."""
    return re.sub(r"[-_.]+", "-", package).lower()


WITHIN_S = 120.0


def lock(server: Path) -> tuple[Path, Path]:
    """Replace `requirements.txt` in a server's folder by one with exact versions of all packages;
    what it said before is kept in `requirements.in`. Returns both. Raises PongbenchError."""
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
    return file, source


def _resolved(source: Path) -> str:
    compile_ = ("pip", "compile", "--no-header", source.name)
    try:
        done = uv(*compile_, folder=source.parent, within_s=WITHIN_S)
    except subprocess.TimeoutExpired:
        raise PongbenchError(f"{source} was not resolved within {WITHIN_S:.0f} s.") from None
    if done.returncode:
        detail = cause(done.stderr).rstrip(".")
        if re.search(fetching.UNREACHED, done.stderr):
            detail = fetching.why_unreached(done.stderr, "connect this computer once")
        raise BadInput(f"{source} cannot be resolved: {detail}.")
    return done.stdout
