"""Runtimes: the prerequisites of a server, built on the machine once and cached."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from workbench.machines.base import Machine
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import Programs

Notify: TypeAlias = Callable[[str], None]
"""Takes progress as text for display."""


@dataclass(frozen=True)
class Job:
    """For which server prerequisites are made, and where."""

    machine: Machine
    entry: ServerEntry
    folder: str
    """Its files there."""
    notify: Notify
    install: bool = False
    """Whether what is missing may be fetched and unpacked."""
    source: Path | None = None
    """Of `source_at`, on this computer."""
    programs: Programs = field(default_factory=Programs)
    """Those of the machine that it needs."""


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
