"""Files of requirements: what they list, and which packages they pin."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.config import yaml

PIN = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?\s*==\s*(?P<version>[A-Za-z0-9.!+_-]+)"
)
"""A package and its exact version."""


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


def pinned(path: Path) -> list[str]:
    """Return the packages that a requirements file pins, by normalised name."""
    return list(_versions(path))


def version_of(path: Path, package: str) -> str:
    """Return the version that a requirements file pins; empty: none."""
    return _versions(path).get(normalised(package), "")


def _versions(path: Path) -> dict[str, str]:
    pins = (PIN.match(line) for _, line in requirements(path))
    return {normalised(pin["name"]): pin["version"] for pin in pins if pin}


def normalised(package: str) -> str:
    """Return the name of a package in its normalised spelling."""
    return re.sub(r"[-_.]+", "-", package).lower()
