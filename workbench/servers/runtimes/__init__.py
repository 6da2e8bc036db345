"""Runtimes: the prerequisites of a server, built on the machine once and cached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Notify: TypeAlias = Callable[[str], None]
"""Takes progress as text for display."""


@dataclass(frozen=True)
class Runtime:
    """A runtime that is ready on a machine."""

    placeholders: Mapping[str, str]
    """Placeholders of a server's command: {"python": "/..."}."""
    name: str
    """Name and version: "CPython 3.11.7"."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Versions of all installed packages, by normalised name."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables needed by a server that runs on it."""
    at_odds: Sequence[str] = ()
    """Packages in a version that another does not accept, a clause each."""
    built: bool = False
    """False: it existed already."""
