"""Runtimes: what a server needs beneath it, built on the machine once and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Notify: TypeAlias = Callable[[str], None]
"""Takes progress in plain words."""


@dataclass(frozen=True)
class Runtime:
    """A runtime ready on a machine."""

    placeholders: Mapping[str, str]
    """What it puts into a server's command: {"python": "/..."}."""
    name: str
    """With its version: "CPython 3.11.7"."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Version of everything installed, by normalised name."""
    env: Mapping[str, str] = field(default_factory=dict)
    """What has to be in the environment of a server that runs on it."""
    built: bool = False
    """False: it was there already."""
